// SPDX-License-Identifier: Apache-2.0
// Jobs that share a cluster, each on servers of its own, as one task graph: what they do to each other on shared links is then
// played like everything else. Knows nothing of fabrics, and places nothing. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "controller/workload/task_graph.hpp"

namespace loom {

struct ClusterJob {
  const TaskGraph* graph = nullptr;
  std::vector<std::uint32_t> servers;  ///< by node of the job
  std::uint32_t iterations = 1;        ///< one after the other
};

struct ClusterGraph {
  TaskGraph graph;
  /// By job and iteration: the task without duration that ends it. Begins: the end of the one before, or 0.
  std::vector<std::vector<std::uint32_t>> last_task;
  std::vector<std::uint32_t> first_task;  ///< jobs + 1: a job's tasks are next to each other
};

/// All jobs begin together, each with its own dependence; an iteration begins when all of the one before has ended. Errors:
/// invalid_argument (a server twice, or beyond `servers`; a job with another number of servers than nodes, or no iterations).
Result<ClusterGraph> graph_of_cluster(std::span<const ClusterJob> jobs, std::uint32_t servers);

}  // namespace loom
