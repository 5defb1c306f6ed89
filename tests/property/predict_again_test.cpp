// SPDX-License-Identifier: Apache-2.0
// Predicting again after a change: what a kept Predictor says equals, bit by bit, what a fresh one says of the changed graph.
#include <bit>
#include <catch2/catch.hpp>
#include <random>

#include "controller/predict/engine/predictor.hpp"
#include "tests/property/random_graphs.hpp"

namespace loom {
namespace {

using namespace random_graphs;

bool is_same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

void require_same(const Predictor& kept, const Predictor& fresh) {
  REQUIRE(kept.parts().size() == fresh.parts().size());
  bool is_equal = true;
  for (std::size_t part = 0; part < kept.parts().size(); ++part) {
    is_equal = is_equal && is_same(kept.parts()[part].start, fresh.parts()[part].start) &&
               is_same(kept.parts()[part].finish, fresh.parts()[part].finish);
  }
  CHECK(is_equal);
  REQUIRE(kept.nodes().size() == fresh.nodes().size());
  for (std::size_t node = 0; node < kept.nodes().size(); ++node) {
    const NodeTimes& a = kept.nodes()[node];
    const NodeTimes& b = fresh.nodes()[node];
    is_equal = is_equal && is_same(a.compute, b.compute) && is_same(a.overlap, b.overlap) && is_same(a.exposed, b.exposed) &&
               is_same(a.idle, b.idle) && is_same(a.dark, b.dark);
  }
  CHECK(is_equal);
  const PlayCounts& a = kept.counts();
  const PlayCounts& b = fresh.counts();
  CHECK(a.closed_forms == b.closed_forms);
  CHECK(a.recurrences == b.recurrences);
  CHECK(a.in_step == b.in_step);
  CHECK(a.played == b.played);
  CHECK(a.replayed == b.replayed);
  CHECK(kept.critical_path() == fresh.critical_path());
  const auto carried = kept.carried();
  const auto carried_afresh = fresh.carried();
  REQUIRE(carried.size() == carried_afresh.size());
  for (std::size_t link = 0; link < carried.size(); ++link) {
    is_equal = is_equal && is_same(carried[link], carried_afresh[link]);
  }
  REQUIRE(is_equal);
}

/// Changes one random task in both; back to what it was before, one time in four.
void change_one(std::mt19937& chance, TaskGraph& graph, const TaskGraph& original, Predictor& kept) {
  const std::uint32_t task = below(chance, graph.tasks.size());
  Task& of = graph.tasks[task];
  const bool goes_back = below(chance, 4) == 0;
  if (of.kind == TaskKind::compute) {
    of.duration = goes_back ? original.tasks[task].duration : Duration{below(chance, 50'000)};
    REQUIRE(kept.set_duration(task, of.duration));
  } else {
    of.bytes = goes_back ? original.tasks[task].bytes : Bytes{1 + below(chance, 200'000)};
    REQUIRE(kept.set_bytes(task, of.bytes));
  }
}

TEST_CASE("a_prediction_that_goes_on_from_a_checkpoint_equals_one_from_the_start_bit_by_bit") {
  std::uint32_t resumed = 0;
  std::uint32_t thinned = 0;
  for (unsigned seed = 1; seed <= 600; ++seed) {
    INFO("seed " << seed);
    std::mt19937 chance{seed};
    const std::uint32_t nodes = 5 + below(chance, 6);
    const Network network = random_network(chance, nodes);
    const TaskGraph original = below(chance, 3) > 0 ? random_graph(chance, nodes) : random_steps(chance, nodes, true);
    const RoundOrder rounds = below(chance, 3) == 0 ? RoundOrder::barrier : RoundOrder::by_rank;
    const PlayOptions options{.rounds = rounds, .plays_everything = below(chance, 4) == 0, .checkpoints = 1 + below(chance, 6)};
    auto kept = Predictor::make(original, network, options);
    REQUIRE(kept);
    REQUIRE(kept->run());
    TaskGraph graph = original;
    for (int turn = 0; turn < 8; ++turn) {
      for (std::uint32_t changes = below(chance, 3); changes > 0; --changes) {
        change_one(chance, graph, original, *kept);
      }
      PlayOptions plain = options;
      plain.checkpoints = 0;
      auto fresh = Predictor::make(graph, network, plain);
      REQUIRE(fresh);
      const auto again = kept->run();
      const auto afresh = fresh->run();
      REQUIRE(again);
      REQUIRE(afresh);
      REQUIRE(is_same(*again, *afresh));
      require_same(*kept, *fresh);
      resumed += kept->resumed_at() > 0 ? 1 : 0;
      thinned += kept->resumed_at() > 0 && options.checkpoints == 1 ? 1 : 0;
    }
  }
  CHECK(resumed > 1'000);
  CHECK(thinned > 50);
}

}  // namespace
}  // namespace loom
