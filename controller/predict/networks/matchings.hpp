// SPDX-License-Identifier: Apache-2.0
// Optical circuit switches: each joins every node to at most one other, and nobody passes traffic on.
#pragma once

#include "controller/predict/networks/graph_routes.hpp"

namespace loom {

inline constexpr std::uint32_t kIdlePort = 0xffffffff;

/// One switch's circuits: entry s is the destination of source s, or kIdlePort (its own index also idles).
using Matching = std::vector<std::uint32_t>;

/// The terms' rate is that of one port on one switch; a pair joined by several switches has their summed rate. A pair without
/// circuit waits for the next topology (`waits_for_path`). Errors: begin_network; invalid_argument (a matching of the wrong
/// length, a destination twice in one).
Result<Network> make_matchings(const NetworkTerms& terms, std::span<const Matching> switches);

/// The same circuits, but nodes pass traffic on where no circuit leads (OCS-reconfig of TopoOpt): shortest ways.
Result<Network> make_forwarded_matchings(const NetworkTerms& terms, std::span<const Matching> switches,
                                         const GraphRouting& routing);

/// The fixed cycle of a rotor: n-1 matchings that join every pair once (i to i + slot + 1).
std::vector<Matching> rotor_cycle(std::uint32_t nodes);

}  // namespace loom
