// SPDX-License-Identifier: Apache-2.0
// Rounds, added up.
#include "controller/schedule/pair_bytes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "controller/workload/rounds.hpp"

namespace loom {

namespace {

/// Calls `visit(source, destination, bytes)` for every transfer of every round, repeats counted in.
template <class Visit>
void for_each_transfer_of(const TaskGraph& graph, const Visit& visit) {
  for (std::size_t index = 0; index < graph.tasks.size(); ++index) {
    const Task& task = graph.tasks[index];
    if (task.kind != TaskKind::communicate) {
      continue;
    }
    const GroupFamily& family = graph.families[task.family];
    const std::uint32_t uneven = graph.splits_of_task.empty() ? 0 : graph.splits_of_task[index];
    const auto splits = uneven == 0 ? std::span<const Bytes>{} : std::span<const Bytes>{graph.splits[uneven - 1]};
    const auto rounds = rounds_of(task.collective, graph.choices[task.choice], family.size, task.bytes, splits);
    LOOM_ASSERT(rounds.has_value());  // check() said so
    for (std::uint32_t group = 0; group < family.count; ++group) {
      const auto members = graph.group(family, group);
      for (const RoundRun& run : rounds->runs) {
        for_each_transfer(run, family.size, [&](std::uint32_t source, std::uint32_t destination, double bytes) {
          if (bytes > 0) {
            visit(members[source], members[destination], bytes * run.repeats);
          }
        });
      }
    }
  }
}

}  // namespace

std::map<std::pair<std::uint32_t, std::uint32_t>, double> pair_bytes(const TaskGraph& graph) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> sums;
  for_each_transfer_of(graph, [&](std::uint32_t from, std::uint32_t to, double bytes) { sums[{from, to}] += bytes; });
  return sums;
}

NodeBytes node_bytes(const TaskGraph& graph) {
  NodeBytes sums{std::vector<double>(graph.nodes), std::vector<double>(graph.nodes)};
  for_each_transfer_of(graph, [&](std::uint32_t from, std::uint32_t to, double bytes) {
    if (from != to) {
      sums.sent[from] += bytes;
      sums.received[to] += bytes;
    }
  });
  return sums;
}

namespace {

bool is_open_ring(const TaskGraph& graph, const Task& task) {
  const bool is_ring = task.collective == CollectiveKind::all_reduce || task.collective == CollectiveKind::all_gather ||
                       task.collective == CollectiveKind::reduce_scatter;
  return task.kind == TaskKind::communicate && is_ring &&
         graph.choices[task.choice].algorithm == CollectiveAlgorithm::automatic;
}

/// From or to one rank: a chain over neighbours has every link once, a tree has those near the root many times.
bool is_open_chain(const TaskGraph& graph, const Task& task) {
  const bool is_rooted = task.collective == CollectiveKind::broadcast || task.collective == CollectiveKind::reduce;
  return task.kind == TaskKind::communicate && is_rooted &&
         graph.choices[task.choice].algorithm == CollectiveAlgorithm::automatic;
}

/// What every rank sends in all rounds, to the next of each stride.
std::vector<Bytes> ring_splits(const Task& task, std::uint32_t size, const std::vector<std::uint32_t>& strides) {
  if (size == 0) {
    return {};
  }
  const double times = task.collective == CollectiveKind::all_reduce ? 2 : 1;
  const double sent = times * (size - 1) / size * static_cast<double>(task.bytes.count);
  const Bytes share{std::llround(sent / static_cast<double>(strides.size()))};
  std::vector<Bytes> splits(std::size_t{size} * size);
  for (const std::uint32_t stride : strides) {
    const std::uint32_t hop = std::gcd(stride, size) == 1 ? stride % size : 1;
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      splits[std::size_t{rank} * size + (rank + hop) % size].count += share.count;
    }
  }
  return splits;
}

}  // namespace

TaskGraph fluid_rings(TaskGraph graph, const std::vector<std::uint32_t>& strides) {
  const auto direct = static_cast<std::uint32_t>(graph.choices.size());
  graph.choices.push_back({.algorithm = CollectiveAlgorithm::direct});
  graph.splits_of_task.resize(graph.tasks.size(), 0);
  std::map<std::pair<std::uint32_t, std::int64_t>, std::uint32_t> known;  // by size and bytes sent
  for (std::size_t index = 0; index < graph.tasks.size(); ++index) {
    Task& task = graph.tasks[index];
    const std::uint32_t size = graph.families[task.family].size;
    if (!is_open_ring(graph, task) || size < 2) {
      continue;
    }
    const std::int64_t twice = task.collective == CollectiveKind::all_reduce ? 2 : 1;
    const auto [place, is_new] = known.try_emplace({size, twice * task.bytes.count}, graph.splits.size() + 1);
    if (is_new) {
      graph.splits.push_back(ring_splits(task, size, strides));
    }
    graph.splits_of_task[index] = place->second;
    task.collective = CollectiveKind::all_to_all;
    task.choice = direct;
  }
  return graph;
}

bool carry_rings(TaskGraph& graph, const CollectiveChoice& way) {
  const auto choice = static_cast<std::uint32_t>(graph.choices.size());
  bool is_used = false;
  for (Task& task : graph.tasks) {
    if (is_open_ring(graph, task) || is_open_chain(graph, task)) {
      task.choice = choice;
      is_used = true;
    }
  }
  if (is_used) {
    graph.choices.push_back(way);
  }
  return is_used;
}

}  // namespace loom
