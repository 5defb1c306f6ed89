// SPDX-License-Identifier: Apache-2.0
// Sums and a longest path.
#include "controller/arena/lower_bound.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "controller/schedule/pair_bytes.hpp"

namespace loom {
namespace {

Duration busiest_worker(const TaskGraph& graph) {
  std::vector<Duration> work(graph.node_of_worker.size());
  for (const Task& task : graph.tasks) {
    if (task.kind == TaskKind::compute && task.duration > Duration{0}) {
      const GroupFamily& family = graph.families[task.family];
      for (std::uint32_t i = 0; i < family.size * family.count; ++i) {
        work[graph.members[family.first + i]] += task.duration;
      }
    }
  }
  return work.empty() ? Duration{0} : *std::max_element(work.begin(), work.end());
}

/// Tasks stand in issue order, so every task is seen before what waits for it.
Duration longest_chain(const TaskGraph& graph) {
  std::vector<Duration> start(graph.tasks.size());
  Duration longest{0};
  for (std::uint32_t index = 0; index < graph.tasks.size(); ++index) {
    const Task& task = graph.tasks[index];
    const Duration finish = start[index] + (task.kind == TaskKind::compute ? task.duration : Duration{0});
    longest = std::max(longest, finish);
    for (const std::uint32_t after : graph.successors_of(index)) {
      start[after] = std::max(start[after], finish);
    }
  }
  return longest;
}

}  // namespace

Duration lower_bound(const TaskGraph& graph, BitRate rate) {
  Duration bound = busiest_worker(graph);
  if (graph.dependence == Dependence::whole) {
    bound = std::max(bound, longest_chain(graph));
  }
  const NodeBytes moved = node_bytes(graph);
  double most = 0;
  for (std::uint32_t node = 0; node < graph.nodes; ++node) {
    most = std::max({most, moved.sent[node], moved.received[node]});
  }
  // rounded down: it stays a bound
  const double seconds = 8 * most / static_cast<double>(rate.bits_per_second);
  return std::max(bound, Duration{static_cast<std::int64_t>(std::floor(seconds * 1e9))});
}

}  // namespace loom
