// SPDX-License-Identifier: Apache-2.0
// LEMON behind its door; compiled as C++17 (it calls members of std::allocator that C++20 removed).
#include "controller/schedule/general_matching.hpp"

#include <lemon/matching.h>
#include <lemon/smart_graph.h>

namespace loom {

GeneralMatching max_weight_matching(std::uint32_t nodes, const std::vector<MatchingEdge>& edges) {
  using Graph = lemon::SmartGraph;
  using Weights = Graph::EdgeMap<std::int64_t>;
  Graph graph;
  graph.reserveNode(static_cast<int>(nodes));
  graph.reserveEdge(static_cast<int>(edges.size()));
  for (std::uint32_t node = 0; node < nodes; ++node) {
    graph.addNode();
  }
  Weights weights(graph);
  for (const MatchingEdge& edge : edges) {
    weights[graph.addEdge(Graph::nodeFromId(static_cast<int>(edge.u)), Graph::nodeFromId(static_cast<int>(edge.v)))] =
        edge.weight;
  }
  lemon::MaxWeightedMatching<Graph, Weights> matching(graph, weights);
  matching.run();
  GeneralMatching result;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    const Graph::Node at = Graph::nodeFromId(static_cast<int>(node));
    const Graph::Node mate = matching.mate(at);
    result.mate.push_back(mate == lemon::INVALID ? kUnmatched : static_cast<std::uint32_t>(Graph::id(mate)));
    result.value.push_back(matching.nodeValue(at));
  }
  return result;
}

}  // namespace loom
