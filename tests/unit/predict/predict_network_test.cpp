// SPDX-License-Identifier: Apache-2.0
// Networks: what leads where, what it costs, and what is refused.
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "controller/architectures/electrical/expander.hpp"
#include "controller/architectures/electrical/fat_tree.hpp"
#include "controller/architectures/electrical/ideal_switch.hpp"
#include "controller/predict/engine/medium.hpp"
#include "controller/predict/networks/direct_connect.hpp"
#include "controller/predict/networks/matchings.hpp"
#include "tests/oracle/wavelength_map.hpp"

namespace loom {
namespace {

NetworkTerms terms(std::uint32_t nodes) { return {.nodes = nodes, .rate = gigabits(100), .link_latency = Duration{1000}}; }

std::size_t hops(const Network& network, std::uint32_t source, std::uint32_t destination) {
  std::size_t longest = 0;
  for_each_path(network, source, destination, 0,
                [&](std::span<const std::uint32_t> path, double) { longest = std::max(longest, path.size()); });
  return longest;
}

std::size_t ways(const Network& network, std::uint32_t source, std::uint32_t destination) {
  std::size_t count = 0;
  for_each_path(network, source, destination, 0, [&](std::span<const std::uint32_t>, double) { ++count; });
  return count;
}

std::map<std::size_t, int> histogram(const Network& network) {
  std::map<std::size_t, int> count;
  for (std::uint32_t i = 1; i < network.end_points; ++i) {
    ++count[hops(network, 0, i)];
  }
  return count;
}

TEST_CASE("jumps_reach_every_offset_in_the_published_number_of_hops") {
  // docs/systems/topoopt.md#golden-topologies: CoinChangeMod.
  const auto twelve = make_jump_rings(terms(12), {.jumps = {1, 5}});
  REQUIRE(twelve);
  CHECK(histogram(*twelve) == std::map<std::size_t, int>{{1, 4}, {2, 5}, {3, 2}});
  const auto many = make_jump_rings(terms(128), {.jumps = {1, 13}});
  REQUIRE(many);
  CHECK(histogram(*many) ==
        std::map<std::size_t, int>{{1, 4}, {2, 8}, {3, 12}, {4, 16}, {5, 20}, {6, 21}, {7, 18}, {8, 14}, {9, 10}, {10, 4}});
  CHECK(histogram(*make_jump_rings(terms(128), {.jumps = {1, 5, 13, 39}})).rbegin()->first == 5);
}

TEST_CASE("a_jump_that_comes_twice_has_twice_the_rate") {
  const auto network = make_jump_rings(terms(8), {.jumps = {1, 1, 3}, .both_directions = false});
  REQUIRE(network);
  CHECK(network->links.size() == 16);
  CHECK(network->links[0].bytes_per_ns == 25);
  CHECK(network->links[1].bytes_per_ns == 12.5);
}

TEST_CASE("several_shortest_ways_share_a_transfer") {
  const auto network = make_jump_rings(terms(12), {.jumps = {1, 5}, .ways = 4});
  REQUIRE(network);
  CHECK(ways(*network, 3, 9) == 4);  // +6 = 1 + 5 or 5 + 1, and backwards
  CHECK(ways(*network, 3, 4) == 1);
}

TEST_CASE("a_fat_tree_has_two_four_or_six_links_between_nodes") {
  const auto network = make_fat_tree(terms(1024), {});
  REQUIRE(network);
  CHECK(hops(*network, 0, 7) == 2);
  CHECK(hops(*network, 0, 8) == 4);
  CHECK(hops(*network, 0, 64) == 6);
  CHECK(network->links.size() == 6 * 1024);
  const auto sprayed = make_fat_tree(terms(1024), {.sprayed = true});
  REQUIRE(sprayed);
  CHECK(ways(*sprayed, 0, 7) == 1);
  CHECK(ways(*sprayed, 0, 8) == 8);
  CHECK(ways(*sprayed, 0, 1023) == 64);
}

TEST_CASE("hashed_flows_of_a_fat_tree_collide_on_real_links_and_a_seed_repeats") {
  const auto network = make_fat_tree(terms(1024), {.seed = 5});
  REQUIRE(network);
  const auto again = make_fat_tree(terms(1024), {.seed = 5});
  std::map<std::uint32_t, int> load;
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> second;
  for (std::uint32_t node = 0; node < 1024; ++node) {
    const std::uint32_t to = (node + 512) % 1024;
    for_each_path(*network, node, to, 0, [&](std::span<const std::uint32_t> path, double) {
      for (const std::uint32_t link : path) {
        ++load[link];
        first.push_back(link);
      }
    });
    for_each_path(*again, node, to, 0,
                  [&](std::span<const std::uint32_t> path, double) { second.insert(second.end(), path.begin(), path.end()); });
  }
  CHECK(first == second);
  int most = 0;
  for (const auto& [link, count] : load) {
    most = std::max(most, count);
  }
  CHECK(most >= 3);
  CHECK(most <= 10);
}

TEST_CASE("oversubscription_and_equal_cost_lower_the_links_that_they_name") {
  const auto over = make_fat_tree(terms(16), {.oversubscription = 2});
  REQUIRE(over);
  CHECK(over->links[0].bytes_per_ns == 12.5);
  CHECK(over->links[32].bytes_per_ns == 6.25);
  const auto cheap = make_fat_tree(terms(16), {.cost_ratio = 0.5});
  REQUIRE(cheap);
  CHECK(cheap->links[0].bytes_per_ns == 6.25);
  CHECK(cheap->penalties.back().name == "rate at equal cost");
}

TEST_CASE("an_expander_is_regular_connected_and_repeatable") {
  const auto edges = random_regular_graph(64, 4, 9);
  REQUIRE(edges);
  CHECK(edges->size() == 64 * 4);
  CHECK(std::set<NodePair>(edges->begin(), edges->end()).size() == edges->size());
  std::map<std::uint32_t, int> degree;
  for (const auto& [from, to] : *edges) {
    ++degree[from];
  }
  for (const auto& [node, count] : degree) {
    CHECK(count == 4);
  }
  CHECK(*edges == *random_regular_graph(64, 4, 9));
  CHECK(*edges != *random_regular_graph(64, 4, 10));
  const auto network = make_expander(terms(64), {.degree = 4});
  REQUIRE(network);
  for (std::uint32_t node = 1; node < 64; ++node) {
    CHECK(ways(*network, 0, node) > 0);
  }
}

TEST_CASE("paths_of_a_given_graph_are_simple_and_count_the_nodes_that_forward") {
  const auto network =
      make_direct_connect(terms(4), {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {1, 0}, {0, 3}, {3, 2}, {2, 1}}, {.ways = 4, .longer = 2});
  REQUIRE(network);
  CHECK(ways(*network, 0, 2) == 2);
  CHECK(ways(*network, 0, 1) == 2);  // the direct one, and the long way round
  for_each_path(*network, 0, 2, 0, [&](std::span<const std::uint32_t> path, double share) {
    CHECK(forwards_of(*network, path) == 1);
    CHECK(share == 0.5);
    CHECK(path_latency_ns(*network, path) == 2000);
  });
}

TEST_CASE("circuits_join_their_pairs_only_and_add_up") {
  const std::vector<Matching> switches{{1, 0, kIdlePort, 3}, {1, 2, 3, 0}};
  const auto network = make_matchings(terms(4), switches);
  REQUIRE(network);
  CHECK(ways(*network, 0, 1) == 1);
  CHECK(ways(*network, 0, 2) == 0);
  CHECK(network->links.front().bytes_per_ns == 25);
  const auto forwarded = make_forwarded_matchings(terms(4), switches, {});
  REQUIRE(forwarded);
  CHECK(hops(*forwarded, 0, 2) == 2);
  const auto cycle = rotor_cycle(6);
  CHECK(cycle.size() == 5);
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const Matching& slot : cycle) {
    for (std::uint32_t node = 0; node < 6; ++node) {
      pairs.emplace(node, slot[node]);
    }
  }
  CHECK(pairs.size() == 30);
}

TEST_CASE("a_ring_map_joins_neighbours_and_a_latin_map_joins_all_in_two_hops") {
  const auto ring = make_wavelength_network(terms(1024), ring_map(32, 32), 1);
  REQUIRE(ring);
  for (std::uint32_t node = 0; node < 1024; ++node) {
    REQUIRE(hops(*ring, node, (node + 1) % 1024) == 2);  // transmitter and receiver
  }
  const auto latin = make_wavelength_network(terms(1024), latin_map(32, 32), 1);
  REQUIRE(latin);
  std::map<std::size_t, int> count;
  for (std::uint32_t node = 1; node < 1024; ++node) {
    ++count[hops(*latin, 0, node)];
  }
  CHECK(count == std::map<std::size_t, int>{{2, 31}, {4, 992}});  // node 0 is one of the 32 that its group reaches directly
}

TEST_CASE("unlawful_networks_are_refused_by_name") {
  const auto code = [](const auto& result) {
    REQUIRE(!result);
    REQUIRE(!result.error().message.empty());
    return result.error().code;
  };
  CHECK(code(make_ideal_switch({.nodes = 4})) == ErrorCode::invalid_argument);
  CHECK(code(make_ideal_switch({.nodes = 0, .rate = gigabits(1)})) == ErrorCode::out_of_range);
  CHECK(code(make_ideal_switch({.nodes = 70'000, .rate = gigabits(1)})) == ErrorCode::out_of_range);
  CHECK(code(make_ideal_switch({.nodes = 4, .rate = gigabits(1), .efficiency = 1.5})) == ErrorCode::out_of_range);
  CHECK(code(make_uneven_switch(terms(2), std::vector{gigabits(1), gigabits(0)})) == ErrorCode::invalid_argument);
  CHECK(code(make_fat_tree(terms(1024), {.radix = 4})) == ErrorCode::invalid_argument);
  CHECK(code(make_fat_tree(terms(16), {.oversubscription = 0})) == ErrorCode::out_of_range);
  CHECK(code(make_jump_rings(terms(12), {.jumps = {4, 6}})) == ErrorCode::invalid_argument);
  CHECK(code(make_jump_rings(terms(12), {.jumps = {12}})) == ErrorCode::invalid_argument);
  CHECK(code(make_expander(terms(5), {.degree = 3})) == ErrorCode::invalid_argument);
  CHECK(code(make_direct_connect(terms(3), {{0, 3}}, {})) == ErrorCode::invalid_argument);
  CHECK(code(make_matchings(terms(3), std::vector<Matching>{{1, 2, 1}})) == ErrorCode::invalid_argument);
  CHECK(code(make_wavelength_network(terms(4), {2, {0, 0, 0, 1}}, 1)) == ErrorCode::invalid_argument);
}

TEST_CASE("a_flow_that_is_hashed_every_segment_collides_for_no_longer_than_one") {
  // Eight flows between two pods of a radix-4 tree, whose four ways they share by chance.
  const NetworkTerms terms{.nodes = 16, .rate = gigabits(100), .link_latency = Duration{1000}};
  const auto ends = [&](const FatTreeShape& shape, double bytes) {
    const auto tree = make_fat_tree(terms, shape);
    REQUIRE(tree);
    Medium medium;
    medium.reset(*tree);
    for (std::uint32_t i = 0; i < 8; ++i) {
      REQUIRE(medium.send(0, i, 8 + i, bytes, {0, 0, i, 8 + i, 0}));
    }
    medium.settle(0);
    double now = 0;
    std::uint32_t left = 0;
    std::uint32_t arrived = 0;
    while (medium.next() < std::numeric_limits<double>::infinity()) {
      now = medium.next();
      for (const FlightEvent& event : medium.advance(now)) {
        ++(event.has_arrived() ? arrived : left);
      }
      medium.settle(now);
    }
    CHECK(left == 8);
    CHECK(arrived == 8);
    double carried = 0;
    for (const double each : medium.carried(now)) {
      carried += each;
    }
    CHECK(carried == Approx(8 * 6 * bytes).epsilon(1e-9));  // six links a way
    return now;
  };
  constexpr double kBytes = 400e6;
  const double alone = kBytes / 12.5;
  double for_ever = 0;
  double anew = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    for_ever += ends({.radix = 4, .seed = seed}, kBytes) / alone / 10;
    anew += ends({.radix = 4, .seed = seed, .segment_bytes = 4e6}, kBytes) / alone / 10;
    // Shorter than a segment: one way, by the message's own hash.
    CHECK(ends({.radix = 4, .seed = seed, .segment_bytes = 500e6}, kBytes) >= alone);
  }
  CAPTURE(for_ever, anew);
  CHECK(anew > 1);
  CHECK(anew < for_ever * 0.9);
}

}  // namespace
}  // namespace loom
