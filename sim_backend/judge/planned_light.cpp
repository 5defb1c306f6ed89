// SPDX-License-Identifier: Apache-2.0
// A plan's setpoints as optical states, traced by the same model as ground truth.
#include "sim_backend/judge/planned_light.hpp"

#include "sim_backend/light/light_model.hpp"

namespace loom {
namespace {

OpticalState state_of(const Fabric& fabric, const Device& device, const Setpoint& setpoint) {
  if (const auto* laser = std::get_if<TransmitterSetpoint>(&setpoint)) {
    return LaserLight{laser->emit, centre_of(laser->slot), laser->power};
  }
  if (const auto* wss = std::get_if<WavelengthSwitchSetpoint>(&setpoint)) {
    return WssLight{wss->routes, {}};
  }
  if (const auto* ocs = std::get_if<CircuitSwitchSetpoint>(&setpoint)) {
    return OcsLight{ocs->connects, {}};
  }
  if (std::holds_alternative<MonitorSetpoint>(setpoint)) {
    return MonitorLight{};
  }
  if (const auto* stage = std::get_if<GainSetpoint>(&setpoint)) {
    return GainLight{stage->gain};
  }
  RingLight light;
  for (const ElementId element : device.elements) {
    light.resonances.push_back(std::get<RingFilter>(fabric.element(element).kind).cold_resonance);
  }
  for (const RingResonance& ring : std::get<FilterSetpoint>(setpoint).rings) {
    light.resonances[ring.channel] = ring.resonance;
  }
  return light;
}

}  // namespace

std::map<ElementId, std::set<ElementId>> planned_paths(const std::shared_ptr<const Fabric>& fabric, const Plan& plan) {
  LightModel light(fabric);
  for (const NodePlan& node : plan.nodes) {
    for (const DevicePlan& device : node.devices) {
      if (!device.timeline.empty()) {
        light.apply(
            {Instant{}, device.device, 0, state_of(*fabric, fabric->device(device.device), device.timeline.front().setpoint)});
      }
    }
  }
  std::map<ElementId, std::set<ElementId>> paths;
  for (const ElementId transmitter : light.transmitters()) {
    std::set<ElementId>& passed = paths[transmitter];
    for (const LightHop& hop : light.path_of(transmitter)) {
      passed.insert(fabric->fibres[hop.fibre.value].to.element);
    }
  }
  return paths;
}

}  // namespace loom
