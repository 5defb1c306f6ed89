// A job alone on a fabric: planned by the fabric's own scheduler and predicted from that schedule, as a lab's report predicts
// what is lit. What the arena, `loom predict` and `loom plan` say of a fabric that can be lit comes from here.
#pragma once

#include "controller/predict/predict.hpp"
#include "controller/schedule/architecture.hpp"
#include "controller/workload/task_graph.hpp"
#include "core/fabric/dark_time.hpp"
#include "core/fabric/fabric.hpp"
#include "core/result.hpp"
#include "core/timings.hpp"

namespace loom {

struct JobAlone {
  JobSpec job;  ///< its placement filled
  JobSchedule schedule;
  Prediction prediction;
};

/// What a schedule of `fabric` is predicted with, everywhere.
ScheduleTimings timings_on(const Fabric& fabric, const ControllerTimings& timings);

/// Errors: those of job_of, place, the scheduler and predict_schedule.
Result<JobAlone> plan_alone(const Architecture& architecture, const Fabric& fabric, const TaskGraph& graph,
                            const ScheduleTimings& timings);

}  // namespace loom
