// SPDX-License-Identifier: Apache-2.0
// SiP-OCS: the golden cases of docs/reproduction.md (T12), the degenerate case, and multi-shot against exhaustive search.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

#include "controller/architectures/sip_ml/placement.hpp"
#include "controller/schedule/permutations.hpp"

namespace {

using namespace loom;

std::vector<SwitchPair> ring_of(std::uint32_t nodes) {
  std::vector<SwitchPair> pairs;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    pairs.push_back({i, (i + 1) % nodes, 1});
  }
  return pairs;
}

std::vector<SwitchPair> everybody(std::uint32_t nodes) {
  std::vector<SwitchPair> pairs;
  for (std::uint32_t i = 0; i < nodes * nodes; ++i) {
    if (i / nodes != i % nodes) {
      pairs.push_back({i / nodes, i % nodes, 1});
    }
  }
  return pairs;
}

/// Least circuits of any pair, all demands alike; 0: refused.
std::uint32_t worst(std::uint32_t nodes, std::uint32_t switches, const std::vector<SwitchPair>& pairs) {
  const auto counts = share_ports(nodes, switches, pairs);
  return counts ? *std::min_element(counts->begin(), counts->end()) : 0;
}

TEST_CASE("golden_switches_have_their_optimum") {
  CHECK(worst(4, 2, ring_of(4)) == 2);
  CHECK(worst(4, 4, ring_of(4)) == 4);
  CHECK(worst(4, 3, everybody(4)) == 1);
  CHECK(worst(4, 4, everybody(4)) == 1);
}

TEST_CASE("more_peers_than_switches_are_refused_and_never_served_as_nothing") {
  CHECK_FALSE(share_ports(4, 2, everybody(4)));  // golden: z = 0
  for (std::uint32_t switches = 1; switches <= 6; ++switches) {
    CHECK(share_ports(7, switches, everybody(7)).has_value() == (switches >= 6));
  }
}

TEST_CASE("placement_within_reach_keeps_fan_out_to_what_the_switches_have") {
  // 64 operators that each take input of the eight before: anywhere on 32 GPUs, a GPU would talk to most others.
  std::vector<Operation> operations;
  for (std::uint32_t i = 0; i < 64; ++i) {
    Operation operation{"op" + std::to_string(i), std::chrono::microseconds{8}, Bytes{1'000}, Bytes{1'000}, false, {}};
    for (std::uint32_t k = i < 8 ? 0 : i - 8; k < i; ++k) {
      operation.inputs.push_back(k);
    }
    operations.push_back(std::move(operation));
  }
  const auto shards = partition_operations(operations, 32, std::chrono::microseconds{1});
  REQUIRE(shards);
  SipPlacementOptions options;
  options.gpus = 32;
  options.hops_most = 4;
  options.reach = PlacementReach::held;
  const auto placed = place_shards(*shards, operations, options);
  REQUIRE(placed);
  std::vector<SwitchPair> pairs;
  for (const SipTransfer& transfer : placed->transfers) {
    pairs.push_back({transfer.source, transfer.destination, transfer.bytes.count});
  }
  CHECK(placed->longest_hops <= 4);
  CHECK(share_ports(32, 2 * 4, pairs).has_value());  // four hops either way: eight peers at most
}

std::int64_t weight_of(const std::vector<SwitchPair>& pairs, const std::vector<SwitchGrant>& grants) {
  std::int64_t sum = 0;
  for (const SwitchGrant& grant : grants) {
    sum += pairs[grant.pair].demand;
  }
  return sum;
}

/// The heaviest matching, by trying all.
std::int64_t heaviest(const std::vector<SwitchPair>& pairs, std::size_t at, std::uint32_t sends, std::uint32_t receives) {
  if (at == pairs.size()) {
    return 0;
  }
  std::int64_t best = heaviest(pairs, at + 1, sends, receives);
  const std::uint32_t from = 1U << pairs[at].source;
  const std::uint32_t to = 1U << pairs[at].destination;
  if ((sends & from) == 0 && (receives & to) == 0) {
    best = std::max(best, pairs[at].demand + heaviest(pairs, at + 1, sends | from, receives | to));
  }
  return best;
}

TEST_CASE("multi_shot_moves_the_most_and_every_switch_is_a_matching") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 engine(seed);
    std::vector<SwitchPair> pairs;
    for (SwitchPair pair : everybody(5)) {
      if (engine() % 2 == 0) {
        pair.demand = static_cast<std::int64_t>(1 + engine() % 20);
        pairs.push_back(pair);
      }
    }
    const auto alike = most_throughput(5, 3, pairs, 0);
    CHECK(weight_of(pairs, alike) == 3 * heaviest(pairs, 0, 0, 0));
    for (const std::int64_t carried : {std::int64_t{0}, std::int64_t{5}}) {
      std::set<std::pair<std::uint32_t, std::uint32_t>> sends;
      std::set<std::pair<std::uint32_t, std::uint32_t>> receives;
      for (const SwitchGrant& grant : most_throughput(5, 3, pairs, carried)) {
        CHECK(sends.insert({grant.on, pairs[grant.pair].source}).second);
        CHECK(receives.insert({grant.on, pairs[grant.pair].destination}).second);
      }
    }
  }
}

TEST_CASE("multi_shot_that_sees_what_is_left_spreads_over_the_switches") {
  const std::vector<SwitchPair> pairs{{0, 1, 10}, {0, 2, 9}, {3, 1, 1}};
  CHECK(weight_of(pairs, most_throughput(4, 2, pairs, 0)) == 20);
  const auto spread = most_throughput(4, 2, pairs, 6);
  // First {0,1} alone (10) equals {0,2} with {3,1} (10); whichever was taken, the other pair of node 0 is heavier then.
  std::map<std::uint32_t, int> of_pair;
  for (const SwitchGrant& grant : spread) {
    ++of_pair[grant.pair];
  }
  CHECK(of_pair[0] == 1);
  CHECK(of_pair[1] == 1);
}

TEST_CASE("multi_shot_intervals_drain_everything_even_where_one_shot_refuses") {
  std::vector<SwitchPair> left = everybody(6);
  for (SwitchPair& pair : left) {
    pair.demand = 7;
  }
  REQUIRE_FALSE(share_ports(6, 2, left));
  int intervals = 0;
  while (!left.empty()) {
    REQUIRE(++intervals < 100);
    std::vector<std::int64_t> sent(left.size());
    for (const SwitchGrant& grant : most_throughput(6, 2, left, 3)) {
      sent[grant.pair] += 3;
    }
    std::vector<SwitchPair> next;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (left[i].demand > sent[i]) {
        next.push_back({left[i].source, left[i].destination, left[i].demand - sent[i]});
      }
    }
    left = next;
  }
  CHECK(intervals >= 8);  // 5 peers x 3 rounds of 3 bytes over 2 ports
}

}  // namespace
