// Placement, schedule and prediction of one job, with nobody else there.
#include "controller/schedule/job_alone.hpp"

#include <utility>

#include "controller/schedule/estimate.hpp"
#include "controller/schedule/placement.hpp"

namespace loom {

ScheduleTimings timings_on(const Fabric& fabric, const ControllerTimings& timings) {
  ScheduleTimings made;
  made.stage_change = dark_time_of(fabric, timings);
  made.fabric = fabric.architecture;
  return made;
}

Result<JobAlone> plan_alone(const Architecture& architecture, const Fabric& fabric, const TaskGraph& graph,
                            const ScheduleTimings& timings) {
  auto spec = job_of(graph);
  if (!spec) {
    return std::unexpected(std::move(spec).error());
  }
  Intent intent;
  intent.jobs.push_back({.id = JobId{1}, .spec = *std::move(spec), .nodes = {}});
  auto placed = place(fabric, &architecture, intent);
  if (!placed) {
    return std::unexpected(std::move(placed).error());
  }
  Job& job = placed->jobs.front();
  auto schedule = architecture.schedule(fabric, estimate(*placed, nullptr), *placed, {});
  if (!schedule) {
    return std::unexpected(std::move(schedule).error());
  }
  job.spec.placement = job.nodes;
  auto prediction = predict_schedule(job.spec, schedule->jobs.front(), timings);
  if (!prediction) {
    return std::unexpected(std::move(prediction).error());
  }
  return JobAlone{std::move(job.spec), std::move(schedule->jobs.front()), *std::move(prediction)};
}

}  // namespace loom
