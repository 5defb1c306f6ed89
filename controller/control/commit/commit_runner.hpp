// CommitRunner: carries wanted plans into light, one at a time: has them made, waits until nobody is disturbed, runs the
// commit, journals its decisions, confirms it, and returns to the last good plan when it failed. It decides neither what is
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
#include "controller/control/commit/found_state.hpp"
#include "controller/control/commit/uncertain_state.hpp"
#include "controller/control/facts.hpp"
#include "controller/control/jobs/confirmed_plans.hpp"
#include "controller/control/jobs/desired_intent.hpp"
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
  /// `going` of this revision is durable.
  void on_going_recorded(Revision revision, EffectSink& sink);
  /// `confirmed` of this revision is durable.
  void on_confirmed_recorded(Revision revision, EffectSink& sink);
  void on_cycle_done(NodeId node, Revision revision, const CycleDone& done, EffectSink& sink);
  /// An agent's process started again and has lost what the commit under way had told it.
  void interrupt(NodeId node, EffectSink& sink);
  void fail_with(std::string why, EffectSink& sink);
  /// The end of a commit, once each.
  std::optional<CommitEnd> take_end() { return std::exchange(end_, std::nullopt); }

  /// An agent says which revision it has applied, or has on its way into light. True: the journal knows nothing of it, as it
  /// was restored from an older copy, so numbers go on above it.
  bool go_beyond(NodeId node, Revision gone, EffectSink& sink);
  /// The journal takes no more rows: a commit that has not gone cannot go any more, and no other one begins.
  void on_journal_failed(EffectSink& sink);

  /// What was found in the journal. A revision that was going and never confirmed leaves its agents in an uncertain state.
  void restore(const SnapshotRecord& state);

  // What others may know.
  /// Nothing is wanted, planned, under way or waiting for the journal.
  bool is_idle() const;
  /// The commit that moves light now; null: none does, be it that one waits to begin.
  const FabricCommit* moving() const;
  /// The same, or the one that waits; null: none.
  const FabricCommit* under_way() const;
  /// The revision that is being planned.
  std::optional<Revision> planning() const;
  Revision next_revision() const { return next_revision_; }
  CircuitId next_circuit() const { return next_circuit_; }
  bool has_uncertain_state() const { return !uncertain_.empty(); }
  /// A job waits, or the confirmed plan does without something that is wanted, or has light that nobody wants.
  bool misses_something() const;
  /// The node's light is on its way back after a commit that failed.
  bool is_returning(NodeId node) const;
  /// The revision that darkens light of the job, now or next: a commit that touches its circuits, or the one that will bring
  /// back what a failed commit left dark. None for a job that has no light to lose.
  Revision quiesce_of(JobId job) const;
  /// Whom the commit that is to light the job waits for; empty: nobody.
  std::string waits_for() const;
  const std::deque<CommitReport>& history() const { return history_; }

 private:
  struct Idle {};
  struct Planning {
    Revision revision;
    std::string reason;
    std::string ordered_by;
    Intent intent;  ///< as it was planned for
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
    bool is_repair = false;     ///< it changes no circuit
    bool is_held_back = false;  ///< it would move what meets light that nobody can prove dark
    Instant quiet_until{};      ///< jobs that it darkens are waited for until then
    Instant agents_until{};     ///< absent agents
    bool is_waiting() const { return step == CommitStep::waiting_for_quiet || step == CommitStep::waiting_for_agents; }
  };
  struct WantedPlan {
    std::string reason;
    Instant since{};
    std::string ordered_by;
  };

  // commit_runner.cpp: planning, the commit under way
  void refuse_plan(const Planning& planned, const Error& error, EffectSink& sink);
  void start_commit(std::shared_ptr<const PlanResult> plan, Planning planned, Duration elapsed, EffectSink& sink);
  void follow_left_out(const PlanResult& plan, EffectSink& sink);
  bool brings_nothing(const PlanResult& plan) const;
  std::vector<DeviceId> unproven_lasers(const KnownState& known, const Plan& plan) const;
  RepairScope reachable(RepairScope scope, const Plan& plan) const;
  std::shared_ptr<const PlanResult> without_absent_maintenance(std::shared_ptr<const PlanResult> plan,
                                                               const KnownState& known) const;
  bool awaits_quiet(const Committing& committing, EffectSink& sink);
  bool awaits_reading() const;
  Instant earliest_plan() const;
  void follow_commit(EffectSink& sink);
  CommitRecord going_record(const std::shared_ptr<const PlanResult>& plan) const;
  void record_history(CommitReport report);

  // commit_runner_ends.cpp: confirmation, automatic return, stages
  void finish_confirmed(EffectSink& sink);
  void finish_failed(EffectSink& sink);
  void alarm_of_failure(const FabricCommit& failed, EffectSink& sink);
  void return_or_give_up(const FabricCommit& failed, bool is_wanted_again, EffectSink& sink);
  bool refuse_new_jobs(const std::string& reason, const Intent& asked);
  void take_back_requests(const Intent& failed);
  bool has_unlit_jobs() const;
  void place_anew(const PlanResult& plan);
  std::string next_after(const FabricCommit& failed, const std::string& otherwise) const;
  void advance_stage(JobId job, EffectSink& sink);
  bool play_again(JobId job, EffectSink& sink);

  const ControllerFacts& facts_;
  DesiredIntent& desired_;
  ConfirmedPlans& confirmed_;
  JournalQueue& journal_;
  AlarmBoard& alarms_;
  AgentSessions& sessions_;
  Jobs& jobs_;
  const FoundState& found_;
  UnusableWatch& unusable_;

  std::optional<WantedPlan> wanted_;
  Instant not_before_{};  ///< backoff of a return
  std::variant<Idle, Planning, Committing> phase_;
  std::optional<CommitEnd> end_;
  UncertainState uncertain_;
  RepairScope repair_;  ///< what the next plan shall touch beside what changes
  std::uint32_t return_attempts_ = 0;
  Revision next_revision_{1};
  Revision gone_;                 ///< the highest that ever went
  Revision first_unknown_;        ///< the journal knows nothing of what agents applied from here on ...
  Revision first_above_unknown_;  ///< ... to here; 0: there is no such revision
  Instant known_by_{};            ///< the first plan after a start waits until then for agents and their reports
  CircuitId next_circuit_{1};
  std::deque<CommitReport> history_;
};

}  // namespace loom
