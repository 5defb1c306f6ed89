// Rounds, added up.
#include "controller/schedule/pair_bytes.hpp"

#include <algorithm>

#include "controller/workload/rounds.hpp"

namespace loom {

std::map<std::pair<std::uint32_t, std::uint32_t>, double> pair_bytes(const TaskGraph& graph) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> sums;
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
            sums[{members[source], members[destination]}] += bytes * run.repeats;
          }
        });
      }
    }
  }
  return sums;
}

void carry_rings(TaskGraph& graph, const CollectiveChoice& way) {
  const auto automatic = [](const CollectiveChoice& choice) { return choice.algorithm == CollectiveAlgorithm::automatic; };
  const auto choice = static_cast<std::uint32_t>(graph.choices.size());
  bool is_used = false;
  for (Task& task : graph.tasks) {
    const bool is_ring = task.collective == CollectiveKind::all_reduce || task.collective == CollectiveKind::all_gather ||
                         task.collective == CollectiveKind::reduce_scatter;
    if (task.kind == TaskKind::communicate && is_ring && automatic(graph.choices[task.choice])) {
      task.choice = choice;
      is_used = true;
    }
  }
  if (is_used) {
    graph.choices.push_back(way);
  }
}

}  // namespace loom
