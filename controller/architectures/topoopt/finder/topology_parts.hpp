// SPDX-License-Identifier: Apache-2.0
// A topology without what follows from it: small enough for a file, and whole again from it. Routes are found anew, with the
// same seed among equal ones.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/architectures/topoopt/finder/topology_finder.hpp"
#include "core/result.hpp"

namespace loom {

struct TopologyParts {
  std::uint32_t nodes = 0;
  DegreeShares shares;
  std::vector<std::uint32_t> jumps;
  std::vector<PairLinks> pairs;
  std::vector<RingPath> rings;
  std::vector<std::uint32_t> tree_sources;  ///< ascending; whose ways are trees over all links
  std::vector<DirectTopology::RoutedPair> pair_routes;
};

TopologyParts parts_of(const DirectTopology& topology);

/// `seed`: FinderOptions::seed of the search that found it. Errors: invalid_argument, saying which (nodes, a jump, a pair, a
/// ring or a route that cannot be of a topology of so many nodes).
Result<DirectTopology> topology_of(TopologyParts parts, std::uint64_t seed);

}  // namespace loom
