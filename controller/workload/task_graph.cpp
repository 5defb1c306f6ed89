// SPDX-License-Identifier: Apache-2.0
// Task graphs: what is lawful, and how the builder lays tasks out in issue order.
#include "controller/workload/task_graph.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <queue>

#include "controller/workload/rounds.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

using Edge = std::pair<std::uint32_t, std::uint32_t>;

std::string named(const TaskGraph& graph, std::size_t task) {
  std::string text = format_text("task {}", task);
  if (graph.tasks[task].name < graph.names.size()) {
    text += format_text(" '{}'", graph.names[graph.tasks[task].name].substr(0, 128));
  }
  return text;
}

std::string limit(std::size_t count, std::string_view of, std::size_t most, std::string_view name) {
  return format_text("{} {}; at most {} ({})", count, of, most, name);
}

Result<void> check_sizes(const TaskGraph& graph) {
  const auto refuse = [&](const std::string& what) {
    return fail(ErrorCode::out_of_range, format_text("{}: {}", graph.workload, what));
  };
  if (graph.nodes < 1 || graph.nodes > limits::kNodes) {
    return refuse(format_text("{} nodes; it needs 1 .. {} (kNodes)", graph.nodes, limits::kNodes));
  }
  if (graph.node_of_worker.size() > limits::kMembersPerGraph) {
    return refuse(limit(graph.node_of_worker.size(), "workers", limits::kMembersPerGraph, "kMembersPerGraph"));
  }
  if (graph.tasks.size() > limits::kTasksPerGraph) {
    return refuse(limit(graph.tasks.size(), "tasks", limits::kTasksPerGraph, "kTasksPerGraph"));
  }
  if (graph.members.size() > limits::kMembersPerGraph) {
    return refuse(limit(graph.members.size(), "members", limits::kMembersPerGraph, "kMembersPerGraph"));
  }
  if (graph.parameters < 0) {
    return refuse(format_text("{} parameters", graph.parameters));
  }
  return {};
}

Result<void> check_shape(const TaskGraph& graph) {
  const auto refuse = [&](const std::string& what) {
    return fail(ErrorCode::invalid_argument, format_text("{}: {}", graph.workload, what));
  };
  for (std::size_t worker = 0; worker < graph.node_of_worker.size(); ++worker) {
    if (graph.node_of_worker[worker] >= graph.nodes) {
      return refuse(format_text("worker {} sits on node {} of {}", worker, graph.node_of_worker[worker], graph.nodes));
    }
  }
  const auto& first = graph.first_successor;
  if (first.size() != graph.tasks.size() + 1 || first.front() != 0 || first.back() != graph.successors.size() ||
      !std::is_sorted(first.begin(), first.end())) {
    return refuse("first_successor does not cut the successors into one list a task");
  }
  if (!graph.is_awaited_whole.empty() && graph.is_awaited_whole.size() != graph.tasks.size()) {
    return refuse(
        format_text("{} entries of what is awaited whole for {} tasks", graph.is_awaited_whole.size(), graph.tasks.size()));
  }
  if (!graph.splits_of_task.empty() && graph.splits_of_task.size() != graph.tasks.size()) {
    return refuse(format_text("{} entries of splits for {} tasks", graph.splits_of_task.size(), graph.tasks.size()));
  }
  return {};
}

/// Looks at each family once a kind of task; `stamp` remembers who was seen in which family.
class MemberCheck {
 public:
  explicit MemberCheck(const TaskGraph& graph)
      : graph_{graph},
        stamps_(std::max<std::size_t>(graph.nodes, graph.node_of_worker.size()), 0),
        seen_(graph.families.size(), {false, false}) {}

  /// Why the members of `family` cannot do tasks of `kind`; empty when they can.
  std::string fault_of(std::uint32_t family, TaskKind kind) {
    if (family >= graph_.families.size()) {
      return format_text("has family {} of {}", family, graph_.families.size());
    }
    const std::size_t row = kind == TaskKind::compute ? 0 : 1;
    if (seen_[family][row]) {
      return {};
    }
    seen_[family][row] = true;
    const GroupFamily& of = graph_.families[family];
    if (of.size == 0 || of.count == 0) {
      return "has an empty family";
    }
    if (of.first + std::size_t{of.size} * of.count > graph_.members.size()) {
      return "has a family beyond the members that there are";
    }
    return fault_of(of, kind);
  }

 private:
  std::string fault_of(const GroupFamily& of, TaskKind kind) {
    const bool works = kind == TaskKind::compute;
    const std::size_t least_absent = works ? graph_.node_of_worker.size() : graph_.nodes;
    ++stamp_;
    for (std::uint32_t group = 0; group < of.count; ++group) {
      for (const std::uint32_t member : graph_.group(of, group)) {
        const std::string what = (works ? "worker " : "node ") + std::to_string(member);
        if (member >= least_absent) {
          return format_text("names {} of {}", what, least_absent);
        }
        if (stamps_[member] == stamp_) {
          return format_text("has {} twice in one family", what);
        }
        stamps_[member] = stamp_;
      }
    }
    return {};
  }

  const TaskGraph& graph_;
  std::vector<std::uint32_t> stamps_;
  std::vector<std::array<bool, 2>> seen_;
  std::uint32_t stamp_ = 0;
};

Result<void> check_splits(const TaskGraph& graph, std::size_t task, std::uint32_t size) {
  if (graph.splits_of_task.empty() || graph.splits_of_task[task] == 0) {
    return {};
  }
  const std::size_t index = graph.splits_of_task[task] - 1;
  if (index >= graph.splits.size() || graph.tasks[task].collective != CollectiveKind::all_to_all) {
    return fail(ErrorCode::invalid_argument, named(graph, task) + " has splits that are not there, or is no all-to-all");
  }
  if (graph.splits[index].size() != std::size_t{size} * size) {
    return fail(ErrorCode::invalid_argument,
                format_text("{}: {} splits among {} members", named(graph, task), graph.splits[index].size(), size));
  }
  for (const Bytes split : graph.splits[index]) {
    if (split.count < 0 || split.count > limits::kCollectiveBytes) {
      return fail(ErrorCode::out_of_range, format_text("{}: a split of {} bytes", named(graph, task), split.count));
    }
  }
  return {};
}

Result<void> check_communicate(const TaskGraph& graph, std::size_t index) {
  const Task& task = graph.tasks[index];
  if (task.choice >= graph.choices.size()) {
    return fail(ErrorCode::invalid_argument,
                format_text("{} has choice {} of {}", named(graph, index), task.choice, graph.choices.size()));
  }
  if (task.bytes.count < 0 || task.bytes.count > limits::kCollectiveBytes) {
    return fail(ErrorCode::out_of_range, format_text("{} moves {} bytes; it needs 0 .. {} (kCollectiveBytes)",
                                                     named(graph, index), task.bytes.count, limits::kCollectiveBytes));
  }
  const std::uint32_t size = graph.families[task.family].size;
  if (auto lawful = check_choice(task.collective, graph.choices[task.choice], size); !lawful) {
    return fail(lawful.error().code, format_text("{}: {}", named(graph, index), lawful.error().message));
  }
  return check_splits(graph, index, size);
}

Result<void> check_task(const TaskGraph& graph, std::size_t index, MemberCheck& members) {
  const Task& task = graph.tasks[index];
  if (task.name >= graph.names.size()) {
    return fail(ErrorCode::invalid_argument,
                format_text("{} has name {} of {}", named(graph, index), task.name, graph.names.size()));
  }
  if (const std::string fault = members.fault_of(task.family, task.kind); !fault.empty()) {
    return fail(ErrorCode::invalid_argument, format_text("{} {}", named(graph, index), fault));
  }
  if (task.duration.count() < 0 || task.duration.count() > limits::kDurationNs) {
    return fail(ErrorCode::out_of_range, format_text("{} lasts {} ns; it needs 0 .. {} (kDurationNs)", named(graph, index),
                                                     task.duration.count(), limits::kDurationNs));
  }
  return task.kind == TaskKind::compute ? Result<void>{} : check_communicate(graph, index);
}

/// The issue order: every task after those it waits for, the lowest index first among those that may go; shorter than `tasks`
/// when there is a cycle.
std::vector<std::uint32_t> issue_order(std::size_t tasks, std::span<const std::uint32_t> first,
                                       std::span<const std::uint32_t> successors) {
  std::vector<std::uint32_t> waits(tasks, 0);
  for (const std::uint32_t after : successors) {
    ++waits[after];
  }
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> able;
  for (std::uint32_t task = 0; task < tasks; ++task) {
    if (waits[task] == 0) {
      able.push(task);
    }
  }
  std::vector<std::uint32_t> order;
  order.reserve(tasks);
  while (!able.empty()) {
    const std::uint32_t task = able.top();
    able.pop();
    order.push_back(task);
    for (const std::uint32_t after : successors.subspan(first[task], first[task + 1] - first[task])) {
      if (--waits[after] == 0) {
        able.push(after);
      }
    }
  }
  return order;
}

/// A task on a cycle: of those that never become able, each has one of them before it, so going back long enough ends there.
std::uint32_t on_cycle(const TaskGraph& graph, const std::vector<std::uint32_t>& order) {
  std::vector<bool> stuck(graph.tasks.size(), true);
  for (const std::uint32_t task : order) {
    stuck[task] = false;
  }
  std::vector<std::uint32_t> before(graph.tasks.size(), 0);
  std::uint32_t at = 0;
  for (std::uint32_t task = 0; task < graph.tasks.size(); ++task) {
    if (stuck[task]) {
      at = task;
      for (const std::uint32_t after : graph.successors_of(task)) {
        before[after] = task;
      }
    }
  }
  for (std::size_t step = 0; step < graph.tasks.size(); ++step) {
    at = before[at];
  }
  return at;
}

Result<void> check_order(const TaskGraph& graph) {
  const auto tasks = static_cast<std::uint32_t>(graph.tasks.size());
  bool forward = true;
  for (std::uint32_t task = 0; task < tasks; ++task) {
    for (const std::uint32_t after : graph.successors_of(task)) {
      if (after >= tasks) {
        return fail(ErrorCode::invalid_argument,
                    format_text("{} comes before task {} of {}", named(graph, task), after, tasks));
      }
      forward = forward && after > task;
    }
  }
  if (forward) {
    return {};
  }
  const auto order = issue_order(tasks, graph.first_successor, graph.successors);
  if (order.size() < tasks) {
    return fail(ErrorCode::invalid_argument, named(graph, on_cycle(graph, order)) + " waits for itself: a cycle");
  }
  for (std::uint32_t task = 0; task < tasks; ++task) {
    for (const std::uint32_t after : graph.successors_of(task)) {
      if (after < task) {
        return fail(ErrorCode::invalid_argument,
                    format_text("{} waits for {}, issued later", named(graph, after), named(graph, task)));
      }
    }
  }
  return {};
}

std::uint64_t digest_of(std::span<const std::uint32_t> members, std::uint32_t size) {
  std::uint64_t digest = 0xcbf29ce484222325ULL ^ size;
  for (const std::uint32_t member : members) {
    digest = (digest ^ member) * 0x100000001b3ULL;
  }
  return digest;
}

/// Renumbers the tasks to `order`, and the edges with them.
void reorder(TaskGraph& graph, std::vector<Edge>& edges, const std::vector<std::uint32_t>& order) {
  std::vector<std::uint32_t> place(order.size());
  std::vector<Task> tasks;
  std::vector<std::uint32_t> splits_of_task;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    tasks.push_back(graph.tasks[order[i]]);
    if (!graph.splits_of_task.empty()) {
      splits_of_task.push_back(graph.splits_of_task[order[i]]);
    }
  }
  graph.tasks = std::move(tasks);
  graph.splits_of_task = std::move(splits_of_task);
  for (Edge& edge : edges) {
    edge = {place[edge.first], place[edge.second]};
  }
}

void lay_out(TaskGraph& graph, std::vector<Edge>& edges) {
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  graph.first_successor.assign(graph.tasks.size() + 1, 0);
  graph.successors.clear();
  graph.successors.reserve(edges.size());
  for (const auto& [before, after] : edges) {
    ++graph.first_successor[before + 1];
    graph.successors.push_back(after);
  }
  std::partial_sum(graph.first_successor.begin(), graph.first_successor.end(), graph.first_successor.begin());
}

}  // namespace

std::string_view to_string(CollectiveAlgorithm algorithm) {
  switch (algorithm) {
    case CollectiveAlgorithm::automatic:
      return "automatic";
    case CollectiveAlgorithm::ring:
      return "ring";
    case CollectiveAlgorithm::bidirectional_ring:
      return "bidirectional_ring";
    case CollectiveAlgorithm::tree:
      return "tree";
    case CollectiveAlgorithm::double_tree:
      return "double_tree";
    case CollectiveAlgorithm::halving_doubling:
      return "halving_doubling";
    case CollectiveAlgorithm::direct:
      return "direct";
    case CollectiveAlgorithm::pairwise:
      return "pairwise";
    case CollectiveAlgorithm::hierarchical:
      return "hierarchical";
  }
  return "?";
}

Result<void> check(const TaskGraph& graph) {
  LOOM_TRY(check_sizes(graph));
  LOOM_TRY(check_shape(graph));
  MemberCheck members{graph};
  for (std::size_t task = 0; task < graph.tasks.size(); ++task) {
    LOOM_TRY(check_task(graph, task, members));
  }
  return check_order(graph);
}

TaskGraphBuilder::TaskGraphBuilder(std::string workload, std::uint32_t nodes) {
  graph_.workload = std::move(workload);
  graph_.nodes = nodes;
}

std::uint32_t TaskGraphBuilder::family(std::span<const std::uint32_t> members, std::uint32_t group_size) {
  if (group_size == 0 || members.empty() || members.size() % group_size != 0) {
    fault_ = Error{ErrorCode::invalid_argument,
                   format_text("{}: {} members do not fall into groups of {}", graph_.workload, members.size(), group_size)};
    return 0;
  }
  if (graph_.members.size() + members.size() > limits::kMembersPerGraph) {
    fault_ = Error{ErrorCode::out_of_range, format_text("{}: more members of groups than {} (kMembersPerGraph)",
                                                        graph_.workload, limits::kMembersPerGraph)};
    return 0;
  }
  std::vector<std::uint32_t>& alike = families_[digest_of(members, group_size)];
  for (const std::uint32_t index : alike) {
    const GroupFamily& known = graph_.families[index];
    const auto held = std::span{graph_.members}.subspan(known.first, std::size_t{known.size} * known.count);
    if (known.size == group_size && std::equal(held.begin(), held.end(), members.begin(), members.end())) {
      return index;
    }
  }
  const auto index = static_cast<std::uint32_t>(graph_.families.size());
  graph_.families.push_back(
      {static_cast<std::uint32_t>(graph_.members.size()), group_size, static_cast<std::uint32_t>(members.size() / group_size)});
  graph_.members.insert(graph_.members.end(), members.begin(), members.end());
  alike.push_back(index);
  return index;
}

std::uint32_t TaskGraphBuilder::choice(const CollectiveChoice& choice) {
  const auto found = std::find(graph_.choices.begin(), graph_.choices.end(), choice);
  if (found == graph_.choices.end()) {
    graph_.choices.push_back(choice);
    return static_cast<std::uint32_t>(graph_.choices.size() - 1);
  }
  return static_cast<std::uint32_t>(found - graph_.choices.begin());
}

std::uint32_t TaskGraphBuilder::name(std::string_view name) {
  const auto found = names_.find(name);
  if (found != names_.end()) {
    return found->second;
  }
  const auto index = static_cast<std::uint32_t>(graph_.names.size());
  graph_.names.emplace_back(name.substr(0, limits::kTextBytes));
  names_.emplace(graph_.names.back(), index);
  return index;
}

std::uint32_t TaskGraphBuilder::add(const Task& task) {
  graph_.tasks.push_back(task);
  return static_cast<std::uint32_t>(graph_.tasks.size() - 1);
}

std::uint32_t TaskGraphBuilder::compute(std::string_view name, std::uint32_t family, Duration duration) {
  return add({.kind = TaskKind::compute, .family = family, .name = this->name(name), .duration = duration});
}

std::uint32_t TaskGraphBuilder::communicate(std::string_view name, std::uint32_t family, CollectiveKind kind, Bytes bytes,
                                            std::uint32_t choice, std::uint8_t stream) {
  return add({.kind = TaskKind::communicate,
              .collective = kind,
              .stream = stream,
              .family = family,
              .choice = choice,
              .name = this->name(name),
              .bytes = bytes});
}

void TaskGraphBuilder::split(std::uint32_t task, std::vector<Bytes> splits) {
  LOOM_ASSERT(task < graph_.tasks.size());
  graph_.splits_of_task.resize(graph_.tasks.size(), 0);
  const auto found = std::find(graph_.splits.begin(), graph_.splits.end(), splits);
  const auto index = static_cast<std::uint32_t>(found - graph_.splits.begin());
  if (found == graph_.splits.end()) {
    graph_.splits.push_back(std::move(splits));
  }
  graph_.splits_of_task[task] = index + 1;
}

void TaskGraphBuilder::edge(std::uint32_t before, std::uint32_t after) { edges_.emplace_back(before, after); }

Result<TaskGraph> TaskGraphBuilder::build() && {
  if (fault_) {
    return std::unexpected(*fault_);
  }
  const std::size_t tasks = graph_.tasks.size();
  if (tasks > limits::kTasksPerGraph) {
    return fail(ErrorCode::out_of_range,
                format_text("{}: {}", graph_.workload, limit(tasks, "tasks", limits::kTasksPerGraph, "kTasksPerGraph")));
  }
  if (!graph_.splits_of_task.empty()) {
    graph_.splits_of_task.resize(tasks, 0);
  }
  for (const auto& [before, after] : edges_) {
    if (before >= tasks || after >= tasks) {
      return fail(ErrorCode::invalid_argument,
                  format_text("{}: an edge from task {} to task {} of {}", graph_.workload, before, after, tasks));
    }
  }
  lay_out(graph_, edges_);
  if (std::any_of(edges_.begin(), edges_.end(), [](const Edge& edge) { return edge.first > edge.second; })) {
    const auto order = issue_order(tasks, graph_.first_successor, graph_.successors);
    if (order.size() == tasks) {
      reorder(graph_, edges_, order);
      lay_out(graph_, edges_);
    }
  }
  LOOM_TRY(check(graph_));
  return std::move(graph_);
}

}  // namespace loom
