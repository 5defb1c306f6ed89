// SPDX-License-Identifier: Apache-2.0
// All changes of a job's state go through apply(), and so through the table.
#include "controller/control/jobs/jobs.hpp"

#include <algorithm>
#include <utility>

#include "core/result.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

const JobSchedule* schedule_of(const Schedule& schedule, JobId job) {
  const auto it = std::find_if(schedule.jobs.begin(), schedule.jobs.end(), [&](const JobSchedule& s) { return s.job == job; });
  return it == schedule.jobs.end() ? nullptr : &*it;
}

std::uint32_t saturating_sum(std::uint32_t a, std::uint32_t b) { return b > ~a ? ~0U : a + b; }

JobFacts facts_of_job(const Job& job) { return {job.spec.name, job.spec.workload, job.nodes, job.stage}; }

/// Of a job that goes.
JobFacts last_facts_of(const Job& job) {
  JobFacts last = facts_of_job(job);
  std::sort(last.nodes.begin(), last.nodes.end());
  return last;
}

/// `stage`: that it is to have.
bool is_without_light(const JobRecord& record, std::uint32_t stage) {
  switch (record.state) {
    case JobState::waiting:
    case JobState::dark:
      return true;
    case JobState::pending:
    case JobState::committing:
      // Its stage's light was confirmed and has not been lost since: it shines until the commit that moves it fires.
      return record.dark.since.has_value() || record.lit_stage != stage;
    case JobState::lit:
    case JobState::degraded:
    case JobState::refused:
    case JobState::ended:
      break;
  }
  return false;
}

/// Of the Intent while it is wanted, else as they were when it went.
const std::vector<NodeId>& nodes_of(JobId id, const JobRecord& record, const DesiredIntent& desired) {
  static const std::vector<NodeId> kNone;
  const Job* job = desired.job(id);
  return job != nullptr ? job->nodes : record.last ? record.last->nodes : kNone;
}

JobRecord& record_in(std::map<JobId, JobRecord>& records, JobId id) {
  const auto it = records.find(id);
  LOOM_ASSERT(it != records.end());
  return it->second;
}

}  // namespace

void LightlessTime::follow(bool is_dark, Instant now) {
  if (is_dark && !since) {
    since = now;
  } else if (!is_dark && since) {
    before += now - *since;
    since.reset();
  }
}

const JobRecord* Jobs::find(JobId id) const {
  const auto it = records_.find(id);
  return it == records_.end() ? nullptr : &it->second;
}

const JobRecord& Jobs::at(JobId id) const {
  const JobRecord* record = find(id);
  LOOM_ASSERT(record != nullptr);
  return *record;
}

JobFacts Jobs::facts_of(JobId id) const {
  if (const Job* job = desired_.job(id)) {
    return facts_of_job(*job);
  }
  const JobRecord* record = find(id);
  return record == nullptr ? JobFacts{} : record->last.value_or(JobFacts{});
}

std::uint32_t Jobs::stage_of(JobId id) const {
  if (const Job* job = desired_.job(id)) {
    return job->stage;
  }
  const JobRecord* record = find(id);
  return record == nullptr || !record->last ? 0 : record->last->stage;
}

void Jobs::apply(JobId id, JobRecord& record, JobTrigger trigger) {
  record.state = next_state(record.state, trigger);
  record.dark.follow(is_without_light(record, stage_of(id)), facts_.now);
}

void Jobs::add(JobId id, std::optional<Revision> lit_since) {
  JobRecord& record = records_[id];
  record.was_lit = lit_since.has_value();
  record.lit_stage = lit_since ? std::optional(stage_of(id)) : std::nullopt;
  record.revision = lit_since.value_or(Revision{});
  record.dark.follow(is_without_light(record, stage_of(id)), facts_.now);
}

void Jobs::follow(const Intent& before, Revision revision) {
  for (const Job& job : before.jobs) {
    if (desired_.job(job.id) == nullptr) {
      end(job);
    }
  }
  for (const Job& job : desired_.intent().jobs) {
    const auto was = std::find_if(before.jobs.begin(), before.jobs.end(), [&](const Job& each) { return each.id == job.id; });
    if (was != before.jobs.end() && *was == job) {
      continue;
    }
    JobRecord& record = records_[job.id];
    apply(job.id, record, JobTrigger::changed);
    record.reason.clear();
    record.revision = revision;
    record.cycles_done.clear();
  }
}

void Jobs::planned(const PlanResult& plan) {
  for (const Job& placed : plan.intent.jobs) {
    if (desired_.job(placed.id) == nullptr || plan.is_without(placed.id)) {
      continue;  // it went while it was planned, or nothing of it was
    }
    JobRecord& record = record_in(records_, placed.id);
    const JobSchedule* schedule = schedule_of(plan.schedule, placed.id);
    record.stages = schedule == nullptr ? 1 : static_cast<std::uint32_t>(schedule->stages.size());
    record.note = schedule == nullptr ? std::string{} : schedule->note;
    if (record.state == JobState::pending) {
      record.revision = record.was_lit ? record.revision : plan.plan.revision;
      record.was_lit = false;
    }
    apply(placed.id, record, JobTrigger::planned);
    if (record.state == JobState::committing) {
      record.reason.clear();
    }
  }
}

void Jobs::leave_out(JobId id, std::string why) {
  JobRecord& record = record_in(records_, id);
  apply(id, record, JobTrigger::left_out);
  record.reason = std::move(why);
}

void Jobs::confirmed(const PlanResult& plan) {
  for (const Job& job : plan.intent.jobs) {
    // A job that has gone on to another stage since waits for the light of that one.
    const bool is_present_stage = at(job.id).state == JobState::pending || stage_of(job.id) == job.stage;
    if (is_present_stage && !plan.is_without(job.id)) {
      JobRecord& record = record_in(records_, job.id);
      record.is_stage_played = record.is_stage_played && record.state != JobState::committing;
      apply(job.id, record, JobTrigger::confirmed);
      record.lit_stage = job.stage;
    }
  }
  for (const PredictedIteration& each : plan.predicted) {
    record_in(records_, each.job).iteration_predicted = each.iteration;
  }
}

void Jobs::measured(JobId id, LightState light, const std::string& why) {
  JobRecord& record = record_in(records_, id);
  if (!is_in_light(record.state)) {
    return;
  }
  apply(id, record,
        light == LightState::lit    ? JobTrigger::measured_lit
        : light == LightState::dark ? JobTrigger::measured_dark
                                    : JobTrigger::measured_degraded);
  record.reason = light == LightState::lit ? std::string{} : why;
}

void Jobs::keep_light(JobId id) { apply(id, record_in(records_, id), JobTrigger::light_kept); }

void Jobs::keep_stage(const Job& lit) { apply(lit.id, record_in(records_, lit.id), JobTrigger::stage_kept); }

void Jobs::want_again(JobId id) {
  const auto record = records_.find(id);
  if (record != records_.end() && record->second.state == JobState::committing) {
    apply(id, record->second, JobTrigger::interrupted);
    record->second.cycles_done.clear();  // who played it already plays it anew with the others
  }
}

void Jobs::refuse(JobId id, std::string reason) {
  JobRecord& record = record_in(records_, id);
  apply(id, record, JobTrigger::refused);
  record.reason = std::move(reason);
  if (const Job* job = desired_.job(id)) {
    record.last = last_facts_of(*job);
  }
}

void Jobs::end(const Job& job) {
  JobRecord& record = record_in(records_, job.id);
  apply(job.id, record, JobTrigger::ended);
  record.reason.clear();
  record.last = last_facts_of(job);
}

std::optional<JobId> Jobs::keep_cycle(NodeId node, Revision revision, std::uint32_t underflows) {
  for (auto& [id, record] : records_) {
    const bool plays = is_in_light(record.state) || record.state == JobState::committing || record.was_lit;
    if (!plays || revision < record.revision) {
      continue;
    }
    const std::vector<NodeId>& nodes = nodes_of(id, record, desired_);
    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) {
      continue;
    }
    const auto place = std::lower_bound(record.cycles_done.begin(), record.cycles_done.end(), node);
    if (place != record.cycles_done.end() && *place == node) {
      return std::nullopt;
    }
    record.cycles_done.insert(place, node);
    record.underflows = saturating_sum(record.underflows, underflows);
    record.stage_underflows = saturating_sum(record.stage_underflows, underflows);
    return is_in_light(record.state) ? std::optional(id) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> Jobs::take_played_stage(JobId id) {
  JobRecord& record = record_in(records_, id);
  const std::size_t nodes = nodes_of(id, record, desired_).size();
  if (nodes == 0 || record.cycles_done.size() < nodes) {
    return std::nullopt;
  }
  record.cycles_done.clear();
  record.is_stage_played = true;
  return std::exchange(record.stage_underflows, 0);
}

void Jobs::repeat_stage(JobId id, Revision revision) {
  JobRecord& record = record_in(records_, id);
  ++record.stage_repeats;
  apply(id, record, JobTrigger::next_stage);
  record.revision = revision;
}

void Jobs::next_stage(JobId id, std::uint32_t stage, Revision revision) {
  JobRecord& record = record_in(records_, id);
  record.stage_repeats = 0;
  record.played.before += stage == 0 ? 1 : 0;
  apply(id, record, JobTrigger::next_stage);
  record.revision = revision;
}

void Jobs::keep_iterations(NodeId node, const IterationReport& report, Revision laid_by) {
  const auto found = records_.find(report.job);
  if (found == records_.end()) {
    return;
  }
  const std::vector<NodeId>& nodes = nodes_of(report.job, found->second, desired_);
  if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) {
    return;
  }
  PlayedIterations& played = found->second.played;
  if (laid_by > played.laid_by) {
    played.before += played.last.iterations;
    played.replayed += played.last.replayed;
    played.missed += played.last.missed;
    played.laid_by = laid_by;
    played.last = report;
  } else if (laid_by == played.laid_by &&
             report.iterations + report.replayed >= played.last.iterations + played.last.replayed) {
    played.last = report;  // else a network overtook it
  }
}

void Jobs::end_attendance(const std::string& by) {
  for (auto& [id, record] : records_) {
    if (record.attended_by == by) {
      record.attended_until = {};
      record.attended_by.clear();
    }
  }
}

void Jobs::attend(JobId id, Instant until, Revision quiet_for, const std::string& by) {
  JobRecord& record = record_in(records_, id);
  record.attended_until = until;
  record.attended_by = by;
  record.quiet_for = std::max(record.quiet_for, quiet_for);
}

std::vector<JobId> jobs_in_light(const Jobs& jobs) {
  std::vector<JobId> ids;
  for (const auto& [id, record] : jobs.records()) {
    if (is_in_light(record.state)) {
      ids.push_back(id);
    }
  }
  return ids;
}

std::vector<JobId> unlit_jobs(const Intent& intent, const Jobs& jobs) {
  std::vector<JobId> ids;
  for (const Job& job : intent.jobs) {
    const JobRecord* record = jobs.find(job.id);
    if (record == nullptr || record->lit_stage != job.stage) {
      ids.push_back(job.id);
    }
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace loom
