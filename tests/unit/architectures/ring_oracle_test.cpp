// SPDX-License-Identifier: Apache-2.0
// Wavelengths on small rings against the proven optimum, in the sense of the authors' integer programme and in that of devices
// (docs/systems/sipml.md#ring-programme and docs/reproduction.md T11).
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/oracle/ring_oracle.hpp"
#include "tests/oracle/small_rings.hpp"

namespace {

using namespace loom;
using namespace loom::small_rings;

double optimum(std::uint32_t nodes, std::uint32_t channels, const std::vector<RingPair>& pairs, WavelengthSense sense) {
  const auto found = ring_optimum(nodes, both_ways(channels), pairs, sense);
  REQUIRE(found);
  CHECK(found->worst == worst_served(pairs, found->served));
  return found->worst;
}

double ours(std::uint32_t nodes, std::uint32_t channels, const std::vector<RingPair>& pairs) {
  WavelengthUse map(nodes, both_ways(channels));
  return worst_served(pairs, grant_wavelengths(map, pairs, {}).served);
}

TEST_CASE("golden_rings_have_their_optimum_in_both_senses_and_ours_reaches_it") {
  struct Golden {
    std::uint32_t nodes;
    std::uint32_t channels;
    std::vector<RingPair> pairs;
    double worst;
  };
  for (const Golden& golden : {Golden{4, 4, neighbours(4), 5}, Golden{4, 4, everybody(4), 2}, Golden{8, 32, neighbours(8), 36},
                               Golden{8, 8, everybody(8), 1}, Golden{8, 16, everybody(8), 2}, Golden{8, 32, everybody(8), 4}}) {
    CAPTURE(golden.nodes, golden.channels, golden.pairs.size());
    CHECK(optimum(golden.nodes, golden.channels, golden.pairs, WavelengthSense::as_in_code) == golden.worst);
    CHECK(optimum(golden.nodes, golden.channels, golden.pairs, WavelengthSense::continuous) == golden.worst);
    CHECK(ours(golden.nodes, golden.channels, golden.pairs) == golden.worst);
  }
}

TEST_CASE("a_feasible_load_may_have_no_colouring") {  // docs/systems/sipml.md#ring-programme
  const std::vector<RingPair> pairs{{6, 0, 1}, {4, 0, 1}, {6, 3, 1}, {3, 5, 1}, {4, 6, 1}, {6, 2, 1}, {1, 5, 1}};
  CHECK(optimum(7, 2, pairs, WavelengthSense::as_in_code) == 1);
  CHECK(optimum(7, 2, pairs, WavelengthSense::continuous) == 0);
  WavelengthUse map(7, both_ways(2));
  const WavelengthGrants got = grant_wavelengths(map, pairs, {});
  CHECK(std::count(got.served.begin(), got.served.end(), 0U) == 1);  // all but one: nobody can do better
}

TEST_CASE("rings_of_two_fibres_a_direction_are_rows_of_their_own_only_in_the_authors_sense") {
  const std::vector<RingPair> pairs{
      {0, 2, 1}, {1, 0, 1}, {2, 1, 1}};  // each two thirds of the way round: three colours, load 2
  const std::vector<RingBus> one{{RingDirection::clockwise, 2}};
  const std::vector<RingBus> two{{RingDirection::clockwise, 1}, {RingDirection::clockwise, 1}};
  CHECK(ring_optimum(3, one, pairs, WavelengthSense::as_in_code)->worst == 1);
  CHECK(ring_optimum(3, two, pairs, WavelengthSense::as_in_code)->worst == 0);
  CHECK(ring_optimum(3, one, pairs, WavelengthSense::continuous)->worst == 0);
}

TEST_CASE("repaired_tours_stay_within_one_wavelength_of_the_optimum") {
  double sum = 0;
  std::uint32_t cases = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    CAPTURE(seed);
    const Drawn drawn = draw(seed);
    const auto best = ring_optimum(drawn.nodes, both_ways(drawn.channels), drawn.pairs, WavelengthSense::continuous);
    const auto loose = ring_optimum(drawn.nodes, both_ways(drawn.channels), drawn.pairs, WavelengthSense::as_in_code);
    REQUIRE(best);
    REQUIRE(loose);
    CHECK(loose->worst >= best->worst);
    WavelengthUse map(drawn.nodes, both_ways(drawn.channels));
    const WavelengthGrants got = grant_wavelengths(map, drawn.pairs, {});
    const double worst = worst_served(drawn.pairs, got.served);
    CHECK(worst <= best->worst + 1e-9);
    if (best->worst == 0) {
      continue;
    }
    CHECK(worst > 0);
    std::vector<std::uint32_t> one_more = got.served;
    for (std::uint32_t& served : one_more) {
      ++served;
    }
    CHECK(worst_served(drawn.pairs, one_more) >= best->worst - 1e-9);
    sum += worst / best->worst;
    ++cases;
  }
  REQUIRE(cases > 50);
  CHECK(sum / cases >= 0.95);
}

TEST_CASE("light_from_before_goes_on_and_new_pairs_are_fitted_in") {
  constexpr std::uint32_t kNodes = 64;
  std::vector<RingPair> pairs;
  for (std::uint32_t i = 0; i < kNodes; ++i) {
    for (const std::uint32_t hop : {1U, 2U, 4U}) {
      pairs.push_back({i, (i + hop) % kNodes, 1});
    }
  }
  WavelengthUse map(kNodes, both_ways(8));
  const WavelengthGrants before = grant_wavelengths(map, pairs, {});
  REQUIRE(worst_served(pairs, before.served) >= 1);
  pairs.push_back({5, 0, 1});
  pairs.push_back({40, 45, 1});
  WavelengthUse anew(kNodes, both_ways(8));
  const WavelengthGrants after = grant_wavelengths(anew, pairs, {}, before.grants);
  CHECK(worst_served(pairs, after.served) >= 1);
  const auto kept = std::count_if(before.grants.begin(), before.grants.end(), [&](const WavelengthGrant& grant) {
    return std::binary_search(after.grants.begin(), after.grants.end(), grant);
  });
  CHECK(kept >= static_cast<std::ptrdiff_t>(before.grants.size() * 9 / 10));
}

TEST_CASE("light_that_is_not_there_any_more_is_not_taken_over") {
  const std::vector<RingPair> pairs = neighbours(4);
  const std::vector<WavelengthGrant> lit{{0, 0, 0}, {0, 0, 0}, {9, 0, 0}, {1, 7, 0}, {1, 0, 99}, {2, 0, 1}};
  WavelengthUse map(4, both_ways(2));
  map.set(0, 1, {2, 1}, true);  // somebody else's by now, where {2, 0, 1} was
  const WavelengthGrants got = grant_wavelengths(map, pairs, {}, lit);
  CHECK(std::binary_search(got.grants.begin(), got.grants.end(), WavelengthGrant{0, 0, 0}));
  CHECK_FALSE(std::binary_search(got.grants.begin(), got.grants.end(), WavelengthGrant{2, 0, 1}));
  CHECK(std::adjacent_find(got.grants.begin(), got.grants.end()) == got.grants.end());
}

TEST_CASE("granting_again_gives_the_same_wavelengths_and_a_step_limit_is_kept") {
  const Drawn drawn = draw(3);
  const auto grant = [&](const WavelengthLimits& limits) {
    WavelengthUse map(drawn.nodes, both_ways(drawn.channels));
    return grant_wavelengths(map, drawn.pairs, limits);
  };
  const WavelengthGrants once = grant({});
  CHECK(once.grants == grant({}).grants);
  WavelengthLimits few;
  few.steps = once.steps_used / 4;
  const WavelengthGrants stopped = grant(few);
  CHECK(stopped.steps_used <= few.steps + 1000);
}

}  // namespace
