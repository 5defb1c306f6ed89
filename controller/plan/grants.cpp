// SPDX-License-Identifier: Apache-2.0
// Worst cases of the fabric, summed once.
#include "controller/plan/grants.hpp"

#include <algorithm>
#include <set>

#include "controller/plan/lower/lower.hpp"
#include "controller/predict/granted_light.hpp"
#include "core/limits.hpp"
#include "core/messages/iteration.hpp"

namespace loom {
namespace {

constexpr Duration kFlight{250};  ///< 50 m of fibre

template <class T>
void insert_sorted(std::vector<T>& into, const T& value) {
  const auto place = std::lower_bound(into.begin(), into.end(), value);
  if (place == into.end() || *place != value) {
    into.insert(place, value);
  }
}

}  // namespace

GrantTimings grant_timings(const Fabric& fabric, const std::vector<Circuit>& circuits, Duration fire_skew) {
  GrantTimings timings;
  timings.tune = timings.lock = timings.blank = timings.trigger_late = Duration{};
  timings.control = fabric.times.agent_trip;
  timings.flight = kFlight;
  timings.flight_error = fabric.times.flight_error;
  timings.clock_error = fabric.times.clock_error;
  bool is_first = true;
  for (const Circuit& circuit : circuits) {
    const auto& transmitter = std::get<Transmitter>(fabric.element(circuit.transmitter).kind);
    const auto& receiver = std::get<Receiver>(fabric.element(circuit.receiver).kind);
    timings.rate = is_first ? circuit.rate : std::min(timings.rate, circuit.rate);
    is_first = false;
    timings.tune = std::max(timings.tune, transmitter.retune_max + transmitter.blank_max + transmitter.control_max);
    timings.blank = std::max(timings.blank, transmitter.blank_max + transmitter.control_max);
    timings.trigger_late = std::max(timings.trigger_late, transmitter.control_max);
    timings.lock = std::max(timings.lock, receiver.acquisition_max);
  }
  timings.trigger_late += std::max(Duration{}, fire_skew - guard_of(timings));
  return timings;
}

Duration widened_by(const Fabric& fabric, const Plan& plan, JobId job) {
  std::vector<Circuit> circuits;
  std::copy_if(plan.circuits.begin(), plan.circuits.end(), std::back_inserter(circuits),
               [&](const Circuit& circuit) { return circuit.job == job; });
  const GrantTimings promised = grant_timings(fabric, circuits);
  for (const NodePlan& slice : plan.nodes) {
    if (slice.grants && slice.grants->job == job) {
      return std::max(Duration{}, slice.grants->timings.trigger_late - promised.trigger_late);
    }
  }
  return {};
}

TimedSetpoint wavelength_entry(const Fabric& fabric, const Circuit& circuit, const TransmitterSetpoint& light,
                               Duration offset) {
  const auto& transmitter = std::get<Transmitter>(fabric.element(circuit.transmitter).kind);
  const auto& receiver = std::get<Receiver>(fabric.element(circuit.receiver).kind);
  const Duration guard = transmitter.retune_max + transmitter.blank_max + transmitter.control_max + receiver.acquisition_max;
  return {offset, guard, Duration{limits::kGrantWindowNs}, light};
}

std::vector<GrantMap> grant_maps(const Fabric& fabric, const Job& job, const Stage& stage, const std::vector<Circuit>& circuits,
                                 Duration fire_skew) {
  const GrantTimings timings = grant_timings(fabric, circuits, fire_skew);
  std::vector<GrantMap> maps;
  for (const NodeId node : job.nodes) {
    GrantMap map{job.id, {}, timings, kGrantQuantum, {}, {}, {}};
    for (const Circuit& circuit : circuits) {
      const auto laser = fabric.device_of_element[circuit.transmitter.value];
      if (circuit.source == node && laser) {
        map.wavelengths.push_back({circuit.destination, *laser, circuit.slot});
      }
      if (circuit.destination == node) {
        insert_sorted(map.sources, circuit.source);
      }
    }
    std::sort(map.wavelengths.begin(), map.wavelengths.end(), [](const AllowedWavelength& a, const AllowedWavelength& b) {
      return std::pair{a.destination, a.laser} < std::pair{b.destination, b.laser};
    });
    std::copy_if(stage.streams.begin(), stage.streams.end(), std::back_inserter(map.sends),
                 [&](const OfferedStream& stream) { return stream.source == node; });
    maps.push_back(std::move(map));
  }
  return maps;
}

bool is_same_but_routed_by(const GrantMap& a, const GrantMap& b) {
  GrantMap same = a;
  same.routed_by = b.routed_by;
  return same == b;
}

bool is_same_but_routed_by(const IterationPlan& a, const IterationPlan& b) {
  IterationPlan same = a;
  same.routed_by = b.routed_by;
  return same == b;
}

std::map<NodeId, IterationPlan> iteration_plans(const Fabric& fabric, const Job& job, const JobSchedule& schedule) {
  std::map<NodeId, IterationPlan> plans;
  if (!is_repeated_by_nodes(schedule)) {
    return plans;
  }
  std::vector<NodeId> members;
  for (const Timeslot& timeslot : schedule.stages.front().timeslots) {
    for (const Circuit& circuit : timeslot.circuits) {
      insert_sorted(members, circuit.source);
    }
  }
  std::uint64_t last = 0;
  for (const OfferedStream& stream : schedule.stages.front().streams) {
    last = std::max(last, stream.collective);
  }
  for (const NodeId node : members) {
    IterationPlan& plan = plans[node];
    plan.phases = static_cast<std::uint32_t>(std::min<std::uint64_t>(last + 1, limits::kPhases));
    plan.job = job.id;
    plan.leader = members.front();
    plan.members = node == plan.leader ? members : std::vector<NodeId>{};
    plan.compute = job.spec.compute;
    plan.paced_by = job.spec.paced_by;
    plan.lead = pass_lead(members.size(), fabric.times.agent_trip);
  }
  return plans;
}

namespace {

const DevicePlan* laser_of(const Fabric& fabric, const Plan& plan, const Circuit& circuit) {
  return device_of(fabric, plan, *fabric.device_of_element[circuit.transmitter.value]);
}

/// Timeslots of a job count from one relight, whoever plays them.
void add_jobs_in_turn(const Fabric& fabric, const Plan& plan, std::set<JobId>& jobs) {
  for (const Circuit& circuit : plan.circuits) {
    const DevicePlan* laser = laser_of(fabric, plan, circuit);
    if (laser != nullptr && laser->touched && laser->timeline.back().hold != kForever) {
      jobs.insert(circuit.job);
    }
  }
}

void touch_lasers_of(const Fabric& fabric, const std::set<JobId>& jobs, Plan& plan) {
  for (const Circuit& circuit : plan.circuits) {
    const DevicePlan* laser = jobs.contains(circuit.job) ? laser_of(fabric, plan, circuit) : nullptr;
    if (laser == nullptr || laser->touched || laser->left_alone) {
      continue;
    }
    const auto place = laser - plan.nodes[circuit.source.value].devices.data();
    take_part(circuit.source, plan);
    plan.nodes.edit(circuit.source.value).devices[static_cast<std::size_t>(place)].touched = true;
  }
}

}  // namespace

void reroute_touched_jobs(const Fabric& fabric, const std::vector<NodeId>& restored, Plan& plan) {
  std::set<JobId> jobs;
  add_jobs_in_turn(fabric, plan, jobs);
  for (const NodePlan& node : plan.nodes) {
    const std::optional<JobId> job = whole_job_of(node);
    for (std::size_t i = 0; job && i < node.devices.size(); ++i) {
      const DevicePlan& device = node.devices[i];
      if (device.touched && fabric.device(device.device).role == DeviceRole::transmitter) {
        jobs.insert(*job);
      }
    }
  }
  for (const NodeId node : restored) {
    if (const std::optional<JobId> job = whole_job_of(plan.nodes[node.value])) {
      jobs.insert(*job);
    }
  }
  for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
    const std::optional<JobId> job = whole_job_of(plan.nodes[i]);
    if (!job || !jobs.contains(*job)) {
      continue;
    }
    take_part(plan.nodes[i].node, plan);
    NodePlan& node = plan.nodes.edit(i);
    if (node.grants) {
      node.grants->routed_by = plan.revision;
    }
    if (node.iterations) {
      node.iterations->routed_by = plan.revision;
    }
    for (DevicePlan& device : node.devices) {
      const bool is_laser = fabric.device(device.device).role == DeviceRole::transmitter;
      device.touched = device.touched || (is_laser && !device.left_alone);
    }
  }
  touch_lasers_of(fabric, jobs, plan);
  for (const Circuit& circuit : plan.circuits) {
    if (jobs.contains(circuit.job)) {
      insert_sorted(plan.touched, circuit.id);
    }
  }
}

std::vector<DeviceId> left_behind(const Fabric& fabric, const Plan& plan, const Plan& wide) {
  if (&plan == &wide) {
    return {};
  }
  std::set<JobId> before;
  std::set<JobId> after;
  add_jobs_in_turn(fabric, plan, before);
  add_jobs_in_turn(fabric, wide, after);
  std::vector<DeviceId> lasers;
  for (const Circuit& circuit : wide.circuits) {
    const DevicePlan* laser = laser_of(fabric, wide, circuit);
    if (laser != nullptr && laser->left_alone && after.contains(circuit.job) && !before.contains(circuit.job)) {
      insert_sorted(lasers, laser->device);
    }
  }
  return lasers;
}

}  // namespace loom
