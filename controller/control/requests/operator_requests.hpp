// OperatorRequests: what operators ask to be changed: who may ask, how it becomes a tentative plan, and how that becomes
// intent: durable before it is answered. It never touches light or an agent's device itself. docs/life_of_a_command.md is its
// story.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/control/commit/reconciler.hpp"
#include "controller/control/jobs/tentative_plans.hpp"
#include "controller/control/requests/reports.hpp"
#include "controller/control/requests/request_answers.hpp"
#include "controller/control/requests/reset_requests.hpp"

namespace loom {

/// The parts that requests work with.
struct OperatorRequestParts {
  const ControllerFacts& facts;
  DesiredIntent& desired;
  const ConfirmedPlans& confirmed;
  JournalQueue& journal;
  AlarmBoard& alarms;
  AgentSessions& sessions;
  Jobs& jobs;
  const RevisionNumbers& numbers;
  CommitRunner& commits;
  TentativePlans& tentative;
  Reconciler& reconciler;
  RequestAnswers& answers;
  ResetRequests& resets;
  AuditTrail& audit;
  const Reports& reports;
  UnusableWatch& unusable;
  Refusals& refusals;
};

class OperatorRequests {
 public:
  explicit OperatorRequests(const OperatorRequestParts& parts);

  void on_request(Peer from, const Envelope& envelope, const OperatorRequest& request, EffectSink& sink);
  /// The tentative plan of a request was made, or refused.
  void on_tried(TentativeOutcome outcome, EffectSink& sink);
  /// A plan was made: the next question may be tried.
  void try_waiting(EffectSink& sink);
  /// The journal did not take the row that this answer waited for.
  void on_not_recorded(const ReplyAct& act, EffectSink& sink);
  /// A key of this principal may no longer order: what it asked for and is still being planned is refused, and the jobs that it
  /// attends are attended no more. What was accepted stays.
  void on_key_lost(const std::string& principal, EffectSink& sink);
  /// The time of a schedule that nobody confirmed may be over: what was pinned before is pinned again.
  void watch_probation(EffectSink& sink);

 private:
  // operator_requests.cpp: tentative plans, answers
  const Intent& intent() const { return desired_.intent(); }
  void refuse(const Requester& requester, Error error, EffectSink& sink) { answers_.refuse(requester, std::move(error), sink); }
  std::optional<Error> refusal_to_try(const OperatorChange& change) const;
  /// Rows of the audit for it: questions are counted, as is a launcher that goes on attending.
  void open_audit(const Requester& requester, const Envelope& envelope, const OperatorAsk& ask);
  void begin(TentativePlan plan, EffectSink& sink);
  void try_now(TentativePlan plan, EffectSink& sink);
  ChangeReport change_by(const TentativeOutcome& outcome) const;
  void adopt(const TentativePlan& plan, const PlanResult& tried, EffectSink& sink);
  void answer_when_durable(ReplyAct answer, EffectSink& sink);

  // requests_jobs.cpp
  void handle(const Requester& requester, const SubmitJob& request, EffectSink& sink);
  void handle(const Requester& requester, const CancelJob& request, EffectSink& sink);
  void handle(const Requester& requester, const ChangeJob& request, EffectSink& sink);
  void handle(const Requester& requester, const ResizeJob& request, EffectSink& sink);
  void handle(const Requester& requester, const AttendJob& request, EffectSink& sink);

  // requests_nodes.cpp: lasers, nodes
  void handle(const Requester& requester, const LasersRequest& request, EffectSink& sink);
  void handle(const Requester& requester, const NodeRequest& request, EffectSink& sink);
  void undrain(const Requester& requester, const NodeRequest& request, EffectSink& sink);
  void drain(const Requester& requester, const NodeRequest& request, EffectSink& sink);
  void release(const Requester& requester, const NodeRequest& request, EffectSink& sink);

  // requests_devices.cpp: devices, alarms
  void handle(const Requester& requester, const DeviceRequest& request, EffectSink& sink);
  void handle(const Requester& requester, const ResetRequest& request, EffectSink& sink);
  void handle(const Requester& requester, const AcknowledgeAlarm& request, EffectSink& sink);
  std::string circuits_using(const Device& device) const;

  // requests_schedule.cpp
  void handle(const Requester& requester, const ApplySchedule& request, EffectSink& sink);
  void handle(const Requester& requester, const ConfirmSchedule& request, EffectSink& sink);
  void handle(const Requester& requester, const RollBackSchedule& request, EffectSink& sink);
  void handle(const Requester& requester, const DiffSchedule& request, EffectSink& sink);
  const KeptRevision* revision_before_present() const;
  Candidate pinning(std::vector<ScheduledCircuit> circuits, ApplyMode mode) const;
  Result<std::vector<JobSchedule>> pins_of(const std::vector<ScheduledCircuit>& circuits, ApplyMode mode) const;

  const ControllerFacts& facts_;
  DesiredIntent& desired_;
  const ConfirmedPlans& confirmed_;
  JournalQueue& journal_;
  AlarmBoard& alarms_;
  AgentSessions& sessions_;
  Jobs& jobs_;
  const RevisionNumbers& numbers_;
  CommitRunner& commits_;
  TentativePlans& tentative_;
  Reconciler& reconciler_;
  RequestAnswers& answers_;
  ResetRequests& resets_;
  AuditTrail& audit_;
  const Reports& reports_;
  UnusableWatch& unusable_;
  Refusals& refusals_;
};

/// A request's change, not begun yet. `only_asks`: a dry run, nothing of it becomes intent.
TentativePlan change_for(const Requester& requester, std::vector<Candidate> candidates, std::string reason, bool only_asks);

}  // namespace loom
