// SPDX-License-Identifier: Apache-2.0
// Helpers of the light tests: a small ODDL fabric and the optical changes that one circuit through it needs. No planner here:
// channels and routes are worked out by hand from the fabric's own rule (AWG: output = (channel + input) mod outputs).
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "controller/architectures/oddl/fabric.hpp"
#include "core/fabric/fabric.hpp"
#include "sim_backend/devices/optical_state.hpp"

namespace loom::test {

inline std::shared_ptr<const Fabric> small_oddl(std::uint32_t nodes, std::uint32_t group_size) {
  OddlParameters parameters;
  parameters.nodes = nodes;
  parameters.group_size = group_size;
  parameters.channels = static_cast<std::int32_t>(group_size + group_size / 2);
  return std::make_shared<const Fabric>(make_oddl(parameters));
}

inline FrequencySlot slot_of_channel(std::int32_t channel) {
  const OddlParameters defaults;
  return {defaults.first_channel_n + channel * defaults.channel_step_n, defaults.channel_width_m};
}

inline DeviceId device_of(const Fabric& fabric, ElementId element) { return fabric.device_of_element[element.value].value(); }

/// Precondition: there is one.
inline ElementId element_named(const Fabric& fabric, const std::string& name) {
  const auto found =
      std::find_if(fabric.elements.begin(), fabric.elements.end(), [&](const Element& e) { return e.name == name; });
  LOOM_ASSERT(found != fabric.elements.end());
  return found->id;
}

inline OpticalChange laser(const Fabric& fabric, std::int64_t at_ns, NodeId node, Frequency frequency, Dbm power = Dbm{0}) {
  return {instant_from_ns(at_ns), device_of(fabric, fabric.nodes[node.value].transmitters.front()), 0,
          LaserLight{true, frequency, power}};
}

inline OpticalChange dark(const Fabric& fabric, std::int64_t at_ns, NodeId node) {
  return {instant_from_ns(at_ns), device_of(fabric, fabric.nodes[node.value].transmitters.front()), 0, LaserLight{}};
}

inline OpticalChange ring(const Fabric& fabric, std::int64_t at_ns, NodeId node, Frequency resonance) {
  const ElementId filter = element_named(fabric, "ring-" + std::to_string(node.value));
  return {instant_from_ns(at_ns), device_of(fabric, filter), 0, RingLight{{resonance}}};
}

inline OpticalChange routes(const Fabric& fabric, std::int64_t at_ns, const std::string& wss, std::vector<WssRoute> open,
                            std::vector<WssRoute> moving = {}) {
  return {instant_from_ns(at_ns), device_of(fabric, element_named(fabric, wss)), 0,
          WssLight{std::move(open), std::move(moving)}};
}

}  // namespace loom::test
