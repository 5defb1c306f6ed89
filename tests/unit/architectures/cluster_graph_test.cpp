// SPDX-License-Identifier: Apache-2.0
// Jobs that share a cluster, and ring collectives as fluids.
#include "controller/workload/cluster_graph.hpp"

#include <catch2/catch.hpp>

#include "controller/architectures/electrical/fat_tree.hpp"
#include "controller/architectures/electrical/ideal_switch.hpp"
#include "controller/predict/engine/predictor.hpp"
#include "controller/schedule/pair_bytes.hpp"

namespace loom {
namespace {

/// Compute, then an all-reduce, then compute again, on four nodes.
TaskGraph small_job(std::int64_t bytes, Dependence dependence = Dependence::whole) {
  TaskGraphBuilder made("small", 4);
  const std::vector<std::uint32_t> all{0, 1, 2, 3};
  const auto family = made.family(all, 4);
  made.graph().node_of_worker = all;
  made.graph().dependence = dependence;
  const auto before = made.compute("before", family, Duration{100'000});
  const auto reduce = made.communicate("reduce", family, CollectiveKind::all_reduce, Bytes{bytes}, made.choice({}), 0);
  const auto after = made.compute("after", family, Duration{50'000});
  made.edge(before, reduce);
  made.edge(reduce, after);
  auto graph = std::move(made).build();
  REQUIRE(graph);
  return *graph;
}

double finish_of(const ClusterGraph& cluster, const Network& network, std::size_t job, std::size_t iteration) {
  auto predictor = Predictor::make(cluster.graph, network, {});
  REQUIRE(predictor);
  REQUIRE(predictor->run());
  return predictor->parts()[predictor->first_part()[cluster.last_task[job][iteration]]].finish;
}

double alone(const TaskGraph& graph) {
  const auto network = make_ideal_switch({.nodes = graph.nodes, .rate = gigabits(8)});
  auto predictor = Predictor::make(graph, *network, {});
  return *predictor->run();
}

TEST_CASE("jobs_on_servers_of_their_own_behind_an_ideal_switch_do_not_feel_each_other") {
  const TaskGraph large = small_job(4'000'000);
  const TaskGraph little = small_job(1'000);
  const std::vector<ClusterJob> jobs{{&large, {7, 2, 5, 0}, 1}, {&little, {1, 3, 4, 6}, 3}};
  const auto cluster = graph_of_cluster(jobs, 8);
  REQUIRE(cluster);
  const auto network = make_ideal_switch({.nodes = 8, .rate = gigabits(8)});
  CHECK(finish_of(*cluster, *network, 0, 0) == Approx(alone(large)));
  CHECK(finish_of(*cluster, *network, 1, 0) == Approx(alone(little)));
  CHECK(finish_of(*cluster, *network, 1, 2) == Approx(3 * alone(little)));
}

/// Node 1 computes for long and gives node 0 what it has; node 0 has nothing to wait for but that.
TaskGraph uneven_job() {
  TaskGraphBuilder made("uneven", 2);
  made.graph().node_of_worker = {0, 1};
  const auto first = made.compute("long", made.family(std::vector<std::uint32_t>{1}, 1), Duration{90'000});
  const auto sent = made.communicate("hand on", made.family(std::vector<std::uint32_t>{1, 0}, 2),
                                     CollectiveKind::point_to_point, Bytes{100'000}, made.choice({}), 0);
  const auto last = made.compute("short", made.family(std::vector<std::uint32_t>{0, 1}, 2), Duration{10'000});
  made.edge(first, sent);
  made.edge(sent, last);
  auto graph = std::move(made).build();
  REQUIRE(graph);
  return *graph;
}

TEST_CASE("jobs_that_wait_by_node_and_jobs_that_wait_whole_share_a_cluster_and_repeat_as_they_are_alone") {
  const TaskGraph whole = small_job(40'000);
  const TaskGraph by_node = small_job(70'000, Dependence::by_node);
  const TaskGraph uneven = uneven_job();
  REQUIRE(uneven.dependence == Dependence::by_node);
  const std::vector<ClusterJob> jobs{{&whole, {7, 2, 5, 0}, 3}, {&by_node, {1, 3, 4, 6}, 2}, {&uneven, {9, 8}, 4}};
  const auto cluster = graph_of_cluster(jobs, 10);
  REQUIRE(cluster);
  const auto network = make_ideal_switch({.nodes = 10, .rate = gigabits(8)});
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    for (std::uint32_t i = 0; i < jobs[job].iterations; ++i) {
      CHECK(finish_of(*cluster, *network, job, i) == Approx((i + 1) * alone(*jobs[job].graph)));
    }
  }
  REQUIRE(cluster->first_task.size() == 4);
  CHECK(cluster->first_task[1] == cluster->last_task[0].back() + 1);
  CHECK(cluster->first_task[3] == cluster->graph.tasks.size());
}

TEST_CASE("fluids_go_over_a_tree_whose_messages_are_hashed_anew") {
  const TaskGraph job = small_job(4'000'000);
  const auto network = make_fat_tree({.nodes = 4, .rate = gigabits(8)}, {.segment_bytes = 1e6});
  REQUIRE(network);
  PlayOptions options;
  options.rounds = RoundOrder::fluid;
  auto fluid = Predictor::make(job, *network, options);
  auto exact = Predictor::make(job, *network, {});
  REQUIRE(fluid);
  REQUIRE(exact);
  const auto time = fluid->run();
  REQUIRE(time);
  CHECK(*time == Approx(*exact->run()).epsilon(0.07));  // docs/predictor.md
}

TEST_CASE("jobs_that_share_links_slow_each_other_down") {
  const TaskGraph job = small_job(4'000'000);
  // Every node under an edge switch of its own pod's other half: all rings cross the oversubscribed links.
  const std::vector<ClusterJob> both{{&job, {0, 4, 8, 12}, 1}, {&job, {1, 5, 9, 13}, 1}};
  const auto network = make_fat_tree({.nodes = 16, .rate = gigabits(8)}, {.oversubscription = 4});
  const auto one = graph_of_cluster(std::span(both).first(1), 16);
  const auto two = graph_of_cluster(both, 16);
  REQUIRE(one);
  REQUIRE(two);
  CHECK(finish_of(*two, *network, 0, 0) > finish_of(*one, *network, 0, 0) * 1.0001);
}

TEST_CASE("a_server_with_two_jobs_or_beyond_the_cluster_is_refused_by_number") {
  const TaskGraph job = small_job(1'000);
  for (const auto& servers : {std::vector<std::uint32_t>{3, 4, 5, 6}, std::vector<std::uint32_t>{4, 5, 6, 9}}) {
    const std::vector<ClusterJob> jobs{{&job, {0, 1, 2, 3}, 1}, {&job, servers, 1}};
    const auto refused = graph_of_cluster(jobs, 8);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find(servers[0] == 3 ? "server 3" : "server 9") != std::string::npos);
  }
  const std::vector<ClusterJob> few{{&job, {0, 1, 2}, 1}};
  CHECK(graph_of_cluster(few, 8).error().message.find("3 servers") != std::string::npos);
}

TEST_CASE("a_fluid_ring_takes_its_bytes_over_the_rate_whatever_its_strides") {
  TaskGraph graph = small_job(4'000'000);
  const double wire = 2.0 * 3 / 4 * 4'000'000;  // at 8 Gb/s a byte a nanosecond
  for (const auto& strides : {std::vector<std::uint32_t>{1}, std::vector<std::uint32_t>{1, 3}}) {
    CHECK(alone(fluid_rings(graph, strides)) == Approx(150'000 + wire).epsilon(1e-6));
    const auto bytes = pair_bytes(fluid_rings(graph, strides));
    CHECK(bytes.size() == 4 * strides.size());
    CHECK(bytes.at({0, 1}) == Approx(wire / static_cast<double>(strides.size())));
  }
}

}  // namespace
}  // namespace loom
