// SPDX-License-Identifier: Apache-2.0
// TopoOpt's golden topologies (docs/systems/topoopt.md#golden-topologies, #topology-finder): jumps, hops and matchings, exact.
#include <algorithm>
#include <array>
#include <numeric>

#include "controller/architectures/topoopt/finder/topology_finder.hpp"
#include "controller/arena/reproduction/figures.hpp"
#include "core/text/format_text.hpp"

namespace loom::reproduction {
namespace {

using Numbers = std::vector<std::uint32_t>;

std::string words_of(const Numbers& numbers) {
  std::string text;
  for (const std::uint32_t number : numbers) {
    text += (text.empty() ? "" : " ") + std::to_string(number);
  }
  return text;
}

/// The jumps of all servers' rings, each both ways.
Numbers selected(std::uint32_t nodes, std::uint32_t degree) {
  return select_geometrically(ring_candidates(nodes, nodes), degree / 2, RingDirections::both_ways);
}

CoinTable table_of(std::uint32_t nodes, const Numbers& jumps) {
  Numbers coins;
  for (const std::uint32_t jump : jumps) {
    coins.insert(coins.end(), {jump, nodes - jump});
  }
  return {nodes, coins, 1};
}

/// Lengths of a group's two rings, hop by hop, and whether they go round once each way: which of the shortest ways is a tie.
std::string ring_shape(const DirectTopology& topology, std::uint32_t size) {
  std::string text;
  std::uint32_t sum = 0;
  for (const RingPath& ring : topology.rings_of(size)) {
    text += (text.empty() ? "" : " and ") + std::to_string(ring.jumps.size());
    sum += std::accumulate(ring.jumps.begin(), ring.jumps.end(), 0U) % topology.nodes;
  }
  return text + (sum % topology.nodes == 0 ? " hops, each way round once" : " hops");
}

}  // namespace

/// T1: which rings are built, of all servers and, over their links, of every smaller group of the artifact.
Figures ring_jumps(const std::string&) {
  struct Golden {
    std::uint32_t nodes;
    std::uint32_t degree;
    const char* jumps;
  };
  static constexpr std::array<Golden, 10> kGolden{{{12, 4, "1 5"},
                                                   {16, 4, "1 5"},
                                                   {16, 8, "1 3 5 9"},
                                                   {32, 4, "1 7"},
                                                   {32, 8, "1 3 7 15"},
                                                   {64, 4, "1 9"},
                                                   {128, 4, "1 13"},
                                                   {128, 6, "1 7 27"},
                                                   {128, 8, "1 5 13 39"},
                                                   {256, 4, "1 17"}}};
  constexpr Rows kRows{"T1", "exact"};
  std::vector<Figure> figures;
  for (const Golden& golden : kGolden) {
    figures.push_back(kRows.words(format_text("jumps of {} servers of degree {}", golden.nodes, golden.degree), golden.jumps,
                                  words_of(selected(golden.nodes, golden.degree))));
  }
  Numbers everybody(12);
  std::iota(everybody.begin(), everybody.end(), 0U);
  const auto topology = find_topology({12, {{everybody, 1'000'000}}, {}}, as_in_code_release(4));
  if (!topology) {
    return std::unexpected(topology.error());
  }
  static constexpr std::array<std::pair<std::uint32_t, const char*>, 4> kGroups{
      {{6, "2 and 2"}, {4, "3 and 3"}, {3, "2 and 2"}, {2, "2 and 2"}}};
  for (const auto& [size, hops] : kGroups) {
    figures.push_back(kRows.words(format_text("12 servers of degree 4, rings of groups of {}", size),
                                  format_text("{} hops, each way round once", hops), ring_shape(*topology, size)));
  }
  return figures;
}

/// T2: how many servers are how many hops away, diameters and means.
Figures hop_histograms(const std::string&) {
  constexpr Rows kRows{"T2", "exact"};
  std::vector<Figure> figures;
  static constexpr std::array<std::tuple<std::uint32_t, std::uint32_t, const char*>, 2> kHistograms{
      {{12, 4, "4 5 2"}, {128, 4, "4 8 12 16 20 21 18 14 10 4"}}};
  for (const auto& [nodes, degree, histogram] : kHistograms) {
    figures.push_back(kRows.words(format_text("servers 1, 2, .. hops away, {} of degree {}", nodes, degree), histogram,
                                  words_of(table_of(nodes, selected(nodes, degree)).histogram())));
  }
  struct Golden {
    std::uint32_t nodes;
    std::uint32_t degree;
    double diameter;
    double mean;       ///< 0: not published
    double precision;  ///< of the mean as it is printed
  };
  static constexpr std::array<Golden, 8> kGolden{{{12, 4, 3, 1.818, 5e-4},
                                                  {16, 4, 4, 2.133, 5e-4},
                                                  {16, 8, 2, 1.467, 5e-4},
                                                  {64, 4, 8, 0, 0},
                                                  {128, 4, 10, 5.622, 5e-4},
                                                  {128, 6, 6, 0, 0},
                                                  {128, 8, 5, 2.96, 5e-3},
                                                  {256, 4, 16, 0, 0}}};
  for (const Golden& golden : kGolden) {
    const CoinTable table = table_of(golden.nodes, selected(golden.nodes, golden.degree));
    const std::string of = format_text(" of {} servers of degree {}", golden.nodes, golden.degree);
    figures.push_back(kRows.exactly("diameter" + of, golden.diameter, table.diameter()));
    if (golden.mean > 0) {
      figures.push_back(kRows.between("mean hops" + of, golden.mean, table.mean_hops(), golden.mean - golden.precision,
                                      golden.mean + golden.precision));
    }
  }
  return figures;
}

/// T3: four servers, T(0,1) = T(2,3) = 100, T(0,2) = T(1,3) = 30, four rounds. X joins 0 to 1, Y joins 0 to 2.
Figures discounted_matchings(const std::string&) {
  const std::vector<PairDemand> demand{{0, 1, 100}, {2, 3, 100}, {0, 2, 30}, {1, 3, 30}};
  constexpr Rows kRows{"T3", "exact"};
  std::vector<Figure> figures;
  for (const auto& [discount, name, published] : {std::tuple{LinkDiscount::harmonic, "harmonic (code)", "X X X Y"},
                                                  std::tuple{LinkDiscount::halving, "halving (paper)", "X X Y X"}}) {
    const auto rounds = match_rounds(4, demand, {4, discount, MatchingMethod::exact});
    if (!rounds) {
      return std::unexpected(rounds.error());
    }
    std::string ours;
    for (const PairRound& round : *rounds) {
      ours += std::string(ours.empty() ? "" : " ") + (round.partner[0] == 1 ? "X" : round.partner[0] == 2 ? "Y" : "?");
    }
    figures.push_back(kRows.words(format_text("four rounds of matching, discount {}", name), published, ours));
  }
  return figures;
}

}  // namespace loom::reproduction
