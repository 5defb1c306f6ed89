// SPDX-License-Identifier: Apache-2.0
// Routes over direct connections: the k shortest simple paths of each pair, nodes on the way passing traffic on.
#pragma once

#include <utility>

#include "controller/predict/networks/network_terms.hpp"

namespace loom {

using NodePair = std::pair<std::uint32_t, std::uint32_t>;  ///< from, to

struct GraphRouting {
  std::uint32_t ways = 1;         ///< paths of a pair, in equal shares; fewer if it has fewer
  std::uint32_t longer = 0;       ///< how many hops more than the shortest a path may have
  std::uint64_t seed = 1;         ///< breaks ties
  std::uint32_t hops_max = 64;    ///< pairs further apart are not connected
  std::vector<NodePair> pairs{};  ///< only these; empty: all pairs that are connected
};

/// Gives `network` a link for every distinct entry of `directed` (an entry that comes m times: one link of m rates) and the
/// routes between its end points. Errors: invalid_argument (an end that is not there, a link to itself), out_of_range (more
/// than kElements paths).
Result<void> connect(Network& network, std::vector<NodePair> directed, const NetworkTerms& terms, const GraphRouting& routing);

/// Circuits and nothing else: a link a pair, as often as it is there, nobody passes traffic on, and pairs without one wait. No
/// circuits: everybody waits. Errors: begin_network, connect().
Result<Network> make_circuits(std::string_view name, const NetworkTerms& terms, std::vector<NodePair> circuits);

}  // namespace loom
