// SPDX-License-Identifier: Apache-2.0
// What SiP-Ring's scheduler needs to know of a fabric, read off its graph: in which order the rings visit the nodes, which
// transmitter and receiver a node has at each wavelength of each (ring, direction), and how far a link budget carries.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/architectures/sip_ring/waves.hpp"
#include "core/fabric/fabric.hpp"
#include "core/result.hpp"

namespace loom {

/// A node's ends at one wavelength of one bus.
struct RingPosition {
  ElementId transmitter;
  ElementId receiver;
};

struct SipRingShape {
  std::vector<NodeId> nodes;                                      ///< by position along the ring
  std::vector<std::uint32_t> position;                            ///< by node
  std::vector<RingBus> buses;                                     ///< in the order of their lowest filter
  std::vector<std::vector<FrequencySlot>> slots;                  ///< [bus][channel]
  std::vector<std::vector<std::vector<RingPosition>>> positions;  ///< [bus][channel][position]
  std::uint32_t reach = 0;                                        ///< hops that every link's budget carries
};

/// Errors: unsupported, naming the node, filter or bus that is not SiP-Ring's.
Result<SipRingShape> read_sip_ring(const Fabric& fabric);

}  // namespace loom
