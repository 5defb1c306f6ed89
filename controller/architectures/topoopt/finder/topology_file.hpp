// SPDX-License-Identifier: Apache-2.0
// A found topology in the words of TopoOpt's files: links, rings and routes for write_topoopt_graph. Adds nothing to it.
#pragma once

#include <vector>

#include "controller/architectures/topoopt/finder/topology_finder.hpp"
#include "controller/workload/import/topoopt_graph.hpp"

namespace loom {

/// Servers only, no switch. Errors: unsupported (a link that goes one way only: the format lists a duplex link once).
Result<TopooptNetwork> network_of(const DirectTopology& topology, BitRate link_rate);

/// One entry a pair of different servers, ascending (from, to). O(n^2 x hops).
std::vector<TopooptRoute> routes_of(const DirectTopology& topology);

}  // namespace loom
