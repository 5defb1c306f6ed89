// SPDX-License-Identifier: Apache-2.0
// Direct connections between nodes, traffic between strangers passed on by the nodes between them: rings, rings of several
// jumps (TopoOpt), any given graph, and a full mesh balanced after Valiant.
#pragma once

#include "controller/predict/networks/graph_routes.hpp"

namespace loom {

/// `directed`: one entry a link, parallel links repeated (they become one link of their summed rate). Errors: as connect().
Result<Network> make_direct_connect(const NetworkTerms& terms, const std::vector<NodePair>& directed,
                                    const GraphRouting& routing);

struct JumpRings {
  std::vector<std::uint32_t> jumps{};  ///< 1 .. n-1; one that comes twice has twice the rate
  bool both_directions = true;         ///< also n - jump
  std::uint32_t ways = 1;              ///< shortest ways between two nodes that a transfer is split over, equally
};

/// Every node i is joined to i + jump for each jump; routes by fewest jumps (CoinChangeMod: TopoOpt, NSDI 2023; ties by the
/// order of `jumps`), alike at every node. Errors: begin_network; invalid_argument (no jumps, a jump outside 1 .. n-1, jumps
/// that do not reach every node).
Result<Network> make_jump_rings(const NetworkTerms& terms, const JumpRings& rings);

/// Jumps of 1, both directions: the short way round.
Result<Network> make_ring(const NetworkTerms& terms);

/// A full mesh, the terms' rate divided among the n-1 links of a node; every transfer spread evenly over its direct link and
/// all n-2 nodes between (Valiant load balancing), or over its direct link alone.
Result<Network> make_mesh(const NetworkTerms& terms, bool is_balanced);

}  // namespace loom
