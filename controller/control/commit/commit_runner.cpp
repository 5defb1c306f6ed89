// SPDX-License-Identifier: Apache-2.0
// From a wanted plan to the end of its commit: planning, waiting, running, recording; confirmed, and a job's next stage is
// wanted; or failed, and the last good plan comes back by itself.
#include "controller/control/commit/commit_runner.hpp"

#include <algorithm>
#include <utility>

#include "controller/control/jobs/blame.hpp"
#include "controller/control/timers.hpp"
#include "controller/plan/grants.hpp"
#include "core/fabric/dark_time.hpp"
#include "core/messages/intake_limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::size_t kHistoryKept = 4'096;
/// Twice what the slowest laser, and the slowest switch or gain stage, that the plan moves promises: drivers give up a little
/// later.
MoveTimes move_times_of(const Fabric& fabric, const Plan& plan) {
  MoveTimes times;
  for (const NodePlan& node : plan.nodes) {
    for (const DevicePlan& device : node.devices) {
      if (device.touched) {
        const Element& element = fabric.element(fabric.device(device.device).elements[0]);
        const auto* laser = std::get_if<Transmitter>(&element.kind);
        times.lasers = std::max(times.lasers, 2 * (laser != nullptr ? laser->retune_max : Duration{}));
        times.switches = std::max(times.switches, 2 * settle_time_of(element));
      }
    }
  }
  for (const DeviceId moved : plan.moved_steering) {  // they wait for the word to move
    const Element& element = fabric.element(fabric.device(moved).elements[0]);
    const auto* hologram = std::get_if<WavelengthSelectiveSwitch>(&element.kind);
    times.least = std::max(times.least, hologram != nullptr ? hologram->settle_max : Duration{});
  }
  return times;
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

/// A laser that was read dark since it was last ordered anything shines into nothing.
std::vector<DeviceId> unproven_lasers(const Fabric& fabric, const KnownState& known, const Plan& plan,
                                      const UnusableWatch& unusable) {
  std::vector<DeviceId> lasers = unprovable_lasers(fabric, known, plan);
  std::erase_if(lasers, [&](DeviceId laser) { return unusable.is_proven_dark(laser); });
  return lasers;
}

/// Without the jobs that it leaves out it is what is confirmed already, and that is known to be in light.
bool is_as_confirmed(const PlanResult& plan, const ConfirmedPlans& confirmed, const Jobs& jobs) {
  const bool is_without_whole =
      std::any_of(plan.left_out.begin(), plan.left_out.end(), [](const LeftOut& each) { return !each.in_part; });
  if (!is_without_whole || !confirmed.exists() || !plan.plan.changed.empty()) {
    return false;
  }
  const auto awaits_confirmation = [&](const Job& job) {  // after a start: lit is what was confirmed since
    return !plan.is_without(job.id) && jobs.at(job.id).state == JobState::pending;
  };
  if (std::any_of(plan.intent.jobs.begin(), plan.intent.jobs.end(), awaits_confirmation)) {
    return false;
  }
  const auto planned = [](const PlanResult& result) {
    Intent intent = result.intent;
    std::erase_if(intent.jobs, [&](const Job& job) { return result.is_without(job.id); });
    return intent;
  };
  return planned(plan) == planned(*confirmed.present());
}

/// Its plan is to be recorded before it goes: agents were asked, and until they answer there is time.
bool has_to_record(const FabricCommit& commit, const JournalQueue& journal) {
  return commit.stage() < CommitState::firing && !journal.has_planned(commit.revision()) && !journal.failure();
}

/// The agents of a job and the lasers of its light.
RepairScope light_of(const Job& job, const Fabric& fabric, const Plan& plan) {
  RepairScope scope;
  scope.nodes = job.nodes;
  for (const Circuit& circuit : plan.circuits) {
    const auto device = fabric.device_of_element[circuit.transmitter.value];
    if (circuit.job == job.id && device) {
      scope.devices.push_back(*device);
    }
  }
  std::sort(scope.nodes.begin(), scope.nodes.end());
  std::sort(scope.devices.begin(), scope.devices.end());
  scope.devices.erase(std::unique(scope.devices.begin(), scope.devices.end()), scope.devices.end());
  return scope;
}

/// Jobs of a commit that failed, ascending, that need none of the agents at which it did.
std::vector<JobId> innocent_of(const FabricCommit& failed, const Fabric& fabric) {
  const CommitFailure& failure = failed.failure();
  const bool is_one = failure.nodes.empty() && failure.node.value < fabric.nodes.size();
  return jobs_without(fabric, failed.plan(), is_one ? std::vector{failure.node} : failure.nodes);
}

/// A stage whose timeslots stayed dark is on its way to be played again.
bool replays_a_stage(const Jobs& jobs) {
  return std::any_of(jobs.records().begin(), jobs.records().end(),
                     [](const auto& row) { return row.second.stage_repeats > 0 && row.second.state == JobState::committing; });
}

void append(std::deque<CommitReport>& history, CommitReport report) {
  history.push_back(std::move(report));
  if (history.size() > kHistoryKept) {
    history.pop_front();
  }
}

/// Where what was measured is more than the fabric promises, the plan has the longer guard; people shall know what it costs.
std::optional<Alarm> alarm_of_guard(const Fabric& fabric, const Plan& plan, FireSkew& skew) {
  for (const NodePlan& slice : plan.nodes) {
    const bool is_laid = slice.grants && slice.grants->routed_by == plan.revision;
    const Duration widened = is_laid ? widened_by(fabric, plan, slice.grants->job) : Duration{};
    if (widened > Duration{}) {
      return Alarm{
          AlarmCode::fire_underflow,
          {},
          {},
          format_text("agents fired up to {} us late (p99.9 of {} firings), more than the guard that the fabric "
                      "promises: grants of job {} have a guard of {} us, {} us longer",
                      skew.p999() / std::chrono::microseconds{1}, skew.count(), slice.grants->job.value,
                      guard_of(slice.grants->timings) / std::chrono::microseconds{1}, widened / std::chrono::microseconds{1}),
          "loom schedule history"};
    }
  }
  return std::nullopt;
}

/// Of a plan that never became a commit.
CommitReport refused(Revision revision, const ControllerFacts& facts, const ConfirmedPlans& confirmed) {
  CommitReport report;
  report.revision = revision;
  report.base = confirmed.revision();
  report.outcome = CommitOutcome::refused;
  report.started = facts.now;
  report.started_wall = facts.wall(facts.now);
  return report;
}

/// Nodes that do not go into maintenance after all may be latched off for it already: a newer order lifts that.
void lift_latches(const std::vector<NodeId>& nodes, const ControllerFacts& facts, DesiredIntent& desired,
                  AgentSessions& sessions) {
  for (const NodeId node : nodes) {
    sessions.keep_laser_order(desired.take_laser_request(facts.header.term), node);
    sessions.await_rearm(facts.now + facts.timings.stage_deadline / 2);
  }
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
      unusable_(parts.unusable),
      numbers_(parts.numbers),
      returns_(parts.returns),
      dark_forecast_(parts.dark_forecast),
      admission_(facts_, desired_, confirmed_, alarms_, jobs_),
      conditions_({facts_, confirmed_, alarms_, sessions_, jobs_, numbers_, returns_}) {}

bool CommitRunner::is_idle() const {
  return facts_.started && std::holds_alternative<Idle>(phase_) && !wanted_ && journal_.is_empty();
}

const FabricCommit* moving(const CommitRunner& commits) {
  const FabricCommit* commit = commits.under_way();
  return commit == nullptr || commit->stage() == CommitState::idle ? nullptr : commit;
}

const FabricCommit* CommitRunner::under_way() const {
  const auto* committing = std::get_if<Committing>(&phase_);
  return committing == nullptr ? nullptr : committing->commit.get();
}

std::optional<Revision> CommitRunner::planning() const {
  const auto* planning = std::get_if<Planning>(&phase_);
  return planning == nullptr ? std::nullopt : std::optional(planning->revision);
}

std::string CommitRunner::waits_for() const {
  const auto* committing = std::get_if<Committing>(&phase_);
  if (committing == nullptr || !committing->is_waiting()) {
    return {};
  }
  const FabricCommit& commit = *committing->commit;
  const std::string revision = format_text("revision {} waits for ", commit.revision().value);
  if (facts_.clock_problem) {
    return revision + "a clock that may time it: " + facts_.clock_problem->message;
  }
  if (committing->step == CommitStep::waiting_for_quiet) {
    if (const auto job = conditions_.unquiet_job(commit)) {
      return format_text("{}job {} to be quiet", revision, job->value);
    }
  }
  const std::vector<NodeId> absent = conditions_.absent_agents(commit);
  return absent.empty() ? std::string{} : format_text("{}the agent of node {}", revision, absent.front().value);
}

// --- planning ------------------------------------------------------------------------------------------------------------

void CommitRunner::want_plan(std::string reason, EffectSink& sink, std::string ordered_by) {
  if (!wanted_) {
    wanted_ = WantedPlan{std::move(reason), facts_.now, std::move(ordered_by)};
  }
  consider_planning(sink);
}

void CommitRunner::consider_planning(EffectSink& sink) {
  if (!facts_.started || !wanted_ || !std::holds_alternative<Idle>(phase_) || !journal_.is_empty() || journal_.failure() ||
      facts_.clock_problem) {
    return;  // whoever ends that state considers again
  }
  if (facts_.now < numbers_.known_by() && are_all_known(sessions_, *facts_.fabric)) {
    numbers_.all_are_known();
  }
  const Instant due =
      std::max(returns_.awaits_reading() ? facts_.now + facts_.timings.beat_interval
                                         : std::max(wanted_->since + facts_.timings.debounce, returns_.not_before()),
               numbers_.known_by());
  if (facts_.now < due) {
    sink.emit(SetTimer{timers::kPlan, due});
    return;
  }
  auto request = std::make_shared<PlanRequest>();
  request->fabric = facts_.fabric;
  found_.add_to(*request);
  request->intent = desired_.intent();
  request->revision = numbers_.take();
  request->next_circuit = numbers_.next_circuit();
  request->algorithm = facts_.algorithm;
  request->budget.steps = facts_.timings.plan_steps;
  request->budget.deadline = facts_.timings.plan_deadline;
  request->reason = wanted_->reason;
  request->fire_skew = fire_skew_.p999();
  request->unusable = unusable_.devices();
  request->make_before_break = confirmed_.exists() && returns_.uncertain().empty() && !confirmed_.is_followed();
  request->may_leave_out =
      confirmed_.exists() && confirmed_.intent().lasers_off ? ids_of(desired_.intent()) : unlit_jobs(desired_.intent(), jobs_);
  unusable_.planned_without(request->unusable);
  phase_ = Planning{request->revision, std::move(wanted_->reason), std::move(wanted_->ordered_by), desired_.intent(),
                    found_.is_for_now(request->observed)};
  wanted_.reset();
  sink.emit(MakePlan{std::move(request)});
}

bool CommitRunner::on_planned(const PlanOutcome& outcome, EffectSink& sink) {
  if (planning() != outcome.revision) {
    return false;
  }
  Planning planned = std::move(std::get<Planning>(phase_));
  phase_ = Idle{};
  if (!outcome.result && planned.is_for_now) {
    wanted_ = wanted_ ? std::move(wanted_)
                      : WantedPlan{std::move(planned.reason), facts_.now + facts_.timings.beat_interval,
                                   std::move(planned.ordered_by)};
    consider_planning(sink);
  } else if (!outcome.result) {
    refuse_plan(std::move(planned), outcome.result.error(), sink);
  } else if (planned.intent.lasers_off != desired_.intent().lasers_off) {
    want_plan("lasers were switched while planning", sink);
  } else if (journal_.failure()) {
    want_plan(std::move(planned.reason), sink);
  } else if (const auto refusal = JournalQueue::refusal_of_plan(outcome.row_bytes)) {
    refuse_plan(std::move(planned), *refusal, sink);
  } else {
    start_commit(*outcome.result, std::move(planned), outcome.elapsed, sink);
  }
  return true;
}

void CommitRunner::refuse_plan(Planning planned, const Error& error, EffectSink& sink) {
  repair_ = {};
  Alarm alarm;
  alarm.code = AlarmCode::plan_refused;
  alarm.evidence = error.message;
  alarm.next_command = "loom job list";
  alarms_.raise(std::move(alarm), facts_.now, sink);
  CommitReport report = refused(planned.revision, facts_, confirmed_);
  report.reason = format_text("{}: {}", planned.reason, error.message);
  report.ordered_by = std::move(planned.ordered_by);
  append(history_, std::move(report));
  const TakenBack taken = admission_.take_back(planned.intent, error.message, sink);
  lift_latches(taken.maintained, facts_, desired_, sessions_);
  journal_.append(desired_.record(), PlanAct{}, sink);
  const bool is_another = taken.is_refused || !taken.maintained.empty();  // intent
  if (is_another && (!returns_.uncertain().empty() || admission_.has_unlit_jobs() || confirmed_.is_followed())) {
    want_plan("what is left without what was refused", sink);
  }
}

// --- the commit under way ------------------------------------------------------------------------------------------------

void CommitRunner::start_commit(std::shared_ptr<const PlanResult> plan, Planning planned, Duration elapsed, EffectSink& sink) {
  const UncertainState& uncertain = returns_.uncertain();
  const bool brings_nothing = uncertain.empty() && repair_.nodes.empty() && is_as_confirmed(*plan, confirmed_, jobs_);
  admission_.leave_out(*plan, sink);
  if (brings_nothing) {
    CommitReport report = refused(planned.revision, facts_, confirmed_);
    report.reason = format_text("{}: {}", planned.reason, plan->left_out.front().why.message);
    report.ordered_by = std::move(planned.ordered_by);
    append(history_, std::move(report));
    return journal_.append(desired_.record(), PlanAct{}, sink);
  }
  if (auto alarm = alarm_of_guard(*facts_.fabric, plan->plan, fire_skew_)) {
    alarms_.raise(*std::move(alarm), facts_.now, sink);
  }
  returns_.begin_commit();
  Committing committing;
  committing.is_repair = !repair_.nodes.empty() && uncertain.empty() && plan->plan.changed.empty() && !replays_a_stage(jobs_);
  KnownState known = found_.known(uncertain.plans());
  known.left = unusable_.left_switches();
  const std::shared_ptr<const PlanResult> asked = plan;
  plan = found_.widen(std::move(plan), uncertain, std::exchange(repair_, {}), known);
  const std::vector<DeviceId> behind = left_behind(*facts_.fabric, asked->plan, plan->plan);
  std::ranges::for_each(behind, [this](DeviceId laser) { unusable_.leave_behind(laser); });
  known.lights = possible_light_of(unusable_.devices());
  numbers_.take_circuits(plan->next_circuit);
  admission_.place(*plan);
  CommitOrigin origin{std::move(planned.reason), std::move(planned.ordered_by), facts_.wall(facts_.now), elapsed,
                      named(plan->plan.certificate, *facts_.fabric)};
  origin.forecast = dark_forecast_.of(*facts_.fabric, confirmed_, plan->plan);
  const MoveTimes move_times = move_times_of(*facts_.fabric, plan->plan);
  const CommitPaceOptions pace{answers_, returns_.lead_growth(), fire_skew_.p999()};
  committing.commit =
      std::make_unique<FabricCommit>(std::move(plan), facts_.timings, pace, std::move(origin), facts_.now, move_times);
  FabricCommit& commit = *committing.commit;
  committing.agents_until = facts_.now + facts_.timings.stage_deadline;
  committing.quiet_until = facts_.now + facts_.timings.quiesce_deadline;
  const auto lasers = unproven_lasers(*facts_.fabric, known, commit.plan().plan, unusable_);
  for (const DeviceId laser : lasers) {
    unusable_.hold_back(moved_in_light_of(*facts_.fabric, known, commit.plan().plan, laser), laser);
  }
  if (!lasers.empty()) {
    commit.fail_with({format_text("light of {}, which follows no order, may meet what moves, and nobody can prove it dark",
                                  facts_.fabric->device(lasers.front()).name)});
  } else if (!behind.empty()) {
    commit.fail_with({format_text("{} follows no order, and the light of its job begins anew without it",
                                  facts_.fabric->device(behind.front()).name)});
  }
  if (!lasers.empty() || !behind.empty()) {
    committing.is_held_back = true;
    committing.is_left_behind = !behind.empty();
    phase_ = std::move(committing);
    return follow_commit(sink);
  }
  phase_ = std::move(committing);
  begin_if_ready(sink);
}

void CommitRunner::begin_if_ready(EffectSink& sink) {
  auto* committing = std::get_if<Committing>(&phase_);
  if (committing == nullptr || !committing->is_waiting() || facts_.clock_problem) {
    return;
  }
  FabricCommit& commit = *committing->commit;
  // Nobody is waited for where the light is dark already: a return, a repair.
  const bool may_darken = returns_.uncertain().empty() && !committing->is_repair && !desired_.intent().lasers_off;
  if (may_darken && conditions_.await_quiet(commit, committing->quiet_until, sink)) {
    committing->step = CommitStep::waiting_for_quiet;
    committing->agents_until = facts_.now + facts_.timings.stage_deadline;
    return;
  }
  committing->step = CommitStep::waiting_for_agents;
  std::vector<NodeId> absent = conditions_.absent_agents(commit);
  if (absent.empty() && numbers_.is_taken(commit.revision())) {
    std::string reason = commit.report(facts_.now).reason;
    phase_ = Idle{};
    want_plan(std::move(reason), sink);
  } else if (absent.empty()) {
    committing->step = CommitStep::running;
    commit.begin(facts_.now, facts_.header, sink);
    follow_commit(sink);
  } else if (facts_.now >= committing->agents_until) {
    CommitFailure failure;
    failure.node = absent.front();
    failure.why = format_text("node {} takes part and is not connected (waited {} ms)", absent.front().value,
                              facts_.timings.stage_deadline / std::chrono::milliseconds{1});
    failure.nodes = std::move(absent);
    commit.fail_with(std::move(failure));
    follow_commit(sink);
  }
}

void CommitRunner::on_answer(NodeId node, Revision revision, const Body& answer, EffectSink& sink) {
  auto* committing = std::get_if<Committing>(&phase_);
  if (committing != nullptr && !committing->is_waiting() && revision == committing->commit->revision()) {
    const std::uint32_t done = committing->commit->done();
    committing->commit->on_answer(node, answer, facts_.now, facts_.header, sink);
    if (const auto* darkened = std::get_if<Darkened>(&answer); darkened != nullptr && committing->commit->done() != done) {
      fire_skew_.add(darkened->lateness);
    }
    follow_commit(sink);
  }
}

void CommitRunner::on_tick(EffectSink& sink) {
  auto* committing = std::get_if<Committing>(&phase_);
  if (committing != nullptr && !committing->is_waiting()) {
    if (has_to_record(*committing->commit, journal_)) {
      journal_.append_planned(committing->commit->shared_plan(), numbers_.next_circuit(), sink);
    }
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
    committing->commit->fail_with({std::move(why)});
    follow_commit(sink);
  }
}

void CommitRunner::on_journal_failed(EffectSink& sink) {
  const auto* committing = std::get_if<Committing>(&phase_);
  const bool has_gone = committing != nullptr && committing->commit->stage() > CommitState::firing;
  if (!has_gone) {
    fail_with("the journal takes no rows", sink);
  }
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
        numbers_.went(commit.revision());
        journal_.append_planned(commit.shared_plan(), numbers_.next_circuit(), sink);
        journal_.append(desired_.record(), sink);
        journal_.append(CommitRecord{CommitDecision::going, commit.revision(), numbers_.next_circuit(), nullptr},
                        GoAct{commit.revision()}, sink);
      }
      break;
    case CommitVerdict::applied:
      if (committing.step == CommitStep::running) {
        committing.step = CommitStep::recording_confirmed;
        journal_.append(CommitRecord{CommitDecision::confirmed, commit.revision(), numbers_.next_circuit(), nullptr},
                        ConfirmAct{commit.revision()}, sink);
      }
      break;
    case CommitVerdict::running:
      break;
  }
  if (const Instant tick = has_to_record(commit, journal_) ? facts_.now : commit.next_tick(); tick != kNever) {
    sink.emit(SetTimer{timers::kTick, tick});
  }
}

void CommitRunner::on_recorded(CommitDecision decision, Revision revision, EffectSink& sink) {
  auto* committing = std::get_if<Committing>(&phase_);
  const CommitStep awaited = decision == CommitDecision::going ? CommitStep::recording_going : CommitStep::recording_confirmed;
  if (committing == nullptr || committing->step != awaited || committing->commit->revision() != revision) {
    return;
  }
  if (decision == CommitDecision::confirmed) {
    return finish_confirmed(sink);
  }
  committing->step = CommitStep::running;
  committing->commit->go(facts_.now, facts_.header, sink);
  follow_commit(sink);
}

// --- confirmed -----------------------------------------------------------------------------------------------------------

void CommitRunner::finish_confirmed(EffectSink& sink) {
  const std::unique_ptr<FabricCommit> commit = std::move(std::get<Committing>(phase_).commit);
  confirmed_.confirm(commit->shared_plan());
  unusable_.commit_confirmed();
  alarms_.clear(AlarmCode::plan_refused);
  alarms_.clear(AlarmCode::commit_returned);
  alarms_.clear(AlarmCode::confirm_overdue);
  commit->confirm(facts_.header, sink);
  CommitReport report = commit->report(facts_.now);
  report.outcome = CommitOutcome::committed;
  if (report.touched > 0 && report.dark.count > 0) {
    dark_forecast_.keep(report.agents, report.slowest_time, report.dark.max);
  }
  append(history_, std::move(report));
  phase_ = Idle{};
  end_ = CommitEnd{true, false, nullptr};
  returns_.end();
  sessions_.keep_confirmed();
  sink.emit(SetTimer{timers::kReconcile, facts_.now + facts_.timings.debounce});
  jobs_.confirmed(*confirmed_.present());
  for (const JobId id : jobs_in_light(jobs_)) {
    advance_stage(id, sink);
  }
  if (confirmed_.is_followed()) {
    want_plan(format_text("what waited for revision {}", confirmed_.revision().value), sink);
  }
  consider_planning(sink);
}

// --- failed --------------------------------------------------------------------------------------------------------------

void CommitRunner::finish_failed(EffectSink& sink) {
  const bool is_repair = std::get<Committing>(phase_).is_repair;
  const bool is_held_back = std::get<Committing>(phase_).is_held_back;
  const bool is_left_behind = std::get<Committing>(phase_).is_left_behind;
  const std::shared_ptr<const FabricCommit> failed = std::move(std::get<Committing>(phase_).commit);
  phase_ = Idle{};
  end_ = CommitEnd{false, is_repair, failed};
  failed->abandon(facts_.header, sink);
  CommitReport report = failed->report(facts_.now);
  report.outcome = failed->may_have_moved() ? CommitOutcome::returned : CommitOutcome::abandoned;
  report.reason += ": " + failed->failure().why;
  append(history_, std::move(report));
  const bool is_contained = unusable_.commit_failed(*failed, sink) || is_held_back;
  const CommitRecord returned{CommitDecision::returned, failed->revision(), numbers_.next_circuit(), nullptr};
  if (is_repair) {  // there is no revision to return to
    journal_.append(returned, PlanAct{}, sink);
    return is_left_behind ? want_plan("again, without what follows no order", sink) : void();
  }
  returns_.add(*failed, sink);
  const bool is_wanted_again = journal_.failure() ||  // nobody's fault; a new incarnation finds what was wanted
                               returns_.may_try_again(*failed, is_contained);
  bool is_spared = false;
  if (is_wanted_again) {
    admission_.want_again(failed->plan(), is_contained);
  } else {
    const std::vector<JobId> innocent = returns_.has_attempts() ? innocent_of(*failed, *facts_.fabric) : std::vector<JobId>{};
    const TakenBack taken = admission_.take_back(failed->plan().intent, failed->failure().why, sink, innocent);
    lift_latches(taken.maintained, facts_, desired_, sessions_);
    is_spared = taken.is_spared;
  }
  journal_.append(desired_.record(), PlanAct{}, sink);
  journal_.append(returned, PlanAct{}, sink);
  const bool is_rearmed = confirmed_.darkened() != nullptr && !desired_.intent().lasers_off;  // and not yet lit
  const bool has_to_follow = confirmed_.is_followed() || is_rearmed;
  if (returns_.uncertain().empty() && !is_wanted_again && !is_spared && !has_to_follow) {
    return consider_planning(sink);
  }
  if (auto reason = returns_.begin_attempt(*failed, is_wanted_again || has_to_follow, sink)) {
    want_plan(*std::move(reason), sink);
  }
}

// --- stages --------------------------------------------------------------------------------------------------------------

void CommitRunner::advance_stage(JobId job, EffectSink& sink) {
  const auto dark = jobs_.take_played_stage(job);
  const Job* wanted = desired_.job(job);
  if (!dark || wanted == nullptr) {
    return;
  }
  if (*dark > 0 && jobs_.at(job).stage_repeats < facts_.timings.late_attempts && confirmed_.exists()) {
    merge_scope(repair_, light_of(*wanted, *facts_.fabric, confirmed_.plan()));  // relays wait for it: all nodes of the job
    jobs_.repeat_stage(job, numbers_.next());
    return want_plan(format_text("job {} plays stage {} again: {}{} stayed dark", job.value, wanted->stage + 1, *dark,
                                 *dark == 1 ? " timeslot" : " timeslots"),
                     sink);
  }
  const std::uint32_t stages = jobs_.at(job).stages;
  if (stages <= 1) {
    return;  // its nodes repeat it
  }
  const std::uint32_t next = (wanted->stage + 1) % stages;
  desired_.go_to_stage(job, next);
  jobs_.next_stage(job, next, numbers_.next());
  journal_.append(desired_.record(), PlanAct{}, sink);
  want_plan(format_text("job {} goes to stage {} of {}", job.value, next + 1, stages), sink);
}

}  // namespace loom
