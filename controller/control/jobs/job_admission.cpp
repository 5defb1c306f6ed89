// SPDX-License-Identifier: Apache-2.0
// A refusal is for the job to bear that was asked for last: whoever is in light stays there.
#include "controller/control/jobs/job_admission.hpp"

#include <algorithm>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

const Job* job_of(const Intent& intent, JobId id) {
  const auto it = std::find_if(intent.jobs.begin(), intent.jobs.end(), [&](const Job& job) { return job.id == id; });
  return it == intent.jobs.end() ? nullptr : &*it;
}

}  // namespace

void JobAdmission::place(const PlanResult& plan) {
  for (const Job& placed : plan.intent.jobs) {
    if (!plan.is_without(placed.id)) {
      desired_.place(placed);
    }
  }
  jobs_.planned(plan);
}

void JobAdmission::leave_out(const PlanResult& plan, EffectSink& sink) {
  for (const LeftOut& each : plan.left_out) {
    if (each.in_part || desired_.job(each.job) == nullptr) {
      continue;
    }
    if (!each.devices.empty() || jobs_.at(each.job).had_light()) {
      jobs_.leave_out(each.job, each.why.message);
      if (!jobs_.at(each.job).had_light()) {
        desired_.unplace(each.job);
      }
      continue;
    }
    jobs_.refuse(each.job, each.why.message);
    desired_.remove_job(each.job);
    Alarm alarm;
    alarm.code = AlarmCode::plan_refused;
    alarm.evidence = each.why.message;
    alarm.next_command = format_text("loom job show {}", each.job.value);
    alarms_.raise(std::move(alarm), facts_.now, sink);
  }
}

void JobAdmission::want_again(const PlanResult& plan, bool elsewhere) {
  for (const Job& job : plan.intent.jobs) {
    jobs_.want_again(job.id);
    if (elsewhere && !jobs_.at(job.id).had_light()) {
      desired_.unplace(job.id);
    }
  }
}

/// Its light goes on, so it is not what its operator was told: aloud.
std::vector<NodeId> JobAdmission::take_back_maintenance(const Intent& asked, const std::string& why, EffectSink& sink) {
  std::vector<NodeId> nodes;
  const Intent good = confirmed_.exists() ? confirmed_.intent() : Intent{};
  for (const NodeId node : asked.maintenance) {
    if (std::ranges::binary_search(good.maintenance, node) || !desired_.in_maintenance(node) || !confirmed_.needs(node)) {
      continue;
    }
    desired_.end_maintenance(node, std::ranges::binary_search(good.drained, node));
    Alarm alarm;
    alarm.code = AlarmCode::plan_refused;
    alarm.node = node;
    alarm.evidence = format_text("node {} does not go into maintenance, its light goes on: {}", node.value, why);
    alarm.next_command = format_text("loom node maintenance {} on", node.value);
    alarms_.raise(std::move(alarm), facts_.now, sink);
    nodes.push_back(node);
  }
  return nodes;
}

TakenBack JobAdmission::take_back(const Intent& asked, const std::string& why, EffectSink& sink,
                                  const std::vector<JobId>& innocent) {
  TakenBack taken;
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
    } else if (std::ranges::binary_search(innocent, job.id)) {
      jobs_.want_again(job.id);
      taken.is_spared = true;
    } else if (lit != nullptr) {  // it runs, and its next stage comes with a later plan
      jobs_.leave_out(job.id, format_text("stage {} did not come into light: {}", job.stage + 1, why));
    } else {
      jobs_.refuse(job.id, why);
      desired_.remove_job(job.id);
      taken.is_refused = true;
    }
  }
  desired_.take_back(asked, confirmed_.exists() ? confirmed_.intent() : Intent{});
  taken.maintained = take_back_maintenance(asked, why, sink);
  return taken;
}

bool JobAdmission::has_unlit_jobs() const {
  const auto& jobs = desired_.intent().jobs;
  return std::any_of(jobs.begin(), jobs.end(), [this](const Job& job) {
    const JobRecord* record = jobs_.find(job.id);
    return record != nullptr && (record->state == JobState::pending || record->state == JobState::committing);
  });
}

}  // namespace loom
