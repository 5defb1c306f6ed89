// SPDX-License-Identifier: Apache-2.0
// The interfaces of TopoOpt's servers as a fabric has them: which switch each of them is cabled to, and through which 1x2
// switches. Reads what is installed, never what is set.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/result.hpp"

namespace loom {

/// A transmitter and a receiver of one server, at one input and one output of the same switch or panels.
struct Interface {
  /// With look-ahead panels: 1x2 and 2x1 switches whose output and input 0 belong to panel `a`, 1 to panel `b`.
  struct LookAhead {
    DeviceId transmit;
    DeviceId receive;
    bool operator==(const LookAhead&) const = default;
  };
  ElementId transmitter;
  ElementId receiver;
  std::array<DeviceId, 2> panels{};  ///< the switch; with look-ahead panels `a` and `b`
  PortNumber input = 0;              ///< of the switch or of either panel
  PortNumber output = 0;
  std::optional<LookAhead> look_ahead;
};

struct Cabling {
  std::vector<std::vector<Interface>> interfaces;  ///< [node][interface], as many of every node
  /// Interfaces 2 q and 2 q + 1 of all servers are on one switch, so a duplex link may join one of either kind: both its
  /// directions are then on the same two interfaces.
  bool is_duplex = false;
  bool has_panels() const { return interfaces.front().front().look_ahead.has_value(); }
  std::uint32_t degree() const { return static_cast<std::uint32_t>(interfaces.front().size()); }
};

/// Errors: unsupported (a node without interfaces, or with other than its neighbours'; a transmitter that is not cabled to a
/// circuit switch or through a 1x2 switch to two; a driverless switch), naming the node and the interface.
Result<Cabling> read_cabling(const Fabric& fabric);

/// One circuit of a job on its interfaces: from and to are ranks, out and in interfaces.
struct PlacedLink {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t out = 0;
  std::uint32_t in = 0;
  auto operator<=>(const PlacedLink&) const = default;
};

}  // namespace loom
