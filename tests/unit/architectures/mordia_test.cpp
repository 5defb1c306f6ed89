// SPDX-License-Identifier: Apache-2.0
// Mordia's shared wavelengths and the switches of SiP-OCS against integer programmes solved by CBC, and Mordia's episodes.
#include "controller/architectures/mordia/episodes.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "tests/oracle/switch_oracle.hpp"

namespace {

using namespace loom;

std::vector<SwitchPair> draw(std::mt19937_64& random, std::uint32_t nodes) {
  std::vector<SwitchPair> pairs;
  for (std::uint32_t i = 0; i < nodes * nodes; ++i) {
    if (i / nodes != i % nodes && random() % 2 == 0) {
      pairs.push_back({i / nodes, i % nodes, static_cast<std::int64_t>(1 + random() % 9)});
    }
  }
  return pairs;
}

double worst_of(const std::vector<SwitchPair>& pairs, const std::vector<std::uint32_t>& counts) {
  std::int64_t largest = 0;
  double worst = pairs.empty() ? 0 : 1e9;
  for (const SwitchPair& pair : pairs) {
    largest = std::max(largest, pair.demand);
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    worst = std::min(worst, counts[i] * static_cast<double>(largest) / static_cast<double>(pairs[i].demand));
  }
  return worst;
}

TEST_CASE("shared_wavelengths_reach_the_optimum_of_the_integer_programme") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const auto wavelengths = static_cast<std::uint32_t>(4 + random() % 7);
    const auto pairs = draw(random, 3 + static_cast<std::uint32_t>(random() % 2));
    const auto best = shared_wavelength_optimum(wavelengths, pairs);
    REQUIRE(best);
    const auto counts = share_wavelengths(wavelengths, pairs);
    CHECK(counts.has_value() == (*best > 0 || pairs.empty()));
    if (counts) {
      CHECK(worst_of(pairs, *counts) == Approx(*best));
      CHECK((pairs.empty() || std::accumulate(counts->begin(), counts->end(), 0U) == wavelengths));
    }
  }
}

TEST_CASE("one_shot_circuits_reach_the_optimum_of_one_permutation_a_switch") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const auto nodes = static_cast<std::uint32_t>(3 + random() % 3);
    const auto switches = static_cast<std::uint32_t>(1 + random() % 4);
    const auto pairs = draw(random, nodes);
    const auto best = switch_optimum(nodes, switches, pairs);
    REQUIRE(best);
    const auto counts = share_ports(nodes, switches, pairs);
    CHECK(counts.has_value() == (*best > 0 || pairs.empty()));
    if (counts) {
      CHECK(worst_of(pairs, *counts) == Approx(*best));
    }
  }
}

TEST_CASE("more_pairs_than_wavelengths_leave_the_smallest_waiting") {
  CHECK_FALSE(share_wavelengths(2, {{0, 1, 5}, {1, 2, 9}, {2, 0, 7}}));
  NetworkTerms terms;
  terms.nodes = 3;
  terms.rate = gigabits(25);
  TopologyPolicy policy = mordia_policy(terms, 2);
  const std::vector<Transfers::Left> queued{{0, 1, 0, 0, 5e6}, {1, 2, 0, 0, 9e6}, {2, 0, 0, 0, 7e6}};
  const auto lit = policy(0, queued);
  REQUIRE(lit);
  REQUIRE(lit->links.size() == 2);
  CHECK(lit->links[0].from == 1);
  CHECK(lit->links[1].from == 2);
  const auto kept = policy(1, {});
  REQUIRE(kept);
  CHECK(kept->links.size() == 2);
}

TEST_CASE("a_pair_alone_gets_every_wavelength") {
  NetworkTerms terms;
  terms.nodes = 4;
  terms.rate = gigabits(25);
  const std::vector<Transfers::Left> queued{{0, 3, 0, 0, 1e6}};
  const auto lit = mordia_policy(terms, 4)(0, queued);
  REQUIRE(lit);
  REQUIRE(lit->links.size() == 1);
  CHECK(lit->links[0].bytes_per_ns == Approx(12.5));
}

}  // namespace
