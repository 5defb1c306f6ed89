// SPDX-License-Identifier: Apache-2.0
// Two predictions of the same demand.
#include "controller/plan/compare_light.hpp"

#include <algorithm>

#include "controller/schedule/job_alone.hpp"

namespace loom {

namespace {

/// The revision of the plan lays the light of this job's passes.
bool is_laid(const Plan& plan, const Job& job) {
  return std::ranges::any_of(job.nodes, [&](NodeId node) {
    const auto& iterations = plan.nodes[node.value].iterations;
    return iterations && iterations->job == job.id && iterations->routed_by == plan.revision;
  });
}

}  // namespace

std::vector<PredictedIteration> predict_laid(const Fabric& fabric, const PlanResult& result) {
  ScheduleTimings timings;
  timings.fabric = result.schedule.algorithm;
  add_fabric_times(fabric, timings);
  std::vector<PredictedIteration> predicted;
  for (const Job& job : result.intent.jobs) {
    const auto planned = std::ranges::find(result.schedule.jobs, job.id, &JobSchedule::job);
    if (planned == result.schedule.jobs.end() || !is_laid(result.plan, job)) {
      continue;
    }
    predicted.push_back({job.id, {}});
    if (job.spec.paced_by == PacedBy::model) {
      const auto prediction = predict_placed(job, *planned, timings);
      predicted.back().iteration = prediction ? prediction->iteration : Duration{};
    }
  }
  return predicted;
}

Comparison compare(const Fabric& fabric, const ComparisonRequest& weighing, const PlanResult& result) {
  const auto job = std::find_if(result.intent.jobs.begin(), result.intent.jobs.end(),
                                [&](const Job& each) { return each.id == weighing.job; });
  const auto planned = std::find_if(result.schedule.jobs.begin(), result.schedule.jobs.end(),
                                    [&](const JobSchedule& each) { return each.job == weighing.job; });
  LOOM_ASSERT(job != result.intent.jobs.end() && planned != result.schedule.jobs.end());
  ScheduleTimings timings;
  timings.stage_change = weighing.stage_change;
  timings.fabric = result.schedule.algorithm;
  add_fabric_times(fabric, timings);
  Comparison compared;
  if (const auto present = predict_placed(*job, weighing.present, timings)) {
    compared.present = present->iteration;
  } else {
    compared.why_not_present = present.error().message;
  }
  if (const auto anew = predict_placed(*job, *planned, timings)) {
    compared.planned = anew->iteration;
  } else {
    compared.why_not_planned = anew.error().message;
  }
  return compared;
}

}  // namespace loom
