// SPDX-License-Identifier: Apache-2.0
// Each operation keeps the lists of the intent in order and consistent with each other.
#include "controller/control/jobs/desired_intent.hpp"

#include <algorithm>
#include <utility>

#include "core/result.hpp"

namespace loom {
namespace {

const Job* job_of(const Intent& intent, JobId id) {
  const auto it = std::find_if(intent.jobs.begin(), intent.jobs.end(), [&](const Job& job) { return job.id == id; });
  return it == intent.jobs.end() ? nullptr : &*it;
}

Job* find(Intent& intent, JobId id) {
  const auto it = std::find_if(intent.jobs.begin(), intent.jobs.end(), [&](const Job& job) { return job.id == id; });
  return it == intent.jobs.end() ? nullptr : &*it;
}

}  // namespace

void set_member(std::vector<NodeId>& sorted, NodeId node, bool is_member) {
  const auto place = std::lower_bound(sorted.begin(), sorted.end(), node);
  const bool is_there = place != sorted.end() && *place == node;
  if (is_member && !is_there) {
    sorted.insert(place, node);
  } else if (!is_member && is_there) {
    sorted.erase(place);
  }
}

void clear_override(Intent& intent, DeviceId device) {
  std::erase_if(intent.overrides, [&](const DeviceOverride& override) { return override.device == device; });
}

void set_override(Intent& intent, const DeviceOverride& wanted) {
  clear_override(intent, wanted.device);
  const auto place = std::lower_bound(intent.overrides.begin(), intent.overrides.end(), wanted.device,
                                      [](const DeviceOverride& override, DeviceId id) { return override.device < id; });
  intent.overrides.insert(place, wanted);
}

const Job* DesiredIntent::job(JobId id) const { return job_of(intent_, id); }

void DesiredIntent::add_job(Job job) {
  next_job_ = std::max(next_job_, JobId{job.id.value + 1});
  intent_.jobs.push_back(std::move(job));
}

bool DesiredIntent::in_maintenance(NodeId node) const {
  return std::binary_search(intent_.maintenance.begin(), intent_.maintenance.end(), node);
}

const DeviceOverride* DesiredIntent::override_of(DeviceId device) const {
  const auto found = std::find_if(intent_.overrides.begin(), intent_.overrides.end(),
                                  [&](const DeviceOverride& override) { return override.device == device; });
  return found == intent_.overrides.end() ? nullptr : &*found;
}

bool DesiredIntent::is_pinned(JobId job) const {
  return std::any_of(intent_.pinned.begin(), intent_.pinned.end(),
                     [&](const JobSchedule& schedule) { return schedule.job == job; });
}

void DesiredIntent::remove_job(JobId id) {
  std::erase_if(intent_.jobs, [&](const Job& job) { return job.id == id; });
}

void DesiredIntent::unpin(JobId id) {
  std::erase_if(intent_.pinned, [&](const JobSchedule& schedule) { return schedule.job == id; });
}

void DesiredIntent::place(const Job& placed) {
  Job* job = find(intent_, placed.id);
  if (job != nullptr && job->nodes.empty()) {
    job->nodes = placed.nodes;
    job->share = placed.share;
  }
}

void DesiredIntent::unplace(JobId id) {
  if (Job* job = find(intent_, id); job != nullptr && job->spec.placement.empty()) {
    job->nodes.clear();
    job->share.clear();
  }
}

void DesiredIntent::go_to_stage(JobId id, std::uint32_t stage) {
  Job* job = find(intent_, id);
  LOOM_ASSERT(job != nullptr);
  job->stage = stage;
}

void DesiredIntent::keep_stage(const Job& lit) {
  if (Job* job = find(intent_, lit.id)) {
    job->stage = lit.stage;
    job->measured = lit.measured;
  }
}

void DesiredIntent::end_maintenance(NodeId node, bool stays_drained) {
  set_member(intent_.maintenance, node, false);
  if (!stays_drained) {
    set_member(intent_.drained, node, false);
  }
}

void DesiredIntent::take_back(const Intent& failed, const Intent& good) {
  if (intent_.overrides == failed.overrides) {
    intent_.overrides = good.overrides;
  }
  if (intent_.calibrations == failed.calibrations) {
    intent_.calibrations = good.calibrations;
  }
  if (intent_.probes == failed.probes && intent_.drives == failed.drives) {
    intent_.probes = good.probes;
    intent_.drives = good.drives;
  }
  if (intent_.pinned == failed.pinned && intent_.pinned != good.pinned) {
    intent_.pinned = good.pinned;
    probation_.reset();
  }
  for (Job& job : intent_.jobs) {
    const Job* tried = job_of(failed, job.id);
    const Job* lit = job_of(good, job.id);
    if (tried == nullptr || lit == nullptr) {
      continue;
    }
    if (tried->spec == job.spec && lit->spec != job.spec) {
      job.spec = lit->spec;
    }
    if (tried->measured == job.measured) {
      job.measured = lit->measured;
    }
    if (tried->nodes == job.nodes && lit->stage == job.stage && lit->nodes != job.nodes) {
      job.nodes = lit->nodes;
      job.spec.node_count = lit->spec.node_count;
    }
  }
  std::erase_if(intent_.pinned, [&](const JobSchedule& schedule) { return job(schedule.job) == nullptr; });
}

std::uint64_t DesiredIntent::take_laser_request(Term term, bool is_to_all) {
  laser_request_ = std::max(laser_request_ + 1, first_laser_request(term));
  laser_request_to_all_ = is_to_all ? laser_request_ : laser_request_to_all_;
  return laser_request_;
}

void DesiredIntent::begin_probation(Revision revision, ClockId clock, Instant deadline) {
  probation_ = Probation{revision, clock, deadline, probation_ ? probation_->pinned_before : intent_.pinned};
}

Probation DesiredIntent::take_back_probation() {
  LOOM_ASSERT(probation_.has_value());
  Probation over = *std::exchange(probation_, std::nullopt);
  intent_.pinned = over.pinned_before;
  std::erase_if(intent_.pinned, [&](const JobSchedule& schedule) { return job(schedule.job) == nullptr; });
  return over;
}

IntentRecord DesiredIntent::record(std::optional<IntentCause> cause) const {
  return {intent_, laser_request_, next_job_, probation_, std::move(cause), laser_request_to_all_};
}

void DesiredIntent::restore(const IntentRecord& record, ClockId clock, Instant now) {
  intent_ = record.intent;
  laser_request_ = record.laser_request;
  laser_request_to_all_ = record.laser_request_to_all;
  if (laser_request_to_all_ == 0 && intent_.lasers_off) {
    laser_request_to_all_ = laser_request_;  // of a journal that did not tell them apart
  }
  next_job_ = record.next_job;
  probation_ = record.probation;
  if (probation_ && probation_->clock != clock) {
    probation_->clock = clock;
    probation_->deadline = now;
  }
}

}  // namespace loom
