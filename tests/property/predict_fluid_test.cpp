// SPDX-License-Identifier: Apache-2.0
// Collectives as fluids: weighted ways against the slow solver, and the engine with fluids against the engine that plays
// rounds.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include "controller/architectures/electrical/fat_tree.hpp"
#include "controller/architectures/electrical/ideal_switch.hpp"
#include "controller/predict/engine/predictor.hpp"
#include "controller/predict/networks/direct_connect.hpp"
#include "controller/workload/models/zoo.hpp"
#include "tests/property/slow_fluid.hpp"

namespace loom {
namespace {

using testing::SlowFlow;

std::uint32_t below(std::mt19937& chance, std::size_t limit) { return static_cast<std::uint32_t>(chance() % limit); }

NetworkTerms terms(std::uint32_t nodes) { return {.nodes = nodes, .rate = gigabits(100), .link_latency = Duration{1000}}; }

/// A star in which every port has its own rate.
Network uneven_star(std::mt19937& chance, std::uint32_t nodes) {
  auto star = make_ideal_switch(terms(nodes));
  REQUIRE(star);
  star->is_uniform = false;
  for (NetworkLink& link : star->links) {
    link.bytes_per_ns = 0.1 + 1e-3 * below(chance, 5000);
  }
  return *star;
}

struct Arrival {
  double start = 0;
  double bytes = 0;
  std::uint32_t way = 0;  ///< below the number of ways: over it; else a transfer of the pair (way - ways)
};

TEST_CASE("fluids_over_many_links_end_as_the_slow_fluid_says") {
  std::size_t compared = 0;
  for (unsigned seed = 1; seed <= 400; ++seed) {
    INFO("seed " << seed);
    std::mt19937 chance{seed};
    const std::uint32_t nodes = 3 + below(chance, 6);
    const Network network = uneven_star(chance, nodes);
    std::vector<FluidWay> ways(1 + below(chance, 5));
    std::vector<std::vector<unsigned>> spelt(ways.size());  // a link as often as its weight
    for (std::size_t i = 0; i < ways.size(); ++i) {
      std::map<std::uint32_t, unsigned> weights;
      for (std::uint32_t hops = 1 + below(chance, 8); hops > 0; --hops) {
        weights[below(chance, network.links.size())] = 1 + below(chance, 4);
      }
      for (const auto& [link, weight] : weights) {
        ways[i].links.push_back(link);
        ways[i].weights.push_back(static_cast<float>(weight));
        spelt[i].insert(spelt[i].end(), weight, link);
      }
    }
    std::vector<Arrival> arrivals(2 + below(chance, 20));
    std::vector<SlowFlow> slow;
    for (Arrival& each : arrivals) {
      each = {0.5 * below(chance, 3000), 1.0 + below(chance, 3000), below(chance, ways.size() + nodes - 1)};
      const bool is_way = each.way < ways.size();
      const auto source = static_cast<unsigned>(each.way - ways.size());
      slow.push_back({is_way ? spelt[each.way] : std::vector<unsigned>{source, nodes + source + 1}, each.start, each.bytes});
    }
    std::stable_sort(arrivals.begin(), arrivals.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
    std::stable_sort(slow.begin(), slow.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
    std::vector<double> capacity;
    for (const NetworkLink& link : network.links) {
      capacity.push_back(link.bytes_per_ns);
    }
    testing::run_slowly(capacity, slow);

    Transfers transfers;
    transfers.reset(network, ways);
    std::vector<double> left(arrivals.size(), -1);
    std::size_t next = 0;
    while (next < arrivals.size() || transfers.active() > 0) {
      const double arrival = next < arrivals.size() ? arrivals[next].start : std::numeric_limits<double>::infinity();
      const double now = std::min(arrival, transfers.next());
      REQUIRE(std::isfinite(now));
      transfers.advance(now, [&](std::uint32_t token, double) { left[token] = now; });
      for (; next < arrivals.size() && arrivals[next].start <= now; ++next) {
        const Arrival& each = arrivals[next];
        if (each.way < ways.size()) {
          transfers.start_over(now, each.way, each.bytes, static_cast<std::uint32_t>(next));
        } else {
          const auto source = static_cast<std::uint32_t>(each.way - ways.size());
          REQUIRE(transfers.start(now, source, source + 1, 0, each.bytes, static_cast<std::uint32_t>(next)));
        }
      }
      transfers.settle(now);
    }
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      CAPTURE(i, left[i], slow[i].left_at);
      REQUIRE(std::abs(left[i] - slow[i].left_at) <= 1e-9 * slow[i].left_at);
      ++compared;
    }
  }
  CHECK(compared > 4'000);
}

double iteration(const TaskGraph& graph, const Network& network, const PlayOptions& options) {
  auto predictor = Predictor::make(graph, network, options);
  REQUIRE(predictor);
  const auto time = predictor->run();
  REQUIRE(time);
  return *time;
}

/// One ring all-reduce of all nodes.
TaskGraph all_reduce(std::uint32_t nodes, std::int64_t bytes) {
  TaskGraphBuilder made{"ring", nodes};
  std::vector<std::uint32_t> all(nodes);
  std::iota(all.begin(), all.end(), 0U);
  made.graph().node_of_worker = all;
  made.communicate("all_reduce", made.family(all, nodes), CollectiveKind::all_reduce, Bytes{bytes}, made.choice({}), 0);
  auto graph = std::move(made).build();
  REQUIRE(graph);
  return *graph;
}

TEST_CASE("a_ring_alone_takes_as_a_fluid_what_its_rounds_take") {
  for (const std::uint32_t nodes : {3U, 8U, 64U}) {
    const TaskGraph graph = all_reduce(nodes, 561'152LL * nodes);
    const auto star = make_ideal_switch(terms(nodes));
    REQUIRE(star);
    const double even = iteration(graph, *star, {.rounds = RoundOrder::fluid});
    CHECK(even == Approx(iteration(graph, *star, {})).epsilon(1e-9));
    // One slow port: rounds wait for it, latency hides behind it.
    Network uneven = *star;
    uneven.is_uniform = false;
    uneven.links[1].bytes_per_ns /= 3;
    CHECK(iteration(graph, uneven, {.rounds = RoundOrder::fluid}) ==
          Approx(iteration(graph, uneven, {})).epsilon(nodes == 64 ? 0.005 : 0.08));
  }
}

TEST_CASE("models_as_fluids_are_near_to_their_rounds") {
  // On networks whose rounds are played in a moment; docs/predictor.md has the large ones.
  struct Case {
    const char* workload;
    std::uint32_t nodes;
    double limit;
  };
  for (const Case& each : {Case{"vgg19", 16, 0.02}, Case{"dlrm", 16, 0.02}, Case{"bert-base", 16, 0.02}}) {
    const auto graph = make_task_graph(each.workload, {each.nodes, {}});
    REQUIRE(graph);
    const auto tree = make_fat_tree(terms(each.nodes), {.oversubscription = 2});
    const auto ring = make_jump_rings(terms(each.nodes), {.jumps = {1, 5}});
    REQUIRE(tree);
    REQUIRE(ring);
    for (const Network* network : {&*tree, &*ring}) {
      INFO(each.workload << " on " << network->name);
      const double exact = iteration(*graph, *network, {});
      const double fluid = iteration(*graph, *network, {.rounds = RoundOrder::fluid});
      CAPTURE(exact, fluid, fluid / exact - 1);
      CHECK(std::abs(fluid / exact - 1) < each.limit);
    }
  }
}

TEST_CASE("pipelines_of_many_sizes_in_one_group_are_fluids_each_of_its_own_rounds") {
  // How many pieces a tree's pipeline has hangs on its bytes, and with them how many runs of rounds.
  constexpr std::uint32_t kNodes = 8;
  std::vector<std::uint32_t> all(kNodes);
  std::iota(all.begin(), all.end(), 0U);
  const auto trees_of = [&](const std::vector<std::int64_t>& sizes) {
    TaskGraphBuilder made{"trees", kNodes};
    made.graph().node_of_worker = all;
    const auto everybody = made.family(all, kNodes);
    const auto tree = made.choice({.algorithm = CollectiveAlgorithm::tree});
    for (const std::int64_t bytes : sizes) {
      made.communicate("all_reduce", everybody, CollectiveKind::all_reduce, Bytes{bytes}, tree, 1);
    }
    auto graph = std::move(made).build();
    REQUIRE(graph);
    return *graph;
  };
  const auto star = make_ideal_switch(terms(kNodes));
  REQUIRE(star);
  const PlayOptions fluid{.rounds = RoundOrder::fluid};
  const std::vector<std::int64_t> sizes{1'000, 720'720, 200'000, 8'000'000, 1'000};
  double sum = 0;
  for (const std::int64_t bytes : sizes) {
    sum += iteration(trees_of({bytes}), *star, fluid);
  }
  const TaskGraph together = trees_of(sizes);  // one after the other on one stream
  CHECK(iteration(together, *star, fluid) == Approx(sum).epsilon(1e-9));
  // And of another size than it was laid out for.
  const TaskGraph small = trees_of({1'000});
  auto kept = Predictor::make(small, *star, fluid);
  REQUIRE(kept);
  REQUIRE(kept->set_bytes(0, Bytes{8'000'000}));
  const auto time = kept->run();
  REQUIRE(time);
  CHECK(*time == Approx(iteration(trees_of({8'000'000}), *star, {})).epsilon(0.2));
}

TEST_CASE("a_play_that_would_take_too_many_looks_says_so") {
  const TaskGraph graph = all_reduce(16, 16'000'000);
  const auto star = make_ideal_switch(terms(16));
  REQUIRE(star);
  auto predictor = Predictor::make(graph, *star, {.plays_everything = true, .looks_max = 1000});
  REQUIRE(predictor);
  const auto time = predictor->run();
  REQUIRE_FALSE(time);
  CHECK(time.error().code == ErrorCode::timed_out);
  CHECK(time.error().message.find("looks_max") != std::string::npos);
}

TEST_CASE("fluids_are_refused_where_light_changes") {
  const TaskGraph graph = all_reduce(4, 4'000'000);
  const auto star = make_ideal_switch(terms(4));
  REQUIRE(star);
  auto changing = Reconfiguration::recorded({{0, *star}});
  REQUIRE(changing);
  auto predictor = Predictor::make(graph, *star, {.rounds = RoundOrder::fluid});
  REQUIRE(predictor);
  const auto time = predictor->run(&*changing);
  REQUIRE_FALSE(time);
  CHECK(time.error().code == ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace loom
