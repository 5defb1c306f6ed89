// SPDX-License-Identifier: Apache-2.0
// A walk back from every watched receiver says which fibres matter; then every circuit's way is looked along for branches.
#include "controller/plan/light/sightings.hpp"

#include <algorithm>
#include <utility>

#include "controller/plan/light/light_path.hpp"

namespace loom {
namespace {

constexpr std::size_t kFibresMost = 4'096;  ///< behind one branch of one circuit

}  // namespace

SightingFinder::SightingFinder(const Fabric& fabric, const LightFollower& follower) : fabric_(fabric), follower_(follower) {
  const auto watches = [](const Device& device) { return device.role == DeviceRole::monitor; };
  if (std::any_of(fabric.devices.begin(), fabric.devices.end(), watches)) {
    mark_ways_to_watched();
  }
}

bool SightingFinder::is_watched(ElementId element) const {
  const auto device = fabric_.device_of_element[element.value];
  return device && fabric_.device(*device).role == DeviceRole::monitor;
}

void SightingFinder::mark_ways_to_watched() {
  leads_to_watched_.assign(fabric_.fibres.size(), false);
  std::vector<ElementId> open;
  std::vector<bool> seen(fabric_.elements.size());
  for (const Element& element : fabric_.elements) {
    if (is_watched(element.id)) {
      open.push_back(element.id);
      seen[element.id.value] = true;
    }
  }
  while (!open.empty()) {
    const ElementId at = open.back();
    open.pop_back();
    for (const auto& fibre : fabric_.fibre_in[at.value]) {
      if (!fibre) {
        continue;
      }
      leads_to_watched_[fibre->value] = true;
      if (const ElementId before = fabric_.fibres[fibre->value].from.element; !seen[before.value]) {
        seen[before.value] = true;
        open.push_back(before);
      }
    }
  }
}

bool SightingFinder::plays(const Circuit& circuit) const {
  const auto laser = fabric_.device_of_element[circuit.transmitter.value];
  const DevicePlan* plan = laser ? follower_.device(*laser) : nullptr;
  return plan != nullptr && plan->timeline.back().hold != kForever;
}

void SightingFinder::spread(FibreId from, FrequencySlot slot, std::vector<ElementId>& found) const {
  std::vector<FibreId> seen{from};
  for (std::size_t next = 0; next < seen.size() && seen.size() < kFibresMost; ++next) {
    const PortRef at = fabric_.fibres[seen[next].value].to;
    const Element& element = fabric_.element(at.element);
    if (is_watched(at.element) && std::find(found.begin(), found.end(), at.element) == found.end()) {
      found.push_back(at.element);
    }
    const LightFollower::Exits open = follower_.exits(element, at.port);
    for (PortNumber output = open.first; output < open.end; ++output) {
      const auto& fibre = fabric_.fibre_out[at.element.value][output];
      const bool goes = std::holds_alternative<Tap>(element.kind) || follower_.passes(element, at.port, output, slot);
      if (fibre && goes && leads_to_watched_[fibre->value] && std::find(seen.begin(), seen.end(), *fibre) == seen.end()) {
        seen.push_back(*fibre);
      }
    }
  }
}

void SightingFinder::arrive(ElementId receiver, const Arrival& arrival) {
  std::vector<Arrival>& there = arrivals_[receiver];
  if (std::find(there.begin(), there.end(), arrival) == there.end()) {
    there.push_back(arrival);
  }
}

void SightingFinder::add(const Circuit& circuit, const Path* path) {
  Row& row = rows_.emplace_back(Row{{circuit.transmitter, circuit.slot}, {}, plays(circuit)});
  if (path == nullptr) {
    return;
  }
  row.sightings.push_back({circuit.receiver, false, false, true});
  arrive(circuit.receiver, row.arrival);
  std::size_t last_device = 0;  // on the way, beside the receiver's own
  for (std::size_t i = 0; i + 1 < path->size(); ++i) {
    last_device = fabric_.device_of_element[(*path)[i].element.value] ? i : last_device;
  }
  for (std::size_t i = 0; i + 1 < path->size() && !leads_to_watched_.empty(); ++i) {
    const Hop& hop = (*path)[i];
    const Element& element = fabric_.element(hop.element);
    std::vector<ElementId> found;
    const LightFollower::Exits open = follower_.exits(element, hop.input);
    for (PortNumber output = open.first; output < open.end; ++output) {
      const auto& fibre = fabric_.fibre_out[hop.element.value][output];
      const bool goes = std::holds_alternative<Tap>(element.kind) || follower_.passes(element, hop.input, output, circuit.slot);
      if (output != hop.output && fibre && goes && leads_to_watched_[fibre->value]) {
        spread(*fibre, circuit.slot, found);
      }
    }
    for (const ElementId receiver : found) {
      const auto is_it = [&](const Sighting& other) { return other.receiver == receiver; };
      if (std::none_of(row.sightings.begin(), row.sightings.end(), is_it)) {
        row.sightings.push_back({receiver, false, false, i >= last_device});
        arrive(receiver, row.arrival);
      }
    }
  }
}

Sightings SightingFinder::finish() {
  Sightings all;
  all.by_circuit.resize(rows_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    Row& row = rows_[i];
    if (row.plays) {
      continue;
    }
    for (Sighting& sighting : row.sightings) {
      const std::vector<Arrival>& there = arrivals_[sighting.receiver];
      sighting.is_alone = there.size() == 1;
      sighting.is_alone_in_slot = std::count_if(there.begin(), there.end(), [&](const Arrival& other) {
                                    return overlaps(other.slot, row.arrival.slot);
                                  }) == 1;
      if (is_watched(sighting.receiver)) {
        all.circuits_at[sighting.receiver].push_back(i);
      }
    }
    all.by_circuit[i] = std::move(row.sightings);
  }
  return all;
}

}  // namespace loom
