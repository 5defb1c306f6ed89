// SPDX-License-Identifier: Apache-2.0
// Two searches a circuit.
#include "controller/plan/needed_devices.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "core/ring/ring.hpp"

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

bool has_light_of(const RogueLight& rogue, FrequencySlot wanted) {
  return std::ranges::any_of(rogue.slots, [&](FrequencySlot slot) { return overlaps(slot, wanted); });
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
  std::vector<std::optional<Frequency>> resonances(rogues_.empty() ? 0 : fabric.elements.size());
  for (std::size_t i = 0; i < resonances.size(); ++i) {
    if (const auto& slot = open_positions_.resonances[i]) {
      resonances[i] = centre_of(*slot);
    }
  }
  for (RogueLight& rogue : rogues_) {
    PathFinder there(fabric, open_positions_);
    for (const FrequencySlot slot : rogue.slots) {
      std::ranges::copy(there.hold(rogue.transmitter, slot, resonances), std::back_inserter(rogue.receivers));
    }
  }
}

void NeededDevices::keep(const Circuit& circuit) { (void)held_.route_light(circuit); }

std::vector<DeviceId> NeededDevices::needed_by(const Circuit& circuit, bool is_new) {
  std::vector<DeviceId> needed;
  const std::optional<Path> open = open_.route_light(circuit);
  const std::optional<Path> held = held_.route_light(circuit);
  for (std::size_t i = 0; open && !held && i < open->size(); ++i) {
    const auto device = fabric_.device_of_element[(*open)[i].element.value];
    if (device && unusable_.find(*device) != nullptr) {
      needed.push_back(*device);
    }
  }
  for (std::size_t i = 0; held && is_new && i < held->size(); ++i) {
    if (const ElementId element = (*held)[i].element; may_take(element, circuit.slot)) {
      needed.push_back(*fabric_.device_of_element[element.value]);
    }
  }
  const bool is_in_the_way = open && !held && needed.empty();  // light that stays has taken what it would need
  for (const RogueLight& rogue : rogues_) {
    const bool is_others = rogue.transmitter != circuit.transmitter;
    if (is_others && (held ? meets(rogue, circuit, *held) : is_in_the_way && has_light_of(rogue, circuit.slot))) {
      needed.push_back(rogue.device);
    }
  }
  std::sort(needed.begin(), needed.end());
  needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
  return needed;
}

bool NeededDevices::may_take(ElementId filter, FrequencySlot slot) const {
  const auto* ring = std::get_if<RingFilter>(&fabric_.element(filter).kind);
  if (ring == nullptr || !std::binary_search(unusable_.lost().begin(), unusable_.lost().end(), filter)) {
    return false;
  }
  const auto reach = static_cast<std::int64_t>(mhz_per_square_volt(*ring) * ring->heater_volt_max * ring->heater_volt_max);
  std::int64_t below = ring->cold_resonance.mhz + ring->fwhm.mhz - centre_of(slot).mhz;  // heat moves it down in frequency
  if (ring->free_spectral_range.mhz > 0) {
    below = (below % ring->free_spectral_range.mhz + ring->free_spectral_range.mhz) % ring->free_spectral_range.mhz;
  }
  return below >= 0 && below <= reach + 2 * ring->fwhm.mhz;
}

bool NeededDevices::meets(const RogueLight& rogue, const Circuit& circuit, const Path& path) const {
  if (std::find(rogue.receivers.begin(), rogue.receivers.end(), circuit.receiver) != rogue.receivers.end()) {
    return true;
  }
  return has_light_of(rogue, circuit.slot) && std::any_of(path.begin(), path.end(), [&](const Hop& hop) {
           const auto& ports = fabric_.fibre_out[hop.element.value];
           const auto fibre = hop.output < ports.size() ? ports[hop.output] : std::nullopt;
           return fibre && std::find(rogue.fibres.begin(), rogue.fibres.end(), *fibre) != rogue.fibres.end();
         });
}

}  // namespace loom
