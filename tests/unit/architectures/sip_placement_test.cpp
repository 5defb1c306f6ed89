// SPDX-License-Identifier: Apache-2.0
// SiP-ML's partitioner and degree-aware placement: shards by hand, reach kept where it must be, and memory that is not there.
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>
#include <vector>

#include "controller/architectures/sip_ml/placement.hpp"
#include "core/limits.hpp"

namespace loom {
namespace {

using namespace std::chrono_literals;
using Numbers = std::vector<std::uint32_t>;

Operation computes(Duration compute, Numbers inputs = {}, std::int64_t output = 1'000, std::int64_t parameters = 0) {
  return {"op", compute, {output}, {parameters}, false, std::move(inputs)};
}

Operation holds(Numbers inputs = {}, std::int64_t parameters = 0) {
  return {"variable", {}, {8}, {parameters}, true, std::move(inputs)};
}

std::vector<Shard> shards_of(const std::vector<Operation>& operations, std::uint32_t gpus) {
  auto shards = partition_operations(operations, gpus, 1us);
  REQUIRE(shards);
  return *shards;
}

Numbers counts_of(const std::vector<Operation>& operations, std::uint32_t gpus) {
  Numbers counts(operations.size());
  for (const Shard& shard : shards_of(operations, gpus)) {
    ++counts[shard.operation];
  }
  return counts;
}

std::uint32_t hops(std::uint32_t a, std::uint32_t b, std::uint32_t gpus) {
  const std::uint32_t apart = a > b ? a - b : b - a;
  return std::min(apart, gpus - apart);
}

TEST_CASE("an_operator_is_cut_into_the_power_of_two_below_its_quanta") {
  CHECK(
      counts_of({computes(500ns), computes(1us), computes(1999ns), computes(2us), computes(5us), computes(8us), computes(1ms)},
                8) == Numbers{1, 1, 1, 2, 4, 8, 8});
  CHECK(counts_of({computes(1ms)}, 6) == Numbers{6});
}

TEST_CASE("a_memory_operator_is_cut_like_the_compute_beside_it") {
  // Variable -> compute; variable -> variable -> compute; compute -> variable that nobody reads, and one behind that.
  CHECK(counts_of({holds(), computes(4us, {0}), holds(), holds({2}), computes(2us, {3}), holds({1}), holds({5}), holds()}, 8) ==
        Numbers{4, 4, 2, 2, 2, 4, 4, 1});
}

TEST_CASE("shards_are_alike_and_joined_where_they_lie") {
  const std::vector<Operation> operations{computes(2us, {}, 1'001, 7), computes(4us, {0}), computes(2us, {1}),
                                          computes(1us, {2})};
  const std::vector<Shard> shards = shards_of(operations, 8);
  REQUIRE(shards.size() == 9);
  for (const Shard& shard : {shards[0], shards[1]}) {
    CHECK(shard.output.count == 501);
    CHECK(shard.parameters.count == 4);
  }
  CHECK(shards[0].compute == 1us);
  CHECK(shards[2].inputs == Numbers{0});
  CHECK(shards[3].inputs == Numbers{0});
  CHECK(shards[4].inputs == Numbers{1});
  CHECK(shards[6].inputs == Numbers{2, 3});
  CHECK(shards[7].inputs == Numbers{4, 5});
  CHECK(shards[8].inputs == Numbers{6, 7});
}

TEST_CASE("times_that_do_not_divide_do_not_move_what_follows_to_other_gpus") {
  // Three operators on all four GPUs, one after the other: each shard stays with the one that it takes its input from.
  const std::vector<Operation> operations{computes(4'001ns, {}, 1'000), computes(4'002ns, {0}, 1'000), computes(4'003ns, {1})};
  const std::vector<Shard> shards = shards_of(operations, 4);
  SipPlacementOptions options;
  options.gpus = 4;
  const auto placed = place_shards(shards, operations, options);
  REQUIRE(placed);
  REQUIRE(shards.size() == 12);
  CHECK(placed->transfers.empty());
}

TEST_CASE("a_shard_goes_to_the_gpu_in_reach_that_is_free_first") {
  const std::vector<Operation> operations{computes(900ns), computes(800ns), computes(700ns, {0}), computes(100ns, {2})};
  const std::vector<Shard> shards = shards_of(operations, 4);
  SipPlacementOptions options;
  options.gpus = 4;
  options.hops_most = 1;
  options.launch = 10ns;
  const auto placed = place_shards(shards, operations, options);
  REQUIRE(placed);
  // 0 and 1 take the free GPUs 0 and 1. 2 may go to 0 or 1: 1 is free at 810, but its input comes at 910. 3 may go to 1 or 2.
  CHECK(placed->gpu == Numbers{0, 1, 1, 2});
  CHECK(placed->start == std::vector<Duration>{0ns, 0ns, 910ns, 1620ns});
  CHECK(placed->end == std::vector<Duration>{910ns, 810ns, 1620ns, 1730ns});
  CHECK(placed->transfers == std::vector<SipTransfer>{{0, 1, {1'000}}, {1, 2, {1'000}}});
  CHECK(placed->longest_hops == 1);
}

TEST_CASE("the_range_runs_clockwise_from_the_last_predecessor_on_the_shorter_arc") {
  // Roots on GPUs 0..7 of 8; then a shard fed from 7 and 1 (the arc 7, 0, 1), reach 3: GPUs 1 and 2. 2 is free first.
  std::vector<Operation> operations;
  for (int i = 0; i < 8; ++i) {
    operations.push_back(computes(i == 2 ? 500ns : 900ns));
  }
  operations.push_back(computes(100ns, {7, 1}));
  const std::vector<Shard> shards = shards_of(operations, 8);
  SipPlacementOptions options;
  options.gpus = 8;
  options.hops_most = 3;
  const auto placed = place_shards(shards, operations, options);
  REQUIRE(placed);
  CHECK(placed->gpu.back() == 2);
  CHECK(placed->longest_hops == 3);
}

TEST_CASE("predecessors_further_apart_than_the_reach_break_it_as_in_the_code_and_are_joined_between_when_it_is_held") {
  std::vector<Operation> operations;
  for (int i = 0; i < 16; ++i) {
    operations.push_back(computes(900ns));
  }
  operations.push_back(computes(100ns, {0, 8}));
  const std::vector<Shard> shards = shards_of(operations, 16);
  SipPlacementOptions options;
  options.gpus = 16;
  options.hops_most = 4;
  const auto as_in_code = place_shards(shards, operations, options);
  REQUIRE(as_in_code);
  CHECK(as_in_code->gpu.back() == 8);
  CHECK(as_in_code->longest_hops == 8);
  options.reach = PlacementReach::held;
  const auto held = place_shards(shards, operations, options);
  REQUIRE(held);
  CHECK(held->gpu.back() == 4);
  CHECK(held->longest_hops == 4);
  options.hops_most = 3;
  const auto refused = place_shards(shards, operations, options);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::infeasible);
  CHECK(refused.error().message.find("within 3 hops") != std::string::npos);
}

TEST_CASE("every_transfer_stays_in_reach_of_chains_as_in_the_code_and_of_any_graph_when_held") {
  const std::uint32_t seed = 31;
  std::mt19937 random(seed);
  INFO("seed " << seed);
  int held_ones = 0;
  for (int round = 0; round < 300; ++round) {
    const auto gpus = static_cast<std::uint32_t>(2 + random() % 15);
    const bool is_chain = round % 2 == 0;
    std::vector<Operation> operations;
    for (std::uint32_t i = 0; i < 40; ++i) {
      Numbers inputs;
      if (i > 0) {
        inputs.push_back(is_chain ? i - 1 : static_cast<std::uint32_t>(random() % i));
        if (!is_chain && random() % 3 == 0) {
          inputs.push_back(i - 1);
        }
      }
      operations.push_back(computes(Duration{100 + random() % 900}, inputs));
    }
    const std::vector<Shard> shards = shards_of(operations, gpus);
    SipPlacementOptions options;
    options.gpus = gpus;
    options.hops_most = static_cast<std::uint32_t>(1 + random() % 5);
    options.reach = is_chain ? PlacementReach::as_in_code : PlacementReach::held;
    const auto placed = place_shards(shards, operations, options);
    if (!placed) {
      CHECK_FALSE(is_chain);
      CHECK(placed.error().message.find("hops of all its inputs") != std::string::npos);
      continue;
    }
    held_ones += is_chain ? 0 : 1;
    CHECK(placed->longest_hops <= options.hops_most);
    std::int64_t moved = 0;
    for (std::uint32_t i = 0; i < shards.size(); ++i) {
      for (const std::uint32_t input : shards[i].inputs) {
        CHECK(hops(placed->gpu[input], placed->gpu[i], gpus) <= options.hops_most);
        CHECK(placed->end[input] <= placed->start[i]);
        moved += placed->gpu[input] == placed->gpu[i] ? 0 : shards[input].output.count;
      }
      for (std::uint32_t j = 0; j < i; ++j) {
        CHECK((placed->gpu[i] != placed->gpu[j] || placed->end[j] <= placed->start[i]));  // one at a time on a GPU
      }
    }
    CHECK(std::accumulate(placed->transfers.begin(), placed->transfers.end(), std::int64_t{0},
                          [](std::int64_t sum, const SipTransfer& each) { return sum + each.bytes.count; }) == moved);
  }
  CHECK(held_ones > 20);
}

TEST_CASE("a_model_that_does_not_fit_is_refused_and_one_that_does_spills_to_the_next_gpu") {
  const std::int64_t gigabyte = 1'000'000'000;
  const std::vector<Operation> operations{computes(1us, {}, 0, 60 * gigabyte), computes(1us, {0}, 0, 60 * gigabyte),
                                          computes(1us, {1}, 0, 60 * gigabyte)};
  SipPlacementOptions options;
  options.gpus = 2;
  const auto refused = place_shards(shards_of(operations, 1), operations, options);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::infeasible);
  CHECK(refused.error().message ==
        "shard 0 of operator 2 'op' needs 60000000000 bytes; no GPU in its range has them free of "
        "100000000000");
  options.gpus = 3;
  const auto placed = place_shards(shards_of(operations, 1), operations, options);
  REQUIRE(placed);
  CHECK(Numbers(placed->gpu) == Numbers{0, 1, 2});
  CHECK(placed->memory[2].count == 60 * gigabyte);
}

TEST_CASE("a_range_without_memory_falls_back_on_gpu_0_as_in_the_code_and_is_refused_when_reach_is_held") {
  const std::int64_t gigabyte = 1'000'000'000;
  std::vector<Operation> operations{computes(100ns, {}, 0, 10 * gigabyte)};
  for (int i = 1; i < 4; ++i) {
    operations.push_back(computes(900ns, {}, 0, 90 * gigabyte));
  }
  operations.push_back(computes(100ns, {2}, 0, 30 * gigabyte));  // in reach: GPUs 2 and 3, both full
  const std::vector<Shard> shards = shards_of(operations, 1);
  SipPlacementOptions small;
  small.gpus = 4;
  small.hops_most = 1;
  const auto fallen_back = place_shards(shards, operations, small);
  REQUIRE(fallen_back);
  CHECK(fallen_back->gpu.back() == 0);
  CHECK(fallen_back->longest_hops == 2);
  small.reach = PlacementReach::held;
  const auto refused = place_shards(shards, operations, small);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::infeasible);
}

TEST_CASE("partition_and_placement_refuse_bad_input_by_name") {
  const auto refusal = [](const std::vector<Operation>& operations, std::uint32_t gpus, Duration quantum) {
    const auto shards = partition_operations(operations, gpus, quantum);
    REQUIRE_FALSE(shards);
    return shards.error().message;
  };
  CHECK(refusal({computes(1us)}, 0, 1us).find("0 GPUs") != std::string::npos);
  CHECK(refusal({computes(1us)}, 70'000, 1us).find("70000 GPUs") != std::string::npos);
  CHECK(refusal({computes(1us)}, 4, 0us).find("quantum of 0 ns") != std::string::npos);
  CHECK(refusal({computes(1us, {0})}, 4, 1us).find("operator 0 'op' takes input from operator 0") != std::string::npos);
  CHECK(refusal({computes(-1us)}, 4, 1us).find("-1000 ns") != std::string::npos);
  CHECK(refusal({computes(1us, {}, -5)}, 4, 1us).find("-5 bytes") != std::string::npos);
  CHECK(refusal({computes(1us, {}, 0, limits::kCollectiveBytes + 1)}, 4, 1us).find("kCollectiveBytes") != std::string::npos);

  const std::vector<Operation> one{computes(1us)};
  const std::vector<Shard> shards = shards_of(one, 1);
  CHECK_FALSE(place_shards(shards, one, {}));
  SipPlacementOptions options;
  options.gpus = 1;
  options.step = -1ns;
  CHECK_FALSE(place_shards(shards, one, options));
  options.step = 1us;
  std::vector<Shard> looped = shards;
  looped[0].inputs = {0};
  const auto refused = place_shards(looped, one, options);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("does not come before it") != std::string::npos);
}

}  // namespace
}  // namespace loom
