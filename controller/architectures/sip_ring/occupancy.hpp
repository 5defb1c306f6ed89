// SPDX-License-Identifier: Apache-2.0
// Who holds which wavelength on which segment of the rings: a finished schedule laid out as a map, for pictures and tables.
// Reads and changes nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "controller/architectures/sip_ring/waves.hpp"
#include "core/circuit.hpp"
#include "core/fabric/fabric.hpp"
#include "core/result.hpp"
#include "core/schedule.hpp"

namespace loom {

/// One direction of one ring of fibre, and its wavelengths.
struct OccupancyBus {
  std::uint32_t ring = 0;
  RingDirection direction = RingDirection::clockwise;
  std::vector<FrequencySlot> slots;  ///< by wavelength, as the other structs count them
};

/// The arc of segments that one circuit holds at its wavelength.
struct HeldArc {
  std::uint32_t bus = 0;
  std::uint32_t wavelength = 0;
  RingArc arc{};
  CircuitId circuit;
  JobId job;
  NodeId source;
  NodeId destination;
};

struct RingOccupancy {
  std::vector<NodeId> nodes;  ///< along the rings; segment k lies between nodes[k] and the next one
  std::vector<OccupancyBus> buses;
  std::vector<HeldArc> arcs;  ///< ascending by bus, wavelength, first segment; no two hold one cell
};

/// Sums over the cells (bus x wavelength x segment) of a map.
struct OccupancySums {
  std::uint64_t held = 0;
  std::uint64_t cells = 0;
  std::uint32_t fullest_bus = 0;  ///< of the fullest segment; of equal ones the lowest
  std::uint32_t fullest_segment = 0;
  std::uint32_t fullest_held = 0;  ///< wavelengths held there
  std::uint32_t fullest_of = 0;
  double share() const { return cells == 0 ? 0 : static_cast<double>(held) / static_cast<double>(cells); }
};

/// "clockwise", "counter-clockwise".
std::string_view to_string(RingDirection direction);

/// Errors: unsupported (the fabric has no rings of add/drop filters, see read_sip_ring), conflict (two circuits hold one cell,
/// or a circuit does not begin on a ring: no plan that was verified is so).
Result<RingOccupancy> occupancy_of(const Fabric& fabric, const Schedule& schedule);

OccupancySums sums_of(const RingOccupancy& map);

}  // namespace loom
