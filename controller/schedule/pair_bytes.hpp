// What a task graph moves between pairs of nodes in one iteration, its collectives spelled out as they are carried.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "controller/workload/task_graph.hpp"

namespace loom {

/// Bytes by (source, destination). Precondition: the graph passed check(). O(pairs that talk), once a kind of collective.
std::map<std::pair<std::uint32_t, std::uint32_t>, double> pair_bytes(const TaskGraph& graph);

/// Every all-reduce, all-gather and reduce-scatter whose algorithm is left open (automatic) is carried `way`.
void carry_rings(TaskGraph& graph, const CollectiveChoice& way);

}  // namespace loom
