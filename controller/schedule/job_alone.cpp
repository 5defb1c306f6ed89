// SPDX-License-Identifier: Apache-2.0
// Placement, schedule and prediction of one job, with nobody else there.
#include "controller/schedule/job_alone.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "controller/schedule/estimate.hpp"
#include "controller/schedule/placement.hpp"

namespace loom {

void add_fabric_times(const Fabric& fabric, ScheduleTimings& timings) {
  timings.trip = fabric.times.agent_trip;
  for (const Element& element : fabric.elements) {
    if (const auto* transmitter = std::get_if<Transmitter>(&element.kind)) {
      timings.granted_late = std::max(timings.granted_late, transmitter->control_max);
      timings.granted_dark = std::max(timings.granted_dark, transmitter->blank_max + transmitter->control_max);
    }
  }
}

ScheduleTimings timings_on(const Fabric& fabric, const ControllerTimings& timings, const Architecture& scheduler) {
  ScheduleTimings made;
  made.stage_change = dark_time_of(fabric, timings);
  add_fabric_times(fabric, made);
  made.fabric = scheduler.name;
  made.qualifier = scheduler.qualifier;
  return made;
}

Result<Prediction> predict_placed(const Job& job, const JobSchedule& schedule, const ScheduleTimings& timings) {
  JobSpec spec = job.spec;
  spec.collectives = job.demand();
  spec.placement = job.nodes;
  spec.node_count = static_cast<std::uint32_t>(job.nodes.size());
  return predict_schedule(spec, schedule, timings);
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
  auto prediction = predict_placed(job, schedule->jobs.front(), timings);
  if (!prediction) {
    return std::unexpected(std::move(prediction).error());
  }
  job.spec.placement = job.nodes;
  return JobAlone{std::move(job.spec), std::move(schedule->jobs.front()), *std::move(prediction)};
}

BitRate lit_rate(const NetworkTerms& terms, BitRate rate) {
  const PacketTerms& packets = terms.packets;
  const double filled = packets.payload > 0 ? packets.payload / (packets.payload + packets.header) : 1;
  return {std::llround(static_cast<double>(rate.bits_per_second) * terms.efficiency * filled)};
}

void enter_lit(ArenaBuilder& builder, const Architecture& architecture, const Fabric& fabric) {
  ScheduleTimings timings = timings_on(fabric, {}, architecture);
  timings.latency = builder.terms.link_latency + builder.terms.step_latency;
  timings.forward = builder.terms.forward;
  timings.wants_lane = true;
  auto alone = plan_alone(architecture, fabric, builder.graph, timings);
  if (!alone) {
    builder.error = std::move(alone).error();
    return;
  }
  builder.entry.scheduler = architecture.name;
  builder.entry.lighting = dark_time_of(fabric, {});
  for (const Stage& stage : alone->schedule.stages) {
    for (const Timeslot& timeslot : stage.timeslots) {
      builder.entry.circuits = std::max(builder.entry.circuits, static_cast<std::uint32_t>(timeslot.circuits.size()));
    }
  }
  // What the job assumes is printed with its graph.
  const auto& known = alone->job.assumptions;
  for (const std::string& each : alone->prediction.assumptions) {
    if (std::find(known.begin(), known.end(), each) == known.end()) {
      builder.assume(each);
    }
  }
  builder.assume(
      label_of(architecture.name, architecture.qualifier) +
      ": planned by its own scheduler, alone on the fabric, as it would be lit; the controller's own time is not counted");
  builder.entry.predicted = std::move(alone->prediction);
}

}  // namespace loom
