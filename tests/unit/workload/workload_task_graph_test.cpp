// SPDX-License-Identifier: Apache-2.0
// Task graphs: how the builder lays them out, and what check() refuses by name.
#include <catch2/catch.hpp>
#include <chrono>

#include "controller/workload/task_graph.hpp"
#include "core/limits.hpp"

namespace loom {
namespace {

using std::chrono::microseconds;

constexpr std::array<std::uint32_t, 4> kAll{0, 1, 2, 3};

TaskGraphBuilder builder() {
  TaskGraphBuilder build{"made", 4};
  build.graph().node_of_worker = {0, 1, 2, 3};
  return build;
}

/// forward -> all-reduce -> update among four nodes, as two groups of two.
TaskGraph lawful() {
  auto build = builder();
  const auto workers = build.family(kAll, 1);
  const auto pairs = build.family(kAll, 2);
  const auto forward = build.compute("forward", workers, microseconds{5});
  const auto reduce = build.communicate("reduce", pairs, CollectiveKind::all_reduce, Bytes{64}, build.choice({}), 1);
  const auto update = build.compute("update", workers, microseconds{1});
  build.edge(forward, reduce);
  build.edge(reduce, update);
  auto graph = std::move(build).build();
  REQUIRE(graph);
  return *graph;
}

void refused(const TaskGraph& graph, ErrorCode code, std::string_view why) {
  const auto checked = check(graph);
  REQUIRE_FALSE(checked);
  CAPTURE(checked.error().message);
  CHECK(checked.error().code == code);
  CHECK(checked.error().message.find(why) != std::string::npos);
}

TEST_CASE("the_builder_stores_equal_families_names_and_choices_once") {
  auto build = builder();
  const auto workers = build.family(kAll, 1);
  CHECK(build.family(kAll, 1) == workers);
  CHECK(build.family(kAll, 2) != workers);
  CHECK(build.choice({}) == build.choice({}));
  CHECK(build.choice({CollectiveAlgorithm::tree, {}, 1}) == 1);
  build.compute("same", workers, microseconds{1});
  build.compute("same", workers, microseconds{2});
  const auto graph = std::move(build).build();
  REQUIRE(graph);
  CHECK(graph->families.size() == 2);
  CHECK(graph->families[1].count == 2);
  CHECK(graph->group(graph->families[1], 1)[0] == 2);
  CHECK(graph->names == std::vector<std::string>{"same"});
  CHECK(graph->choices.size() == 2);
  CHECK(graph->tasks.size() == 2);
}

TEST_CASE("edges_given_in_any_order_are_laid_out_by_task_and_once") {
  auto build = builder();
  const auto workers = build.family(kAll, 1);
  for (int i = 0; i < 4; ++i) {
    build.compute("step", workers, microseconds{1});
  }
  build.edge(2, 3);
  build.edge(0, 3);
  build.edge(0, 1);
  build.edge(0, 3);
  const auto graph = std::move(build).build();
  REQUIRE(graph);
  CHECK(graph->first_successor == std::vector<std::uint32_t>{0, 2, 2, 3, 3});
  CHECK(graph->successors == std::vector<std::uint32_t>{1, 3, 3});
  CHECK(graph->successors_of(0).size() == 2);
}

TEST_CASE("a_task_added_late_moves_before_those_that_wait_for_it") {
  auto build = builder();
  const auto all = build.family(kAll, 4);
  const auto workers = build.family(kAll, 1);
  const auto last = build.compute("last", workers, microseconds{1});
  const auto uneven = build.communicate("first", all, CollectiveKind::all_to_all, Bytes{3}, build.choice({}), 0);
  build.split(uneven, std::vector<Bytes>(16, Bytes{1}));
  build.edge(uneven, last);
  const auto graph = std::move(build).build();
  REQUIRE(graph);
  CHECK(graph->names[graph->tasks[0].name] == "first");
  CHECK(graph->splits_of_task == std::vector<std::uint32_t>{1, 0});
  CHECK(graph->successors_of(0)[0] == 1);
  CHECK(check(*graph));
}

TEST_CASE("a_cycle_is_refused_by_the_name_of_a_task_on_it") {
  auto build = builder();
  const auto workers = build.family(kAll, 1);
  const auto before = build.compute("before", workers, microseconds{1});
  const auto hen = build.compute("hen", workers, microseconds{1});
  const auto egg = build.compute("egg", workers, microseconds{1});
  const auto after = build.compute("after", workers, microseconds{1});
  build.edge(before, hen);
  build.edge(hen, egg);
  build.edge(egg, hen);
  build.edge(egg, after);
  const auto graph = std::move(build).build();
  REQUIRE_FALSE(graph);
  CHECK(graph.error().code == ErrorCode::invalid_argument);
  CHECK(graph.error().message.find("cycle") != std::string::npos);
  const bool named =
      graph.error().message.find("'hen'") != std::string::npos || graph.error().message.find("'egg'") != std::string::npos;
  CHECK(named);
}

TEST_CASE("a_task_that_waits_for_itself_is_a_cycle") {
  auto build = builder();
  const auto self = build.compute("self", build.family(kAll, 1), microseconds{1});
  build.edge(self, self);
  const auto graph = std::move(build).build();
  REQUIRE_FALSE(graph);
  CHECK(graph.error().message.find("'self' waits for itself") != std::string::npos);
}

TEST_CASE("tasks_out_of_issue_order_are_refused") {
  auto graph = lawful();
  graph.first_successor = {0, 0, 0, 1};
  graph.successors = {0};
  refused(graph, ErrorCode::invalid_argument, "task 0 'forward' waits for task 2 'update', issued later");
}

TEST_CASE("references_to_nothing_are_refused") {
  const auto invalid = ErrorCode::invalid_argument;
  auto graph = lawful();
  graph.tasks[1].family = 7;
  refused(graph, invalid, "'reduce' has family 7 of 2");
  graph = lawful();
  graph.tasks[1].choice = 3;
  refused(graph, invalid, "'reduce' has choice 3 of 1");
  graph = lawful();
  graph.tasks[1].name = 9;
  refused(graph, invalid, "task 1 has name 9 of 3");
  graph = lawful();
  graph.successors[0] = 12;
  refused(graph, invalid, "'forward' comes before task 12 of 3");
  graph = lawful();
  graph.first_successor.pop_back();
  refused(graph, invalid, "first_successor");
  graph = lawful();
  graph.families[1].count = 40;
  refused(graph, invalid, "beyond the members");
  graph = lawful();
  graph.families[1].size = 0;
  refused(graph, invalid, "empty family");
}

TEST_CASE("absent_nodes_and_workers_are_refused") {
  auto graph = lawful();
  graph.members[graph.families[1].first + 3] = 4;
  refused(graph, ErrorCode::invalid_argument, "'reduce' names node 4 of 4");
  graph = lawful();
  graph.node_of_worker.pop_back();
  refused(graph, ErrorCode::invalid_argument, "'forward' names worker 3 of 3");
  graph = lawful();
  graph.node_of_worker[2] = 4;
  refused(graph, ErrorCode::invalid_argument, "worker 2 sits on node 4 of 4");
}

TEST_CASE("a_member_twice_in_a_group_or_in_two_groups_is_refused") {
  auto graph = lawful();
  graph.members[graph.families[1].first + 1] = 0;
  refused(graph, ErrorCode::invalid_argument, "'reduce' has node 0 twice");
  graph = lawful();
  graph.members[graph.families[1].first + 2] = 1;
  refused(graph, ErrorCode::invalid_argument, "'reduce' has node 1 twice");
}

TEST_CASE("collectives_that_no_algorithm_carries_are_refused") {
  auto graph = lawful();
  graph.choices[0] = {CollectiveAlgorithm::ring, {2}, 1};
  refused(graph, ErrorCode::invalid_argument, "'reduce': all_reduce by ring: stride 2 is not prime to 2 ranks");
  graph = lawful();
  graph.choices[0].algorithm = CollectiveAlgorithm::pairwise;
  refused(graph, ErrorCode::invalid_argument, "does not carry");
  graph = lawful();
  graph.splits = {std::vector<Bytes>(4)};
  graph.splits_of_task = {0, 1, 0};
  refused(graph, ErrorCode::invalid_argument, "no all-to-all");
  graph.tasks[1].collective = CollectiveKind::all_to_all;
  CHECK(check(graph));
  graph.splits[0].pop_back();
  refused(graph, ErrorCode::invalid_argument, "3 splits among 2 members");
  graph.splits[0] = {Bytes{}, Bytes{-1}, Bytes{}, Bytes{}};
  refused(graph, ErrorCode::out_of_range, "a split of -1 bytes");
}

TEST_CASE("absurd_sizes_are_refused_with_their_limit") {
  const auto beyond = ErrorCode::out_of_range;
  auto graph = lawful();
  graph.nodes = 0;
  refused(graph, beyond, "kNodes");
  graph.nodes = limits::kNodes + 1;
  refused(graph, beyond, "kNodes");
  graph = lawful();
  graph.tasks[1].bytes = Bytes{-1};
  refused(graph, beyond, "kCollectiveBytes");
  graph.tasks[1].bytes = Bytes{limits::kCollectiveBytes + 1};
  refused(graph, beyond, "kCollectiveBytes");
  graph = lawful();
  graph.tasks[0].duration = Duration{-1};
  refused(graph, beyond, "kDurationNs");
  graph.tasks[0].duration = Duration{limits::kDurationNs + 1};
  refused(graph, beyond, "kDurationNs");
}

TEST_CASE("the_builder_refuses_members_that_do_not_fall_into_groups_and_edges_to_nowhere") {
  auto build = builder();
  build.compute("odd", build.family(kAll, 3), microseconds{1});
  const auto odd = std::move(build).build();
  REQUIRE_FALSE(odd);
  CHECK(odd.error().message.find("4 members do not fall into groups of 3") != std::string::npos);
  auto lost = builder();
  lost.compute("alone", lost.family(kAll, 1), microseconds{1});
  lost.edge(0, 5);
  const auto graph = std::move(lost).build();
  REQUIRE_FALSE(graph);
  CHECK(graph.error().code == ErrorCode::invalid_argument);
  CHECK(graph.error().message.find("task 5 of 1") != std::string::npos);
}

}  // namespace
}  // namespace loom
