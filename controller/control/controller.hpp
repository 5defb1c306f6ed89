// Controller: the step machine that turns intent into light. It folds messages into state, has plans made (never makes one),
// journals before it acts, and carries one commit at a time through its stages. docs/life_of_an_update.md is its story.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "controller/control/alarm_board.hpp"
#include "controller/control/commit.hpp"
#include "controller/control/demand_watch.hpp"
#include "controller/control/drift_watch.hpp"
#include "controller/control/session.hpp"
#include "controller/plan/reconcile.hpp"
#include "core/adapt_policy.hpp"
#include "core/step.hpp"
#include "core/timings.hpp"

namespace loom {

struct LitHop;  // controller/plan/explain.hpp

struct ControllerOptions {
  std::shared_ptr<const Fabric> fabric;
  std::string algorithm = "oddl";
  ControllerTimings timings;
  DriftPolicy drift{};
  AdaptPolicy adapt{};
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
  std::uint32_t stage_underflows = 0;  ///< of the present stage's last playing
  std::uint32_t stage_repeats = 0;     ///< playings of the present stage after its first
  std::string note{};                  ///< of its schedule
  bool was_lit = false;                ///< before this life of the controller, in its present stage, by `revision`
  Instant attended_until{};            ///< by a launcher, unless it says so again
  Revision quiet_for;                  ///< what that launcher has let its job be dark for
};

/// What a commit that failed after its arming may have left behind: who is in doubt until a commit with them is confirmed.
struct Doubt {
  std::vector<NodeId> nodes;       ///< ascending
  std::vector<DeviceId> devices;   ///< touched, ascending
  std::vector<DeviceId> switches;  ///< ascending
  std::vector<DeviceId> unread{};  ///< switches of an agent that failed: what they hold must be read after `since`
  Instant since{};
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
  const DriftWatch& drift() const { return drift_; }
  const std::map<JobId, DemandWatch>& demand_watches() const { return watches_; }
  const std::deque<StandingAlarm>& alarms() const { return alarms_.rows(); }

 private:
  // What waits for the journal.
  /// Whom to answer.
  struct Asker {
    Peer peer;
    std::string principal;
    RequestId request;
  };
  struct ReplyAct {
    Asker to;
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
  struct SnapshotAct {};
  using Act = std::variant<ReplyAct, GoAct, ConfirmAct, WelcomeAct, IntentAct, SnapshotAct>;
  struct PendingAct {
    std::uint64_t count;
    Act act;
  };
  using Way = std::function<Result<Intent>(const Intent&)>;
  /// An order on trial: it is planned and verified before anything of it becomes intent.
  struct Trial {
    Asker asker;
    std::vector<Way> ways;   ///< tried in order until one can be planned
    std::string reason;      ///< of the revision that carries it out
    bool only_asks = false;  ///< a dry run or a diff: nothing becomes intent
    bool safe = false;       ///< refused if it disturbs light
    Duration confirm_within{};
    JobId job{};
    std::optional<DeviceOverride> adopts{};  ///< nobody ordered it: the controller found this, and nobody waits for an answer
    std::optional<JobId> adapts{};           ///< nor here: the job's measured demand asks for it

    Revision number{};  ///< of the plan on trial
    std::size_t way = 0;
    std::uint32_t attempts = 0;
    Intent before{};  ///< what it was tried on
    std::optional<Error> first_refusal{};
  };
  /// A request that was answered, or (no reply yet) is being worked on.
  struct Answered {
    std::string principal;
    RequestId request;
    Peer peer;
    std::optional<OperatorReply> reply;
  };
  struct PendingReset {
    Asker asker;
    std::uint64_t order = 0;
    Instant deadline{};
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
  void on(const TrafficHeard&, Instant, EffectSink&) {}
  void restore(const std::vector<Record>& records);
  void append(Record record, Act act, EffectSink& sink);
  void perform(Act& act, Instant now, EffectSink& sink);
  void raise(Alarm alarm, EffectSink& sink);
  Letterhead letterhead() const { return {term_, clock_}; }
  void say(NodeId node, Body body, EffectSink& sink);

  // controller_sessions.cpp: agents
  void on_agent(NodeId node, const Envelope& envelope, Instant now, EffectSink& sink);
  void on_hello(NodeId node, const Hello& hello, Instant now, EffectSink& sink);
  void begin_life(NodeId node, Instant now);
  void on_heartbeat(NodeId node, const Heartbeat& heartbeat, EffectSink& sink);
  void on_cycle_done(NodeId node, Revision revision, const CycleDone& done, Instant now, EffectSink& sink);
  void keep_observations(NodeId node, const ObservationReport& report, Instant now, EffectSink& sink);
  void sweep(Instant now, EffectSink& sink);
  void beat(Instant now, EffectSink& sink);

  // controller_adapt.cpp: measured demand against what light is made for
  void on_traffic(NodeId node, const TrafficReport& report, Instant now);
  Duration dark_time() const;
  void adapt_now(Instant now, EffectSink& sink);
  void adapt_job(const Job& job, Instant now, EffectSink& sink);
  void try_demand(const Job& job, DemandWatch& watch, EffectSink& sink);
  void follow_demand(const Trial& trial, const PlanResult& tried, Instant now, EffectSink& sink);
  void settle_move(const Job& job, DemandWatch& watch, Instant now);
  void describe_demand_of(const Job& job, JobReport& row) const;
  // controller_drift.cpp: desired against observed
  bool has_desired_light() const;
  const DevicePlan* desired_of(DeviceId id) const;
  const Observation* observed_of(DeviceId id) const;
  ReconcileLimits reconcile_limits() const;
  bool is_judged(NodeId node) const;
  void judge(DeviceId id, Instant now, EffectSink& sink);
  void judge_all(Instant now, EffectSink& sink);
  void tell_drift(const DevicePlan& plan, Drift drift, Instant now, EffectSink& sink);
  void tell_given_up(Instant now, EffectSink& sink);
  bool may_take_part(NodeId node) const;
  std::vector<NodeId> to_be_restored(Instant now) const;
  std::optional<RepairScope> scope_of(const std::vector<DeviceId>& devices, const std::vector<NodeId>& restored) const;
  void want_repair(RepairScope scope, Instant now, EffectSink& sink);
  void reconcile_now(Instant now, EffectSink& sink);
  // controller_adopt.cpp: what was found becomes desired
  const DeviceOverride* override_of(DeviceId device) const;
  bool adopt_now(Instant now, EffectSink& sink);
  void refuse_trial(const Trial& trial, Error error, EffectSink& sink);
  void adopt_found(const Trial& trial, const PlanResult& tried, Instant now, EffectSink& sink);
  void tell_adopted(const DeviceOverride& override, EffectSink& sink);
  void finish_failed_repair(const FabricCommit& failed, Instant now, EffectSink& sink);

  // controller_commit.cpp: plan, commit, return
  void want_plan(std::string reason, Instant now, EffectSink& sink);
  void consider_planning(Instant now, EffectSink& sink);
  void start_commit(std::shared_ptr<const PlanResult> plan, Duration elapsed, Instant now, EffectSink& sink);
  void try_begin(Instant now, EffectSink& sink);
  void after_commit_moved(Instant now, EffectSink& sink);
  void finish_confirmed(Instant now, EffectSink& sink);
  void note_light(Instant now);
  void finish_failed(Instant now, EffectSink& sink);
  void want_jobs_again(const Intent& asked);
  bool has_unlit_jobs() const;
  void keep_stage(const Job& lit);
  bool refuse_new_jobs(const std::string& reason, const Intent& asked);
  std::shared_ptr<const PlanResult> without_absent_maintenance(std::shared_ptr<const PlanResult> plan) const;
  void add_doubt(const Plan& plan);
  void doubt_switches_of(NodeId node, Instant now);
  bool awaits_reading(Instant now) const;
  void doubt_what_switches_lost();
  std::string next_after(const FabricCommit& failed, const std::string& otherwise) const;
  std::shared_ptr<const PlanResult> with_doubt(std::shared_ptr<const PlanResult> plan) const;
  void advance_stage(JobEntry& entry, Instant now, EffectSink& sink);
  bool play_again(JobEntry& entry, Instant now, EffectSink& sink);
  void record_history(CommitReport report);

  // desk.cpp: requests, answers, trials
  void on_operator(Peer from, const Envelope& envelope, const OperatorRequest& request, Instant now, EffectSink& sink);
  bool answer_again(const Asker& asker, EffectSink& sink);
  void settle(const Asker& asker, OperatorReply reply, EffectSink& sink);
  void refuse(const Asker& asker, Error error, EffectSink& sink);
  void try_out(Trial trial, EffectSink& sink);
  void finish_trial(const PlanOutcome& outcome, Instant now, EffectSink& sink);
  void adopt(const Trial& trial, const PlanResult& tried, Instant now, EffectSink& sink);
  void follow_jobs(const Intent& before);
  void answer_when_durable(const Asker& asker, OperatorReply answered, EffectSink& sink);
  IntentRecord intent_record(std::optional<IntentCause> cause = {}) const;
  void take_back_orders(const Intent& failed);

  // desk_orders.cpp: jobs, lasers, nodes
  void obey(const Asker& asker, const SubmitJob& order, Instant now, EffectSink& sink);
  void obey(const Asker& asker, const CancelJob& order, Instant now, EffectSink& sink);
  void obey(const Asker& asker, const ChangeJob& order, Instant now, EffectSink& sink);
  void obey(const Asker& asker, const ResizeJob& order, Instant now, EffectSink& sink);
  void obey(const Asker& asker, const OrderLasers& order, Instant now, EffectSink& sink);
  // desk_attend.cpp: launchers that are asked before their job's light goes dark
  void obey(const Asker& asker, const AttendJob& order, Instant now, EffectSink& sink);
  Revision quiesce_of(const JobEntry& entry) const;
  bool awaits_quiet(Instant now, EffectSink& sink);
  void obey(const Asker& asker, const OrderNode& order, Instant now, EffectSink& sink);
  void drain(const Asker& asker, const OrderNode& order, EffectSink& sink);
  void release(const Asker& asker, const OrderNode& order, Instant now, EffectSink& sink);
  void take_laser_order();
  bool in_maintenance(NodeId node) const;
  bool wants_dark(NodeId node) const;
  bool leads_latch(NodeId node, bool is_latched) const;
  void say_latches(EffectSink& sink);
  bool is_ready(NodeId node, Instant now) const;

  // desk_devices.cpp: devices, alarms
  void obey(const Asker& asker, const OrderDevice& order, Instant now, EffectSink& sink);
  void obey(const Asker& asker, const OrderReset& order, Instant now, EffectSink& sink);
  void obey(const Asker& asker, const AcknowledgeAlarm& order, Instant now, EffectSink& sink);
  void on_device_reset(NodeId node, const DeviceReset& answer, EffectSink& sink);
  void repeat_resets(Instant now, EffectSink& sink);
  std::string circuits_using(const Device& device) const;

  // desk_schedule.cpp
  void obey(const Asker& asker, const ApplySchedule& order, Instant now, EffectSink& sink);
  void obey(const Asker& asker, const ConfirmSchedule& order, Instant now, EffectSink& sink);
  void obey(const Asker& asker, const RollBackSchedule& order, Instant now, EffectSink& sink);
  void obey(const Asker& asker, const DiffSchedule& order, Instant now, EffectSink& sink);
  Result<std::vector<JobSchedule>> pins_of(const std::vector<ScheduledCircuit>& circuits, ApplyMode mode) const;
  const KeptRevision* revision_before_confirmed() const;
  void watch_probation(Instant now, EffectSink& sink);

  // desk_explain.cpp
  void add_forwarded(CircuitExplanation& it) const;
  OperatorReply explain(const Query& query) const;
  HopReport describe(const Circuit& circuit, const LitHop& lit) const;

  // desk_answers.cpp: questions
  OperatorReply answer(const Query& query, Instant now) const;
  ReplyRows all_rows(const Query& query, Instant now) const;
  std::vector<NodeReport> node_rows(const Query& query, Instant now) const;
  const JobSchedule* schedule_of(JobId job) const;
  std::vector<JobReport> job_rows(const Query& query) const;
  StatusReport status(Instant now) const;
  DriftCounts drift_counts(Instant now) const;
  std::vector<DeviceReport> device_rows(const Query& query, Instant now) const;
  std::string state_of(const Circuit& circuit, bool plays_timeslots) const;
  std::vector<CircuitReport> circuit_rows(const Query& query) const;
  void reply(Peer to, OperatorReply reply, EffectSink& sink);

  ControllerOptions options_;
  Term term_;
  ClockId clock_;
  Instant now_{};  ///< of the event in hand
  bool started_ = false;

  Intent intent_;
  std::uint64_t laser_order_ = 0;
  JobId next_job_{1};
  std::map<JobId, JobEntry> jobs_;

  std::vector<AgentSession> sessions_;                    ///< index = node
  std::vector<std::optional<Observation>> observations_;  ///< index = device
  std::map<NodeId, NodeTraffic> traffic_;                 ///< what each node reported last
  Instant adapt_at_{};                                    ///< the next look at measured demand
  std::map<JobId, DemandWatch> watches_;                  ///< of the jobs that adapt
  AlarmBoard alarms_;
  std::uint64_t malformed_ = 0;

  std::shared_ptr<const PlanResult> confirmed_;
  Instant confirmed_at_{};
  Revision next_revision_{1};
  CircuitId next_circuit_{1};
  Doubt doubt_;
  std::uint32_t return_attempts_ = 0;

  DriftWatch drift_;
  std::vector<Instant> light_since_;  ///< by device: confirmation of the last commit that touched it
  bool judge_everything_ = false;     ///< a commit ended since
  Doubt repair_;                      ///< what the next plan shall touch beside what changes
  std::vector<DeviceId> repairing_;   ///< the drifted ones of it, ascending
  bool commit_is_repair_ = false;     ///< the one under way changes no circuit

  bool dirty_ = false;
  Instant dirty_since_{};
  Instant not_before_{};  ///< backoff of a return
  std::string dirty_reason_;
  std::optional<Revision> planning_;
  std::string planning_reason_;
  Intent planning_intent_;
  std::vector<Trial> trials_;
  std::uint64_t trials_made_ = 0;
  std::deque<Answered> answered_;
  std::map<DeviceId, PendingReset> resets_;
  std::uint64_t resets_made_ = 0;
  std::optional<Probation> probation_;

  std::unique_ptr<FabricCommit> commit_;
  bool commit_waits_ = false;  ///< for jobs that are not quiet, and for absent agents
  Instant commit_wait_until_{};
  Instant quiet_wait_until_{};    ///< jobs that the commit darkens are waited for until then
  Instant rearm_until_{};         ///< agents that were told to lift their latch are waited for until then
  bool commit_recorded_ = false;  ///< its next journal row is on the way
  std::deque<CommitReport> history_;

  SnapshotRecord journal_;      ///< what the journal says, its rows under way included
  std::uint64_t appended_ = 0;  ///< Append effects of this life
  std::deque<PendingAct> acts_;
};

}  // namespace loom
