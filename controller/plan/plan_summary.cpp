// SPDX-License-Identifier: Apache-2.0
// Counts.
#include "controller/plan/plan_summary.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace loom {
namespace {

JobSummary summary_of(const Job& job, const Schedule& schedule) {
  JobSummary row{job.id, job.spec.name, job.spec.workload, static_cast<std::uint32_t>(job.nodes.size()), 0, 0, 0, 0};
  const auto found =
      std::find_if(schedule.jobs.begin(), schedule.jobs.end(), [&](const JobSchedule& each) { return each.job == job.id; });
  if (found != schedule.jobs.end()) {
    row.stages = static_cast<std::uint32_t>(found->stages.size());
    for (const Stage& stage : found->stages) {
      row.timeslots += static_cast<std::uint32_t>(stage.timeslots.size());
    }
  }
  return row;
}

}  // namespace

std::optional<double> gap_of(double objective, double bound) {
  return bound > 0 ? std::optional(objective / bound - 1) : std::nullopt;
}

PlanSummary summary_of(const PlanResult& result, const Plan* base) {
  PlanSummary summary;
  summary.algorithm = result.schedule.algorithm;
  summary.objective = result.schedule.objective;
  summary.bound = result.schedule.bound;
  summary.gap = gap_of(summary.objective, summary.bound);
  summary.circuits = static_cast<std::uint32_t>(result.plan.circuits.size());
  summary.touched = static_cast<std::uint32_t>(result.plan.touched.size());
  summary.certificate = result.plan.certificate;
  std::map<JobId, JobSummary> rows;
  for (const Job& job : result.intent.jobs) {
    rows[job.id] = summary_of(job, result.schedule);
  }
  std::map<CircuitId, JobId> job_of;
  std::set<FrequencySlot> slots;
  for (const Circuit& circuit : result.plan.circuits) {
    job_of[circuit.id] = circuit.job;
    slots.insert(circuit.slot);
    ++rows[circuit.job].circuits;
  }
  for (const Circuit& circuit : base == nullptr ? std::vector<Circuit>{} : base->circuits) {
    summary.kept += job_of.contains(circuit.id) ? 1 : 0;
    job_of[circuit.id] = circuit.job;
  }
  for (const CircuitId touched : result.plan.touched) {
    const JobId job = job_of[touched];
    rows[job].job = job;
    ++rows[job].touched;
  }
  summary.slots = static_cast<std::uint32_t>(slots.size());
  for (auto& [id, row] : rows) {
    summary.jobs.push_back(std::move(row));
  }
  std::stable_partition(summary.jobs.begin(), summary.jobs.end(), [](const JobSummary& row) { return row.nodes > 0; });
  return summary;
}

}  // namespace loom
