// How a commit ends: confirmed, and a job's next stage is wanted; or failed, and the last good plan comes back by itself.
#include <algorithm>
#include <utility>

#include "controller/control/commit/commit_runner.hpp"
#include "controller/control/timers.hpp"

namespace loom {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

const Job* job_of(const Intent& intent, JobId id) {
  const auto it = std::find_if(intent.jobs.begin(), intent.jobs.end(), [&](const Job& job) { return job.id == id; });
  return it == intent.jobs.end() ? nullptr : &*it;
}

}  // namespace

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
  record_history(std::move(report));
  phase_ = Idle{};
  end_ = CommitEnd{true, false, nullptr};
  uncertain_.clear();
  sessions_.keep_confirmed();
  sink.emit(SetTimer{timers::kReconcile, facts_.now + facts_.timings.debounce});
  return_attempts_ = 0;
  not_before_ = {};
  jobs_.confirmed(*confirmed_.present());
  for (const JobId id : jobs_.all_in_light()) {
    advance_stage(id, sink);
  }
  const auto waits = [](const JobSchedule& schedule) { return schedule.waiting > 0; };
  const auto& schedules = confirmed_.present()->schedule.jobs;
  if (std::any_of(schedules.begin(), schedules.end(), waits)) {
    want_plan("look-ahead panels are wired", sink);  // what waited for them may flip to them
  }
  consider_planning(sink);
}

// --- failed --------------------------------------------------------------------------------------------------------------

void CommitRunner::finish_failed(EffectSink& sink) {
  const bool is_repair = std::get<Committing>(phase_).is_repair;
  const bool is_held_back = std::get<Committing>(phase_).is_held_back;
  const std::shared_ptr<const FabricCommit> failed = std::move(std::get<Committing>(phase_).commit);
  phase_ = Idle{};
  end_ = CommitEnd{false, is_repair, failed};
  failed->abandon(facts_.header, sink);
  CommitReport report = failed->report(facts_.now);
  report.outcome = failed->may_have_moved() ? CommitOutcome::returned : CommitOutcome::abandoned;
  report.reason += ": " + failed->failure();
  record_history(std::move(report));
  const bool is_contained = unusable_.commit_failed(*failed, sink) || is_held_back;
  const CommitRecord returned{CommitDecision::returned, failed->revision(), next_circuit_, nullptr};
  if (is_repair) {  // there is no revision to return to
    return journal_.append(returned, PlanAct{}, sink);
  }
  alarm_of_failure(*failed, sink);
  if (failed->may_have_moved()) {
    const auto plan = failed->shared_plan();
    uncertain_.add({plan, &plan->plan});
    const NodeId node = failed->failed_node();
    const bool says_a_device_failed = !failed->was_interrupted() && !failed->was_surprised();  // a surprise was just read
    if (node.value < sessions_.size() && says_a_device_failed && sessions_.is_present(node)) {
      uncertain_.distrust_steering(*facts_.fabric, node, facts_.now);
    }
    if (const auto device = failed->failed_device(); device && sessions_.is_present(node)) {
      uncertain_.distrust(*device, facts_.now);
    }
  }
  const ControllerTimings& timings = facts_.timings;
  const bool is_late = failed->was_late() || failed->was_surprised();
  const bool is_wanted_again = journal_.failure() ||  // nobody's fault; a new incarnation finds what was wanted
                               ((failed->was_interrupted() || is_contained) && return_attempts_ < timings.return_attempts) ||
                               (is_late && return_attempts_ < timings.late_attempts);
  if (is_wanted_again) {
    jobs_.want_again(failed->plan());
    if (is_contained) {
      place_anew(failed->plan());
    }
  } else {
    refuse_new_jobs(failed->failure(), failed->plan().intent);
    take_back_requests(failed->plan().intent);
  }
  journal_.append(desired_.record(), PlanAct{}, sink);
  journal_.append(returned, PlanAct{}, sink);
  return_or_give_up(*failed, is_wanted_again, sink);
}

void CommitRunner::alarm_of_failure(const FabricCommit& failed, EffectSink& sink) {
  Alarm alarm;
  alarm.code = AlarmCode::commit_returned;
  if (failed.failed_node().value < sessions_.size()) {
    alarm.node = failed.failed_node();
  }
  alarm.evidence = "revision " + number(failed.revision().value) + " did not reach light: " + failed.failure();
  alarm.next_command = next_after(failed, "loom schedule history");
  alarms_.raise(std::move(alarm), facts_.now, sink);
}

/// The last good intent is committed again under a new revision; not at once after a return that failed, and not for ever.
void CommitRunner::return_or_give_up(const FabricCommit& failed, bool is_wanted_again, EffectSink& sink) {
  if (uncertain_.empty() && !is_wanted_again) {
    return consider_planning(sink);
  }
  if (++return_attempts_ > facts_.timings.return_attempts) {
    Alarm given_up;
    given_up.code = AlarmCode::commit_returned;
    if (failed.failed_node().value < sessions_.size()) {
      given_up.node = failed.failed_node();
    }
    given_up.evidence = "gave up returning to revision " + number(confirmed_.revision().value) + " after " +
                        number(facts_.timings.return_attempts) + " attempts; " + number(uncertain_.scope().nodes.size()) +
                        " nodes stay dark where they changed: " + failed.failure();
    given_up.next_command = next_after(failed, "loom device list");
    return alarms_.raise(std::move(given_up), facts_.now, sink);
  }
  not_before_ = return_attempts_ == 1 ? facts_.now : facts_.now + facts_.timings.return_backoff;
  want_plan(is_wanted_again ? "again: " + failed.failure() : "return to revision " + number(confirmed_.revision().value), sink);
}

/// Nobody gets past a node that takes part and is away, but for its operator: a node in maintenance is not waited for.
std::string CommitRunner::next_after(const FabricCommit& failed, const std::string& otherwise) const {
  const auto& nodes = failed.plan().plan.changed;
  const auto away = std::find_if(nodes.begin(), nodes.end(), [&](NodeId node) { return !sessions_.is_present(node); });
  return away == nodes.end() ? otherwise : "loom node maintenance " + number(away->value) + " on --force";
}

/// What follows no order is not needed everywhere: jobs that never had light may go elsewhere.
void CommitRunner::place_anew(const PlanResult& plan) {
  for (const Job& job : plan.intent.jobs) {
    if (!jobs_.had_light(job.id)) {
      desired_.unplace(job.id);
    }
  }
}

/// Jobs that were asked for and were not in light before; a refusal is theirs to bear. True: there was one.
bool CommitRunner::refuse_new_jobs(const std::string& reason, const Intent& asked) {
  bool refused = false;
  for (const Job& job : asked.jobs) {
    const bool has_light = confirmed_.exists() && !confirmed_.present()->is_without(job.id);
    const Job* lit = has_light ? job_of(confirmed_.intent(), job.id) : nullptr;
    if (desired_.job(job.id) == nullptr || jobs_.at(job.id).state == JobState::waiting) {
      continue;  // it went, or the plan that failed was none of its
    }
    if (lit != nullptr && lit->stage == job.stage) {
      jobs_.keep_light(job.id);
    } else if (lit != nullptr && lit->measured != job.measured) {  // nobody asked for it: what it had before goes on
      desired_.keep_stage(*lit);
      jobs_.keep_stage(*lit);
    } else if (lit != nullptr) {  // it runs, and its next stage comes with a later plan
      jobs_.leave_out(job.id, "stage " + number(job.stage + 1) + " did not come into light: " + reason);
    } else {
      jobs_.refuse(job.id, reason);
      desired_.remove_job(job.id);
      refused = true;
    }
  }
  return refused;
}

void CommitRunner::take_back_requests(const Intent& failed) {
  desired_.take_back(failed, confirmed_.exists() ? confirmed_.intent() : Intent{});
}

bool CommitRunner::has_unlit_jobs() const {
  const auto& jobs = desired_.intent().jobs;
  return std::any_of(jobs.begin(), jobs.end(), [this](const Job& job) {
    const JobRecord* record = jobs_.find(job.id);
    return record != nullptr && (record->state == JobState::pending || record->state == JobState::committing);
  });
}

// --- stages --------------------------------------------------------------------------------------------------------------

void CommitRunner::on_cycle_done(NodeId node, Revision revision, const CycleDone& done, EffectSink& sink) {
  if (const auto job = jobs_.keep_cycle(node, revision, done.underflows)) {
    advance_stage(*job, sink);
  }
}

/// Timeslots stayed dark, and with them bytes of the job unsent (relays wait for theirs): the whole stage once more, by all of
/// the job's nodes. Not for ever.
bool CommitRunner::play_again(JobId job, EffectSink& sink) {
  const std::uint32_t dark = jobs_.take_underflows(job);
  if (dark == 0 || jobs_.at(job).stage_repeats >= facts_.timings.late_attempts || !confirmed_.exists() ||
      desired_.job(job) == nullptr) {
    return false;
  }
  RepairScope again;
  again.nodes = jobs_.nodes_of(job);
  for (const Circuit& circuit : confirmed_.plan().circuits) {
    const auto device = facts_.fabric->device_of_element[circuit.transmitter.value];
    if (circuit.job == job && device) {
      again.devices.push_back(*device);
    }
  }
  std::sort(again.nodes.begin(), again.nodes.end());
  std::sort(again.devices.begin(), again.devices.end());
  again.devices.erase(std::unique(again.devices.begin(), again.devices.end()), again.devices.end());
  merge_scope(repair_, again);
  jobs_.repeat_stage(job, next_revision_);
  want_plan("job " + number(job.value) + " plays stage " + number(jobs_.stage_of(job) + 1) + " again: " + number(dark) +
                (dark == 1 ? " timeslot" : " timeslots") + " stayed dark",
            sink);
  return true;
}

/// When every node of the job has played all cycles of its stage, the next stage is wanted.
void CommitRunner::advance_stage(JobId job, EffectSink& sink) {
  if (!jobs_.take_played_stage(job) || play_again(job, sink)) {
    return;
  }
  jobs_.forget_repeats(job);
  const Job* wanted = desired_.job(job);
  if (wanted == nullptr) {
    return;
  }
  const std::uint32_t next = wanted->stage + 1;
  const std::uint32_t stages = jobs_.at(job).stages;
  if (next >= stages) {
    return jobs_.played_to_end(job);
  }
  desired_.go_to_stage(job, next);
  jobs_.next_stage(job, next_revision_);
  journal_.append(desired_.record(), PlanAct{}, sink);
  want_plan("job " + number(job.value) + " goes to stage " + number(next + 1) + " of " + number(stages), sink);
}

}  // namespace loom
