// SPDX-License-Identifier: Apache-2.0
// A task graph laid out for the engine: parts (a task's share of one member), slots (a task's share of one node), who waits
// for how many, and the order of streams. Made once, played many times.
#pragma once

#include <vector>

#include "controller/workload/task_graph.hpp"

namespace loom {

inline constexpr std::uint32_t kNoSlot = 0xffffffff;

/// A family seen by nodes.
struct FamilySlots {
  std::uint32_t members = 0;
  std::vector<std::uint32_t> node_of_slot;  ///< ascending
  std::vector<std::uint32_t> slot_of_member;
  std::vector<std::uint32_t> first_member;  ///< slots + 1 entries into `members_of`
  std::vector<std::uint32_t> members_of;    ///< positions in the family, by slot
  bool covers_all = false;                  ///< slot = node
};

/// The slot of `node`, or kNoSlot. O(1) where the family covers all nodes, else O(log).
std::uint32_t slot_of(const FamilySlots& family, std::uint32_t node);

struct GraphIndex {
  std::vector<FamilySlots> as_nodes;      ///< by family, members read as nodes
  std::vector<FamilySlots> as_workers;    ///< by family, members read as workers
  std::vector<std::uint32_t> first_part;  ///< tasks + 1
  std::vector<std::uint32_t> task_of_part;
  std::vector<std::uint32_t> first_slot;      ///< tasks + 1
  std::vector<std::uint32_t> first_run;       ///< tasks + 1: groups of communicate tasks
  std::vector<std::uint32_t> waits;           ///< by slot: predecessors that have something on its node
  std::vector<std::uint32_t> task_waits;      ///< by task: predecessors that are awaited whole
  std::vector<std::uint8_t> awaited_whole;    ///< by task
  std::vector<std::uint32_t> parts_of_slot;   ///< by slot: members
  std::vector<std::uint32_t> first_in_queue;  ///< queues + 1
  std::vector<std::uint32_t> queued_parts;    ///< communicate parts by queue (node and stream), task order
  std::vector<std::uint32_t> queue_of_part;   ///< kNoSlot: no order

  const FamilySlots& slots(const TaskGraph& graph, std::uint32_t task) const {
    const Task& of = graph.tasks[task];
    return of.kind == TaskKind::compute ? as_workers[of.family] : as_nodes[of.family];
  }
};

/// Errors: those of check(graph); out_of_range (more parts than kTaskParts).
Result<GraphIndex> index_of(const TaskGraph& graph);

inline constexpr std::size_t kTaskParts = 1u << 26;

}  // namespace loom
