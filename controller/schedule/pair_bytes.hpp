// SPDX-License-Identifier: Apache-2.0
// What a task graph moves between pairs of nodes in one iteration, its collectives spelled out as they are carried.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "controller/workload/task_graph.hpp"

namespace loom {

/// Bytes by (source, destination). Precondition: the graph passed check(). O(pairs that talk), once a kind of collective.
std::map<std::pair<std::uint32_t, std::uint32_t>, double> pair_bytes(const TaskGraph& graph);

/// What each node sends and receives in one iteration, bytes. Precondition: as above. O(transfers), once a kind of collective.
struct NodeBytes {
  std::vector<double> sent;
  std::vector<double> received;
};
NodeBytes node_bytes(const TaskGraph& graph);

/// Every all-reduce, all-gather and reduce-scatter whose algorithm is left open (automatic) is carried `way`; so are broadcasts
/// and reductions, as chains in pieces. False: there is none.
bool carry_rings(TaskGraph& graph, const CollectiveChoice& way);

/// The graph with those same collectives as fluids: all bytes of all rounds at once from each member to the next of every
/// stride, in equal shares. No round waits for another, so it is a lower bound; for jobs whose rings meet so often that playing
/// them round by round takes too long. Strides that are not prime to a group's size are taken as 1.
TaskGraph fluid_rings(TaskGraph graph, const std::vector<std::uint32_t>& strides);

}  // namespace loom
