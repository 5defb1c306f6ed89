// SPDX-License-Identifier: Apache-2.0
// OperatorChanges: how what an operator asks to be changed becomes intent: tried as a tentative plan, journalled, answered when
// it is durable, then wanted as a plan. It does not know which request is behind a change, and decides nothing about who may
// ask.
#pragma once

#include <string>
#include <vector>

#include "controller/control/commit/commit_runner.hpp"
#include "controller/control/jobs/tentative_plans.hpp"
#include "controller/control/requests/refusals.hpp"
#include "controller/control/requests/request_answers.hpp"

namespace loom {

/// The parts that changes work with.
struct OperatorChangeParts {
  const ControllerFacts& facts;
  DesiredIntent& desired;
  const ConfirmedPlans& confirmed;
  JournalQueue& journal;
  AlarmBoard& alarms;
  Jobs& jobs;
  const RevisionNumbers& numbers;
  const DarkForecast& dark_forecast;
  CommitRunner& commits;
  TentativePlans& tentative;
  RequestAnswers& answers;
  AuditTrail& audit;
  Refusals& refusals;
};

class OperatorChanges {
 public:
  explicit OperatorChanges(const OperatorChangeParts& parts);

  /// Tries it now, or after the questions that came before; refused where its principal has too many under way.
  void begin(TentativePlan plan, EffectSink& sink);
  /// The tentative plan of a request was made, or refused.
  void on_tried(TentativeOutcome outcome, EffectSink& sink);
  /// A plan was made: the next question may be tried.
  void try_waiting(EffectSink& sink);
  /// What this principal asked for and is still being planned is refused.
  void withdraw(const std::string& principal, EffectSink& sink);
  /// The present intent and its answer: in the audit first, so that no intent is durable without it; sent once the intent is
  /// durable, and again to whoever repeats the request.
  void answer_when_durable(ReplyAct answer, EffectSink& sink);
  /// The journal did not take the row that this answer waited for.
  void on_not_recorded(const ReplyAct& act, EffectSink& sink);

 private:
  void try_now(TentativePlan plan, EffectSink& sink);
  void adopt(const TentativePlan& plan, const PlanResult& tried, EffectSink& sink);

  const ControllerFacts& facts_;
  DesiredIntent& desired_;
  const ConfirmedPlans& confirmed_;
  JournalQueue& journal_;
  AlarmBoard& alarms_;
  Jobs& jobs_;
  const RevisionNumbers& numbers_;
  const DarkForecast& dark_forecast_;
  CommitRunner& commits_;
  TentativePlans& tentative_;
  RequestAnswers& answers_;
  AuditTrail& audit_;
  Refusals& refusals_;
};

/// A request's change, not begun yet. `only_asks`: a dry run, nothing of it becomes intent.
TentativePlan change_for(const Requester& requester, std::vector<Candidate> candidates, std::string reason, bool only_asks);

}  // namespace loom
