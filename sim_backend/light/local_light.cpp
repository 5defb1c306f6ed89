// SPDX-License-Identifier: Apache-2.0
// A walk upstream from each monitor; and a model of light that is there only where somebody looks.
#include "sim_backend/light/local_light.hpp"

#include <algorithm>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

bool is_simulated(const Fabric& fabric, const Device& device, std::span<const NodeId> nodes) {
  return fabric.buses[device.bus.value].endpoint == "sim" && std::ranges::find(nodes, device.agent) != nodes.end();
}

}  // namespace

const Device* stranger_upstream(const Fabric& fabric, const std::vector<ElementId>& from,
                                const std::function<bool(const Device&)>& is_known) {
  std::vector<bool> seen(fabric.elements.size());
  std::vector<ElementId> open = from;
  while (!open.empty()) {
    const ElementId at = open.back();
    open.pop_back();
    for (const auto& fibre : fabric.fibre_in[at.value]) {
      if (!fibre) {
        continue;
      }
      const ElementId before = fabric.fibres[fibre->value].from.element;
      if (seen[before.value]) {
        continue;
      }
      seen[before.value] = true;
      open.push_back(before);
      const auto device = fabric.device_of_element[before.value];
      if (device && !is_known(fabric.device(*device))) {
        return &fabric.device(*device);
      }
    }
  }
  return nullptr;
}

std::vector<std::string> blind_monitors(const Fabric& fabric, std::span<const NodeId> nodes) {
  std::vector<std::string> sentences;
  for (const Device& device : fabric.devices) {
    if (device.role != DeviceRole::monitor || !is_simulated(fabric, device, nodes)) {
      continue;
    }
    const auto is_known = [&](const Device& other) { return is_simulated(fabric, other, nodes); };
    if (const Device* other = stranger_upstream(fabric, device.elements, is_known)) {
      sentences.push_back(
          format_text("monitor {} (device {}) is simulated by this process, and light that comes to it passes {} (device {}), "
                      "which is not: it would read darkness. Let its bus be a lightloom-emulate powermeter or photodiode with "
                      "--light-logs, or let one agent process simulate both",
                      device.name, device.id.value, other->name, other->id.value));
    }
  }
  return sentences;
}

LocalLight::LocalLight(const std::shared_ptr<const Fabric>& fabric, std::span<const NodeId> nodes,
                       const std::function<bool(const Device&)>& measures) {
  const auto is_known = [&](const Device& device) { return is_simulated(*fabric, device, nodes); };
  for (const Device& device : fabric->devices) {
    if (measures(device) && is_known(device) && stranger_upstream(*fabric, device.elements, is_known) == nullptr) {
      seen_.insert(device.elements.begin(), device.elements.end());
    }
  }
  if (!seen_.empty()) {
    light_.emplace(fabric);
  }
}

void LocalLight::apply(const OpticalChange& change) {
  if (light_) {
    light_->apply(change);
  }
}

std::optional<std::vector<ArrivingLight>> LocalLight::arriving(PortRef input) const {
  return seen_.contains(input.element) ? std::optional(arriving_at(*light_, input)) : std::nullopt;
}

}  // namespace loom
