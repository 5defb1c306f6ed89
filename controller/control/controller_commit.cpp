// From a change of intent to confirmed light: planning orders, the commit under way, confirmation, and the automatic return.
#include <algorithm>
#include <iterator>

#include "controller/control/controller.hpp"
#include "controller/control/timers.hpp"
#include "controller/plan/grants.hpp"
#include "controller/plan/reconcile.hpp"

namespace loom {
namespace {

/// Twice what the slowest switch that the plan moves promises: its driver gives up a little later.
Duration move_time_of(const Fabric& fabric, const Plan& plan) {
  Duration longest{};
  for (const DeviceId id : plan.moved_switches) {
    const Element& element = fabric.element(fabric.device(id).elements[0]);
    if (const auto* ocs = std::get_if<OpticalCircuitSwitch>(&element.kind)) {
      longest = std::max(longest, 2 * ocs->settle_max);
    }
  }
  return longest;
}

constexpr std::size_t kHistoryKept = 4'096;

template <class T>
void merge_sorted(std::vector<T>& into, const std::vector<T>& more) {
  std::vector<T> merged;
  merged.reserve(into.size() + more.size());
  std::set_union(into.begin(), into.end(), more.begin(), more.end(), std::back_inserter(merged));
  into = std::move(merged);
}

Job* find_job(Intent& intent, JobId id) {
  const auto it = std::find_if(intent.jobs.begin(), intent.jobs.end(), [&](const Job& job) { return job.id == id; });
  return it == intent.jobs.end() ? nullptr : &*it;
}

std::uint32_t stages_of(const Schedule& schedule, JobId job) {
  const auto it = std::find_if(schedule.jobs.begin(), schedule.jobs.end(), [&](const JobSchedule& s) { return s.job == job; });
  return it == schedule.jobs.end() ? 1U : static_cast<std::uint32_t>(it->stages.size());
}

std::string note_of(const Schedule& schedule, JobId job) {
  const auto it = std::find_if(schedule.jobs.begin(), schedule.jobs.end(), [&](const JobSchedule& s) { return s.job == job; });
  return it == schedule.jobs.end() ? std::string{} : it->note;
}

}  // namespace

void Controller::want_plan(std::string reason, Instant now, EffectSink& sink) {
  if (!dirty_) {
    dirty_ = true;
    dirty_since_ = now;
    dirty_reason_ = std::move(reason);
  }
  consider_planning(now, sink);
}

void Controller::consider_planning(Instant now, EffectSink& sink) {
  if (!started_ || !dirty_ || planning_.has_value() || commit_ != nullptr || !acts_.empty()) {
    return;  // whoever ends that state considers again
  }
  const Instant due = awaits_reading(now) ? now + options_.timings.beat_interval
                                          : std::max(dirty_since_ + options_.timings.debounce, not_before_);
  if (now < due) {
    sink.emit(SetTimer{timers::kPlan, due});
    return;
  }
  dirty_ = false;
  auto request = std::make_shared<PlanRequest>();
  request->fabric = options_.fabric;
  request->base = confirmed_ == nullptr ? nullptr : std::shared_ptr<const Plan>(confirmed_, &confirmed_->plan);
  request->intent = intent_;
  request->revision = next_revision_;
  request->next_circuit = next_circuit_;
  request->algorithm = options_.algorithm;
  request->reason = dirty_reason_;
  planning_ = next_revision_;
  next_revision_.value += 1;
  planning_reason_ = std::move(dirty_reason_);
  planning_intent_ = intent_;
  sink.emit(MakePlan{std::move(request)});
}

void Controller::on(const Planned& planned, Instant now, EffectSink& sink) {
  const PlanOutcome& outcome = planned.outcome;
  if (!planning_.has_value() || outcome.revision != *planning_) {
    finish_trial(outcome, now, sink);
    return;
  }
  planning_.reset();
  if (!outcome.result) {
    repair_ = {};
    Alarm alarm;
    alarm.code = AlarmCode::plan_refused;
    alarm.evidence = outcome.result.error().message;
    alarm.next_command = "loom job list";
    raise(std::move(alarm), sink);
    CommitReport report;
    report.revision = outcome.revision;
    report.base = confirmed();
    report.outcome = CommitOutcome::refused;
    report.reason = planning_reason_ + ": " + outcome.result.error().message;
    report.started = now;
    record_history(std::move(report));
    const bool refused = refuse_new_jobs(outcome.result.error().message, planning_intent_);
    take_back_orders(planning_intent_);
    append(intent_record(), IntentAct{}, sink);
    if (refused && (!doubt_.empty() || has_unlit_jobs())) {
      want_plan("what is left without the jobs that were refused", now, sink);
    }
    return;
  }
  if (planning_intent_.lasers_off != intent_.lasers_off) {
    want_plan("lasers were switched while planning", now, sink);
    return;
  }
  start_commit(*outcome.result, outcome.elapsed, now, sink);
}

bool Controller::has_unlit_jobs() const {
  return std::any_of(intent_.jobs.begin(), intent_.jobs.end(), [this](const Job& job) {
    const auto entry = jobs_.find(job.id);
    return entry != jobs_.end() && (entry->second.state == "pending" || entry->second.state == "committing");
  });
}

/// Jobs that were asked for and were not in light before; a refusal is theirs to bear. True: there was one.
bool Controller::refuse_new_jobs(const std::string& reason, const Intent& asked) {
  bool refused = false;
  for (const Job& job : asked.jobs) {
    const Job* lit = nullptr;
    if (confirmed_ != nullptr) {
      const auto& jobs = confirmed_->intent.jobs;
      const auto it = std::find_if(jobs.begin(), jobs.end(), [&](const Job& j) { return j.id == job.id; });
      lit = it == jobs.end() ? nullptr : &*it;
    }
    if (lit != nullptr && lit->stage == job.stage) {
      JobEntry& kept = jobs_[job.id];
      kept.state = kept.state == "committing" ? "lit" : kept.state;  // committed again after a restart, and that failed
      continue;
    }
    if (lit != nullptr && lit->measured != job.measured) {  // nobody asked for it: what it had before goes on
      keep_stage(*lit);
      continue;
    }
    std::erase_if(intent_.jobs, [&](const Job& j) { return j.id == job.id; });
    JobEntry& entry = jobs_[job.id];
    entry.state = "refused";
    entry.reason = reason;
    refused = true;
  }
  return refused;
}

/// The job is where its confirmed light is.
void Controller::keep_stage(const Job& lit) {
  if (Job* job = find_job(intent_, lit.id)) {
    job->stage = lit.stage;
    job->measured = lit.measured;
  }
  JobEntry& entry = jobs_[lit.id];
  entry.stage = lit.stage;
  entry.state = lit.stage + 1 >= entry.stages ? "played" : "lit";
}

/// What an interrupted commit was to bring is still to come.
void Controller::want_jobs_again(const Intent& asked) {
  for (const Job& job : asked.jobs) {
    const auto entry = jobs_.find(job.id);
    if (entry != jobs_.end() && entry->second.state == "committing") {
      entry->second.state = "pending";
      entry->second.cycles_done.clear();  // who played it already plays it anew with the others
    }
  }
}

/// A plan made against the confirmed one, widened to everybody whom a failed commit left in doubt and to what is to be
/// repaired: they take part, what it touched goes dark again, and the switches that it may have moved are waited for.
std::shared_ptr<const PlanResult> Controller::with_doubt(std::shared_ptr<const PlanResult> plan) const {
  if (doubt_.empty() && repair_.empty()) {
    return plan;
  }
  auto widened = std::make_shared<PlanResult>(*plan);
  Plan& target = widened->plan;
  const auto is_touched = [&](DeviceId device) {
    return std::binary_search(doubt_.devices.begin(), doubt_.devices.end(), device) ||
           std::binary_search(repair_.devices.begin(), repair_.devices.end(), device);
  };
  for (const Doubt* doubt : {&doubt_, &repair_}) {
    merge_sorted(target.changed, doubt->nodes);
    merge_sorted(target.moved_switches, doubt->switches);
    for (const NodeId node : doubt->nodes) {
      for (DevicePlan& device : target.nodes[node.value].devices) {
        device.touched = device.touched || is_touched(device.device);
      }
    }
  }
  for (const Circuit& circuit : target.circuits) {
    const auto device = options_.fabric->device_of_element[circuit.transmitter.value];
    if (device && is_touched(*device)) {
      target.touched.push_back(circuit.id);
    }
  }
  std::sort(target.touched.begin(), target.touched.end());
  target.touched.erase(std::unique(target.touched.begin(), target.touched.end()), target.touched.end());
  std::vector<NodeId> restored;
  std::copy_if(target.changed.begin(), target.changed.end(), std::back_inserter(restored),
               [&](NodeId node) { return sessions_[node.value].lacks_plan; });
  lay_touched_grants_anew(*options_.fabric, restored, target);
  return widened;
}

/// A node in maintenance takes part while it can be heard; nobody waits for one that is switched off.
std::shared_ptr<const PlanResult> Controller::without_absent_maintenance(std::shared_ptr<const PlanResult> plan) const {
  const auto is_absent = [&](NodeId node) { return in_maintenance(node) && !sessions_[node.value].is_present(); };
  if (std::none_of(plan->plan.changed.begin(), plan->plan.changed.end(), is_absent)) {
    return plan;
  }
  auto narrowed = std::make_shared<PlanResult>(*plan);
  std::erase_if(narrowed->plan.changed, is_absent);
  return narrowed;
}

void Controller::add_doubt(const Plan& plan) {
  Doubt more;
  more.nodes = plan.changed;
  more.switches = plan.moved_switches;
  std::sort(more.switches.begin(), more.switches.end());
  for (const NodePlan& node : plan.nodes) {
    if (!std::binary_search(plan.changed.begin(), plan.changed.end(), node.node)) {
      continue;
    }
    for (const DevicePlan& device : node.devices) {
      if (device.touched) {
        more.devices.push_back(device.device);
      }
    }
  }
  std::sort(more.devices.begin(), more.devices.end());
  merge_sorted(doubt_.nodes, more.nodes);
  merge_sorted(doubt_.devices, more.devices);
  merge_sorted(doubt_.switches, more.switches);
}

/// What such a switch holds now is not what its last report says: its power may have gone in the middle.
void Controller::doubt_switches_of(NodeId node, Instant now) {
  doubt_.since = now;
  doubt_.unread.clear();
  std::copy_if(doubt_.switches.begin(), doubt_.switches.end(), std::back_inserter(doubt_.unread),
               [&](DeviceId id) { return options_.fabric->device(id).agent == node; });
}

/// Not longer than one poll: a switch that cannot be read will tell so by itself.
bool Controller::awaits_reading(Instant now) const {
  return now < doubt_.since + poll_bound(options_.timings) && std::any_of(
                                                                  doubt_.unread.begin(), doubt_.unread.end(),
                                                                  [&](DeviceId id) {
                                                                    const Observation* seen = observed_of(id);
                                                                    return seen == nullptr || seen->read_at < doubt_.since;
                                                                  });
}

/// Light that meets what a switch in doubt has lost goes dark before it is set again, though nobody changed that light.
void Controller::doubt_what_switches_lost() {
  std::vector<DeviceId> read = doubt_.unread;
  std::erase_if(read, [&](DeviceId id) { return observed_of(id) == nullptr || observed_of(id)->read_at < doubt_.since; });
  doubt_.unread.clear();
  if (read.empty() || confirmed_ == nullptr) {
    return;
  }
  std::vector<const Observation*> observations(observations_.size(), nullptr);
  for (const DeviceId id : read) {
    observations[id.value] = observed_of(id);
  }
  const RepairScope scope = repair_scope(*options_.fabric, confirmed_->plan, read, observations, {});
  merge_sorted(doubt_.nodes, scope.nodes);
  merge_sorted(doubt_.devices, scope.devices);
  merge_sorted(doubt_.switches, scope.switches);
}

void Controller::start_commit(std::shared_ptr<const PlanResult> plan, Duration elapsed, Instant now, EffectSink& sink) {
  doubt_what_switches_lost();
  const bool plays_again = std::any_of(jobs_.begin(), jobs_.end(), [](const auto& row) {
    return row.second.stage_repeats > 0 && row.second.state == "committing";
  });
  commit_is_repair_ = !repair_.empty() && doubt_.empty() && plan->plan.changed.empty() && !plays_again;
  plan = without_absent_maintenance(with_doubt(std::move(plan)));
  repair_ = {};
  next_circuit_ = std::max(next_circuit_, plan->next_circuit);
  for (const Job& placed : plan->intent.jobs) {
    if (Job* job = find_job(intent_, placed.id)) {
      if (job->nodes.empty()) {
        job->nodes = placed.nodes;  // a job that has been moved since stays where it was moved to
        job->planes = placed.planes;
        job->orders = placed.orders;
      }
      JobEntry& entry = jobs_[placed.id];
      entry.nodes = placed.nodes;
      std::sort(entry.nodes.begin(), entry.nodes.end());
      entry.stages = stages_of(plan->schedule, placed.id);
      entry.note = note_of(plan->schedule, placed.id);
      if (entry.state == "pending") {
        entry.state = "committing";
        entry.revision = entry.was_lit ? entry.revision : plan->plan.revision;
        entry.was_lit = false;
      }
    }
  }
  ControllerTimings timings = options_.timings;
  timings.lead_margin *=
      1 << 2 * std::min(return_attempts_, timings.late_attempts);  // who was too late gets four times as long
  commit_ = std::make_unique<FabricCommit>(std::move(plan), timings, planning_reason_, now);
  commit_->set_plan_time(elapsed);
  commit_->set_move_time(move_time_of(*options_.fabric, commit_->plan().plan));
  commit_->certify(named(commit_->shared_plan()->plan.certificate, *options_.fabric));
  commit_recorded_ = false;
  commit_waits_ = true;
  commit_wait_until_ = now + options_.timings.stage_deadline;
  quiet_wait_until_ = now + options_.timings.quiesce_deadline;
  try_begin(now, sink);
}

/// Begins when every job that it darkens is quiet and every agent that takes part is there.
void Controller::try_begin(Instant now, EffectSink& sink) {
  if (awaits_quiet(now, sink)) {
    commit_wait_until_ = now + options_.timings.stage_deadline;
    return;
  }
  const auto& changed = commit_->plan().plan.changed;
  const auto absent = std::find_if(changed.begin(), changed.end(), [&](NodeId node) { return !is_ready(node, now); });
  if (absent == changed.end()) {
    commit_waits_ = false;
    commit_->begin(now, letterhead(), sink);
    after_commit_moved(now, sink);
  } else if (now >= commit_wait_until_) {
    commit_waits_ = false;
    commit_->fail_with("node " + std::to_string(absent->value) + " takes part and is not connected (waited " +
                       std::to_string(options_.timings.stage_deadline / std::chrono::milliseconds{1}) + " ms)");
    after_commit_moved(now, sink);
  }
}

void Controller::after_commit_moved(Instant now, EffectSink& sink) {
  if (commit_ == nullptr) {
    return;
  }
  switch (commit_->verdict()) {
    case CommitVerdict::failed:
      finish_failed(now, sink);
      return;
    case CommitVerdict::wants_going:
      if (!commit_recorded_) {
        commit_recorded_ = true;
        const auto plan = commit_->shared_plan();
        append(intent_record(), IntentAct{}, sink);
        CommitRecord going{CommitDecision::going, commit_->revision(), next_circuit_, {plan, &plan->plan}};
        if (plan->intent != intent_) {  // an operator has changed it since
          going.intent = {plan, &plan->intent};
        }
        append(std::move(going), GoAct{commit_->revision()}, sink);
      }
      break;
    case CommitVerdict::applied:
      if (!commit_recorded_) {
        commit_recorded_ = true;
        append(CommitRecord{CommitDecision::confirmed, commit_->revision(), next_circuit_, nullptr},
               ConfirmAct{commit_->revision()}, sink);
      }
      break;
    case CommitVerdict::running:
      break;
  }
  if (commit_->next_tick() != kNever) {
    sink.emit(SetTimer{timers::kTick, commit_->next_tick()});
  }
}

void Controller::record_history(CommitReport report) {
  history_.push_back(std::move(report));
  if (history_.size() > kHistoryKept) {
    history_.pop_front();
  }
}

void Controller::finish_confirmed(Instant now, EffectSink& sink) {
  confirmed_ = commit_->shared_plan();
  confirmed_at_ = now;
  alarms_.clear(AlarmCode::plan_refused);
  alarms_.clear(AlarmCode::commit_returned);
  alarms_.clear(AlarmCode::confirm_overdue);
  commit_->confirm(letterhead(), sink);
  CommitReport report = commit_->report(now);
  report.outcome = CommitOutcome::committed;
  record_history(std::move(report));
  commit_.reset();
  doubt_ = {};
  repairing_.clear();
  note_light(now);
  sink.emit(SetTimer{timers::kReconcile, now + options_.timings.debounce});
  return_attempts_ = 0;
  not_before_ = {};
  for (const Job& job : confirmed_->intent.jobs) {
    JobEntry& entry = jobs_[job.id];
    const bool is_new_light = entry.state == "committing" && entry.stage == job.stage;
    if (is_new_light || entry.state == "pending") {
      entry.state = "lit";
    }
  }
  std::vector<JobId> lit;
  for (const auto& [id, entry] : jobs_) {
    if (entry.state == "lit") {
      lit.push_back(id);
    }
  }
  for (const JobId id : lit) {
    advance_stage(jobs_[id], now, sink);
  }
  const auto waits = [](const JobSchedule& schedule) { return schedule.waiting > 0; };
  if (std::any_of(confirmed_->schedule.jobs.begin(), confirmed_->schedule.jobs.end(), waits)) {
    want_plan("look-ahead panels are wired", now, sink);  // what waited for them may flip to them
  }
  consider_planning(now, sink);
}

/// Who took part has its plan, and what was touched was read back.
void Controller::note_light(Instant now) {
  for (const NodeId node : confirmed_->plan.changed) {
    AgentSession& session = sessions_[node.value];
    session.lacks_plan = false;
    session.restores = 0;
    for (const DevicePlan& device : confirmed_->plan.nodes[node.value].devices) {
      if (device.touched) {
        light_since_[device.device.value] = now;
      }
    }
  }
  judge_everything_ = true;
}

/// Nobody gets past a node that takes part and is away, but for its operator: a node in maintenance is not waited for.
std::string Controller::next_after(const FabricCommit& failed, const std::string& otherwise) const {
  const auto& nodes = failed.plan().plan.changed;
  const auto away = std::find_if(nodes.begin(), nodes.end(), [&](NodeId node) { return !sessions_[node.value].is_present(); });
  return away == nodes.end() ? otherwise : "loom node maintenance " + std::to_string(away->value) + " on --force";
}

void Controller::finish_failed(Instant now, EffectSink& sink) {
  const std::unique_ptr<FabricCommit> failed = std::move(commit_);
  commit_waits_ = false;  // it may have failed before it began: lasers off was ordered
  failed->abandon(letterhead(), sink);
  CommitReport report = failed->report(now);
  report.outcome = failed->is_doubtful() ? CommitOutcome::returned : CommitOutcome::abandoned;
  report.reason += ": " + failed->failure();
  if (commit_is_repair_) {
    record_history(std::move(report));
    append(CommitRecord{CommitDecision::returned, failed->revision(), next_circuit_, nullptr}, IntentAct{}, sink);
    finish_failed_repair(*failed, now, sink);
    return;
  }
  Alarm alarm;
  alarm.code = AlarmCode::commit_returned;
  std::optional<NodeId> failed_node;
  if (failed->failed_node().value < sessions_.size()) {
    failed_node = failed->failed_node();
  }
  alarm.node = failed_node;
  alarm.evidence = "revision " + std::to_string(failed->revision().value) + " did not reach light: " + failed->failure();
  alarm.next_command = next_after(*failed, "loom schedule history");
  record_history(std::move(report));
  raise(std::move(alarm), sink);
  if (failed->is_doubtful()) {
    add_doubt(failed->plan().plan);
    if (failed_node && !failed->was_interrupted() && sessions_[failed_node->value].is_present()) {
      doubt_switches_of(*failed_node, now);  // it said that a device failed
    }
  }
  const ControllerTimings& timings = options_.timings;
  const bool is_wanted_again = (failed->was_interrupted() && return_attempts_ < timings.return_attempts) ||
                               (failed->was_late() && return_attempts_ < timings.late_attempts);
  if (is_wanted_again) {
    want_jobs_again(failed->plan().intent);
  } else {
    refuse_new_jobs(failed->failure(), failed->plan().intent);
    take_back_orders(failed->plan().intent);
  }
  append(intent_record(), IntentAct{}, sink);
  append(CommitRecord{CommitDecision::returned, failed->revision(), next_circuit_, nullptr}, IntentAct{}, sink);
  if (doubt_.empty() && !is_wanted_again) {
    consider_planning(now, sink);
    return;
  }
  // The last good intent is committed again under a new revision; not at once after a return that failed, and not for ever.
  if (++return_attempts_ > options_.timings.return_attempts) {
    Alarm given_up;
    given_up.code = AlarmCode::commit_returned;
    given_up.node = failed_node;
    given_up.evidence = "gave up returning to revision " + std::to_string(confirmed().value) + " after " +
                        std::to_string(options_.timings.return_attempts) + " attempts; " + std::to_string(doubt_.nodes.size()) +
                        " nodes stay dark where they changed: " + failed->failure();
    given_up.next_command = next_after(*failed, "loom device list");
    raise(std::move(given_up), sink);
    return;
  }
  not_before_ = return_attempts_ == 1 ? now : now + options_.timings.return_backoff;
  want_plan((is_wanted_again ? "again: " + failed->failure() : "return to revision " + std::to_string(confirmed().value)), now,
            sink);
}

/// Timeslots stayed dark, and with them bytes of the job unsent (relays wait for theirs): the whole stage once more, by all of
/// the job's nodes. Not for ever.
bool Controller::play_again(JobEntry& entry, Instant now, EffectSink& sink) {
  const std::uint32_t dark = std::exchange(entry.stage_underflows, 0);
  if (dark == 0 || entry.stage_repeats >= options_.timings.late_attempts || confirmed_ == nullptr ||
      find_job(intent_, entry.job) == nullptr) {
    return false;
  }
  ++entry.stage_repeats;
  merge_sorted(repair_.nodes, entry.nodes);
  std::vector<DeviceId> lasers;
  for (const Circuit& circuit : confirmed_->plan.circuits) {
    const auto device = options_.fabric->device_of_element[circuit.transmitter.value];
    if (circuit.job == entry.job && device) {
      lasers.push_back(*device);
    }
  }
  std::sort(lasers.begin(), lasers.end());
  lasers.erase(std::unique(lasers.begin(), lasers.end()), lasers.end());
  merge_sorted(repair_.devices, lasers);
  entry.state = "committing";
  entry.revision = next_revision_;
  want_plan("job " + std::to_string(entry.job.value) + " plays stage " + std::to_string(entry.stage + 1) +
                " again: " + std::to_string(dark) + (dark == 1 ? " timeslot" : " timeslots") + " stayed dark",
            now, sink);
  return true;
}

/// When every node of the job has played all cycles of its stage, the next stage is wanted.
void Controller::advance_stage(JobEntry& entry, Instant now, EffectSink& sink) {
  if (entry.cycles_done.size() < entry.nodes.size() || entry.nodes.empty()) {
    return;
  }
  entry.cycles_done.clear();
  if (play_again(entry, now, sink)) {
    return;
  }
  entry.stage_repeats = 0;
  Job* job = find_job(intent_, entry.job);
  if (job == nullptr || entry.stage + 1 >= entry.stages) {
    entry.state = job == nullptr ? entry.state : "played";
    return;
  }
  job->stage = ++entry.stage;
  entry.state = "committing";
  entry.revision = next_revision_;
  append(intent_record(), IntentAct{}, sink);
  want_plan("job " + std::to_string(entry.job.value) + " goes to stage " + std::to_string(entry.stage + 1) + " of " +
                std::to_string(entry.stages),
            now, sink);
}

}  // namespace loom
