// SPDX-License-Identifier: Apache-2.0
// Two searches a circuit.
#include "controller/plan/needed_devices.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace loom {
namespace {

Positions without(Positions positions, const std::vector<ElementId>& lost) {
  for (const ElementId element : lost) {
    positions.routes[element.value].clear();
    positions.connects[element.value].clear();
    positions.resonances[element.value].reset();
    positions.gains[element.value] = kGainOff;
  }
  return positions;
}

}  // namespace

std::vector<FibreId> fibres_of(const Fabric& fabric, ElementId transmitter) {
  std::vector<FibreId> fibres;
  ElementId at = transmitter;
  while (fibres.size() < fabric.fibres.size()) {
    const auto& ports = fabric.fibre_out[at.value];
    const auto is_used = [](const std::optional<FibreId>& port) { return port.has_value(); };
    if (std::count_if(ports.begin(), ports.end(), is_used) != 1) {
      break;
    }
    fibres.push_back(**std::find_if(ports.begin(), ports.end(), is_used));
    at = fabric.fibres[fibres.back().value].to.element;
  }
  return fibres;
}

NeededDevices::NeededDevices(const Fabric& fabric, const UnusableDevices& unusable, const Positions& positions,
                             std::vector<RogueLight> rogues)
    : fabric_(fabric),
      unusable_(unusable),
      open_positions_(positions),
      held_positions_(without(positions, unusable.lost())),
      open_(fabric, open_positions_),
      held_(fabric, held_positions_, unusable.frozen()),
      rogues_(std::move(rogues)) {
  held_.leave_to_others(unusable.occupied());
}

void NeededDevices::keep(const Circuit& circuit) {
  (void)open_.route_light(circuit);
  (void)held_.route_light(circuit);
}

std::vector<DeviceId> NeededDevices::needed_by(const Circuit& circuit) {
  std::vector<DeviceId> needed;
  const std::optional<Path> open = open_.route_light(circuit);
  const std::optional<Path> held = held_.route_light(circuit);
  for (std::size_t i = 0; open && !held && i < open->size(); ++i) {
    const auto device = fabric_.device_of_element[(*open)[i].element.value];
    if (device && unusable_.find(*device) != nullptr) {
      needed.push_back(*device);
    }
  }
  for (const RogueLight& rogue : rogues_) {
    if (held && rogue.transmitter != circuit.transmitter && meets(rogue, circuit, *held)) {
      needed.push_back(rogue.device);
    }
  }
  std::sort(needed.begin(), needed.end());
  needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
  return needed;
}

bool NeededDevices::meets(const RogueLight& rogue, const Circuit& circuit, const Path& path) const {
  if (std::find(rogue.receivers.begin(), rogue.receivers.end(), circuit.receiver) != rogue.receivers.end()) {
    return true;
  }
  const bool has_its_light =
      std::any_of(rogue.slots.begin(), rogue.slots.end(), [&](FrequencySlot slot) { return overlaps(slot, circuit.slot); });
  return has_its_light && std::any_of(path.begin(), path.end(), [&](const Hop& hop) {
           const auto& ports = fabric_.fibre_out[hop.element.value];
           const auto fibre = hop.output < ports.size() ? ports[hop.output] : std::nullopt;
           return fibre && std::find(rogue.fibres.begin(), rogue.fibres.end(), *fibre) != rogue.fibres.end();
         });
}

}  // namespace loom
