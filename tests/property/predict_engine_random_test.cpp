// SPDX-License-Identifier: Apache-2.0
// Random task graphs on random networks: what the engine computes equals what it plays, bytes are conserved, a second run
// repeats the first, and nothing breaks an order that the graph gives.
#include <catch2/catch.hpp>
#include <random>

#include "tests/property/random_graphs.hpp"
#include "tests/property/same_play.hpp"

namespace loom {
namespace {

using namespace random_graphs;

TEST_CASE("what_is_computed_equals_what_is_played") {
  PlayCounts sum;
  for (unsigned seed = 1; seed <= 3000; ++seed) {
    INFO("seed " << seed);
    std::mt19937 chance{seed};
    const std::uint32_t nodes = 5 + below(chance, 6);
    const Network network = random_network(chance, nodes);
    const TaskGraph graph = random_graph(chance, nodes);
    for (const RoundOrder rounds : {RoundOrder::by_rank, RoundOrder::barrier}) {
      auto quick = Predictor::make(graph, network, {.rounds = rounds});
      auto slow = Predictor::make(graph, network, {.rounds = rounds, .plays_everything = true});
      REQUIRE(quick);
      REQUIRE(slow);
      const double time = require_same_play(*quick, *slow);
      REQUIRE(*quick->run() == time);
      sum.closed_forms += quick->counts().closed_forms;
      sum.recurrences += quick->counts().recurrences;
      sum.played += quick->counts().played;
      sum.replayed += quick->counts().replayed;
    }
  }
  CHECK(sum.closed_forms > 1'000);
  CHECK(sum.recurrences > 100);
  CHECK(sum.played > 1'000);
  CHECK(sum.replayed > 300);
}

TEST_CASE("critical_paths_lead_from_the_end_to_the_beginning_without_a_gap") {
  for (unsigned seed = 1; seed <= 400; ++seed) {
    INFO("seed " << seed);
    std::mt19937 chance{seed};
    const std::uint32_t nodes = 5 + below(chance, 6);
    const Network network = random_network(chance, nodes);
    const TaskGraph graph = random_graph(chance, nodes);
    auto predictor = Predictor::make(graph, network, {});
    REQUIRE(predictor);
    const double end = *predictor->run();
    const auto path = predictor->critical_path();
    REQUIRE(!path.empty());
    CHECK(predictor->parts()[path.front()].finish == Approx(end).margin(1e-6));
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
      CHECK(predictor->parts()[path[i + 1]].finish <= predictor->parts()[path[i]].finish + 1e-6);
    }
    for (const NodeTimes& node : predictor->nodes()) {
      CHECK(node.compute + node.exposed + node.idle == Approx(end).margin(1e-6));
    }
  }
}

}  // namespace
}  // namespace loom
