// SPDX-License-Identifier: Apache-2.0
// Maps in turn: as few as there can be, nobody forgotten, nobody twice.
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "controller/architectures/oddl/turns.hpp"
#include "tests/property/plan_worlds.hpp"

namespace {

using namespace loom;
using loom::testing::Chance;

/// Whole groups, rank by rank.
RankGrid whole_groups(std::uint32_t places, std::uint32_t ports) {
  RankGrid grid{places, ports, {}, {}, {}};
  for (std::uint32_t rank = 0; rank < places * ports; ++rank) {
    grid.place_of.push_back(rank / ports);
    grid.port_of.push_back(rank % ports);
    grid.rank_at.push_back(static_cast<std::int32_t>(rank));
  }
  return grid;
}

SequenceRules with_ways(const RankGrid& grid, std::uint32_t ways, bool inside_by_map = true) {
  return {std::vector<std::uint32_t>(grid.ports, ways), inside_by_map};
}

/// Every pair once with its bytes, every timeslot a matching, and no map asks a port for more than its ways.
void check_sequence(const RankGrid& grid, const PairTraffic& traffic, const SequenceRules& rules,
                    const std::vector<SequencedMap>& turns) {
  std::map<RankPair, std::int64_t> carried;
  for (const SequencedMap& turn : turns) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<std::uint32_t>> leads_to;       // (place, port) -> places
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<std::uint32_t>> received_from;  // (place, port) -> places
    for (const auto& timeslot : turn.timeslots) {
      REQUIRE_FALSE(timeslot.empty());
      std::set<std::uint32_t> senders;
      std::set<std::uint32_t> receivers;
      for (const SequencedTransfer& transfer : timeslot) {
        const auto [source, destination] = transfer.pair;
        REQUIRE(senders.insert(source).second);
        REQUIRE(receivers.insert(destination).second);
        REQUIRE(carried.emplace(transfer.pair, transfer.bytes).second);
        const std::uint32_t port = grid.port_of[destination];
        REQUIRE(transfer.way < rules.ways[port]);
        if (rules.inside_by_map || grid.place_of[source] != grid.place_of[destination]) {
          leads_to[{grid.place_of[source], port}].insert(grid.place_of[destination]);
          received_from[{grid.place_of[destination], port}].insert(grid.place_of[source]);
        }
      }
    }
    for (const auto* led : {&leads_to, &received_from}) {
      for (const auto& [at, places] : *led) {
        REQUIRE(places.size() <= rules.ways[at.second]);
      }
    }
  }
  std::map<RankPair, std::int64_t> asked;
  traffic.for_each([&](RankPair pair, std::int64_t bytes) { asked.emplace(pair, bytes); });
  CHECK(carried == asked);
}

std::size_t slots_of(const std::vector<SequencedMap>& turns) {
  std::size_t slots = 0;
  for (const SequencedMap& turn : turns) {
    slots += turn.timeslots.size();
  }
  return slots;
}

PairTraffic everybody_to_everybody(std::uint32_t ranks) {
  PairTraffic traffic(ranks);
  std::vector<std::uint32_t> members;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    members.push_back(rank);
  }
  traffic.add_all_to_all(members, 1000LL * ranks);
  return traffic;
}

TEST_CASE("an_even_all_to_all_takes_a_map_a_group_and_a_timeslot_a_peer") {
  const RankGrid grid = whole_groups(6, 4);
  const PairTraffic traffic = everybody_to_everybody(24);
  const auto turns = map_sequence(grid, traffic, with_ways(grid, 1));
  check_sequence(grid, traffic, with_ways(grid, 1), turns);
  CHECK(turns.size() == 6);
  CHECK(slots_of(turns) == 23);
  REQUIRE_FALSE(turns[0].timeslots[0].empty());
  for (const SequencedTransfer& transfer : turns[0].timeslots[0]) {  // the first map keeps each group to itself
    CHECK(grid.place_of[transfer.pair.source] == grid.place_of[transfer.pair.destination]);
  }
}

TEST_CASE("orders_of_the_awg_make_maps_fewer") {
  const RankGrid grid = whole_groups(6, 4);
  const PairTraffic traffic = everybody_to_everybody(24);
  for (const std::uint32_t ways : {2U, 3U, 4U, 6U, 7U}) {
    const auto turns = map_sequence(grid, traffic, with_ways(grid, ways));
    check_sequence(grid, traffic, with_ways(grid, ways), turns);
    CHECK(turns.size() == (6 + ways - 1) / ways);
    CHECK(turns.size() == sequence_of(grid, traffic, with_ways(grid, ways)));
    CHECK(slots_of(turns) == 23);
  }
}

TEST_CASE("halving_and_doubling_of_1024_nodes_takes_six_maps") {
  const RankGrid grid = whole_groups(32, 32);
  PairTraffic traffic(1024);
  for (std::uint32_t rank = 0; rank < 1024; ++rank) {
    for (std::uint32_t bit = 0; bit < 10; ++bit) {
      traffic.add_pair({rank, rank ^ (1U << bit)}, 1'000'000 >> (9 - bit));
    }
  }
  const auto turns = map_sequence(grid, traffic, with_ways(grid, 1));
  check_sequence(grid, traffic, with_ways(grid, 1), turns);
  CHECK(turns.size() == 6);      // itself and five other groups (docs/systems/oddl.md#two-time-scales)
  CHECK(slots_of(turns) == 10);  // a matching a step: what is alike is together
}

TEST_CASE("behind_routers_neighbours_need_no_map_and_come_first") {
  const RankGrid grid = whole_groups(3, 4);
  PairTraffic traffic(12);
  for (std::uint32_t rank = 0; rank < 12; ++rank) {
    traffic.add_pair({rank, rank / 4 * 4 + (rank + 1) % 4}, 10);
    traffic.add_pair({rank, (rank + 4) % 12}, 20);
    traffic.add_pair({rank, (rank + 8) % 12}, 30);
  }
  const SequenceRules rules = with_ways(grid, 1, false);
  const auto turns = map_sequence(grid, traffic, rules);
  check_sequence(grid, traffic, rules, turns);
  REQUIRE(turns.size() == 2);
  CHECK(turns[0].timeslots.size() == 2);
  CHECK(turns[0].timeslots[0].front().bytes == 10);
  CHECK(turns[0].timeslots[1].front().bytes == 30);  // the heaviest of the maps
  CHECK(turns[1].timeslots.size() == 1);
}

TEST_CASE("any_traffic_takes_the_least_number_of_maps") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    INFO("seed " << seed);
    Chance chance(seed);
    const RankGrid grid = whole_groups(1 + chance.below(6), 1 + chance.below(5));
    const auto ranks = static_cast<std::uint32_t>(grid.place_of.size());
    PairTraffic traffic(ranks);
    const std::uint32_t pairs = chance.below(ranks * ranks + 1);
    for (std::uint32_t i = 0; i < pairs; ++i) {
      traffic.add_pair({chance.below(ranks), chance.below(ranks)}, 1 + chance.below(5));
    }
    SequenceRules rules{{}, !chance.one_in(3)};
    for (std::uint32_t port = 0; port < grid.ports; ++port) {
      rules.ways.push_back(1 + chance.below(3));
    }
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<std::uint32_t>> to;  // (port, place) -> places
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<std::uint32_t>> from;
    traffic.for_each([&](RankPair pair, std::int64_t) {
      const std::uint32_t source = grid.place_of[pair.source];
      const std::uint32_t destination = grid.place_of[pair.destination];
      if (rules.inside_by_map || source != destination) {
        to[{grid.port_of[pair.destination], source}].insert(destination);
        from[{grid.port_of[pair.destination], destination}].insert(source);
      }
    });
    std::size_t least = 0;
    for (const auto* peers : {&to, &from}) {
      for (const auto& [at, places] : *peers) {
        least = std::max(least, (places.size() + rules.ways[at.first] - 1) / rules.ways[at.first]);
      }
    }
    const auto turns = map_sequence(grid, traffic, rules);
    check_sequence(grid, traffic, rules, turns);
    CHECK(sequence_of(grid, traffic, rules) == least);
    const bool only_inside = least == 0 && !rules.inside_by_map && !turns.empty();
    CHECK(turns.size() <= std::max<std::size_t>(least, only_inside ? 1 : least));
  }
}

}  // namespace
