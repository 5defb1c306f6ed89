// SPDX-License-Identifier: Apache-2.0
// CommitRunner: carries wanted plans into light, one at a time: has them made, waits until nobody is disturbed, runs the
// commit, journals its decisions, confirms it, and wants the last good plan again when it failed. It decides neither what is
// wanted nor which device is ill.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "controller/control/agent_sessions.hpp"
#include "controller/control/commit/commit.hpp"
#include "controller/control/commit/commit_returns.hpp"
#include "controller/control/commit/fire_skew.hpp"
#include "controller/control/commit/found_state.hpp"
#include "controller/control/commit/revision_numbers.hpp"
#include "controller/control/commit/start_conditions.hpp"
#include "controller/control/facts.hpp"
#include "controller/control/jobs/confirmed_plans.hpp"
#include "controller/control/jobs/dark_forecast.hpp"
#include "controller/control/jobs/desired_intent.hpp"
#include "controller/control/jobs/job_admission.hpp"
#include "controller/control/jobs/jobs.hpp"
#include "controller/control/journal_queue.hpp"
#include "controller/control/watch/alarm_board.hpp"
#include "controller/control/watch/unusable_watch.hpp"

namespace loom {

/// The parts that the runner works with.
struct CommitRunnerParts {
  const ControllerFacts& facts;
  DesiredIntent& desired;
  ConfirmedPlans& confirmed;
  JournalQueue& journal;
  AlarmBoard& alarms;
  AgentSessions& sessions;
  Jobs& jobs;
  const FoundState& found;
  UnusableWatch& unusable;
  RevisionNumbers& numbers;
  CommitReturns& returns;
  DarkForecast& dark_forecast;
};

/// A commit that came to its end, for whoever has to follow.
struct CommitEnd {
  bool is_confirmed = false;                   ///< else it failed
  bool is_repair = false;                      ///< it changed no circuit
  std::shared_ptr<const FabricCommit> failed;  ///< null: it is confirmed
};

class CommitRunner {
 public:
  explicit CommitRunner(const CommitRunnerParts& parts);

  // What is wanted.
  /// The first reason of what becomes one plan is kept, and who ordered it; nobody: the controller itself.
  void want_plan(std::string reason, EffectSink& sink, std::string ordered_by = {});
  /// The next plan also touches this, though nothing of it changes.
  void repair_with_next_plan(RepairScope scope) { repair_ = std::move(scope); }
  /// Plans if something is wanted and nothing is under way.
  void consider_planning(EffectSink& sink);

  // What happens.
  /// False: the plan was not made for a commit.
  bool on_planned(const PlanOutcome& outcome, EffectSink& sink);
  /// A commit that waits begins when every job that it darkens is quiet and every agent that takes part is there.
  void begin_if_ready(EffectSink& sink);
  void on_answer(NodeId node, Revision revision, const Body& answer, EffectSink& sink);
  void on_tick(EffectSink& sink);
  /// `going` or `confirmed` of this revision is durable.
  void on_recorded(CommitDecision decision, Revision revision, EffectSink& sink);
  /// When every node of the job has played all cycles of its stage, the next stage is wanted; where timeslots stayed dark, and
  /// with them bytes of the job unsent, the same stage once more.
  void advance_stage(JobId job, EffectSink& sink);
  /// An agent's process started again and has lost what the commit under way had told it.
  void interrupt(NodeId node, EffectSink& sink);
  void fail_with(std::string why, EffectSink& sink);
  /// The journal takes no more rows: a commit that has not gone cannot go any more, and no other one begins.
  void on_journal_failed(EffectSink& sink);
  /// The end of a commit, once each.
  std::optional<CommitEnd> take_end() { return std::exchange(end_, std::nullopt); }

  // What others may know.
  /// Nothing is wanted, planned, under way or waiting for the journal.
  bool is_idle() const;
  /// The commit that moves light now, or waits to begin; null: none.
  const FabricCommit* under_way() const;
  /// The revision that is being planned.
  std::optional<Revision> planning() const;
  /// The revision that darkens light of the job, now or next: a commit that touches its circuits, or the one that will bring
  /// back what a failed commit left dark. None for a job that has no light to lose.
  Revision quiesce_of(JobId job) const { return conditions_.quiesce_of(job, under_way()); }
  /// Whom the commit that is to light the job waits for; empty: nobody.
  std::string waits_for() const;
  const std::deque<CommitReport>& history() const { return history_; }

 private:
  struct Idle {};
  struct Planning {
    Revision revision;
    std::string reason;
    std::string ordered_by;
    Intent intent;            ///< as it was planned for
    bool is_for_now = false;  ///< beside light that an agent which has just fallen silent may darken
  };
  enum class CommitStep : std::uint8_t {
    waiting_for_quiet,    ///< jobs that it darkens
    waiting_for_agents,   ///< that take part and are away
    running,              ///< its agents are asked
    recording_going,      ///< all armed: its row is on the way to the journal
    recording_confirmed,  ///< all applied: likewise
  };
  struct Committing {
    std::unique_ptr<FabricCommit> commit;
    CommitStep step = CommitStep::waiting_for_quiet;
    bool is_repair = false;       ///< it changes no circuit
    bool is_held_back = false;    ///< it would move what meets light that nobody can prove dark
    bool is_left_behind = false;  ///< it would lay light anew beside a laser that would go on
    Instant quiet_until{};        ///< jobs that it darkens are waited for until then
    Instant agents_until{};       ///< absent agents
    bool is_waiting() const { return step == CommitStep::waiting_for_quiet || step == CommitStep::waiting_for_agents; }
  };
  struct WantedPlan {
    std::string reason;
    Instant since{};
    std::string ordered_by;
  };

  void refuse_plan(Planning planned, const Error& error, EffectSink& sink);
  void start_commit(std::shared_ptr<const PlanResult> plan, Planning planned, Duration elapsed, EffectSink& sink);
  void follow_commit(EffectSink& sink);
  void finish_confirmed(EffectSink& sink);
  void finish_failed(EffectSink& sink);

  const ControllerFacts& facts_;
  DesiredIntent& desired_;
  ConfirmedPlans& confirmed_;
  JournalQueue& journal_;
  AlarmBoard& alarms_;
  AgentSessions& sessions_;
  Jobs& jobs_;
  const FoundState& found_;
  UnusableWatch& unusable_;
  RevisionNumbers& numbers_;
  CommitReturns& returns_;
  DarkForecast& dark_forecast_;
  JobAdmission admission_;
  const StartConditions conditions_;

  std::optional<WantedPlan> wanted_;
  std::variant<Idle, Planning, Committing> phase_;
  std::optional<CommitEnd> end_;
  RepairScope repair_;  ///< what the next plan shall touch beside what changes
  std::deque<CommitReport> history_;
  FireSkew fire_skew_;
  AnswerTimes answers_;
};

/// The commit that moves light now; null: none does, be it that one waits to begin.
const FabricCommit* moving(const CommitRunner& commits);

}  // namespace loom
