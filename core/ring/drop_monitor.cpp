// SPDX-License-Identifier: Apache-2.0
// A walk down from the drop.
#include "core/ring/drop_monitor.hpp"

#include <algorithm>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr PortNumber kDrop = 1;
constexpr std::size_t kElementsMost = 64;  ///< between a ring and what watches it

bool passes_as_it_is(const Element& element) {
  return std::holds_alternative<Coupler>(element.kind) || std::holds_alternative<Tap>(element.kind) ||
         std::holds_alternative<Attenuator>(element.kind) || std::holds_alternative<Amplifier>(element.kind);
}

}  // namespace

std::optional<DropMonitor> drop_monitor_of(const Fabric& fabric, ElementId ring) {
  const NodeId agent = fabric.device(*fabric.device_of_element[ring.value]).agent;
  std::vector<ElementId> reached;
  const auto follow = [&](ElementId from, PortNumber output) {
    const auto& fibre = fabric.fibre_out[from.value][output];
    if (fibre && std::ranges::find(reached, fabric.fibres[fibre->value].to.element) == reached.end()) {
      reached.push_back(fabric.fibres[fibre->value].to.element);
    }
  };
  if (fabric.element(ring).outputs > kDrop) {
    follow(ring, kDrop);
  }
  for (std::size_t next = 0; next < reached.size() && next < kElementsMost; ++next) {
    const Element& element = fabric.element(reached[next]);
    const auto device = fabric.device_of_element[element.id.value];
    const bool watches = device && fabric.device(*device).role == DeviceRole::monitor && fabric.device(*device).agent == agent;
    if (watches) {
      return DropMonitor{*device, fabric.index_in_device[element.id.value]};
    }
    for (PortNumber output = 0; passes_as_it_is(element) && output < element.outputs; ++output) {
      follow(element.id, output);
    }
  }
  return std::nullopt;
}

std::vector<std::string> check_locked_rings(const Fabric& fabric) {
  std::vector<std::string> faults;
  for (const Element& element : fabric.elements) {
    const auto* ring = std::get_if<RingFilter>(&element.kind);
    if (ring == nullptr || !ring->locked) {
      continue;
    }
    const auto device = fabric.device_of_element[element.id.value];
    if (!device) {
      faults.push_back(format_text("{}: locked, but no device heats it", element.name));
    } else if (!drop_monitor_of(fabric, element.id)) {
      faults.push_back(format_text("{}: locked, but node {}, whose agent heats it, has no monitor behind its drop (output {})",
                                   element.name, fabric.device(*device).agent.value, kDrop));
    }
  }
  return faults;
}

}  // namespace loom
