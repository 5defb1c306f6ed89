// SPDX-License-Identifier: Apache-2.0
// A job alone on a fabric: planned by the fabric's own scheduler and predicted from that schedule, as a lab's report predicts
// what is lit. What the arena, `loom predict` and `loom plan` say of a fabric that can be lit comes from here.
#pragma once

#include "controller/predict/predict.hpp"
#include "controller/schedule/architecture.hpp"
#include "controller/schedule/arena_entry.hpp"
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

/// What a schedule of `scheduler` for `fabric` is predicted with, everywhere.
ScheduleTimings timings_on(const Fabric& fabric, const ControllerTimings& timings, const Architecture& scheduler);

/// What `fabric`'s lasers take at worst, for schedules under grants.
void add_fabric_times(const Fabric& fabric, ScheduleTimings& timings);

/// A placed job over the schedule that it is lit with: of its demand, on its nodes. Errors: those of predict_schedule.
Result<Prediction> predict_placed(const Job& job, const JobSchedule& schedule, const ScheduleTimings& timings);

/// Errors: those of job_of, place, the scheduler and predict_schedule.
Result<JobAlone> plan_alone(const Architecture& architecture, const Fabric& fabric, const TaskGraph& graph,
                            const ScheduleTimings& timings);

/// The arena's entry of what `architecture`'s own scheduler would light for the job, alone on `fabric`. Link keys count:
/// latency and steps at each circuit, efficiency and packets in its rate (see lit_rate()), forwarding where servers forward.
void enter_lit(ArenaBuilder& builder, const Architecture& architecture, const Fabric& fabric);
/// What is left of a link's rate for the job's bytes: efficiency, and headers of packets.
BitRate lit_rate(const NetworkTerms& terms, BitRate rate);

}  // namespace loom
