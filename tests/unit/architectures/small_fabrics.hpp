// SPDX-License-Identifier: Apache-2.0
// Small fabrics of every architecture, a job on each, and the readings of devices that do exactly what a plan says.
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/architectures/oddl/fabric.hpp"
#include "controller/architectures/registry.hpp"
#include "controller/architectures/sip_ocs/fabric.hpp"
#include "controller/architectures/sip_ring/fabric.hpp"
#include "controller/architectures/topoopt/fabric.hpp"
#include "controller/plan/pipeline.hpp"
#include "core/observation.hpp"

namespace loom::test {

inline Fabric small_oddl(std::uint32_t nodes = 12, std::uint32_t group_size = 4) {
  OddlParameters parameters;
  parameters.nodes = nodes;
  parameters.group_size = group_size;
  parameters.channels = static_cast<std::int32_t>(group_size + group_size / 2);
  return make_oddl(parameters);
}

/// Index 0..4: oddl, oddl with routers inside, sip-ring, sip-ocs, topoopt.
inline std::shared_ptr<const Fabric> small_fabric(std::size_t index) {
  Fabric fabric;
  if (index == 0) {
    fabric = small_oddl();
  } else if (index == 1) {
    OddlParameters parameters;
    parameters.nodes = 12;
    parameters.group_size = 4;
    parameters.channels = 5;
    parameters.inside = OddlInside::awgr;
    parameters.receiver = OddlReceiver::open;
    fabric = make_oddl(parameters);
  } else if (index == 2) {
    SipRingParameters parameters;
    parameters.nodes = 8;
    parameters.rings = 1;
    parameters.wavelengths = 8;
    fabric = make_sip_ring(parameters);
  } else if (index == 3) {
    SipOcsParameters parameters;
    parameters.nodes = 8;
    parameters.switches = 2;
    fabric = make_sip_ocs(parameters);
  } else {
    TopooptParameters parameters;
    parameters.nodes = 8;
    parameters.degree = 2;
    fabric = make_topoopt(parameters);
  }
  build_index(fabric);
  return std::make_shared<const Fabric>(std::move(fabric));
}
inline constexpr std::size_t kSmallFabrics = 5;

inline Job job_of(std::uint64_t id, std::uint32_t nodes, CollectiveKind kind = CollectiveKind::all_reduce) {
  Job job;
  job.id = JobId{id};
  job.spec.name = "job-" + std::to_string(id);
  job.spec.node_count = nodes;
  job.spec.collectives = {{kind, {}, Bytes{1'000'000}, 1}};
  return job;
}

inline Job placed_job(std::uint64_t id, const std::vector<std::uint32_t>& nodes) {
  Job job = job_of(id, static_cast<std::uint32_t>(nodes.size()));
  for (const std::uint32_t node : nodes) {
    job.spec.placement.push_back(NodeId{node});
  }
  return job;
}

/// The controller's part: what was planned is confirmed and becomes the base of the next request.
struct Planning {
  std::shared_ptr<const Fabric> fabric;
  PlanRequest request{};

  explicit Planning(std::shared_ptr<const Fabric> of) : fabric(std::move(of)) {
    request.fabric = fabric;
    request.algorithm = fabric->architecture;
    request.next_circuit = CircuitId{1};
  }

  Result<std::shared_ptr<const PlanResult>> attempt() {
    request.revision.value += 1;
    auto made = make_plan(all_architectures(), request);
    if (made) {
      request.base = {*made, &(*made)->plan};
      request.intent = (*made)->intent;
      request.next_circuit = (*made)->next_circuit;
    }
    return made;
  }
};

inline std::int32_t millivolts_for(const RingFilter& ring, Frequency resonance) {
  const double milliwatts = static_cast<double>(ring.cold_resonance.mhz - resonance.mhz) / ring.mhz_per_milliwatt;
  return static_cast<std::int32_t>(std::lround(std::sqrt(std::max(0.0, milliwatts) / 1000 * ring.heater_ohm) * 1000));
}

inline Reading reading_of(const Fabric& fabric, const Device& device, const Setpoint& setpoint) {
  if (const auto* laser = std::get_if<TransmitterSetpoint>(&setpoint)) {
    return TransmitterObservation{centre_of(laser->slot), laser->emit ? laser->power : Dbm{kNoLight}, laser->emit, true, 0, 0};
  }
  if (const auto* heater = std::get_if<FilterSetpoint>(&setpoint)) {
    FilterObservation seen{std::vector<std::int32_t>(device.elements.size())};
    for (const RingResonance& ring : heater->rings) {
      const auto& filter = std::get<RingFilter>(fabric.element(device.elements[ring.channel]).kind);
      seen.millivolts[ring.channel] = millivolts_for(filter, ring.resonance);
    }
    return seen;
  }
  if (std::holds_alternative<MonitorSetpoint>(setpoint)) {  // light within the range of every receiver that it watches
    MonitorObservation seen;
    for (std::size_t channel = 0; channel < device.elements.size(); ++channel) {
      const auto& receiver = std::get<Receiver>(fabric.element(device.elements[channel]).kind);
      seen.lights.push_back({static_cast<std::uint16_t>(channel), receiver.sensitivity + Db{100}, Frequency{}});
    }
    return seen;
  }
  if (const auto* stage = std::get_if<GainSetpoint>(&setpoint)) {
    return GainObservation{stage->gain, true};
  }
  if (const auto* wss = std::get_if<WavelengthSwitchSetpoint>(&setpoint)) {
    return WavelengthSwitchObservation{wss->routes, true};
  }
  return CircuitSwitchObservation{std::get<CircuitSwitchSetpoint>(setpoint).connects, true};
}

/// By device: read at `at`, exactly as planned (the first entry of what plays).
inline std::vector<std::optional<Observation>> perfect_readings(const Fabric& fabric, const Plan& plan, Instant at) {
  std::vector<std::optional<Observation>> readings(fabric.devices.size());
  for (const NodePlan& node : plan.nodes) {
    for (const DevicePlan& planned : node.devices) {
      Observation seen;
      seen.device = planned.device;
      seen.health = DeviceHealth::ready;
      seen.read_at = at;
      seen.reading = reading_of(fabric, fabric.device(planned.device), planned.timeline.front().setpoint);
      readings[planned.device.value] = std::move(seen);
    }
  }
  return readings;
}

}  // namespace loom::test
