// SPDX-License-Identifier: Apache-2.0
// Holograms that reload.
#include "sim_backend/devices/wss/wss_optics.hpp"

#include <algorithm>

#include "sim_backend/devices/wire.hpp"

namespace loom {

SimulatedWss::SimulatedWss(const Device& device, const Element& element, const SimDeviceOptions& options)
    : SimulatedDevice(device.id, options),
      inputs_(element.inputs),
      outputs_(element.outputs),
      settle_max_(std::get<WavelengthSelectiveSwitch>(element.kind).settle_max),
      reload_dip_(std::get<WavelengthSelectiveSwitch>(element.kind).reload_dip) {}

OpticalState SimulatedWss::light(Instant at) const {
  WssLight light;
  if (has_fault(DeviceFaultKind::fail, at)) {
    return light;
  }
  if (motion_.is_over(at)) {
    light.routes = routes();
    return light;
  }
  light.routes = motion_.steady();
  for (WssRoute& route : light.routes) {
    route.attenuation = route.attenuation + reload_dip_;
  }
  light.moving = motion_.moving();
  return light;
}

void SimulatedWss::append_breakpoints(Instant, std::vector<Instant>& instants) const { instants.push_back(motion_.end()); }

/// The next output, or of a switch that has only one the next input.
void SimulatedWss::misroute(OpticalState& state) const {
  auto& light = std::get<WssLight>(state);
  for (auto* routes : {&light.routes, &light.moving}) {
    for (WssRoute& route : *routes) {
      PortNumber& port = outputs_ > 1 ? route.output : route.input;
      port = static_cast<PortNumber>((port + 1) % (outputs_ > 1 ? outputs_ : inputs_));
    }
    std::sort(routes->begin(), routes->end(), [](const WssRoute& a, const WssRoute& b) { return ascends(a, b); });
  }
}

void SimulatedWss::begin_move(Instant now, Instant at) {
  motion_.begin(at, stretched(at, part_of(settle_max_, draw(), 60, 100)), routes());
  light_changed(now, at);
}

}  // namespace loom
