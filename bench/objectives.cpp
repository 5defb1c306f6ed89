// SPDX-License-Identifier: Apache-2.0
// Objective against the exact oracle on random small cases (default 1,000 of each): wavelengths on rings and circuits on
// switches against integer programmes solved by CBC, greedy matchings against Edmonds'. Prints mean and worst; the same figures
// on every machine.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <random>

#include "controller/architectures/mordia/episodes.hpp"
#include "controller/architectures/topoopt/finder/pair_links.hpp"
#include "controller/schedule/general_matching.hpp"
#include "tests/oracle/ring_oracle.hpp"
#include "tests/oracle/small_rings.hpp"
#include "tests/oracle/switch_oracle.hpp"

namespace {

using namespace loom;

struct Scored {
  double ours = 0;
  double optimum = 0;
};

/// Nothing: the oracle did not finish.
using Case = std::function<std::optional<Scored>(std::uint64_t seed)>;

void tally(const char* name, int cases, const Case& play) {
  int scored = 0;
  int optimal = 0;
  int unproven = 0;
  int dark = 0;  // the optimum is 0: nobody can do better than nothing
  double sum = 0;
  double worst = 1;
  for (int seed = 1; seed <= cases; ++seed) {
    const auto one = play(static_cast<std::uint64_t>(seed));
    if (!one || one->optimum <= 0) {
      ++(one ? dark : unproven);
      continue;
    }
    const double part = one->ours / one->optimum;
    ++scored;
    optimal += part > 1 - 1e-9 ? 1 : 0;
    sum += part;
    worst = std::min(worst, part);
  }
  std::printf("%-58s %5d cases, %4d with an optimum of 0, %d unproven: optimal %5.1f %%, mean gap %.3f %%, worst gap %.1f %%\n",
              name, cases, dark, unproven, 100.0 * optimal / std::max(scored, 1), 100 * (1 - sum / std::max(scored, 1)),
              100 * (1 - worst));
  std::fflush(stdout);
}

double granted(const small_rings::Drawn& drawn, bool repair) {
  WavelengthUse map(drawn.nodes, small_rings::both_ways(drawn.channels));
  WavelengthLimits limits;
  limits.repair = repair;
  return worst_served(drawn.pairs, grant_wavelengths(map, drawn.pairs, limits).served);
}

Case ring_case(WavelengthSense sense, bool repair) {
  return [=](std::uint64_t seed) -> std::optional<Scored> {
    const small_rings::Drawn drawn = small_rings::draw(seed);
    const auto best = ring_optimum(drawn.nodes, small_rings::both_ways(drawn.channels), drawn.pairs, sense);
    return best ? std::optional<Scored>({granted(drawn, repair), best->worst}) : std::nullopt;
  };
}

/// 3 to 5 nodes, every pair or every second or third.
std::vector<SwitchPair> draw_pairs(std::mt19937_64& random, std::uint32_t nodes) {
  const std::uint64_t one_in = 1 + random() % 3;
  std::vector<SwitchPair> pairs;
  for (std::uint32_t i = 0; i < nodes * nodes; ++i) {
    if (i / nodes != i % nodes && random() % one_in == 0) {
      pairs.push_back({i / nodes, i % nodes, static_cast<std::int64_t>(1 + random() % 9)});
    }
  }
  return pairs;
}

/// As the oracle says it: demands relative to the largest.
double worst_of(const std::vector<SwitchPair>& pairs, const std::optional<std::vector<std::uint32_t>>& counts) {
  std::int64_t largest = 0;
  for (const SwitchPair& pair : pairs) {
    largest = std::max(largest, pair.demand);
  }
  double worst = counts && !pairs.empty() ? 1e9 : 0;
  for (std::size_t i = 0; counts && i < pairs.size(); ++i) {
    worst = std::min(worst,
                     static_cast<double>((*counts)[i]) * static_cast<double>(largest) / static_cast<double>(pairs[i].demand));
  }
  return worst;
}

std::optional<Scored> switch_case(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto nodes = static_cast<std::uint32_t>(3 + random() % 3);
  const auto switches = static_cast<std::uint32_t>(1 + random() % 5);
  const auto pairs = draw_pairs(random, nodes);
  const auto best = switch_optimum(nodes, switches, pairs);
  return best ? std::optional<Scored>({worst_of(pairs, share_ports(nodes, switches, pairs)), *best}) : std::nullopt;
}

std::optional<Scored> shared_wavelength_case(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto nodes = static_cast<std::uint32_t>(3 + random() % 2);
  const auto wavelengths = static_cast<std::uint32_t>(4 + random() % 9);
  const auto pairs = draw_pairs(random, nodes);
  const auto best = shared_wavelength_optimum(wavelengths, pairs);
  return best ? std::optional<Scored>({worst_of(pairs, share_wavelengths(wavelengths, pairs)), *best}) : std::nullopt;
}

std::optional<Scored> matching_case(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto nodes = static_cast<std::uint32_t>(4 + 2 * (random() % 5));
  std::vector<PairDemand> demand;
  std::vector<MatchingEdge> edges;
  for (std::uint32_t u = 0; u < nodes; ++u) {
    for (std::uint32_t v = u + 1; v < nodes; ++v) {
      if (random() % 2 == 0) {
        const auto bytes = static_cast<std::int64_t>(1 + random() % 1000);
        demand.push_back({u, v, bytes});
        edges.push_back({u, v, bytes});
      }
    }
  }
  const GeneralMatching best = max_weight_matching(nodes, edges);
  double optimum = 0;
  for (const MatchingEdge& edge : edges) {
    optimum += best.mate[edge.u] == edge.v ? static_cast<double>(edge.weight) : 0;
  }
  const auto greedy = match_rounds(nodes, demand, {1, LinkDiscount::harmonic, MatchingMethod::greedy});
  return greedy ? std::optional<Scored>({greedy->front().weight, optimum}) : std::nullopt;
}

}  // namespace

int main(int count, char** arguments) {
  const int cases = count > 1 ? std::atoi(arguments[1]) : 1000;
  tally("SiP-Ring: tours and repair, against continuous (CBC)", cases, ring_case(WavelengthSense::continuous, true));
  tally("SiP-Ring: tours alone, against continuous (CBC)", cases, ring_case(WavelengthSense::continuous, false));
  tally("SiP-Ring: tours and repair, against as-in-code (CBC)", cases, ring_case(WavelengthSense::as_in_code, true));
  tally("SiP-OCS one-shot: bisection and Koenig, against CBC", cases, switch_case);
  tally("Mordia: the worst-served next, against CBC", cases, shared_wavelength_case);
  tally("TopoOpt: one greedy matching, against Edmonds (LEMON)", cases, matching_case);
  return 0;
}
