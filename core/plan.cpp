// SPDX-License-Identifier: Apache-2.0
// What "dark" means for a setpoint.
#include "core/plan.hpp"

#include <algorithm>

#include "core/fabric/fabric.hpp"

namespace loom {

std::string_view to_string(Transmit transmit) { return transmit == Transmit::grants ? "grants" : "slots"; }

Setpoint darkened(const Setpoint& setpoint) {
  Setpoint dark = setpoint;
  if (auto* laser = std::get_if<TransmitterSetpoint>(&dark)) {
    laser->emit = false;
  }
  return dark;
}

bool emits(const Setpoint& setpoint) {
  const auto* laser = std::get_if<TransmitterSetpoint>(&setpoint);
  return laser != nullptr && laser->emit;
}

Setpoint idle_setpoint(const Fabric& fabric, const Device& device) {
  const ElementKind& driven = fabric.element(device.elements.front()).kind;
  switch (device.role) {
    case DeviceRole::transmitter: {
      const auto& transmitter = std::get<Transmitter>(driven);
      return TransmitterSetpoint{transmitter.channels.slot(0), transmitter.launch_power, false};
    }
    case DeviceRole::filter:
      return FilterSetpoint{};
    case DeviceRole::wavelength_switch:
      return WavelengthSwitchSetpoint{};
    case DeviceRole::circuit_switch:
      return CircuitSwitchSetpoint{};
    case DeviceRole::gain_stage:
      return GainSetpoint{kGainOff};
    case DeviceRole::monitor:
      break;
  }
  return MonitorSetpoint{};
}

bool is_paced_alike(const NodePlan* before, const NodePlan& after) {
  if (before == nullptr) {
    return after.cycle == Duration{} && after.compute_after == Duration{} && !after.grants && !after.iterations;
  }
  return after.cycle == before->cycle && after.cycles == before->cycles && after.compute_after == before->compute_after &&
         after.grants == before->grants && after.iterations == before->iterations;
}

std::optional<JobId> whole_job_of(const NodePlan& node) {
  return node.grants ? std::optional(node.grants->job) : node.iterations ? std::optional(node.iterations->job) : std::nullopt;
}

std::uint32_t switches_moved_by(const Plan& plan) {
  std::uint32_t count = 0;
  for (const NodePlan& node : plan.nodes) {
    count += static_cast<std::uint32_t>(std::count_if(node.devices.begin(), node.devices.end(), [](const DevicePlan& device) {
      const Setpoint& setpoint = device.timeline.front().setpoint;
      return device.touched && (std::holds_alternative<WavelengthSwitchSetpoint>(setpoint) ||
                                std::holds_alternative<CircuitSwitchSetpoint>(setpoint));
    }));
  }
  return count;
}

}  // namespace loom
