// SPDX-License-Identifier: Apache-2.0
// Lanes: what a node does, from when to when.
#include "controller/predict/node_lane.hpp"

#include <catch2/catch.hpp>

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

}  // namespace
}  // namespace loom
