// SPDX-License-Identifier: Apache-2.0
// TotientPerms, geometric selection, CoinChangeMod and the shares of a node's links: golden values of
// docs/systems/topoopt.md#golden-topologies (T1, T2), and properties against answers found the slow way.
#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <numeric>
#include <queue>
#include <vector>

#include "controller/architectures/topoopt/finder/coin_change.hpp"
#include "controller/architectures/topoopt/finder/degree_split.hpp"
#include "controller/architectures/topoopt/finder/host_routes.hpp"
#include "controller/architectures/topoopt/finder/totient.hpp"

namespace loom {
namespace {

using Numbers = std::vector<std::uint32_t>;

Numbers selected(std::uint32_t nodes, std::uint32_t degree) {
  return select_geometrically(ring_candidates(nodes, nodes), degree / 2, RingDirections::both_ways);
}

/// {p} to {p, n - p}.
Numbers coins_of(std::uint32_t nodes, const Numbers& jumps) {
  Numbers coins;
  for (const std::uint32_t jump : jumps) {
    coins.push_back(jump);
    coins.push_back(nodes - jump);
  }
  return coins;
}

/// By relaxing until nothing changes: slow, and nothing like the table's own way.
Numbers hops_the_slow_way(std::uint32_t nodes, const Numbers& coins) {
  Numbers hops(nodes, kUnreachable);
  hops[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t i = 0; i < nodes; ++i) {
      for (const std::uint32_t coin : coins) {
        const std::uint32_t from = (i + nodes - coin) % nodes;
        if (hops[from] != kUnreachable && hops[from] + 1 < hops[i]) {
          hops[i] = hops[from] + 1;
          changed = true;
        }
      }
    }
  }
  return hops;
}

TEST_CASE("candidate_rings_are_the_totatives_of_the_group_times_its_stride") {
  CHECK(ring_candidates(12, 12) == Numbers{1, 5, 7, 11});
  CHECK(ring_candidates(12, 6) == Numbers{2, 10});
  CHECK(ring_candidates(12, 4) == Numbers{3, 9});
  CHECK(ring_candidates(12, 2) == Numbers{6});
  CHECK(ring_candidates(12, 5).empty());
  CHECK(ring_candidates(12, 1).empty());
  CHECK(ring_candidates(20, 20, 12) == Numbers{1, 3, 7, 11, 13, 17, 19});  // 9 is no prime
}

TEST_CASE("every_candidate_ring_visits_its_whole_group") {
  for (const std::uint32_t nodes : {2U, 12U, 30U, 64U}) {
    CHECK_FALSE(ring_candidates(nodes, nodes).empty());
    for (std::uint32_t size = 2; size <= nodes; ++size) {
      for (const std::uint32_t jump : ring_candidates(nodes, size)) {
        std::uint32_t steps = 1;
        for (std::uint32_t at = jump % nodes; at != 0; at = (at + jump) % nodes) {
          ++steps;
        }
        CHECK(steps == size);
      }
    }
  }
}

TEST_CASE("geometric_selection_gives_the_published_jumps") {
  CHECK(selected(12, 4) == Numbers{1, 5});
  CHECK(selected(16, 4) == Numbers{1, 5});
  CHECK(selected(16, 8) == Numbers{1, 3, 5, 9});
  CHECK(selected(32, 4) == Numbers{1, 7});
  CHECK(selected(32, 8) == Numbers{1, 3, 7, 15});
  CHECK(selected(64, 4) == Numbers{1, 9});
  CHECK(selected(128, 4) == Numbers{1, 13});
  CHECK(selected(128, 6) == Numbers{1, 7, 27});
  CHECK(selected(128, 8) == Numbers{1, 5, 13, 39});
  CHECK(selected(256, 4) == Numbers{1, 17});
}

TEST_CASE("selection_takes_a_jump_and_its_reverse_where_the_code_does_and_all_again_when_candidates_run_out") {
  CHECK(selected(12, 6) == Numbers{1, 5, 7});  // 5 and 7 are the same links: parallel
  CHECK(selected(12, 8) == Numbers{1, 5, 7, 11});
  CHECK(selected(12, 10) == Numbers{1, 5, 7, 11, 1});
  CHECK(select_geometrically(ring_candidates(2, 2), 3, RingDirections::both_ways) == Numbers{1, 1, 1});
  CHECK(select_geometrically(ring_candidates(16, 16), 3, RingDirections::one_way) == Numbers{1, 5, 15});
  CHECK(select_geometrically(ring_candidates(16, 16), 1, RingDirections::one_way) == Numbers{1});
  CHECK(select_geometrically({}, 4, RingDirections::one_way).empty());
}

TEST_CASE("coin_change_gives_the_published_hops") {
  struct Golden {
    std::uint32_t nodes;
    std::uint32_t degree;
    std::uint32_t diameter;
    double mean;  ///< 0: not published
  };
  for (const Golden& golden :
       {Golden{12, 4, 3, 1.818}, Golden{16, 4, 4, 2.133}, Golden{16, 8, 2, 1.467}, Golden{64, 4, 8, 0},
        Golden{128, 4, 10, 5.622}, Golden{128, 6, 6, 0}, Golden{128, 8, 5, 2.96}, Golden{256, 4, 16, 0}}) {
    const CoinTable table(golden.nodes, coins_of(golden.nodes, selected(golden.nodes, golden.degree)), 1);
    INFO(golden.nodes << " nodes, degree " << golden.degree);
    CHECK(table.diameter() == golden.diameter);
    if (golden.mean > 0) {
      CHECK(table.mean_hops() == Approx(golden.mean).margin(golden.mean == 2.96 ? 5e-3 : 5e-4));
    }
  }
}

TEST_CASE("coin_change_gives_the_published_histograms") {
  CHECK(CoinTable(12, coins_of(12, {1, 5}), 1).histogram() == Numbers{4, 5, 2});
  CHECK(CoinTable(128, coins_of(128, {1, 13}), 1).histogram() == Numbers{4, 8, 12, 16, 20, 21, 18, 14, 10, 4});
  CHECK(CoinTable(16, coins_of(16, {1, 5}), 1).histogram() == Numbers{4, 6, 4, 1});  // 4 + 12 + 12 + 4 = 15 x 2.133
  CHECK(CoinTable(16, coins_of(16, {1, 3, 5, 9}), 1).histogram() == Numbers{8, 7});
}

TEST_CASE("coin_change_agrees_with_relaxation_and_its_ways_add_up") {
  for (const std::uint32_t nodes : {2U, 5U, 12U, 27U, 60U}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Numbers coins;
      for (std::uint64_t i = 0; i < 1 + seed % 4; ++i) {
        coins.push_back(static_cast<std::uint32_t>(1 + (seed * 7 + i * 11) % (nodes - 1)));
      }
      const CoinTable table(nodes, coins, seed);
      const Numbers expected = hops_the_slow_way(nodes, coins);
      for (std::uint32_t distance = 0; distance < nodes; ++distance) {
        REQUIRE(table.hops(distance) == expected[distance]);
        const Numbers jumps = table.jumps_to(distance);
        if (expected[distance] == kUnreachable) {
          CHECK(jumps.empty());
          CHECK(table.path(1, (1 + distance) % nodes).empty());
          continue;
        }
        CHECK(jumps.size() == expected[distance]);
        CHECK(std::accumulate(jumps.begin(), jumps.end(), 0U) % nodes == distance);
        const Numbers path = table.path(nodes - 1, (nodes - 1 + distance) % nodes);
        CHECK(path.front() == nodes - 1);
        CHECK(path.back() == (nodes - 1 + distance) % nodes);
        CHECK(path.size() == jumps.size() + 1);
      }
    }
  }
}

TEST_CASE("coins_that_do_not_reach_everybody_say_so") {
  const CoinTable table(12, Numbers{2, 10}, 1);
  CHECK(table.hops(3) == kUnreachable);
  CHECK(table.diameter() == kUnreachable);
  CHECK(table.mean_hops() == std::numeric_limits<double>::infinity());
}

TEST_CASE("ties_among_coins_depend_on_the_seed_and_on_nothing_else") {
  const auto ways = [](std::uint64_t seed) {
    const CoinTable table(128, coins_of(128, {1, 13}), seed);
    std::vector<Numbers> all;
    for (std::uint32_t distance = 1; distance < 128; ++distance) {
      all.push_back(table.jumps_to(distance));
    }
    return all;
  };
  CHECK(ways(5) == ways(5));
  CHECK(ways(5) != ways(6));
}

TEST_CASE("the_degree_is_split_as_the_paper_and_as_each_era_of_the_code") {
  using enum DegreeSplit;
  const auto split = [](DegreeSplit how, std::uint32_t degree, double rings, double pairs, RingDirections directions) {
    const DegreeShares shares = split_degree(how, degree, rings, pairs, directions);
    return std::pair{shares.rings, shares.pairs};
  };
  using Shares = std::pair<std::uint32_t, std::uint32_t>;
  using enum RingDirections;
  CHECK(split(as_in_paper, 8, 50, 50, one_way) == Shares{4, 4});
  CHECK(split(as_in_paper, 8, 51, 49, one_way) == Shares{5, 3});
  CHECK(split(as_in_paper, 8, 51, 49, both_ways) == Shares{6, 2});
  CHECK(split(as_in_paper, 8, 0, 100, one_way) == Shares{1, 7});
  CHECK(split(as_in_paper, 8, 0, 100, both_ways) == Shares{2, 6});
  CHECK(split(as_in_paper, 5, 99, 1, both_ways) == Shares{4, 1});
  CHECK(split(as_in_code_2021, 8, 51, 49, one_way) == Shares{4, 4});
  CHECK(split(as_in_code_2021, 8, 31, 69, both_ways) == Shares{2, 6});
  CHECK(split(as_in_code_2021, 8, 40, 60, both_ways) == Shares{4, 4});  // 3 and 5, then the odd ring share takes one
  CHECK(split(as_in_code_2021, 8, 1, 99, both_ways) == Shares{2, 6});   // 0 and 8, then two for a first ring
  CHECK(split(as_in_code_2021, 8, 1, 99, one_way) == Shares{1, 7});
  CHECK(split(as_in_code_2021, 5, 50, 50, one_way) == Shares{3, 2});  // both halves round up; there are only five
  CHECK(split(as_in_code_release, 8, 1, 99, both_ways) == Shares{8, 0});
  CHECK(split(as_in_paper, 8, 0, 0, both_ways) == Shares{8, 0});
}

TEST_CASE("the_code_gives_all_rings_to_the_largest_group_size_and_the_paper_shares_them") {
  using enum RingShare;
  const auto share = [](RingShare how, std::uint32_t links, const std::vector<RingClass>& classes, RingDirections directions) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> rings;
    for (const RingClass& each : share_rings(how, 16, links, classes, directions)) {
      rings.emplace_back(each.size, each.rings);
    }
    return rings;
  };
  using Rings = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  using enum RingDirections;
  const std::vector<RingClass> classes{{16, 300, 0}, {8, 500, 0}, {4, 200, 0}};
  CHECK(share(as_in_paper, 10, classes, one_way) == Rings{{8, 5}, {16, 3}, {4, 2}});
  CHECK(share(as_in_paper, 4, classes, one_way) == Rings{{8, 2}, {16, 2}, {4, 0}});
  CHECK(share(as_in_paper, 8, classes, both_ways) == Rings{{8, 2}, {16, 2}, {4, 0}});
  CHECK(share(as_in_code, 8, classes, both_ways) == Rings{{8, 3}, {16, 1}, {4, 0}});  // one taken for all nodes
  CHECK(share(as_in_code, 8, {{16, 900, 0}, {8, 500, 0}}, both_ways) == Rings{{16, 4}, {8, 0}});
  CHECK(share(as_in_paper, 4, {{4, 100, 0}}, one_way) == Rings{{4, 3}, {16, 1}});
  CHECK(share(as_in_paper, 1, {{4, 100, 0}}, one_way) == Rings{{4, 0}, {16, 1}});
  CHECK(share(as_in_paper, 6, {}, both_ways) == Rings{{16, 3}});
}

TEST_CASE("k_shortest_paths_are_distinct_loopless_in_order_and_complete") {
  // 0-1-3, 0-2-3 and 0-1-2-3, 0-2-1-3: all the ways from 0 to 3.
  const std::vector<DirectLink> links{{0, 1, 1}, {0, 2, 1}, {1, 0, 1}, {1, 2, 1}, {1, 3, 2},
                                      {2, 0, 1}, {2, 1, 1}, {2, 3, 1}, {3, 1, 2}, {3, 2, 1}};
  const Neighbours neighbours(4, links);
  const std::vector<Numbers> all{{0, 1, 3}, {0, 2, 3}, {0, 1, 2, 3}, {0, 2, 1, 3}};
  CHECK(k_shortest_paths(neighbours, 0, 3, 10) == all);
  CHECK(k_shortest_paths(neighbours, 0, 3, 2) == std::vector<Numbers>{{0, 1, 3}, {0, 2, 3}});
  CHECK(k_shortest_paths(neighbours, 0, 0, 2).empty());
  CHECK(k_shortest_paths(Neighbours(2, {}), 0, 1, 2).empty());
}

TEST_CASE("route_trees_are_shortest_over_circulant_links") {
  const Numbers coins = coins_of(60, {1, 7, 22});
  std::vector<DirectLink> links;
  for (std::uint32_t node = 0; node < 60; ++node) {
    for (const std::uint32_t coin : coins) {
      links.push_back({node, (node + coin) % 60, 1});
    }
  }
  std::sort(links.begin(), links.end());
  const CoinTable table(60, coins, 3);
  const RouteTrees trees(Neighbours(60, links), Numbers{4, 59}, 3);
  CHECK(trees.has(4));
  CHECK_FALSE(trees.has(5));
  for (std::uint32_t to = 0; to < 60; ++to) {
    const Numbers path = trees.path(59, to);
    REQUIRE(path.size() == table.hops((to + 1) % 60) + 1);
    CHECK(path.front() == 59);
    CHECK(path.back() == to);
    for (std::size_t i = 1; i < path.size(); ++i) {
      CHECK(std::binary_search(links.begin(), links.end(), DirectLink{path[i - 1], path[i], 1}));
    }
  }
}

}  // namespace
}  // namespace loom
