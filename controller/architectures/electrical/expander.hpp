// SPDX-License-Identifier: Apache-2.0
// A random d-regular graph of nodes (Jellyfish's topology, NSDI 2012, without switches): short paths in every direction.
#pragma once

#include "controller/predict/networks/graph_routes.hpp"

namespace loom {

struct ExpanderShape {
  std::uint32_t degree = 4;  ///< links of a node, each in both directions
  std::uint64_t seed = 1;    ///< of the graph
  GraphRouting routing{.ways = 8, .longer = 1};
};

/// Connected, without parallel links. Errors: begin_network, connect(); invalid_argument (nodes x degree odd, a degree outside
/// 2 .. nodes-1), infeasible (no connected graph found).
Result<Network> make_expander(const NetworkTerms& terms, const ExpanderShape& shape);

/// Its edges, each once in either direction.
Result<std::vector<NodePair>> random_regular_graph(std::uint32_t nodes, std::uint32_t degree, std::uint64_t seed);

}  // namespace loom
