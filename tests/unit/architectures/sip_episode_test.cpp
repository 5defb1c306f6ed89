// SPDX-License-Identifier: Apache-2.0
// SiP-ML's episode loop, played: closed forms of all-stop and of not-all-stop, starvation, multi-shot switches, and the sweep
// of reconfiguration times (docs/reproduction.md, T16).
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "controller/architectures/sip_ml/episode.hpp"
#include "controller/architectures/sip_ml/strategy.hpp"
#include "controller/predict/engine/predictor.hpp"

namespace loom {
namespace {

using namespace std::chrono_literals;

constexpr BitRate kWavelength{25'000'000'000};  // 3.125 bytes a nanosecond

struct Sent {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::int64_t bytes = 0;
};

TaskGraph transfers(std::uint32_t nodes, const std::vector<Sent>& sent) {
  TaskGraphBuilder builder("transfers", nodes);
  const std::uint32_t choice = builder.choice({});
  for (const Sent& each : sent) {
    const std::uint32_t ends[]{each.from, each.to};
    builder.communicate("transfer", builder.family(ends, 2), CollectiveKind::point_to_point, {each.bytes}, choice, 0);
  }
  auto graph = std::move(builder).build();
  REQUIRE(graph);
  return *std::move(graph);
}

SipRingEpisodes ring_of(std::uint32_t nodes, std::uint32_t channels) {
  SipRingEpisodes episodes;
  episodes.terms.nodes = nodes;
  episodes.terms.rate = kWavelength;
  episodes.rings = 1;
  episodes.wavelengths = 2 * episodes.rings * channels;
  return episodes;
}

Result<double> play(const TaskGraph& graph, const TopologyPolicy& policy, const SipLoop& loop) {
  auto changing = sip_episodes(graph, policy, loop);
  if (!changing) {
    return std::unexpected(changing.error());
  }
  const Network first = changing->network();
  auto predictor = Predictor::make(graph, first, {});
  if (!predictor) {
    return std::unexpected(predictor.error());
  }
  return predictor->run(&*changing);
}

TEST_CASE("all_stop_charges_a_reconfiguration_for_every_full_interval") {
  // Alone on a ring of 2 x 2 wavelengths: 12.5 bytes a nanosecond both ways round; 3.5 intervals of sending, three stops.
  const TaskGraph graph = transfers(4, {{0, 1, 4'375'000}});
  const TopologyPolicy policy = sip_ring_policy(ring_of(4, 2));
  CHECK(*play(graph, policy, {100us, 20us, true}) == Approx(410'000));
  CHECK(*play(graph, policy, {100us, 25us, true}) == Approx(425'000));
  CHECK(*play(graph, policy, {100us, 0us, true}) == Approx(350'000));
  CHECK(*play(graph, policy, {1ms, 20us, true}) == Approx(350'000));
}

TEST_CASE("light_that_does_not_change_goes_on_where_not_everything_stops") {
  const TaskGraph graph = transfers(4, {{0, 1, 4'375'000}});
  SipRingEpisodes episodes = ring_of(4, 2);
  episodes.keeps_light = true;
  CHECK(*play(graph, sip_ring_policy(episodes), {100us, 20us, false}) == Approx(350'000));
}

TEST_CASE("pairs_that_find_no_wavelength_wait_for_the_next_episode") {
  // Everybody to everybody over one wavelength each way.
  std::vector<Sent> sent;
  for (std::uint32_t i = 0; i < 4; ++i) {
    for (std::uint32_t j = 0; j < 4; ++j) {
      if (i != j) {
        sent.push_back({i, j, 300'000});  // nearly an interval of one wavelength
      }
    }
  }
  const TaskGraph graph = transfers(4, sent);
  const auto time = play(graph, sip_ring_policy(ring_of(4, 1)), {100us, 20us, true});
  INFO((time ? "" : time.error().message));
  REQUIRE(time);
  // 16 arc segments of demand (8 of 1, 4 of 2) over 8 segments: two intervals at least, and a stop between.
  CHECK(*time >= 2 * 96'000 + 20'000);
  CHECK(*time <= 12 * 120'000);
}

TEST_CASE("a_transfer_that_ends_with_its_interval_ends") {
  SipOcsEpisodes episodes;
  episodes.terms.nodes = 3;
  episodes.terms.rate = kWavelength;
  episodes.switches = 1;
  const TaskGraph graph = transfers(3, {{0, 1, 312'500}, {0, 2, 312'500}});
  for (const TopologyPolicy& policy : {sip_ocs_policy(episodes), sip_ring_policy(ring_of(3, 1))}) {
    const auto time = play(graph, policy, {100us, 20us, true});
    REQUIRE(time);
    CHECK(*time <= 4 * 120'000);
  }
}

TEST_CASE("a_ring_on_which_nobody_can_be_lit_ends_the_play_with_a_reason") {
  SipRingEpisodes episodes = ring_of(8, 2);
  episodes.reach = 2;
  const auto refused = play(transfers(8, {{0, 4, 1'000}}), sip_ring_policy(episodes), {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::infeasible);
  CHECK(refused.error().message.find("node 0 to 4") != std::string::npos);
}

TEST_CASE("multi_shot_switches_serve_more_peers_than_there_are_switches_in_turn") {
  // Node 0 to five others over two switches, each transfer 96 us of one port.
  std::vector<Sent> sent;
  for (std::uint32_t to = 1; to < 6; ++to) {
    sent.push_back({0, to, 300'000});
  }
  SipOcsEpisodes episodes;
  episodes.terms.nodes = 6;
  episodes.terms.rate = kWavelength;
  episodes.switches = 2;
  // As in the code both switches serve the same peer: 48 us each, an interval after the other, four stops.
  CHECK(*play(transfers(6, sent), sip_ocs_policy(episodes), {100us, 20us, true}) == Approx(4 * 120'000 + 48'000));
  episodes.carried = 312'500;  // two peers at a time
  const auto spread = play(transfers(6, sent), sip_ocs_policy(episodes), {100us, 20us, true});
  INFO((spread ? "" : spread.error().message));
  REQUIRE(spread);
  CHECK(*spread == Approx(2 * 120'000 + 96'000));
}

TEST_CASE("policies_refuse_nodes_that_are_not_there") {
  const std::vector<Transfers::Left> residual{{0, 9, 0, 0, 100}};
  CHECK(sip_ring_policy(ring_of(4, 2))(0, residual).error().code == ErrorCode::invalid_argument);
  SipOcsEpisodes episodes;
  episodes.terms.nodes = 4;
  episodes.terms.rate = kWavelength;
  CHECK(sip_ocs_policy(episodes)(0, residual).error().code == ErrorCode::invalid_argument);
}

TEST_CASE("episodes_played_twice_take_the_same_time") {
  const TaskGraph graph = transfers(5, {{0, 2, 900'000}, {1, 4, 2'000'000}, {3, 2, 700'000}, {4, 0, 1'500'000}});
  const TopologyPolicy policy = sip_ring_policy(ring_of(5, 3));
  CHECK(*play(graph, policy, {}) == *play(graph, policy, {}));
}

/// The Transformer's group of 8 (docs/systems/sipml.md#models-and-figures, synthetic profile) on its ring of 40 wavelengths, 1
/// Tb/s a GPU.
TaskGraph transformer_group() {
  const auto model = model_of("transformer", {{"seq", "38"}});
  REQUIRE(model);
  const auto profile = scaled_to(synthetic_profile(*model), 8, 11'264us, "docs/systems/sipml.md#models-and-figures");
  const auto operations = operations_at(*profile, 8);
  const auto shards = partition_operations(*operations, 8, 1us);
  SipPlacementOptions options;
  options.gpus = 8;
  const auto placed = place_shards(*shards, *operations, options);
  REQUIRE(placed);
  auto graph = graph_of_group(*shards, *placed, *operations);
  REQUIRE(graph);
  return *std::move(graph);
}

TEST_CASE("reconfiguring_in_20_us_costs_little_against_1_us_at_the_interval_that_suits_it") {  // T16
  const TaskGraph graph = transformer_group();
  SipRingEpisodes episodes;
  episodes.terms.nodes = 8;
  episodes.terms.rate = kWavelength;
  episodes.wavelengths = 8 * episodes.rings;
  const TopologyPolicy policy = sip_ring_policy(episodes);
  const double gradients = static_cast<double>(gradient_time({700'000'000}, {1'000'000'000'000}, {}).count());
  const auto best = [&](Duration reconfiguration) {
    double least = HUGE_VAL;
    for (const Duration interval : {Duration{50us}, Duration{100us}, Duration{200us}, Duration{400us}, Duration{1ms}}) {
      const auto time = play(graph, policy, {interval, reconfiguration, true});
      REQUIRE(time);
      least = std::min(least, *time + gradients);
    }
    return least;
  };
  const auto fixed = [&](Duration reconfiguration) { return *play(graph, policy, {100us, reconfiguration, true}) + gradients; };
  CHECK(fixed(20us) < 1.1 * fixed(1us));
  CHECK(fixed(10ms) > 1.1 * fixed(1us));  // no longer little
  const double quick = best(1us);
  CHECK(best(20us) < 1.1 * quick);
  CHECK(best(10ms) > quick);
}

}  // namespace
}  // namespace loom
