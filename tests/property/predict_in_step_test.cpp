// SPDX-License-Identifier: Apache-2.0
// Collectives that all do the same at once: playing one port for all equals playing every transfer, whoever disturbs them.
#include <catch2/catch.hpp>
#include <random>

#include "tests/property/random_graphs.hpp"
#include "tests/property/same_play.hpp"

namespace loom {
namespace {

using namespace random_graphs;

TEST_CASE("collectives_in_step_equal_the_same_played_rank_by_rank") {
  PlayCounts sum;
  for (unsigned seed = 1; seed <= 2000; ++seed) {
    INFO("seed " << seed);
    std::mt19937 chance{seed};
    const std::uint32_t nodes = 5 + below(chance, 6);
    const NetworkTerms terms{.nodes = nodes, .rate = gigabits(8), .link_latency = Duration{below(chance, 3) * 500}};
    const Network network =
        below(chance, 2) == 0 ? *make_ideal_switch(terms) : *make_jump_rings(terms, {.jumps = {1, 3}, .ways = 1});
    const TaskGraph graph = random_steps(chance, nodes, seed % 2 == 0);
    auto quick = Predictor::make(graph, network, {});
    auto slow = Predictor::make(graph, network, {.plays_everything = true});
    REQUIRE(quick);
    REQUIRE(slow);
    require_same_play(*quick, *slow);
    sum.in_step += quick->counts().in_step;
    sum.replayed += quick->counts().replayed;
  }
  CHECK(sum.in_step > 1'500);
  CHECK(sum.replayed > 500);
}

}  // namespace
}  // namespace loom
