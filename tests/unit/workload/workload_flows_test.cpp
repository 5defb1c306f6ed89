// SPDX-License-Identifier: Apache-2.0
// Collectives to flows: no byte is lost or made, under every size and kind.
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "controller/workload/import/flows.hpp"

namespace loom {
namespace {

std::int64_t sum(const std::vector<Flow>& flows) {
  std::int64_t total = 0;
  for (const Flow& flow : flows) {
    total += flow.bytes;
  }
  return total;
}

TEST_CASE("bytes_are_conserved_by_every_collective") {
  const unsigned seed = 7;
  INFO("seed " << seed);
  std::mt19937 chance{seed};
  for (int round = 0; round < 200; ++round) {
    const std::int64_t nodes = 2 + static_cast<std::int64_t>(chance() % 40);
    const std::int64_t bytes = static_cast<std::int64_t>(chance() % 1'000'003);
    const auto moved = [&](CollectiveKind kind) {
      return sum(flows_of({.kind = kind, .bytes = Bytes{bytes}}, static_cast<std::uint32_t>(nodes)));
    };
    CAPTURE(nodes, bytes);
    CHECK(moved(CollectiveKind::all_reduce) == 2 * (nodes - 1) * bytes);
    CHECK(moved(CollectiveKind::all_gather) == (nodes - 1) * bytes);
    CHECK(moved(CollectiveKind::reduce_scatter) == (nodes - 1) * bytes);
    CHECK(moved(CollectiveKind::broadcast) == (nodes - 1) * bytes);
    CHECK(moved(CollectiveKind::reduce) == (nodes - 1) * bytes);
    std::int64_t own = 0;
    for (std::int64_t i = 0; i < nodes; ++i) {
      own += part_of(bytes, nodes, i);
    }
    CHECK(own == bytes);
    CHECK(moved(CollectiveKind::all_to_all) == nodes * bytes - own);
    CHECK(moved(CollectiveKind::barrier) == 0);
  }
}

TEST_CASE("a_ring_step_s_moves_what_the_flows_say") {
  // Simulates the ring: which chunk does each rank really send in each step?
  const std::uint32_t nodes = 5;
  const std::int64_t bytes = 23;
  std::vector<std::int64_t> sent(nodes, 0);
  for (std::uint32_t i = 0; i < nodes; ++i) {
    for (std::uint32_t step = 0; step + 1 < nodes; ++step) {
      sent[i] += part_of(bytes, nodes, (i + nodes - step) % nodes);      // reduce-scatter
      sent[i] += part_of(bytes, nodes, (i + 1 + nodes - step) % nodes);  // all-gather
    }
  }
  const auto flows = flows_of({.bytes = Bytes{bytes}}, nodes);
  REQUIRE(flows.size() == nodes);
  for (const Flow& flow : flows) {
    CHECK(flow.destination == (flow.source + 1) % nodes);
    CHECK(flow.bytes == sent[flow.source]);
  }
}

TEST_CASE("uneven_splits_are_moved_as_they_are") {
  Collective collective{.kind = CollectiveKind::all_to_all, .ranks = {4, 2}, .bytes = Bytes{30}};
  collective.splits = {Bytes{1}, Bytes{7}, Bytes{30}, Bytes{0}};
  const auto flows = flows_of(collective, 5);
  CHECK(flows == std::vector<Flow>{{2, 4, 30}, {4, 2, 7}});
}

TEST_CASE("a_lone_rank_moves_nothing") {
  CHECK(flows_of({.bytes = Bytes{100}}, 1).empty());
  CHECK(plan_of({.bytes = Bytes{100}}, 1).movement == Movement::nothing);
}

TEST_CASE("faulty_collectives_are_named") {
  CHECK(fault_of({.bytes = Bytes{1}}, 4).empty());
  CHECK(fault_of({.ranks = {0, 4}, .bytes = Bytes{1}}, 4).find("rank 4") != std::string::npos);
  CHECK_FALSE(fault_of({.ranks = {1, 1}, .bytes = Bytes{1}}, 4).empty());
  CHECK_FALSE(fault_of({.bytes = Bytes{-1}}, 4).empty());
  CHECK_FALSE(fault_of({.bytes = Bytes{INT64_MAX}}, 4).empty());
  CHECK_FALSE(fault_of({.bytes = Bytes{1}, .count = 0}, 4).empty());
  CHECK_FALSE(fault_of({.bytes = Bytes{1}, .count = ~0U}, 4).empty());
  CHECK_FALSE(fault_of({.kind = CollectiveKind::point_to_point, .bytes = Bytes{1}}, 4).empty());
  CHECK_FALSE(fault_of({.kind = CollectiveKind::all_to_all, .bytes = Bytes{1}, .splits = {Bytes{1}}}, 4).empty());
}

}  // namespace
}  // namespace loom
