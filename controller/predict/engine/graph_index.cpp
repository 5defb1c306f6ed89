// SPDX-License-Identifier: Apache-2.0
// Counting sorts over members.
#include "controller/predict/engine/graph_index.hpp"

#include <algorithm>
#include <map>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

FamilySlots slots_of(const TaskGraph& graph, const GroupFamily& family, bool as_workers) {
  FamilySlots slots;
  slots.members = family.size * family.count;
  const auto node_of = [&](std::uint32_t member) {
    const std::uint32_t id = graph.members[family.first + member];
    return as_workers ? graph.node_of_worker[id] : id;
  };
  std::vector<std::pair<std::uint32_t, std::uint32_t>> order;  // node, member
  order.reserve(slots.members);
  for (std::uint32_t member = 0; member < slots.members; ++member) {
    order.emplace_back(node_of(member), member);
  }
  if (!std::is_sorted(order.begin(), order.end())) {
    std::sort(order.begin(), order.end());
  }
  slots.slot_of_member.resize(slots.members);
  for (const auto& [node, member] : order) {
    if (slots.node_of_slot.empty() || slots.node_of_slot.back() != node) {
      slots.node_of_slot.push_back(node);
      slots.first_member.push_back(static_cast<std::uint32_t>(slots.members_of.size()));
    }
    slots.slot_of_member[member] = static_cast<std::uint32_t>(slots.node_of_slot.size() - 1);
    slots.members_of.push_back(member);
  }
  slots.first_member.push_back(static_cast<std::uint32_t>(slots.members_of.size()));
  slots.covers_all = slots.node_of_slot.size() == graph.nodes;
  return slots;
}

void add_families(const TaskGraph& graph, GraphIndex& index) {
  std::vector<bool> computes(graph.families.size(), false);
  std::vector<bool> communicates(graph.families.size(), false);
  for (const Task& task : graph.tasks) {
    (task.kind == TaskKind::compute ? computes : communicates)[task.family] = true;
  }
  index.as_nodes.resize(graph.families.size());
  index.as_workers.resize(graph.families.size());
  for (std::size_t i = 0; i < graph.families.size(); ++i) {
    if (computes[i]) {
      index.as_workers[i] = slots_of(graph, graph.families[i], true);
    }
    if (communicates[i]) {
      index.as_nodes[i] = slots_of(graph, graph.families[i], false);
    }
  }
}

void add_waits(const TaskGraph& graph, GraphIndex& index) {
  index.waits.assign(index.first_slot.back(), 0);
  index.task_waits.assign(graph.tasks.size(), 0);
  index.awaited_whole.assign(graph.tasks.size(), graph.dependence == Dependence::whole ? 1 : 0);
  for (std::uint32_t task = 0; task < graph.is_awaited_whole.size(); ++task) {
    if (graph.is_awaited_whole[task]) {
      index.awaited_whole[task] = 1;
    }
  }
  for (std::uint32_t before = 0; before < graph.tasks.size(); ++before) {
    const FamilySlots& from = index.slots(graph, before);
    for (const std::uint32_t after : graph.successors_of(before)) {
      if (index.awaited_whole[before] != 0) {
        ++index.task_waits[after];
        continue;
      }
      const FamilySlots& to = index.slots(graph, after);
      const std::uint32_t first = index.first_slot[after];
      for (const std::uint32_t node : from.node_of_slot) {
        const std::uint32_t slot = slot_of(to, node);
        if (slot != kNoSlot) {
          ++index.waits[first + slot];
        }
      }
    }
  }
}

void add_queues(const TaskGraph& graph, GraphIndex& index) {
  index.queue_of_part.assign(index.first_part.back(), kNoSlot);
  std::map<std::uint8_t, std::uint32_t> streams;
  for (const Task& task : graph.tasks) {
    if (task.kind == TaskKind::communicate && task.stream != 0) {
      streams.emplace(task.stream, 0);
    }
  }
  std::uint32_t queues = 0;
  for (auto& [stream, first] : streams) {
    first = queues;
    queues += graph.nodes;
  }
  index.first_in_queue.assign(queues + 1, 0);
  for (std::uint32_t task = 0; task < graph.tasks.size(); ++task) {
    const Task& of = graph.tasks[task];
    if (of.kind != TaskKind::communicate || of.stream == 0) {
      continue;
    }
    const GroupFamily& family = graph.families[of.family];
    for (std::uint32_t part = index.first_part[task]; part < index.first_part[task + 1]; ++part) {
      const std::uint32_t queue = streams.at(of.stream) + graph.members[family.first + part - index.first_part[task]];
      index.queue_of_part[part] = queue;
      ++index.first_in_queue[queue + 1];
    }
  }
  for (std::uint32_t queue = 0; queue < queues; ++queue) {
    index.first_in_queue[queue + 1] += index.first_in_queue[queue];
  }
  index.queued_parts.resize(index.first_in_queue.back());
  std::vector<std::uint32_t> next(index.first_in_queue.begin(), index.first_in_queue.end() - 1);
  for (std::uint32_t part = 0; part < index.queue_of_part.size(); ++part) {
    if (index.queue_of_part[part] != kNoSlot) {
      index.queued_parts[next[index.queue_of_part[part]]++] = part;
    }
  }
}

}  // namespace

std::uint32_t slot_of(const FamilySlots& family, std::uint32_t node) {
  if (family.covers_all) {
    return node;
  }
  const auto found = std::lower_bound(family.node_of_slot.begin(), family.node_of_slot.end(), node);
  return found != family.node_of_slot.end() && *found == node ? static_cast<std::uint32_t>(found - family.node_of_slot.begin())
                                                              : kNoSlot;
}

Result<GraphIndex> index_of(const TaskGraph& graph) {
  LOOM_TRY(check(graph));
  GraphIndex index;
  add_families(graph, index);
  index.first_part = {0};
  index.first_slot = {0};
  index.first_run = {0};
  std::size_t parts = 0;
  for (std::uint32_t task = 0; task < graph.tasks.size(); ++task) {
    const Task& of = graph.tasks[task];
    const FamilySlots& slots = index.slots(graph, task);
    parts += slots.members;
    if (parts > kTaskParts) {
      return fail(ErrorCode::out_of_range,
                  format_text("task graph '{}': more than {} shares of tasks (kTaskParts), reached at task {}", graph.workload,
                              kTaskParts, task));
    }
    index.task_of_part.resize(parts, task);
    index.first_part.push_back(static_cast<std::uint32_t>(parts));
    index.first_slot.push_back(index.first_slot.back() + static_cast<std::uint32_t>(slots.node_of_slot.size()));
    index.first_run.push_back(index.first_run.back() +
                              (of.kind == TaskKind::communicate ? graph.families[of.family].count : 0));
    for (std::size_t slot = 0; slot < slots.node_of_slot.size(); ++slot) {
      index.parts_of_slot.push_back(slots.first_member[slot + 1] - slots.first_member[slot]);
    }
  }
  add_waits(graph, index);
  add_queues(graph, index);
  return index;
}

}  // namespace loom
