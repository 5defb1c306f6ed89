// SPDX-License-Identifier: Apache-2.0
// TopoOpt's topology finder on 1024 nodes of degree 8, each figure beside a floor of the same run: for whole topologies, one
// pass over the demand and every link's arrival in every node's breadth-first search; for the matching, LEMON on all edges at
// once.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "bench/median_time.hpp"
#include "controller/architectures/topoopt/finder/topology_finder.hpp"
#include "controller/schedule/general_matching.hpp"

namespace {

using namespace loom;

/// An all-reduce of everybody and `peers` random peers of each node; all others where `peers` is 0.
FinderDemand demand_of(std::uint32_t nodes, std::uint32_t peers, std::uint32_t seed) {
  std::mt19937 random(seed);
  FinderDemand demand{nodes, {{}}, {}};
  for (std::uint32_t i = 0; i < nodes; ++i) {
    demand.reduces.front().members.push_back(i);
    for (std::uint32_t k = 1; k <= (peers == 0 ? nodes - 1 : peers); ++k) {
      const auto hop = peers == 0 ? k : 1 + static_cast<std::uint32_t>(random() % (nodes - 1));
      demand.pairs.push_back({i, (i + hop) % nodes, 1 + static_cast<std::int64_t>(random() % 1'000'000)});
    }
  }
  double bytes = 0;
  for (const PairDemand& pair : demand.pairs) {
    bytes += static_cast<double>(pair.bytes);
  }
  demand.reduces.front().bytes = static_cast<std::int64_t>(bytes / (2.0 * nodes - 1));  // half of the degree is for rings
  return demand;
}

std::int64_t pass_over(const FinderDemand& demand) {
  std::int64_t sum = 0;
  for (const PairDemand& pair : demand.pairs) {
    sum += pair.bytes ^ pair.source ^ pair.destination;
  }
  return sum;
}

/// Breadth-first search from every node with nothing kept but who was seen.
std::uint64_t search_from_all(std::uint32_t nodes, const std::vector<DirectLink>& links) {
  const Neighbours neighbours(nodes, links);
  std::uint64_t sum = 0;
  std::vector<std::uint32_t> seen(nodes);
  std::vector<std::uint32_t> reached(nodes);
  for (std::uint32_t source = 0; source < nodes; ++source) {
    reached[0] = source;
    seen[source] = source + 1;
    std::uint32_t end = 1;
    for (std::uint32_t next = 0; next < end; ++next) {
      for (const std::uint32_t to : neighbours.of(reached[next])) {
        if (seen[to] != source + 1) {
          seen[to] = source + 1;
          reached[end++] = to;
        }
      }
    }
    sum += reached[end - 1];
  }
  return sum;
}

void whole(const char* name, const FinderDemand& demand, const FinderOptions& options, int rounds) {
  std::vector<DirectLink> links;
  DegreeShares shares;
  const double ours = milliseconds_of(rounds, [&] {
    const auto topology = find_topology(demand, options);
    if (!topology) {
      std::fprintf(stderr, "%s\n", topology.error().message.c_str());
      std::exit(1);
    }
    links = topology->links();
    shares = topology->shares;
  });
  volatile std::int64_t sink = 0;
  const double pass = milliseconds_of(rounds, [&] { sink = pass_over(demand); });
  const double search =
      milliseconds_of(rounds, [&] { sink = static_cast<std::int64_t>(search_from_all(demand.nodes, links)); });
  std::printf("%-46s %9.3f ms   floor: demand %7.3f ms, all searches %7.3f ms   %u of %u links are rings\n", name, ours, pass,
              search, shares.rings, options.degree);
}

void matching(const char* name, const FinderDemand& demand, int rounds) {
  std::vector<double> weight(std::size_t{demand.nodes} * demand.nodes);
  for (const PairDemand& pair : demand.pairs) {
    const auto [u, v] = std::minmax(pair.source, pair.destination);
    weight[std::size_t{u} * demand.nodes + v] += static_cast<double>(pair.bytes);
  }
  std::vector<MatchingEdge> edges;
  for (std::uint32_t u = 0; u < demand.nodes; ++u) {
    for (std::uint32_t v = u + 1; v < demand.nodes; ++v) {
      if (const double bytes = weight[std::size_t{u} * demand.nodes + v]; bytes > 0) {
        edges.push_back({u, v, static_cast<std::int64_t>(bytes)});
      }
    }
  }
  double best = 0;
  const double lemon = milliseconds_of(rounds, [&] {
    const GeneralMatching found = max_weight_matching(demand.nodes, edges);
    best = 0;
    for (const MatchingEdge& edge : edges) {
      best += found.mate[edge.u] == edge.v ? static_cast<double>(edge.weight) : 0;
    }
  });
  for (const MatchingMethod method : {MatchingMethod::exact, MatchingMethod::greedy}) {
    double reached = 0;
    const double ours = milliseconds_of(rounds, [&] {
      const auto found = match_rounds(demand.nodes, demand.pairs, {1, LinkDiscount::harmonic, method});
      reached = found ? found->front().weight : 0;
    });
    std::printf("one matching, %-13s %-18s %9.3f ms   LEMON on all %zu edges: %8.3f ms   weight %.4f of its\n", name,
                method == MatchingMethod::exact ? "exact" : "greedy", ours, edges.size(), lemon, reached / best);
  }
}

}  // namespace

int main() {
  constexpr std::uint32_t kNodes = 1024;
  const FinderDemand sparse = demand_of(kNodes, 8, 1);
  const FinderDemand dense = demand_of(kNodes, 0, 1);
  FinderOptions greedy = as_in_paper(8);
  greedy.matching = MatchingMethod::greedy;
  whole("as in the release (rings only), dense demand", dense, as_in_code_release(8), 15);
  whole("as in the paper, 8 peers a node, exact", sparse, as_in_paper(8), 15);
  whole("as in the paper, 8 peers a node, greedy", sparse, greedy, 15);
  whole("as in the code of 2021, 8 peers a node, exact", sparse, as_in_code_2021(8), 15);
  whole("as in the paper, dense demand, exact", dense, as_in_paper(8), 5);
  whole("as in the paper, dense demand, greedy", dense, greedy, 5);
  matching("8 peers", sparse, 15);
  matching("dense", dense, 5);
  const std::vector<std::uint32_t> jumps = select_geometrically(ring_candidates(kNodes, kNodes), 4, RingDirections::both_ways);
  std::vector<std::uint32_t> coins;
  for (const std::uint32_t jump : jumps) {
    coins.push_back(jump);
    coins.push_back(kNodes - jump);
  }
  std::uint32_t diameter = 0;
  const double table = milliseconds_of(101, [&] { diameter = CoinTable(kNodes, coins, 1).diameter(); });
  std::printf("CoinChangeMod, one table for all pairs %17.4f ms   1024 nodes, diameter %u\n", table, diameter);
  return 0;
}
