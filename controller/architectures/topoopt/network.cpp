// SPDX-License-Identifier: Apache-2.0
// Jumps alone look the same from every node and stay symbolic; with links of single pairs, routes are written out.
#include "controller/architectures/topoopt/network.hpp"

#include <algorithm>

#include "controller/predict/networks/direct_connect.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

std::string list_of(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (const std::uint32_t number : numbers) {
    text += (text.empty() ? "" : " ") + std::to_string(number);
  }
  return text;
}

Result<Network> named(Result<Network> network) {
  if (network) {
    network->name = "topoopt";
  }
  return network;
}

}  // namespace

Result<Network> network_of(const NetworkTerms& terms, const DirectTopology& topology) {
  if (topology.pairs.empty()) {
    JumpRings rings;
    rings.jumps = topology.jumps;
    rings.both_directions = false;  // the list names each way on its own
    return named(make_jump_rings(terms, rings));
  }
  std::vector<NodePair> directed;
  for (const DirectLink& link : topology.links()) {
    directed.insert(directed.end(), link.count, NodePair{link.from, link.to});
  }
  return named(make_direct_connect(terms, directed, GraphRouting{}));
}

std::vector<std::uint32_t> ring_strides(const DirectTopology& topology, std::uint32_t size, std::uint32_t between) {
  std::vector<std::uint32_t> strides;
  for (const RingPath& ring : topology.rings_of(size)) {
    std::uint64_t sum = 0;
    for (const std::uint32_t jump : ring.jumps) {
      sum += jump;
    }
    const auto stride = static_cast<std::uint32_t>(sum % topology.nodes / between);
    if (stride != 0 && std::find(strides.begin(), strides.end(), stride) == strides.end()) {
      strides.push_back(stride);
    }
  }
  return strides;
}

void stripe_over_rings(TaskGraph& graph, const DirectTopology& topology) {
  for (Task& task : graph.tasks) {
    const bool is_ring = task.kind == TaskKind::communicate &&
                         (task.collective == CollectiveKind::all_reduce || task.collective == CollectiveKind::all_gather ||
                          task.collective == CollectiveKind::reduce_scatter);
    const GroupFamily& family = graph.families[task.family];
    if (!is_ring || graph.choices[task.choice].algorithm != CollectiveAlgorithm::automatic || family.size < 2) {
      continue;
    }
    std::uint32_t between = 0;
    bool all_regular = true;
    for (std::uint32_t group = 0; group < family.count; ++group) {
      const auto members = graph.group(family, group);
      between = stride_of_group(topology.nodes, members);
      all_regular = all_regular && between != 0 && std::is_sorted(members.begin(), members.end());
    }
    CollectiveChoice choice;
    choice.algorithm = CollectiveAlgorithm::ring;
    choice.strides = all_regular ? ring_strides(topology, family.size, between) : std::vector<std::uint32_t>{};
    if (choice.strides.empty()) {
      continue;
    }
    const auto known = std::find(graph.choices.begin(), graph.choices.end(), choice);
    task.choice = static_cast<std::uint32_t>(known - graph.choices.begin());
    if (known == graph.choices.end()) {
      graph.choices.push_back(std::move(choice));
    }
  }
}

Result<TopooptNetworkResult> network_of(const TaskGraph& graph, const NetworkTerms& terms, const DirectTopology& topology) {
  TopooptNetworkResult result;
  auto network = network_of(terms, topology);
  if (!network) {
    return std::unexpected(std::move(network).error());
  }
  result.network = std::move(*network);
  result.graph = graph;
  stripe_over_rings(result.graph, topology);
  for (const DirectLink& link : topology.links()) {
    result.links += link.count;
  }
  result.summary = format_text(
      "topoopt: jumps {{{}}}{}; all-reduces striped over the rings, everything else on shortest ways, nodes forward",
      list_of(topology.jumps),
      topology.pairs.empty() ? "" : format_text(", {} pairs with links of their own", topology.pairs.size()));
  return result;
}

Result<TopooptNetworkResult> make_topoopt_network(const TaskGraph& graph, const NetworkTerms& terms,
                                                  const FinderOptions& options) {
  auto topology = find_topology(finder_demand(graph), options);
  if (!topology) {
    return std::unexpected(std::move(topology).error());
  }
  return network_of(graph, terms, *topology);
}

}  // namespace loom
