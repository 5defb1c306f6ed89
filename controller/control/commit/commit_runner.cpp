// From a wanted plan to a commit under way: planning, waiting, running, recording.
#include "controller/control/commit/commit_runner.hpp"

#include <algorithm>
#include <utility>

#include "controller/control/timers.hpp"
#include "core/messages/intake_limits.hpp"

namespace loom {
namespace {

constexpr std::size_t kHistoryKept = 4'096;
/// A thousand times the lead is 20 s by default; more would be hours, and soon no number at all.
constexpr std::uint32_t kLeadGrowths = 5;

std::string number(std::uint64_t value) { return std::to_string(value); }

/// Twice what the slowest switch that the plan moves promises: its driver gives up a little later.
Duration move_time_of(const Fabric& fabric, const Plan& plan) {
  Duration longest{};
  for (const NodePlan& node : plan.nodes) {
    for (const DevicePlan& device : node.devices) {
      const Element& element = fabric.element(fabric.device(device.device).elements[0]);
      if (const auto* ocs = std::get_if<OpticalCircuitSwitch>(&element.kind); ocs && device.touched) {
        longest = std::max(longest, 2 * ocs->settle_max);
      }
    }
  }
  return longest;
}

/// Ascending. While the lasers are off no job has light to lose.
std::vector<JobId> ids_of(const Intent& intent) {
  std::vector<JobId> ids;
  for (const Job& job : intent.jobs) {
    ids.push_back(job.id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

bool has_circuit_of(const std::vector<Circuit>& circuits, JobId job, const std::vector<CircuitId>& touched) {
  return std::any_of(circuits.begin(), circuits.end(), [&](const Circuit& circuit) {
    return circuit.job == job && std::binary_search(touched.begin(), touched.end(), circuit.id);
  });
}

}  // namespace

CommitRunner::CommitRunner(const CommitRunnerParts& parts)
    : facts_(parts.facts),
      desired_(parts.desired),
      confirmed_(parts.confirmed),
      journal_(parts.journal),
      alarms_(parts.alarms),
      sessions_(parts.sessions),
      jobs_(parts.jobs),
      found_(parts.found),
      unusable_(parts.unusable) {}

bool CommitRunner::is_idle() const {
  return facts_.started && std::holds_alternative<Idle>(phase_) && !wanted_ && journal_.is_empty();
}

const FabricCommit* CommitRunner::moving() const {
  const auto* committing = std::get_if<Committing>(&phase_);
  return committing == nullptr || committing->is_waiting() ? nullptr : committing->commit.get();
}

const FabricCommit* CommitRunner::under_way() const {
  const auto* committing = std::get_if<Committing>(&phase_);
  return committing == nullptr ? nullptr : committing->commit.get();
}

std::optional<Revision> CommitRunner::planning() const {
  const auto* planning = std::get_if<Planning>(&phase_);
  return planning == nullptr ? std::nullopt : std::optional(planning->revision);
}

bool CommitRunner::is_returning(NodeId node) const {
  return return_attempts_ <= facts_.timings.return_attempts && uncertain_.has_node(node);
}

// --- the journal's last word ---------------------------------------------------------------------------------------------

void CommitRunner::restore(const SnapshotRecord& state) {
  next_revision_ = state.next_revision;
  next_circuit_ = state.next_circuit;
  if (state.confirmed != nullptr) {
    auto result = std::make_shared<PlanResult>();
    result->plan = *state.confirmed;
    result->intent = *state.kept.back().intent;
    result->next_circuit = state.confirmed_next_circuit;
    confirmed_.confirm(std::move(result));
  }
  known_by_ =
      state.next_revision.value > 1 ? facts_.now + facts_.timings.stage_deadline + facts_.timings.dead_after : Instant{};
  for (const auto& plan : state.uncertain) {
    uncertain_.add(plan);
  }
  if (state.going != nullptr) {
    uncertain_.add(state.going);
  }
  gone_ = confirmed_.revision();
  for (const auto& plan : uncertain_.plans()) {
    gone_ = std::max(gone_, plan->revision);
  }
}

bool CommitRunner::go_beyond(NodeId node, Revision gone, EffectSink& sink) {
  if (gone <= gone_ || gone < first_above_unknown_) {  // its row is older than any word about it
    return gone >= first_unknown_ && gone < first_above_unknown_;
  }
  Alarm alarm;
  alarm.code = AlarmCode::journal_damaged;
  alarm.evidence =
      "node " + number(node.value) + " has applied revision " + number(gone.value) + ", of which this journal knows nothing: ";
  alarm.next_command = "loom device list";
  if (gone > next_revision_ && gone.value - next_revision_.value > limits::kRevisionJump) {
    alarm.node = node;
    alarm.evidence += "that is more than " + number(limits::kRevisionJump) + " above its own, and not believed";
    alarms_.raise(std::move(alarm), facts_.now, sink);
    return true;
  }
  first_unknown_ = first_above_unknown_ == Revision{} ? Revision{gone_.value + 1} : first_unknown_;
  next_revision_ = std::max(next_revision_, Revision{gone.value + 1 + limits::kRevisionsBehindApplied});
  first_above_unknown_ = next_revision_;
  alarm.evidence += "it is an older copy or another controller's; numbers go on at " + number(next_revision_.value) +
                    ", and light that revision " + number(confirmed_.revision().value) +
                    " does not have is reported as foreign";
  alarms_.raise(std::move(alarm), facts_.now, sink);
  return true;
}

void CommitRunner::on_journal_failed(EffectSink& sink) {
  const auto* committing = std::get_if<Committing>(&phase_);
  const bool has_gone = committing != nullptr && committing->commit->stage() > CommitState::firing;
  if (!has_gone) {
    fail_with("the journal takes no rows", sink);
  }
}

// --- planning ------------------------------------------------------------------------------------------------------------

void CommitRunner::want_plan(std::string reason, EffectSink& sink, std::string ordered_by) {
  if (!wanted_) {
    wanted_ = WantedPlan{std::move(reason), facts_.now, std::move(ordered_by)};
  }
  consider_planning(sink);
}

/// The first plan after a start is made when every agent has said what it applied, or is given up. Nobody knows whether this
/// journal is the newest copy: who has not greeted this controller may still be lit and steered by another one.
Instant CommitRunner::earliest_plan() const {
  const Instant due = awaits_reading() ? facts_.now + facts_.timings.beat_interval
                                       : std::max(wanted_->since + facts_.timings.debounce, not_before_);
  return std::max(due, known_by_);
}

void CommitRunner::consider_planning(EffectSink& sink) {
  if (!facts_.started || !wanted_ || !std::holds_alternative<Idle>(phase_) || !journal_.is_empty() || journal_.failure()) {
    return;  // whoever ends that state considers again
  }
  if (facts_.now < known_by_ && sessions_.are_all_known()) {
    known_by_ = {};
  }
  if (const Instant due = earliest_plan(); facts_.now < due) {
    sink.emit(SetTimer{timers::kPlan, due});
    return;
  }
  auto request = std::make_shared<PlanRequest>();
  request->fabric = facts_.fabric;
  found_.add_to(*request);
  request->intent = desired_.intent();
  request->revision = next_revision_;
  request->next_circuit = next_circuit_;
  request->algorithm = facts_.algorithm;
  request->reason = wanted_->reason;
  request->unusable = unusable_.devices();
  request->may_leave_out = confirmed_.exists() && confirmed_.intent().lasers_off ? ids_of(desired_.intent()) : jobs_.unlit();
  unusable_.planned_without(request->unusable);
  phase_ = Planning{next_revision_, std::move(wanted_->reason), std::move(wanted_->ordered_by), desired_.intent()};
  wanted_.reset();
  next_revision_.value += 1;
  sink.emit(MakePlan{std::move(request)});
}

bool CommitRunner::on_planned(const PlanOutcome& outcome, EffectSink& sink) {
  if (planning() != outcome.revision) {
    return false;
  }
  Planning planned = std::move(std::get<Planning>(phase_));
  phase_ = Idle{};
  if (!outcome.result) {
    refuse_plan(planned, outcome.result.error(), sink);
  } else if (planned.intent.lasers_off != desired_.intent().lasers_off) {
    want_plan("lasers were switched while planning", sink);
  } else if (journal_.failure()) {
    want_plan(std::move(planned.reason), sink);
  } else if (const auto refusal = journal_.refusal_of(going_record(*outcome.result))) {
    refuse_plan(planned, *refusal, sink);
  } else {
    start_commit(*outcome.result, std::move(planned), outcome.elapsed, sink);
  }
  return true;
}

void CommitRunner::refuse_plan(const Planning& planned, const Error& error, EffectSink& sink) {
  repair_ = {};
  Alarm alarm;
  alarm.code = AlarmCode::plan_refused;
  alarm.evidence = error.message;
  alarm.next_command = "loom job list";
  alarms_.raise(std::move(alarm), facts_.now, sink);
  CommitReport report;
  report.revision = planned.revision;
  report.base = confirmed_.revision();
  report.outcome = CommitOutcome::refused;
  report.reason = planned.reason + ": " + error.message;
  report.started = facts_.now;
  report.started_wall = facts_.wall(facts_.now);
  report.ordered_by = planned.ordered_by;
  record_history(std::move(report));
  const bool refused = refuse_new_jobs(error.message, planned.intent);
  take_back_requests(planned.intent);
  journal_.append(desired_.record(), PlanAct{}, sink);
  if (refused && (!uncertain_.empty() || has_unlit_jobs())) {
    want_plan("what is left without the jobs that were refused", sink);
  }
}

// --- the commit under way ------------------------------------------------------------------------------------------------

/// A node in maintenance takes part while it can be heard; nobody waits for one that is switched off, unless its light may meet
/// what moves: that is not steered before it is proven dark.
std::shared_ptr<const PlanResult> CommitRunner::without_absent_maintenance(std::shared_ptr<const PlanResult> plan,
                                                                           const KnownState& known) const {
  const std::vector<NodeId> unproven = found_.unproven_nodes(known, plan->plan);
  const auto is_absent = [&](NodeId node) {
    return desired_.in_maintenance(node) && !sessions_.is_present(node) &&
           !std::binary_search(unproven.begin(), unproven.end(), node);
  };
  if (unproven.empty() && std::none_of(plan->plan.changed.begin(), plan->plan.changed.end(), is_absent)) {
    return plan;
  }
  auto narrowed = std::make_shared<PlanResult>(*plan);
  merge_sorted(narrowed->plan.changed, unproven);
  std::erase_if(narrowed->plan.changed, is_absent);
  return narrowed;
}

/// A laser that was read dark since it was last ordered anything shines into nothing.
std::vector<DeviceId> CommitRunner::unproven_lasers(const KnownState& known, const Plan& plan) const {
  std::vector<DeviceId> lasers = unprovable_lasers(*facts_.fabric, known, plan);
  std::erase_if(lasers, [this](DeviceId laser) { return unusable_.is_proven_dark(laser); });
  return lasers;
}

/// What of a scope can be asked: agents that nobody waits for any more, and devices that the plan leaves alone, are found as
/// they are when they come back.
RepairScope CommitRunner::reachable(RepairScope scope, const Plan& plan) const {
  std::erase_if(scope.nodes, [this](NodeId node) { return sessions_.is_given_up(node); });
  const auto is_left = [&](DeviceId id) {
    const NodeId agent = facts_.fabric->device(id).agent;
    const auto& devices = plan.nodes[agent.value].devices;
    return sessions_.is_given_up(agent) || std::any_of(devices.begin(), devices.end(), [&](const DevicePlan& device) {
             return device.device == id && device.left_alone;
           });
  };
  std::erase_if(scope.devices, is_left);
  std::erase_if(scope.steering, is_left);
  return scope;
}

/// Jobs that the plan is without: whoever waits for something that may come back goes on waiting, as does whoever had light
/// before; any other job is refused.
void CommitRunner::follow_left_out(const PlanResult& plan, EffectSink& sink) {
  for (const LeftOut& each : plan.left_out) {
    if (each.in_part || desired_.job(each.job) == nullptr) {
      continue;
    }
    if (!each.devices.empty() || jobs_.had_light(each.job)) {
      jobs_.leave_out(each.job, each.why.message);
      if (!jobs_.had_light(each.job)) {
        desired_.unplace(each.job);
      }
      continue;
    }
    jobs_.refuse(each.job, each.why.message);
    desired_.remove_job(each.job);
    Alarm alarm;
    alarm.code = AlarmCode::plan_refused;
    alarm.evidence = each.why.message;
    alarm.next_command = "loom job show " + number(each.job.value);
    alarms_.raise(std::move(alarm), facts_.now, sink);
  }
}

/// Without the jobs that it leaves out it is what is confirmed already, and known to be in light.
bool CommitRunner::brings_nothing(const PlanResult& plan) const {
  const bool is_without_whole =
      std::any_of(plan.left_out.begin(), plan.left_out.end(), [](const LeftOut& each) { return !each.in_part; });
  if (!is_without_whole || !confirmed_.exists() || !plan.plan.changed.empty() || !uncertain_.empty() ||
      !repair_.nodes.empty()) {
    return false;
  }
  const auto awaits_confirmation = [&](const Job& job) {  // after a start: lit is what was confirmed since
    return !plan.is_without(job.id) && jobs_.at(job.id).state == JobState::pending;
  };
  if (std::any_of(plan.intent.jobs.begin(), plan.intent.jobs.end(), awaits_confirmation)) {
    return false;
  }
  const auto planned = [](const PlanResult& result) {
    Intent intent = result.intent;
    std::erase_if(intent.jobs, [&](const Job& job) { return result.is_without(job.id); });
    return intent;
  };
  return planned(plan) == planned(*confirmed_.present());
}

void CommitRunner::start_commit(std::shared_ptr<const PlanResult> plan, Planning planned, Duration elapsed, EffectSink& sink) {
  const bool is_empty = brings_nothing(*plan);
  follow_left_out(*plan, sink);
  if (is_empty) {
    CommitReport report;
    report.revision = planned.revision;
    report.base = confirmed_.revision();
    report.outcome = CommitOutcome::refused;
    report.reason = planned.reason + ": " + plan->left_out.front().why.message;
    report.started = facts_.now;
    report.started_wall = facts_.wall(facts_.now);
    report.ordered_by = std::move(planned.ordered_by);
    record_history(std::move(report));
    return journal_.append(desired_.record(), PlanAct{}, sink);
  }
  uncertain_.forget_unread();
  Committing committing;
  committing.is_repair = !repair_.nodes.empty() && uncertain_.empty() && plan->plan.changed.empty() && !jobs_.replays_a_stage();
  std::vector<bool> lacks_plan(sessions_.size());
  for (const Node& node : facts_.fabric->nodes) {
    lacks_plan[node.id.value] = sessions_[node.id].lacks_plan;
  }
  RepairScope repaired = reachable(std::exchange(repair_, {}), plan->plan);
  merge_scope(repaired, reachable(found_.otherwise(plan->plan), plan->plan));
  const RepairScope uncertain = reachable(uncertain_.scope(), plan->plan);
  const KnownState known = found_.known(uncertain_.plans());
  plan = widened(std::move(plan), *facts_.fabric, uncertain, repaired, known, lacks_plan);
  plan = without_absent_maintenance(std::move(plan), known);
  next_circuit_ = std::max(next_circuit_, plan->next_circuit);
  for (const Job& placed : plan->intent.jobs) {
    if (!plan->is_without(placed.id)) {
      desired_.place(placed);
    }
  }
  jobs_.planned(*plan);
  ControllerTimings timings = facts_.timings;  // who was too late gets four times as long
  timings.lead_margin *= 1LL << 2 * std::min({return_attempts_, timings.late_attempts, kLeadGrowths});
  committing.commit = std::make_unique<FabricCommit>(std::move(plan), timings, std::move(planned.reason), facts_.now);
  FabricCommit& commit = *committing.commit;
  commit.set_ordered_by(std::move(planned.ordered_by));
  commit.set_wall(facts_.wall(facts_.now));
  commit.set_plan_time(elapsed);
  commit.set_move_time(move_time_of(*facts_.fabric, commit.plan().plan));
  commit.certify(named(commit.plan().plan.certificate, *facts_.fabric));
  committing.agents_until = facts_.now + facts_.timings.stage_deadline;
  committing.quiet_until = facts_.now + facts_.timings.quiesce_deadline;
  if (const auto lasers = unproven_lasers(known, commit.plan().plan); !lasers.empty()) {
    for (const DeviceId laser : lasers) {
      unusable_.hold_back(moved_in_light_of(*facts_.fabric, known, commit.plan().plan, laser), laser);
    }
    commit.fail_with("light of " + facts_.fabric->device(lasers.front()).name +
                     ", which follows no order, may meet what moves, and nobody can prove it dark");
    committing.is_held_back = true;
    phase_ = std::move(committing);
    return follow_commit(sink);
  }
  phase_ = std::move(committing);
  begin_if_ready(sink);
}

void CommitRunner::begin_if_ready(EffectSink& sink) {
  auto* committing = std::get_if<Committing>(&phase_);
  if (committing == nullptr || !committing->is_waiting()) {
    return;
  }
  if (awaits_quiet(*committing, sink)) {
    committing->step = CommitStep::waiting_for_quiet;
    committing->agents_until = facts_.now + facts_.timings.stage_deadline;
    return;
  }
  committing->step = CommitStep::waiting_for_agents;
  const auto& changed = committing->commit->plan().plan.changed;
  const auto absent = std::find_if(changed.begin(), changed.end(), [&](NodeId node) { return !sessions_.is_ready(node); });
  if (absent == changed.end() && committing->commit->revision() < first_above_unknown_) {
    std::string reason = committing->commit->report(facts_.now).reason;
    phase_ = Idle{};
    want_plan(std::move(reason), sink);  // an agent knows another revision of this number
  } else if (absent == changed.end()) {
    committing->step = CommitStep::running;
    committing->commit->begin(facts_.now, facts_.header, sink);
    follow_commit(sink);
  } else if (facts_.now >= committing->agents_until) {
    committing->commit->fail_with("node " + number(absent->value) + " takes part and is not connected (waited " +
                                  std::to_string(facts_.timings.stage_deadline / std::chrono::milliseconds{1}) + " ms)");
    follow_commit(sink);
  }
}

/// Is there an attended job that has not been quiet yet for the commit that waits? Nobody is waited for where the light is dark
/// already (a return, a repair), nor for longer than the deadline.
bool CommitRunner::awaits_quiet(const Committing& committing, EffectSink& sink) {
  if (!uncertain_.empty() || committing.is_repair || desired_.intent().lasers_off) {
    return false;
  }
  for (const auto& [id, record] : jobs_.records()) {
    const Revision wanted = facts_.now < record.attended_until ? quiesce_of(id) : Revision{};
    if (record.quiet_for >= wanted) {
      continue;
    }
    if (facts_.now < committing.quiet_until) {
      return true;
    }
    const auto waited = static_cast<std::uint64_t>(facts_.timings.quiesce_deadline / std::chrono::milliseconds{1});
    alarms_.raise({AlarmCode::job_not_quiet,
                   {},
                   {},
                   "job " + number(id.value) + " (" + jobs_.facts_of(id).name + ") was not quiet for revision " +
                       number(wanted.value) + " within " + number(waited) + " ms; its light goes dark under it",
                   "loom job show " + number(id.value)},
                  facts_.now, sink);
  }
  return false;
}

bool CommitRunner::misses_something() const {
  const bool is_as_ordered = confirmed_.exists() && confirmed_.intent().lasers_off == desired_.intent().lasers_off;
  if (jobs_.any_waits() || !uncertain_.empty() || !is_as_ordered) {
    return true;
  }
  const auto& circuits = confirmed_.plan().circuits;
  return !confirmed_.present()->left_out.empty() ||
         std::any_of(circuits.begin(), circuits.end(),
                     [this](const Circuit& circuit) { return desired_.job(circuit.job) == nullptr; });
}

std::string CommitRunner::waits_for() const {
  const auto* committing = std::get_if<Committing>(&phase_);
  if (committing == nullptr || !committing->is_waiting()) {
    return {};
  }
  const std::string revision = "revision " + number(committing->commit->revision().value) + " waits for ";
  if (committing->step == CommitStep::waiting_for_quiet) {
    for (const auto& [id, record] : jobs_.records()) {
      if (facts_.now < record.attended_until && record.quiet_for < quiesce_of(id)) {
        return revision + "job " + number(id.value) + " to be quiet";
      }
    }
  }
  for (const NodeId node : committing->commit->plan().plan.changed) {
    if (!sessions_.is_ready(node)) {
      return revision + "the agent of node " + number(node.value);
    }
  }
  return {};
}

Revision CommitRunner::quiesce_of(JobId job) const {
  const JobState state = jobs_.at(job).state;
  if (!confirmed_.exists() || state == JobState::ended || state == JobState::refused) {
    return {};
  }
  const std::vector<Circuit>& lit = confirmed_.plan().circuits;
  const FabricCommit* commit = under_way();
  if (commit != nullptr && has_circuit_of(lit, job, commit->plan().plan.touched)) {
    return commit->revision();
  }
  const auto is_uncertain = [&](const Circuit& circuit) {
    const auto device = facts_.fabric->device_of_element[circuit.transmitter.value];
    return circuit.job == job && device && uncertain_.has_device(*device);
  };
  return std::any_of(lit.begin(), lit.end(), is_uncertain) ? next_revision_ : Revision{};
}

void CommitRunner::on_answer(NodeId node, Revision revision, const Body& answer, EffectSink& sink) {
  auto* committing = std::get_if<Committing>(&phase_);
  if (committing != nullptr && !committing->is_waiting() && revision == committing->commit->revision()) {
    committing->commit->on_answer(node, answer, facts_.now, facts_.header, sink);
    follow_commit(sink);
  }
}

void CommitRunner::on_tick(EffectSink& sink) {
  auto* committing = std::get_if<Committing>(&phase_);
  if (committing != nullptr && !committing->is_waiting()) {
    committing->commit->on_tick(facts_.now, facts_.header, sink);
    follow_commit(sink);
  }
}

void CommitRunner::interrupt(NodeId node, EffectSink& sink) {
  auto* committing = std::get_if<Committing>(&phase_);
  if (committing != nullptr && !committing->is_waiting() && committing->commit->takes_part(node)) {
    committing->commit->interrupt(node);
    follow_commit(sink);
  }
}

void CommitRunner::fail_with(std::string why, EffectSink& sink) {
  if (auto* committing = std::get_if<Committing>(&phase_)) {
    committing->commit->fail_with(std::move(why));
    follow_commit(sink);
  }
}

CommitRecord CommitRunner::going_record(const std::shared_ptr<const PlanResult>& plan) const {
  CommitRecord record{CommitDecision::going, plan->plan.revision, next_circuit_, {plan, &plan->plan}};
  if (plan->intent != desired_.intent()) {  // an operator has changed it since
    record.intent = {plan, &plan->intent};
  }
  return record;
}

/// What the commit's verdict asks for now.
void CommitRunner::follow_commit(EffectSink& sink) {
  Committing& committing = std::get<Committing>(phase_);
  FabricCommit& commit = *committing.commit;
  switch (commit.verdict()) {
    case CommitVerdict::failed:
      return finish_failed(sink);
    case CommitVerdict::wants_going:
      if (committing.step == CommitStep::running) {
        committing.step = CommitStep::recording_going;
        gone_ = std::max(gone_, commit.revision());
        journal_.append(desired_.record(), sink);
        journal_.append(going_record(commit.shared_plan()), GoAct{commit.revision()}, sink);
      }
      break;
    case CommitVerdict::applied:
      if (committing.step == CommitStep::running) {
        committing.step = CommitStep::recording_confirmed;
        journal_.append(CommitRecord{CommitDecision::confirmed, commit.revision(), next_circuit_, nullptr},
                        ConfirmAct{commit.revision()}, sink);
      }
      break;
    case CommitVerdict::running:
      break;
  }
  if (commit.next_tick() != kNever) {
    sink.emit(SetTimer{timers::kTick, commit.next_tick()});
  }
}

void CommitRunner::on_going_recorded(Revision revision, EffectSink& sink) {
  auto* committing = std::get_if<Committing>(&phase_);
  const bool is_awaited =
      committing != nullptr && committing->step == CommitStep::recording_going && committing->commit->revision() == revision;
  if (is_awaited) {
    committing->step = CommitStep::running;
    committing->commit->go(facts_.now, facts_.header, sink);
    follow_commit(sink);
  }
}

void CommitRunner::on_confirmed_recorded(Revision revision, EffectSink& sink) {
  const auto* committing = std::get_if<Committing>(&phase_);
  const bool is_awaited = committing != nullptr && committing->step == CommitStep::recording_confirmed &&
                          committing->commit->revision() == revision;
  if (is_awaited) {
    finish_confirmed(sink);
  }
}

// --- uncertain devices ---------------------------------------------------------------------------------------------------

/// Not longer than one poll: a device that cannot be read will tell so by itself.
bool CommitRunner::awaits_reading() const {
  const Instant since = uncertain_.unread_since();
  const auto is_unread = [&](DeviceId id) {
    const Observation* seen = sessions_.observed(id);
    return seen == nullptr || seen->read_at < since;
  };
  return facts_.now < since + poll_bound(facts_.timings) &&
         std::any_of(uncertain_.unread().begin(), uncertain_.unread().end(), is_unread);
}

void CommitRunner::record_history(CommitReport report) {
  history_.push_back(std::move(report));
  if (history_.size() > kHistoryKept) {
    history_.pop_front();
  }
}

}  // namespace loom
