// SPDX-License-Identifier: Apache-2.0
// Task graph: one training iteration as work and its order: compute on workers, collectives among nodes. One task stands for
// the same work in every group of a family (the 128 tensor-parallel groups of a layer are one task), so that a symmetric
// iteration on 1024 nodes has as many tasks as layers and passes, and O(nodes) memory.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/demand.hpp"
#include "core/result.hpp"
#include "core/time.hpp"
#include "core/units.hpp"

namespace loom {

enum class TaskKind : std::uint8_t { compute, communicate };

/// How a collective moves. automatic: ring for all-reduce, all-gather and reduce-scatter, direct for all-to-all.
enum class CollectiveAlgorithm : std::uint8_t {
  automatic,
  ring,                ///< one ring, one direction; with `strides`, one ring a stride, each with an equal share
  bidirectional_ring,  ///< every ring in both directions, half the bytes each
  tree,                ///< binary tree: reduce up, broadcast down
  double_tree,         ///< two, half of the bytes each: who is inner in one is a leaf in the other (Sanders et al. 2009, NCCL)
  halving_doubling,    ///< recursive halving, then doubling; any group size
  direct,              ///< everybody to everybody at once
  pairwise,            ///< all-to-all in n-1 rounds
  hierarchical,        ///< reduce-scatter inside `local_size` neighbours, ring across, all-gather inside
};

std::string_view to_string(CollectiveAlgorithm algorithm);

struct CollectiveChoice {
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::automatic;
  std::vector<std::uint32_t> strides{};  ///< rings: i sends to (i + stride) mod n; empty: 1. Each prime to n.
  std::uint32_t local_size = 1;          ///< hierarchical
  bool operator==(const CollectiveChoice&) const = default;
};

/// `count` groups of `size` members each, one after the other in TaskGraph::members from `first` on.
struct GroupFamily {
  std::uint32_t first = 0;
  std::uint32_t size = 0;
  std::uint32_t count = 0;
};

/// Who does what. compute: every member of the family is a worker, and computes `duration` by itself. communicate: every group
/// of the family, its members nodes in rank order, carries out its own collective of `bytes` (Collective::bytes);
/// point_to_point: groups of two, source first.
struct Task {
  TaskKind kind = TaskKind::compute;
  CollectiveKind collective = CollectiveKind::all_reduce;
  std::uint8_t stream = 0;  ///< communicate: a node starts its tasks of one stream in task order; 0: no order
  std::uint32_t family = 0;
  std::uint32_t choice = 0;  ///< communicate: index into TaskGraph::choices
  std::uint32_t name = 0;    ///< index into TaskGraph::names
  Duration duration{};       ///< compute
  Bytes bytes{};             ///< communicate
};

/// Which parts of a task wait for which of the one before it. by_node: what node n does of the later one waits for what node
/// n (its workers) does of the earlier one. whole: every part waits for every part.
enum class Dependence : std::uint8_t { by_node, whole };

/// Tasks in issue order: every edge goes from a lower index to a higher one unless the graph is cyclic, which check() refuses.
/// A worker runs one compute task at a time, in the order in which they become ready, ties by task index.
struct TaskGraph {
  std::string workload;
  std::uint32_t nodes = 0;                    ///< end points of the network
  std::vector<std::uint32_t> node_of_worker;  ///< one entry a worker
  Dependence dependence = Dependence::by_node;
  /// Dependence::by_node: empty, or one a task. What follows a task that is true here waits as if dependence were whole: every
  /// part for every part of it.
  std::vector<bool> is_awaited_whole{};
  std::vector<std::uint32_t> members;
  std::vector<GroupFamily> families;
  std::vector<CollectiveChoice> choices;
  std::vector<std::string> names;
  std::vector<Task> tasks;
  std::vector<std::uint32_t> first_successor;  ///< tasks + 1 entries into `successors`
  std::vector<std::uint32_t> successors;
  std::vector<std::vector<Bytes>> splits;     ///< uneven all-to-all, Collective::splits
  std::vector<std::uint32_t> splits_of_task;  ///< empty, or one a task: index into `splits` + 1, 0 = even
  std::int64_t parameters = 0;                ///< of the model; 0: unknown
  std::vector<std::string> assumptions;

  std::span<const std::uint32_t> group(const GroupFamily& of, std::uint32_t index) const {
    return std::span{members}.subspan(of.first + std::size_t{index} * of.size, of.size);
  }
  std::span<const std::uint32_t> successors_of(std::uint32_t task) const {
    return std::span{successors}.subspan(first_successor[task], first_successor[task + 1] - first_successor[task]);
  }
};

/// Errors, each naming the task: invalid_argument (a cycle, a family or name or choice that is not there, a member twice in a
/// group or in two groups of a family, a node or worker that is not there, a stride that is not prime to its group),
/// out_of_range (limits of core/limits.hpp: nodes, collectives' bytes).
Result<void> check(const TaskGraph& graph);

/// Collects tasks and edges in any order and lays them out; equal families, names and choices are stored once.
class TaskGraphBuilder {
 public:
  TaskGraphBuilder(std::string workload, std::uint32_t nodes);

  std::uint32_t family(std::span<const std::uint32_t> members, std::uint32_t group_size);
  std::uint32_t choice(const CollectiveChoice& choice);
  std::uint32_t compute(std::string_view name, std::uint32_t family, Duration duration);
  std::uint32_t communicate(std::string_view name, std::uint32_t family, CollectiveKind kind, Bytes bytes, std::uint32_t choice,
                            std::uint8_t stream);
  void edge(std::uint32_t before, std::uint32_t after);
  /// Makes an all-to-all uneven: bytes from the i-th to the j-th of every group, row-major.
  void split(std::uint32_t task, std::vector<Bytes> splits);
  TaskGraph& graph() { return graph_; }

  /// The graph, checked. Tasks keep their indices unless an edge went from a later task to an earlier one: then they are
  /// renumbered to an issue order. Errors: as check(); invalid_argument too for members that do not fall into groups.
  Result<TaskGraph> build() &&;

 private:
  std::uint32_t name(std::string_view name);
  std::uint32_t add(const Task& task);

  TaskGraph graph_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;
  std::map<std::uint64_t, std::vector<std::uint32_t>> families_;  ///< digest of members -> families
  std::map<std::string, std::uint32_t, std::less<>> names_;
  std::optional<Error> fault_;
};

/// The task graph of a job's one iteration: its compute cut where a collective becomes ready or is needed, its collectives on
/// one stream. Errors: as check().
Result<TaskGraph> graph_of(const JobSpec& job);

/// What the controller schedules of a graph: every group's collectives in issue order, equal neighbours counted together, with
/// ready and needed on the clock of compute. Where that is more than kCollectivesPerJob, equal neighbours are counted together
/// whenever they were issued, and an assumption says so. Errors: as check(); out_of_range (kCollectivesPerJob).
Result<JobSpec> job_of(const TaskGraph& graph);

}  // namespace loom
