// SPDX-License-Identifier: Apache-2.0
// Circuits to arcs by the place of their transmitters.
#include "controller/architectures/sip_ring/occupancy.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "controller/architectures/sip_ring/shape.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

using Place = std::pair<std::uint32_t, std::uint32_t>;  // bus, wavelength

std::map<ElementId, Place> places_of(const SipRingShape& shape) {
  std::map<ElementId, Place> places;
  for (std::uint32_t bus = 0; bus < shape.positions.size(); ++bus) {
    for (std::uint32_t wavelength = 0; wavelength < shape.positions[bus].size(); ++wavelength) {
      for (const RingPosition& position : shape.positions[bus][wavelength]) {
        places[position.transmitter] = {bus, wavelength};
      }
    }
  }
  return places;
}

/// All timeslots of all stages: the light of rings stands, so that there is one of each.
std::vector<Circuit> circuits_of(const Schedule& schedule) {
  std::vector<Circuit> all;
  for (const JobSchedule& job : schedule.jobs) {
    for (const Stage& stage : job.stages) {
      for (const Timeslot& timeslot : stage.timeslots) {
        all.insert(all.end(), timeslot.circuits.begin(), timeslot.circuits.end());
      }
    }
  }
  return all;
}

}  // namespace

std::string_view to_string(RingDirection direction) {
  return direction == RingDirection::clockwise ? "clockwise" : "counter-clockwise";
}

Result<RingOccupancy> occupancy_of(const Fabric& fabric, const Schedule& schedule) {
  const auto shape = read_sip_ring(fabric);
  if (!shape) {
    return std::unexpected(shape.error());
  }
  const auto nodes = static_cast<std::uint32_t>(shape->nodes.size());
  RingOccupancy map{shape->nodes, {}, {}};
  std::array<std::uint32_t, 2> rings{};  // by direction
  for (std::uint32_t bus = 0; bus < shape->buses.size(); ++bus) {
    const RingDirection direction = shape->buses[bus].direction;
    map.buses.push_back({rings[static_cast<std::size_t>(direction)]++, direction, shape->slots[bus]});
  }
  const std::map<ElementId, Place> places = places_of(*shape);
  WavelengthUse use(nodes, shape->buses);
  for (const Circuit& circuit : circuits_of(schedule)) {
    const auto place = places.find(circuit.transmitter);
    if (place == places.end()) {
      return fail(ErrorCode::conflict,
                  format_text("circuit {} of node {} begins on no ring", circuit.id.value, circuit.source.value));
    }
    const auto [bus, wavelength] = place->second;
    const RingArc arc = arc_of(nodes, shape->buses[bus].direction, shape->position[circuit.source.value],
                               shape->position[circuit.destination.value]);
    if (!use.is_free(bus, wavelength, arc)) {
      return fail(ErrorCode::conflict,
                  format_text("circuit {} from node {} to node {}: another one holds wavelength {} of ring {}, {}, on its way",
                              circuit.id.value, circuit.source.value, circuit.destination.value, wavelength,
                              map.buses[bus].ring, to_string(map.buses[bus].direction)));
    }
    use.set(bus, wavelength, arc, true);
    map.arcs.push_back({bus, wavelength, arc, circuit.id, circuit.job, circuit.source, circuit.destination});
  }
  std::ranges::sort(map.arcs, {}, [](const HeldArc& each) { return std::tuple{each.bus, each.wavelength, each.arc.first}; });
  return map;
}

OccupancySums sums_of(const RingOccupancy& map) {
  OccupancySums sums;
  const std::size_t nodes = map.nodes.size();
  std::vector<std::vector<std::uint32_t>> held(map.buses.size(), std::vector<std::uint32_t>(nodes));
  for (const HeldArc& each : map.arcs) {
    sums.held += each.arc.length;
    for (std::uint32_t i = 0; i < each.arc.length; ++i) {
      ++held[each.bus][(each.arc.first + i) % nodes];
    }
  }
  for (std::uint32_t bus = 0; bus < held.size(); ++bus) {
    const auto of = static_cast<std::uint32_t>(map.buses[bus].slots.size());
    sums.cells += std::uint64_t{of} * nodes;
    for (std::uint32_t segment = 0; segment < nodes; ++segment) {
      if (held[bus][segment] > sums.fullest_held || sums.fullest_of == 0) {
        sums.fullest_bus = bus;
        sums.fullest_segment = segment;
        sums.fullest_held = held[bus][segment];
        sums.fullest_of = of;
      }
    }
  }
  return sums;
}

}  // namespace loom
