// SPDX-License-Identifier: Apache-2.0
// One walk over a plan.
#include "controller/plan/lower/base_plan.hpp"

namespace loom {

BasePlan::BasePlan(const Fabric& fabric, const Plan* plan, const std::vector<ElementId>& lost)
    : plan_(plan),
      positions_(plan == nullptr ? Positions(fabric) : positions_of(fabric, *plan)),
      resonances_(fabric.elements.size()),
      devices_(fabric.devices.size(), nullptr),
      circuits_(fabric.elements.size()) {
  if (plan == nullptr) {
    return;
  }
  for (const NodePlan& node : plan->nodes) {
    for (const DevicePlan& device : node.devices) {
      devices_[device.device.value] = &device;
      read(fabric.device(device.device), device.timeline.front().setpoint);
    }
  }
  for (const Circuit& circuit : plan->circuits) {
    circuits_[circuit.transmitter.value].push_back(&circuit);
  }
  for (const ElementId element : lost) {
    positions_.routes[element.value].clear();
    positions_.connects[element.value].clear();
    resonances_[element.value].reset();
    positions_.gains[element.value] = kGainOff;
  }
}

void BasePlan::read(const Device& device, const Setpoint& setpoint) {
  if (const auto* heater = std::get_if<FilterSetpoint>(&setpoint)) {
    for (const RingResonance& ring : heater->rings) {
      resonances_[device.elements[ring.channel].value] = ring.resonance;
    }
  }
}

}  // namespace loom
