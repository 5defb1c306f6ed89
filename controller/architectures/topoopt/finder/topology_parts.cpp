// SPDX-License-Identifier: Apache-2.0
// Takes apart, checks, puts together.
#include "controller/architectures/topoopt/finder/topology_parts.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

std::unexpected<Error> refuse(const std::string& what) { return fail(ErrorCode::invalid_argument, "not a topology: " + what); }

bool is_jump(std::uint32_t jump, std::uint32_t nodes) { return jump >= 1 && jump < nodes; }

Result<void> check(const TopologyParts& parts) {
  const std::uint32_t nodes = parts.nodes;
  if (nodes < 2 || nodes > limits::kNodes) {
    return refuse(format_text("{} nodes", nodes));
  }
  for (const std::uint32_t jump : parts.jumps) {
    if (!is_jump(jump, nodes)) {
      return refuse(format_text("a jump of {} among {} nodes", jump, nodes));
    }
  }
  for (const PairLinks& pair : parts.pairs) {
    if (pair.u >= pair.v || pair.v >= nodes || pair.count == 0) {
      return refuse(format_text("a pair {} - {}", pair.u, pair.v));
    }
  }
  for (const RingPath& ring : parts.rings) {
    const bool is_lawful = ring.group_size >= 2 && nodes % ring.group_size == 0 && !ring.jumps.empty() &&
                           std::all_of(ring.jumps.begin(), ring.jumps.end(), [&](std::uint32_t jump) {
                             return std::find(parts.jumps.begin(), parts.jumps.end(), jump) != parts.jumps.end();
                           });
    if (!is_lawful) {
      return refuse(format_text("a ring of {}", ring.group_size));
    }
  }
  const auto is_node = [&](std::uint32_t node) { return node < nodes; };
  if (!std::all_of(parts.tree_sources.begin(), parts.tree_sources.end(), is_node)) {
    return refuse("a route from a node that is not there");
  }
  for (const auto& route : parts.pair_routes) {
    for (const auto& path : route.paths) {
      if (path.size() < 2 || !std::all_of(path.begin(), path.end(), is_node)) {
        return refuse(format_text("a route from {} to {}", route.source, route.destination));
      }
    }
  }
  return {};
}

}  // namespace

TopologyParts parts_of(const DirectTopology& topology) {
  TopologyParts parts{topology.nodes,      topology.shares, topology.jumps, topology.pairs, topology.rings, {},
                      topology.pair_routes};
  for (std::uint32_t node = 0; node < topology.nodes; ++node) {
    if (topology.pair_trees.has(node)) {
      parts.tree_sources.push_back(node);
    }
  }
  return parts;
}

Result<DirectTopology> topology_of(TopologyParts parts, std::uint64_t seed) {
  LOOM_TRY(check(parts));
  DirectTopology topology;
  topology.nodes = parts.nodes;
  topology.shares = parts.shares;
  topology.jumps = std::move(parts.jumps);
  topology.pairs = std::move(parts.pairs);
  topology.rings = std::move(parts.rings);
  topology.pair_routes = std::move(parts.pair_routes);
  topology.ring_routes = CoinTable(topology.nodes, topology.jumps, seed);
  if (!parts.tree_sources.empty()) {
    const std::vector<DirectLink> links = topology.links();
    topology.pair_trees = RouteTrees(Neighbours(topology.nodes, links), parts.tree_sources, seed);
  }
  return topology;
}

}  // namespace loom
