// SPDX-License-Identifier: Apache-2.0
// Lanes: what a node does, from when to when.
#include "controller/predict/node_lane.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <random>

#include "controller/predict/predict.hpp"
#include "controller/predict/replay.hpp"

namespace loom {
namespace {

using Spans = std::vector<LaneSpan>;

Duration ns(std::int64_t count) { return Duration{count}; }

TEST_CASE("a_lane_says_of_every_instant_one_thing_and_darkness_goes_before_communication") {
  const LaneParts parts{{{0, 100}}, {{50, 300}, {120, 250}}, {{80, 90}, {200, 220}}};
  const NodeLane lane = lane_of(3, parts, 400);
  CHECK(lane.node == 3);
  CHECK(lane.spans == Spans{{ns(0), ns(50), NodeDoes::compute},
                            {ns(50), ns(80), NodeDoes::compute_over},
                            {ns(80), ns(90), NodeDoes::compute_dark},
                            {ns(90), ns(100), NodeDoes::compute_over},
                            {ns(100), ns(200), NodeDoes::communicate},
                            {ns(200), ns(220), NodeDoes::dark},
                            {ns(220), ns(300), NodeDoes::communicate},
                            {ns(300), ns(400), NodeDoes::wait}});
  CHECK(lane.sum(NodeDoes::communicate) == ns(180));
  CHECK(lane.sum(NodeDoes::dark) == ns(20));
  CHECK(lane_of(0, {}, 10).spans == Spans{{ns(0), ns(10), NodeDoes::wait}});
  CHECK(lane_of(0, {}, 0).spans.empty());
  CHECK(lane_of(0, {{{-5, 4}, {2, 40}}, {}, {}}, 10).spans == Spans{{ns(0), ns(10), NodeDoes::compute}});
}

JobSpec pair_of_nodes(Duration compute, std::vector<Collective> collectives) {
  JobSpec job;
  job.name = "two";
  job.node_count = 2;
  job.placement = {NodeId{0}, NodeId{1}};
  job.compute = compute;
  job.collectives = std::move(collectives);
  return job;
}

Collective send(std::int64_t bytes) {
  Collective collective;
  collective.kind = CollectiveKind::point_to_point;
  collective.ranks = {0, 1};
  collective.bytes = Bytes{bytes};
  return collective;
}

TEST_CASE("a_replayed_rank_is_dark_exactly_while_its_bytes_wait_for_light") {
  // 1000 bytes at 8 Gb/s take 1000 ns: 400 in the first window, 600 in the second.
  const JobSpec job = pair_of_nodes(ns(500), {send(1'000)});
  const LightTimeline light{{NodeId{0}, NodeId{1}, Instant{} + ns(600), Instant{} + ns(1'000), gigabits(8)},
                            {NodeId{0}, NodeId{1}, Instant{} + ns(1'300), Instant{} + ns(9'000), gigabits(8)}};
  ReplayOptions options{Instant{}, ns(10), TransferOrder::issue};
  for (const std::uint32_t watched : {0U, 1U}) {
    options.watched = watched;
    const auto played = replay(job, light, options);
    REQUIRE(played);
    CHECK(played->iteration == ns(1'910));
    CHECK(played->lane.node == watched);
    CHECK(played->lane.spans == Spans{{ns(0), ns(500), NodeDoes::compute},
                                      {ns(500), ns(600), NodeDoes::dark},
                                      {ns(600), ns(1'000), NodeDoes::communicate},
                                      {ns(1'000), ns(1'300), NodeDoes::dark},
                                      {ns(1'300), ns(1'910), NodeDoes::communicate}});
    CHECK(played->lane.sum(NodeDoes::dark) == played->dark);
  }
  options.watched.reset();
  const auto unwatched = replay(job, light, options);
  REQUIRE(unwatched);
  CHECK(unwatched->lane.spans.empty());
}

TEST_CASE("compute_that_stalls_for_a_collective_is_a_gap_in_its_lane") {
  Collective early = send(1'000);
  early.ready = ns(100);
  early.needed = ns(300);
  const JobSpec job = pair_of_nodes(ns(500), {early});
  const LightTimeline light{{NodeId{0}, NodeId{1}, Instant{}, kNever, gigabits(8)}};
  ReplayOptions options{Instant{}, ns(0), TransferOrder::issue};
  options.watched = 0;
  const auto played = replay(job, light, options);
  REQUIRE(played);
  CHECK(played->iteration == ns(1'300));  // 800 ns beyond what is needed at 300
  CHECK(played->lane.spans == Spans{{ns(0), ns(100), NodeDoes::compute},
                                    {ns(100), ns(300), NodeDoes::compute_over},
                                    {ns(300), ns(1'100), NodeDoes::communicate},
                                    {ns(1'100), ns(1'300), NodeDoes::compute}});
}

TEST_CASE("a_ring_in_even_light_ends_to_the_nanosecond_when_all_of_its_steps_end") {
  std::mt19937_64 chance(7);
  const auto below = [&](std::uint64_t limit) { return static_cast<std::int64_t>(chance() % limit); };
  int even = 0;
  for (int trial = 0; trial < 400; ++trial) {
    INFO("trial " << trial);
    const auto size = static_cast<std::uint32_t>(2 + below(20));
    JobSpec job = pair_of_nodes(ns(below(2'000)), {});
    job.node_count = size;
    job.placement.clear();
    constexpr std::array kKinds{CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter};
    Collective ring;
    ring.kind = kKinds[static_cast<std::size_t>(below(kKinds.size()))];
    ring.bytes = Bytes{1 + below(100'000)};
    ring.count = static_cast<std::uint32_t>(1 + below(2));
    job.collectives = {ring, ring};
    const bool is_even = below(3) != 0;  // else one link is slower, or lit later, or not as long
    LightTimeline light;
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      job.placement.push_back(NodeId{rank});
      const bool differs = !is_even && rank == 1;
      const auto begins = ns(differs ? below(3'000) : -below(1'000));
      light.push_back({NodeId{rank}, NodeId{(rank + 1) % size}, Instant{} + begins,
                       Instant{} + (differs ? begins + ns(2'000) : std::chrono::seconds{1}), gigabits(differs ? 4 : 8)});
      if (differs) {
        light.push_back({NodeId{rank}, NodeId{(rank + 1) % size}, Instant{} + begins + ns(3'000),
                         Instant{} + std::chrono::seconds{1}, gigabits(8)});
      }
    }
    ReplayOptions options{Instant{}, ns(below(300)), TransferOrder::issue};
    const auto quick = replay(job, light, options);
    options.watched = 0;  // step by step
    const auto stepped = replay(job, light, options);
    REQUIRE(quick);
    REQUIRE(stepped);
    CHECK(quick->iteration == stepped->iteration);
    CHECK(quick->exposed == stepped->exposed);
    CHECK(quick->dark == stepped->dark);
    CHECK(quick->waited == stepped->waited);
    even += is_even ? 1 : 0;
  }
  CHECK(even > 200);
}

}  // namespace
}  // namespace loom
