// Collectives that all do the same at once: playing one port for all equals playing every transfer, whoever disturbs them.
#include <catch2/catch.hpp>
#include <random>

#include "controller/predict/predictor.hpp"
#include "random_graphs.hpp"

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
    const auto quick_time = quick->run();
    const auto slow_time = slow->run();
    REQUIRE(quick_time);
    REQUIRE(slow_time);
    REQUIRE(*quick_time == Approx(*slow_time).epsilon(1e-9));
    for (std::size_t part = 0; part < quick->parts().size(); ++part) {
      CAPTURE(part, network.name);
      REQUIRE(quick->parts()[part].start == Approx(slow->parts()[part].start).epsilon(1e-9).margin(1e-6));
      REQUIRE(quick->parts()[part].finish == Approx(slow->parts()[part].finish).epsilon(1e-9).margin(1e-6));
    }
    const auto carried = quick->carried();
    const auto carried_slowly = slow->carried();
    for (std::size_t link = 0; link < carried.size(); ++link) {
      REQUIRE(carried[link] == Approx(carried_slowly[link]).epsilon(1e-7).margin(1e-3));
    }
    sum.in_step += quick->counts().in_step;
    sum.replayed += quick->counts().replayed;
  }
  CHECK(sum.in_step > 1'500);
  CHECK(sum.replayed > 500);
}

}  // namespace
}  // namespace loom
