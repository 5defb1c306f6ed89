// SPDX-License-Identifier: Apache-2.0
// A found topology as the predictor's network, and the job's all-reduces striped over its rings.
#pragma once

#include <string>
#include <vector>

#include "controller/architectures/topoopt/finder/topology_finder.hpp"
#include "controller/predict/networks/network_terms.hpp"

namespace loom {

struct TopooptNetworkResult {
  TaskGraph graph;          ///< rings of groups that have some are carried over them, equal shares each
  Network network;          ///< one hop between neighbours, nodes forward elsewhere
  std::uint32_t links = 0;  ///< one way each
  std::string summary;      ///< jumps and pairs, for people
};

/// `terms.rate`: of one link. Errors: those of find_topology and of the network's builder.
Result<TopooptNetworkResult> make_topoopt_network(const TaskGraph& graph, const NetworkTerms& terms,
                                                  const FinderOptions& options);

/// The network alone; for any graph of as many nodes. Errors: of the network's builder.
Result<Network> network_of(const NetworkTerms& terms, const DirectTopology& topology);

/// Strides of the rings that carry the all-reduces of a regular group of `size` whose members are `between` apart, counted in
/// members; empty: none of its own.
std::vector<std::uint32_t> ring_strides(const DirectTopology& topology, std::uint32_t size, std::uint32_t between);

/// Carries ring collectives of regular groups over the rings of the topology, equal shares each; leaves the others.
void stripe_over_rings(TaskGraph& graph, const DirectTopology& topology);

/// A topology that is known already. Errors: of the network's builder.
Result<TopooptNetworkResult> network_of(const TaskGraph& graph, const NetworkTerms& terms, const DirectTopology& topology);

}  // namespace loom
