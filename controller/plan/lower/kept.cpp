// SPDX-License-Identifier: Apache-2.0
// One comparison for each kind of device; nothing is copied for it.
#include "controller/plan/lower/kept.hpp"

#include <algorithm>

namespace loom {
namespace {

bool is_one_entry(const DevicePlan& plan) {
  const TimedSetpoint& first = plan.timeline.front();
  return plan.timeline.size() == 1 && first.offset == Duration{} && first.guard == Duration{} && first.hold == kForever;
}

/// As heater_of() has it.
bool is_bank(const Fabric& fabric, const Device& device, const FilterSetpoint& bank, const Positions& positions) {
  auto held = bank.rings.begin();
  for (std::size_t i = 0; i < device.elements.size(); ++i) {
    const auto slot = positions.resonances[device.elements[i].value];
    if (!slot) {
      continue;
    }
    const bool locked = std::get<RingFilter>(fabric.element(device.elements[i]).kind).locked;
    if (held == bank.rings.end() || *held != RingResonance{static_cast<std::uint16_t>(i), centre_of(*slot), {}, locked}) {
      return false;
    }
    ++held;
  }
  return held == bank.rings.end();
}

}  // namespace

bool keeps_setpoint(const Fabric& fabric, const DevicePlan& before, const Positions& positions, const std::vector<Db>& gains) {
  const Device& device = fabric.device(before.device);
  const std::size_t first = device.elements.front().value;
  const Setpoint& setpoint = before.timeline.front().setpoint;
  if (!is_one_entry(before)) {
    return false;
  }
  switch (device.role) {
    case DeviceRole::filter: {
      const auto* bank = std::get_if<FilterSetpoint>(&setpoint);
      return bank != nullptr && is_bank(fabric, device, *bank, positions);
    }
    case DeviceRole::wavelength_switch: {
      const auto* wss = std::get_if<WavelengthSwitchSetpoint>(&setpoint);
      return wss != nullptr && wss->routes == positions.routes[first];
    }
    case DeviceRole::circuit_switch: {
      const auto* ocs = std::get_if<CircuitSwitchSetpoint>(&setpoint);
      return ocs != nullptr && ocs->connects == positions.connects[first];
    }
    case DeviceRole::gain_stage: {
      const auto* stage = std::get_if<GainSetpoint>(&setpoint);
      return stage != nullptr && stage->gain == gains[first];
    }
    case DeviceRole::monitor:
      return std::holds_alternative<MonitorSetpoint>(setpoint);
    case DeviceRole::transmitter:
      break;
  }
  return false;
}

bool keeps_dark(const DevicePlan& before) {
  return is_one_entry(before) && std::holds_alternative<TransmitterSetpoint>(before.timeline.front().setpoint) &&
         !emits(before.timeline.front().setpoint);
}

}  // namespace loom
