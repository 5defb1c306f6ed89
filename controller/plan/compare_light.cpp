// Two predictions of the same demand.
#include "controller/plan/compare_light.hpp"

#include <algorithm>

#include "controller/schedule/job_alone.hpp"

namespace loom {

Comparison compare(const Fabric& fabric, const ComparisonRequest& weighing, const PlanResult& result) {
  const auto job = std::find_if(result.intent.jobs.begin(), result.intent.jobs.end(),
                                [&](const Job& each) { return each.id == weighing.job; });
  const auto planned = std::find_if(result.schedule.jobs.begin(), result.schedule.jobs.end(),
                                    [&](const JobSchedule& each) { return each.job == weighing.job; });
  LOOM_ASSERT(job != result.intent.jobs.end() && planned != result.schedule.jobs.end());
  ScheduleTimings timings;
  timings.stage_change = weighing.stage_change;
  timings.fabric = result.schedule.algorithm;
  add_laser_times(fabric, timings);
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
