// Controller: the step machine that turns intent into light. It folds messages into state, has plans made (never makes one),
// journals before it acts, and carries one commit at a time through its stages. docs/life_of_an_update.md is its story.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "controller/control/commit.hpp"
#include "controller/control/session.hpp"
#include "controller/plan/reconcile.hpp"
#include "core/step.hpp"
#include "core/timings.hpp"

namespace loom {

struct ControllerOptions {
  std::shared_ptr<const Fabric> fabric;
  std::string algorithm = "oddl";
  ControllerTimings timings;
};

/// What the controller remembers of a job for its reports; what it wants of it stands in Intent.
struct JobEntry {
  JobId job;
  std::string name;
  std::string workload;
  std::string state = "pending";  ///< pending, committing, lit, played, refused, ended
  std::string reason;
  std::vector<NodeId> nodes;
  std::uint32_t stage = 0;
  std::uint32_t stages = 0;
  Revision revision;
  std::vector<NodeId> cycles_done;  ///< nodes that have played all cycles of the present stage, ascending
  std::uint32_t underflows = 0;
};

/// What a commit that failed after its arming may have left behind: who is in doubt until a commit with them is confirmed.
struct Doubt {
  std::vector<NodeId> nodes;       ///< ascending
  std::vector<DeviceId> devices;   ///< touched, ascending
  std::vector<DeviceId> switches;  ///< ascending
  bool empty() const { return nodes.empty(); }
};

class Controller {
 public:
  explicit Controller(ControllerOptions options);

  /// Thread: the host's. Never blocks, never plans.
  void step(Instant now, const Event& event, EffectSink& sink);

  // What tests and the simulation's script may look at.
  bool is_idle() const { return started_ && commit_ == nullptr && !planning_.has_value() && !dirty_ && acts_.empty(); }
  std::uint32_t present_agents() const;
  Revision confirmed() const { return confirmed_ == nullptr ? Revision{} : confirmed_->plan.revision; }
  std::shared_ptr<const PlanResult> confirmed_plan() const { return confirmed_; }
  const std::deque<CommitReport>& history() const { return history_; }
  const std::map<JobId, JobEntry>& jobs() const { return jobs_; }
  const Intent& intent() const { return intent_; }

 private:
  // What waits for the journal.
  struct ReplyAct {
    Peer to;
    OperatorReply reply;
  };
  struct GoAct {
    Revision revision;
  };
  struct ConfirmAct {
    Revision revision;
  };
  struct WelcomeAct {
    NodeId node;
  };
  struct IntentAct {};
  using Act = std::variant<ReplyAct, GoAct, ConfirmAct, WelcomeAct, IntentAct>;
  struct PendingAct {
    std::uint64_t count;
    Act act;
  };
  struct DryRun {
    Revision revision;
    Peer from;
    RequestId request;
  };

  // controller.cpp: events, journal
  void on(const Started& started, Instant now, EffectSink& sink);
  void on(const MessageArrived& message, Instant now, EffectSink& sink);
  void on(const MessageRefused& refused, Instant now, EffectSink& sink);
  void on(const TimerFired& timer, Instant now, EffectSink& sink);
  void on(const Appended& appended, Instant now, EffectSink& sink);
  void on(const AppendFailed& failed, Instant now, EffectSink& sink);
  void on(const Planned& planned, Instant now, EffectSink& sink);
  void on(const BusReplied&, Instant, EffectSink&) {}
  void on(const InterlockChanged&, Instant, EffectSink&) {}
  void restore(const std::vector<Record>& records);
  void append(Record record, Act act, EffectSink& sink);
  void perform(Act& act, Instant now, EffectSink& sink);
  void raise(Alarm alarm, EffectSink& sink);
  Letterhead letterhead() const { return {term_, clock_}; }
  void say(NodeId node, Body body, EffectSink& sink);

  // controller_sessions.cpp: agents
  void on_agent(NodeId node, const Envelope& envelope, Instant now, EffectSink& sink);
  void on_hello(NodeId node, const Hello& hello, Instant now, EffectSink& sink);
  void on_heartbeat(NodeId node, const Heartbeat& heartbeat, EffectSink& sink);
  void on_cycle_done(NodeId node, Revision revision, const CycleDone& done, Instant now, EffectSink& sink);
  void keep_observations(const ObservationReport& report);
  void sweep(Instant now, EffectSink& sink);
  void beat(Instant now, EffectSink& sink);
  Reconciliation reconciliation(Instant now) const;
  void reconcile_now(Instant now, EffectSink& sink);
  void doubt_node(NodeId node);

  // controller_commit.cpp: plan, commit, return
  void want_plan(std::string reason, Instant now, EffectSink& sink);
  void consider_planning(Instant now, EffectSink& sink);
  void start_commit(std::shared_ptr<const PlanResult> plan, Duration elapsed, Instant now, EffectSink& sink);
  void try_begin(Instant now, EffectSink& sink);
  void after_commit_moved(Instant now, EffectSink& sink);
  void finish_confirmed(Instant now, EffectSink& sink);
  void finish_failed(Instant now, EffectSink& sink);
  void want_jobs_again(const Intent& asked);
  void refuse_new_jobs(const std::string& reason, const Intent& asked);
  void add_doubt(const Plan& plan);
  std::shared_ptr<const PlanResult> with_doubt(std::shared_ptr<const PlanResult> plan) const;
  void advance_stage(JobEntry& entry, Instant now, EffectSink& sink);
  void record_history(CommitReport report);

  // desk.cpp: operators
  void on_operator(Peer from, const OperatorRequest& request, Role role, Instant now, EffectSink& sink);
  void submit(Peer from, RequestId request, const SubmitJob& order, Instant now, EffectSink& sink);
  void cancel(Peer from, RequestId request, const CancelJob& order, Instant now, EffectSink& sink);
  void order_lasers(Peer from, RequestId request, bool on, Instant now, EffectSink& sink);
  OperatorReply answer(const Query& query, Instant now) const;
  StatusReport status(Instant now) const;
  DriftCounts drift_counts(Instant now) const;
  std::vector<DeviceReport> device_rows(const Query& query, Instant now) const;
  std::string state_of(const Circuit& circuit, bool plays_timeslots) const;
  std::vector<CircuitReport> circuit_rows(const Query& query) const;
  void reply(Peer to, OperatorReply reply, EffectSink& sink);
  void dry_run(Peer from, RequestId request, Intent intent, EffectSink& sink);
  void finish_dry_run(const PlanOutcome& outcome, EffectSink& sink);

  ControllerOptions options_;
  Term term_;
  ClockId clock_;
  bool started_ = false;

  Intent intent_;
  std::uint64_t laser_order_ = 0;
  JobId next_job_{1};
  std::map<JobId, JobEntry> jobs_;

  std::vector<AgentSession> sessions_;                    ///< index = node
  std::vector<std::optional<Observation>> observations_;  ///< index = device
  std::deque<Alarm> alarms_;
  std::uint64_t malformed_ = 0;

  std::shared_ptr<const PlanResult> confirmed_;
  Instant confirmed_at_{};
  Revision next_revision_{1};
  CircuitId next_circuit_{1};
  Doubt doubt_;
  std::uint32_t return_attempts_ = 0;

  bool dirty_ = false;
  Instant dirty_since_{};
  Instant not_before_{};  ///< backoff of a return
  std::string dirty_reason_;
  std::optional<Revision> planning_;
  std::string planning_reason_;
  Intent planning_intent_;
  std::vector<DryRun> dry_runs_;
  std::uint64_t dry_runs_made_ = 0;

  std::unique_ptr<FabricCommit> commit_;
  bool commit_waits_ = false;  ///< for absent agents
  Instant commit_wait_until_{};
  bool commit_recorded_ = false;  ///< its next journal row is on the way
  std::deque<CommitReport> history_;

  std::uint64_t appended_ = 0;  ///< Append effects of this life
  std::deque<PendingAct> acts_;
};

}  // namespace loom
