// SPDX-License-Identifier: Apache-2.0
// The alternating optimisation: its cost against closed forms and the prediction engine, its moves, its chain. On a made-up
// model of four towers; on the authors' measurements where the data folder is present (LIGHTLOOM_DATA).
#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>

#include "controller/architectures/electrical/ideal_switch.hpp"
#include "controller/architectures/topoopt/network.hpp"
#include "controller/architectures/topoopt/search/alternating.hpp"
#include "tests/skip.hpp"
#include "tests/unit/workload/op_towers.hpp"

namespace loom {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::uint32_t kNodes = kTowerNodes;

struct Found {
  DirectTopology topology;
  LinkLoads loads;
};

Found found_for(const SearchProblem& problem, const Strategy& strategy, std::uint32_t degree) {
  auto topology = find_topology(demand_of(problem.graph, strategy), as_in_code_release(degree));
  REQUIRE(topology);
  const auto network = network_of(problem.terms, *topology);
  REQUIRE(network);
  auto loads = LinkLoads::make(*topology, *network);
  REQUIRE(loads);
  return {*topology, *loads};
}

Strategy random_strategy(const SearchProblem& problem, std::uint64_t seed) {
  const Moves moves(problem.graph, problem.times, {});
  Draws draws{seed, 0};
  Strategy strategy;
  for (std::uint32_t op = 0; op < problem.graph.operators.size(); ++op) {
    strategy.push_back(moves.place(op, draws));
  }
  return strategy;
}

double cost_ms(const SearchProblem& problem, const Strategy& strategy, const LinkLoads& loads) {
  return StrategyClock(problem.graph, problem.times, problem.server).iteration_ns(strategy, loads) / 1e6;
}

SearchOptions small_options(std::uint64_t seed) {
  SearchOptions options;
  options.steps = 3000;
  options.alpha = 1;
  options.seed = seed;
  options.starts_data_parallel = false;
  return options;
}

TEST_CASE("on_one_node_the_cost_is_the_sum_of_all_compute") {
  const SearchProblem problem = towers();
  const Strategy alone(problem.graph.operators.size(), OpPlacement{1, 5});
  const Found found = found_for(problem, alone, 4);
  CHECK(cost_ms(problem, alone, found.loads) == Approx(3 * (13 * 8.0 + 0.8 + 0.08)));
}

TEST_CASE("a_tensor_between_two_nodes_costs_its_bytes_over_the_way_both_ways") {
  SearchProblem problem = towers();
  problem.graph.operators.resize(2);
  problem.times.times.resize(2 * problem.times.degrees.size());
  problem.times.lawful.resize(2);
  const Strategy apart{{1, 0}, {1, 1}};
  const Found found = found_for(problem, apart, 2);
  const double way_ms = 512 * 1024 / 12.5e6 + 0.001;  // one hop of 100 Gb/s
  CHECK(cost_ms(problem, apart, found.loads) == Approx(2 * (8 + 16) + 2 * way_ms));
}

TEST_CASE("data_parallel_costs_what_the_engine_predicts") {
  const SearchProblem problem = towers();
  const Strategy strategy = data_parallel(problem.graph, problem.times);
  for (const std::uint32_t degree : {2U, 4U, 6U}) {
    const Found found = found_for(problem, strategy, degree);
    const auto predicted = predicted_ms(problem, strategy, found.topology);
    REQUIRE(predicted);
    CHECK(cost_ms(problem, strategy, found.loads) == Approx(*predicted).epsilon(0.005));
  }
}

TEST_CASE("random_strategies_cost_about_what_the_engine_predicts") {
  const SearchProblem problem = towers();
  double ratios = 0;
  constexpr std::uint64_t kSeeds = 20;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Strategy strategy = random_strategy(problem, seed);
    const Found found = found_for(problem, strategy, 4);
    const auto predicted = predicted_ms(problem, strategy, found.topology);
    REQUIRE(predicted);
    const double ratio = cost_ms(problem, strategy, found.loads) / *predicted;
    INFO("seed " << seed << ": " << ratio);
    CHECK(ratio > 0.75);
    CHECK(ratio < 1.25);
    ratios += ratio;
  }
  CHECK(ratios / kSeeds == Approx(1).margin(0.1));
}

TEST_CASE("a_limit_ends_the_playing_and_changes_no_cost_within_it") {
  const SearchProblem problem = towers();
  StrategyClock clock(problem.graph, problem.times, problem.server);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Strategy strategy = random_strategy(problem, seed);
    const Found found = found_for(problem, strategy, 4);
    const double cost = clock.iteration_ns(strategy, found.loads);
    CHECK(clock.iteration_ns(strategy, found.loads, cost) == cost);
    CHECK(clock.iteration_ns(strategy, found.loads, cost * 0.999) == StrategyClock::kTooLong);
  }
}

TEST_CASE("the_demand_of_a_strategy_is_that_of_its_task_graph") {
  const SearchProblem problem = towers();
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Strategy strategy = random_strategy(problem, seed);
    const FinderDemand ours = demand_of(problem.graph, strategy);
    const FinderDemand theirs = finder_demand(*graph_of(problem.graph, problem.times, strategy));
    REQUIRE(ours.pairs.size() == theirs.pairs.size());
    for (std::size_t i = 0; i < ours.pairs.size(); ++i) {
      CHECK(ours.pairs[i].source == theirs.pairs[i].source);
      CHECK(ours.pairs[i].destination == theirs.pairs[i].destination);
      CHECK(ours.pairs[i].bytes == theirs.pairs[i].bytes);
    }
    const auto sum = [](const FinderDemand& demand) {
      std::int64_t bytes = 0;
      for (const ReduceDemand& each : demand.reduces) {
        bytes += each.bytes * static_cast<std::int64_t>(each.members.size() * each.members.front());
      }
      return bytes;
    };
    CHECK(ours.reduces.size() == theirs.reduces.size());
    CHECK(sum(ours) == sum(theirs));
  }
}

TEST_CASE("moves_stay_lawful_and_the_same_draws_give_the_same_moves") {
  const SearchProblem problem = towers();
  const Moves moves(problem.graph, problem.times, {});
  Draws draws{7, 0};
  Draws again{7, 0};
  Strategy strategy = data_parallel(problem.graph, problem.times);
  std::size_t carried = 0;
  for (int i = 0; i < 2000; ++i) {
    const Strategy next = moves.propose(strategy, draws);
    CHECK(next == moves.propose(strategy, again));
    REQUIRE(check(problem.graph, problem.times, next));
    std::size_t changed = 0;
    for (std::size_t op = 0; op < next.size(); ++op) {
      changed += next[op] != strategy[op];
    }
    carried += changed > 1;
    strategy = next;
  }
  CHECK(carried > 100);  // propagations over several operators
}

TEST_CASE("without_propagation_a_move_changes_one_operator_at_most") {
  const SearchProblem problem = towers();
  const Moves moves(problem.graph, problem.times, {.propagation = 0});
  Draws draws{3, 0};
  const Strategy strategy = data_parallel(problem.graph, problem.times);
  for (int i = 0; i < 500; ++i) {
    const Strategy next = moves.propose(strategy, draws);
    std::size_t changed = 0;
    for (std::size_t op = 0; op < next.size(); ++op) {
      changed += next[op] != strategy[op];
    }
    CHECK(changed <= 1);
  }
}

TEST_CASE("a_search_improves_steadily_and_ends_below_data_parallel") {
  auto search = AlternatingSearch::make(towers(), small_options(1));
  REQUIRE(search);
  const double first = search->state().cheapest.cost_ms;
  double last = first;
  for (int chunk = 0; chunk < 6; ++chunk) {
    REQUIRE(search->run({500, {}}));
    CHECK(search->state().cheapest.cost_ms <= last);
    last = search->state().cheapest.cost_ms;
  }
  CHECK(search->is_done());
  CHECK(last < 0.6 * first);
  const SearchProblem problem = towers();
  const Strategy parallel = data_parallel(problem.graph, problem.times);
  const auto predicted = predicted_ms(problem, parallel, found_for(problem, parallel, 4).topology);
  REQUIRE(predicted);
  const SearchPoint& best = search->state().best;
  CHECK(best.predicted_ms < *predicted);
  CHECK(best.predicted_ms == Approx(*predicted_ms(problem, best.strategy, best.topology)));
  CHECK(search->state().topologies > 0);
}

TEST_CASE("the_same_seed_gives_the_same_search_and_another_seed_another") {
  const auto end_of = [](std::uint64_t seed) {
    auto search = AlternatingSearch::make(towers(), small_options(seed));
    REQUIRE(search);
    REQUIRE(search->run({800, {}}));
    return search->state();
  };
  const SearchState one = end_of(5);
  const SearchState two = end_of(5);
  CHECK(one.current.strategy == two.current.strategy);
  CHECK(one.best.predicted_ms == two.best.predicted_ms);
  CHECK(one.draws == two.draws);
  CHECK_FALSE(end_of(6).current.strategy == one.current.strategy);
}

TEST_CASE("a_search_resumed_from_its_state_goes_on_as_if_never_stopped") {
  const SearchOptions options = small_options(9);
  auto whole = AlternatingSearch::make(towers(), options);
  auto first = AlternatingSearch::make(towers(), options);
  REQUIRE(whole);
  REQUIRE(first);
  for (int i = 0; i < 1000; ++i) {
    REQUIRE(whole->step());
  }
  for (int i = 0; i < 437; ++i) {
    REQUIRE(first->step());
  }
  auto second = AlternatingSearch::resume(towers(), options, first->state());
  REQUIRE(second);
  for (int i = 437; i < 1000; ++i) {
    REQUIRE(second->step());
  }
  CHECK(second->state().current.strategy == whole->state().current.strategy);
  CHECK(second->state().current.cost_ms == whole->state().current.cost_ms);
  CHECK(second->state().cheapest.strategy == whole->state().cheapest.strategy);
  CHECK(second->state().accepted == whole->state().accepted);
  CHECK(second->state().draws == whole->state().draws);
}

TEST_CASE("a_stopped_search_has_a_best_that_was_predicted") {
  std::atomic<bool> stop{true};
  auto search = AlternatingSearch::make(towers(), small_options(2));
  REQUIRE(search);
  REQUIRE(search->run({~0ULL, {&stop}}));
  CHECK(search->state().step == 0);
  CHECK(search->state().best.predicted_ms > 0);
  CHECK(search->state().best.predicted_ms == search->state().first_ms);
}

TEST_CASE("greater_alpha_accepts_less") {
  const auto accepted = [](double alpha) {
    SearchOptions options = small_options(4);
    options.alpha = alpha;
    auto search = AlternatingSearch::make(towers(), options);
    REQUIRE(search);
    REQUIRE(search->run({1000, {}}));
    return search->state().accepted;
  };
  const std::uint64_t always = accepted(0);
  CHECK(always > accepted(0.1));
  CHECK(accepted(0.1) > accepted(10));
}

TEST_CASE("on_a_fixed_network_only_the_strategy_is_searched") {
  SearchProblem problem = towers();
  problem.fixed = *make_ideal_switch(problem.terms);
  auto search = AlternatingSearch::make(problem, small_options(3));
  REQUIRE(search);
  REQUIRE(search->run({}));
  const SearchState& state = search->state();
  CHECK(state.topologies == 0);
  CHECK(state.best.topology.jumps.empty());
  CHECK(state.best.predicted_ms < 0.6 * state.first_ms);
  // Every node computes at least its share of what cannot be shared better, and the parameters of a data-parallel part pass its
  // port.
  CHECK(state.best.predicted_ms > 13 * 3 * 1.0);
}

TEST_CASE("a_problem_that_does_not_fit_together_is_refused") {
  SearchProblem problem = towers();
  problem.terms.nodes = 4;
  CHECK(AlternatingSearch::make(problem, {}).error().code == ErrorCode::invalid_argument);
  problem = towers();
  problem.times.lawful.pop_back();
  CHECK(AlternatingSearch::make(problem, {}).error().code == ErrorCode::invalid_argument);
  SearchOptions options;
  options.moves.propagation = 1.5;
  CHECK(AlternatingSearch::make(towers(), options).error().code == ErrorCode::invalid_argument);
  options = {};
  options.finder.degree = 1;
  CHECK(AlternatingSearch::make(towers(), options).error().code == ErrorCode::invalid_argument);
  auto state = AlternatingSearch::make(towers(), {})->state();
  state.current.strategy.pop_back();
  CHECK(AlternatingSearch::resume(towers(), {}, state).error().code == ErrorCode::invalid_argument);
}

TEST_CASE("candle_found_from_a_random_strategy_nears_the_published_time") {
  const auto file = testing::public_data("measures/candle16.json");
  if (!file) {
    return;
  }
  SearchProblem problem = towers();
  problem.graph = *topoopt_model("candle-16");
  problem.times = *times_of(problem.graph, *load_measures(file->string()));
  problem.terms.nodes = 16;
  SearchOptions options = small_options(1);
  options.alpha = 0.2;
  auto search = AlternatingSearch::make(problem, options);
  REQUIRE(search);
  REQUIRE(search->run({}));
  CHECK(search->state().best.predicted_ms < 0.6 * search->state().first_ms);
  CHECK(search->state().best.predicted_ms < 1.5 * 225.2);
}

}  // namespace
}  // namespace loom
