// SPDX-License-Identifier: Apache-2.0
// Replay: bytes only over light. Full light equals the closed form; a gap costs what the recurrence says; darkness is an error.
#include <catch2/catch.hpp>
#include <random>

#include "controller/predict/collective_time.hpp"
#include "controller/predict/light_windows.hpp"
#include "controller/predict/replay.hpp"
#include "core/forwarding/forwarding_builder.hpp"

namespace loom {
namespace {

std::uint32_t below(std::mt19937& chance, std::size_t limit) { return static_cast<std::uint32_t>(chance() % limit); }

using std::chrono::microseconds;

constexpr std::int64_t kOrigin = 1'700'000'000'000'000'000;  // a TAI-like instant: offsets must not lose precision

LightTimeline ring_light(const std::vector<NodeId>& placement, Instant begin) {
  LightTimeline light;
  for (std::size_t i = 0; i < placement.size(); ++i) {
    light.push_back({placement[i], placement[(i + 1) % placement.size()], begin, kNever, gigabits(100)});
  }
  return light;
}

JobSpec ring_job(std::uint32_t nodes, std::int64_t bytes) {
  JobSpec job;
  job.name = "ring";
  job.node_count = nodes;
  job.collectives = {{.bytes = Bytes{bytes}}};
  for (std::uint32_t i = 0; i < nodes; ++i) {
    job.placement.push_back(NodeId{i});
  }
  return job;
}

/// Splits the window of `source` by darkness from start + `from` to start + `until`.
void darken(LightTimeline& light, NodeId source, Instant from, Instant until) {
  for (std::size_t i = 0; i < light.size(); ++i) {
    if (light[i].source == source) {
      LitWindow after = light[i];
      after.begin = until;
      light[i].end = from;
      light.push_back(after);
      return;
    }
  }
}

TEST_CASE("full_light_equals_the_closed_form_to_the_nanosecond") {
  const Instant start = instant_from_ns(kOrigin);
  const JobSpec job = ring_job(1024, 1024 * 561'152);
  const auto replayed = replay(job, ring_light(job.placement, start), {.start = start});
  REQUIRE(replayed);
  const double closed = uniform_ns(job.collectives[0], 1024, link_terms(gigabits(100), microseconds{1}));
  CHECK(static_cast<double>(replayed->iteration.count()) == Approx(closed).epsilon(0).margin(1));
  CHECK(replayed->dark == Duration{0});
  CHECK(replayed->waited == Duration{0});
}

TEST_CASE("one_gap_in_one_circuit_costs_what_the_recurrence_says") {
  // 4 nodes, chunks of 125,000 B = 10 us, no latency: steps at 0, 10, 20, 30, 40, 50 us; each waits for the one before.
  const Instant start = instant_from_ns(kOrigin);
  const JobSpec job = ring_job(4, 500'000);
  const ReplayOptions options{.start = start, .latency = Duration{0}};
  CHECK(replay(job, ring_light(job.placement, start), options)->iteration == microseconds{60});
  LightTimeline light = ring_light(job.placement, start);
  darken(light, NodeId{1}, start + microseconds{13}, start + microseconds{20});
  const auto replayed = replay(job, light, options);
  REQUIRE(replayed);
  // Step 1 of node 1 runs 10..13 and 20..27: 7 us late, and step 5 of node 1 comes four steps later in the same lap.
  CHECK(replayed->iteration == microseconds{67});
  CHECK(replayed->dark == microseconds{7});
  CHECK(replayed->waited == microseconds{7});
}

TEST_CASE("a_gap_at_the_very_end_touches_one_rank_only") {
  const Instant start = instant_from_ns(kOrigin);
  const JobSpec job = ring_job(4, 500'000);
  LightTimeline light = ring_light(job.placement, start);
  darken(light, NodeId{2}, start + microseconds{60}, start + microseconds{90});
  const auto replayed = replay(job, light, {.start = start, .latency = Duration{0}});
  REQUIRE(replayed);
  CHECK(replayed->iteration == microseconds{60});  // all bytes had left by then
}

TEST_CASE("light_that_comes_late_is_waited_for") {
  const Instant start = instant_from_ns(kOrigin);
  const JobSpec job = ring_job(4, 500'000);
  const auto replayed =
      replay(job, ring_light(job.placement, start + microseconds{500}), {.start = start, .latency = Duration{0}});
  REQUIRE(replayed);
  CHECK(replayed->iteration == microseconds{560});
  CHECK(replayed->dark == microseconds{500});
  CHECK(replayed->exposed == microseconds{560});
}

TEST_CASE("permanent_darkness_names_the_first_transfer_that_never_leaves") {
  const Instant start = instant_from_ns(kOrigin);
  const JobSpec job = ring_job(1024, 1024 * 561'152);
  LightTimeline light = ring_light(job.placement, start);
  light.erase(light.begin() + 17);
  const auto never = replay(job, light, {.start = start});
  REQUIRE_FALSE(never);
  CHECK(never.error().code == ErrorCode::infeasible);
  CHECK(never.error().message == "bytes 561152 from node 17 to node 18: no light ever");
  light = ring_light(job.placement, start);
  light[17].end = start + std::chrono::milliseconds{5};
  const auto ended = replay(job, light, {.start = start});
  REQUIRE_FALSE(ended);
  CHECK(ended.error().message == "bytes 561152 from node 17 to node 18: no light after 5.000000 ms");
}

TEST_CASE("a_ring_takes_the_same_time_on_whichever_nodes_it_is_placed") {
  const unsigned seed = 23;
  INFO("seed " << seed);
  std::mt19937 chance{seed};
  const Instant start = instant_from_ns(kOrigin);
  for (int round = 0; round < 30; ++round) {
    JobSpec job = ring_job(3 + below(chance, 20), 1 + static_cast<std::int64_t>(below(chance, 1'000'000)));
    LightTimeline light = ring_light(job.placement, start);
    for (int gaps = 0; gaps < 4; ++gaps) {
      const std::size_t pick = below(chance, job.placement.size());
      const auto from = start + microseconds{below(chance, 100)};
      const auto until = from + microseconds{1 + below(chance, 100)};
      darken(light, job.placement[pick], from, until);
    }
    const auto before = replay(job, light, {.start = start});
    std::vector<std::uint32_t> names(100);
    for (std::uint32_t i = 0; i < names.size(); ++i) {
      names[i] = i;
    }
    for (std::size_t i = names.size() - 1; i > 0; --i) {
      std::swap(names[i], names[below(chance, i + 1)]);
    }
    for (NodeId& node : job.placement) {
      node = NodeId{names[node.value]};
    }
    for (LitWindow& lit : light) {
      lit.source = NodeId{names[lit.source.value]};
      lit.destination = NodeId{names[lit.destination.value]};
    }
    const auto after = replay(job, light, {.start = start});
    REQUIRE(before.has_value() == after.has_value());
    CHECK((!before || before->iteration == after->iteration));
  }
}

TEST_CASE("more_darkness_never_makes_an_iteration_shorter") {
  const unsigned seed = 29;
  INFO("seed " << seed);
  std::mt19937 chance{seed};
  const Instant start = instant_from_ns(kOrigin);
  const JobSpec job = ring_job(9, 900'000);
  LightTimeline light = ring_light(job.placement, start);
  Duration before{};
  for (int gaps = 0; gaps < 40; ++gaps) {
    const auto replayed = replay(job, light, {.start = start});
    REQUIRE(replayed);
    CHECK(replayed->iteration >= before);
    CHECK(replayed->dark <= replayed->exposed);
    before = replayed->iteration;
    const std::size_t window = below(chance, job.placement.size());  // the first, still the earliest of its pair
    if (light[window].end == kNever || light[window].end - light[window].begin > microseconds{2}) {
      const Instant from = light[window].begin + microseconds{1 + below(chance, 2)};
      LitWindow rest = light[window];
      rest.begin = from + microseconds{1 + below(chance, 5)};
      light[window].end = from;
      if (rest.begin < rest.end) {
        light.push_back(rest);
      }
    }
  }
}

TEST_CASE("replay_moves_every_pair_of_an_all_to_all_through_its_own_light") {
  const Instant start = instant_from_ns(kOrigin);
  JobSpec job = ring_job(3, 0);
  job.collectives = {{.kind = CollectiveKind::all_to_all, .bytes = Bytes{3 * 125'000}}};
  LightTimeline light;
  for (std::uint32_t i = 0; i < 3; ++i) {
    light.push_back({NodeId{i}, NodeId{(i + 1) % 3}, start, start + microseconds{10}, gigabits(100)});
    light.push_back({NodeId{i}, NodeId{(i + 2) % 3}, start + microseconds{12}, start + microseconds{30}, gigabits(100)});
  }
  const auto replayed = replay(job, light, {.start = start, .latency = Duration{0}});
  REQUIRE(replayed);
  CHECK(replayed->iteration == microseconds{22});
  CHECK(replayed->dark == microseconds{2});
  light[0].end = start + microseconds{9};
  CHECK(replay(job, light, {.start = start}).error().message ==
        "bytes 125000 from node 0 to node 1: no light after 0.009000 ms");
}

TEST_CASE("broadcast_and_reduce_use_the_rings_own_circuits") {
  const Instant start = instant_from_ns(kOrigin);
  JobSpec job = ring_job(5, 0);
  const ReplayOptions options{.start = start, .latency = Duration{0}};
  for (const CollectiveKind kind : {CollectiveKind::broadcast, CollectiveKind::reduce}) {
    job.collectives = {{.kind = kind, .ranks = {2, 3, 4, 0, 1}, .bytes = Bytes{10'000'000}}};
    const auto replayed = replay(job, ring_light(job.placement, start), options);
    REQUIRE(replayed);
    const double closed = uniform_ns(job.collectives[0], 5, link_terms(gigabits(100), Duration{0}));
    CHECK(static_cast<double>(replayed->iteration.count()) == Approx(closed).margin(100));
  }
}

TEST_CASE("relays_one_behind_the_other_each_send_on_when_they_hold_all_of_it") {
  const Instant start = instant_from_ns(kOrigin);
  JobSpec job = ring_job(4, 0);
  job.collectives = {{CollectiveKind::point_to_point, {0, 3}, Bytes{125'000}}};  // 10 us a hop, and 1 us of latency
  JobSchedule schedule{JobId{1}, {}};
  ForwardingBuilder table(ForwardingMode::store_and_forward, job.placement, {0, 0, 0, 1});
  table.add(0, 3, std::vector<std::uint32_t>{1, 2});
  schedule.forwarding = table.take();
  const ReplayOptions options{start, microseconds{1}, TransferOrder::merged, &schedule};
  CHECK(replay(job, ring_light(job.placement, start), options)->iteration == microseconds{33});
  LightTimeline light = ring_light(job.placement, start);
  darken(light, NodeId{1}, start, start + microseconds{50});
  CHECK(replay(job, light, options)->iteration == microseconds{50 + 22});
  job.collectives[0].ranks = {1, 3};  // a rank of the same row that stands on the path: what is behind it
  CHECK(replay(job, ring_light(job.placement, start), options)->iteration == microseconds{22});
}

TEST_CASE("several_wavelengths_of_a_pair_add_up") {
  const auto at = [](std::int64_t ns) { return Instant{Duration{ns}}; };
  const LightWindows windows({{NodeId{0}, NodeId{1}, at(0), kNever, gigabits(8)},
                              {NodeId{0}, NodeId{1}, at(100), at(200), gigabits(24)},
                              {NodeId{1}, NodeId{0}, at(50), at(150), gigabits(8)}},
                             at(0));
  const auto pair = windows.between(NodeId{0}, NodeId{1});
  REQUIRE(pair.size() == 3);
  CHECK(pair[0].end == 100);
  CHECK(pair[1].ns_per_byte == 0.25);
  CHECK(pair[2].begin == 200);
  CHECK(pair[2].end == kNoLightEver);
  WindowLane lane = windows.lane(NodeId{0}, NodeId{1}, 0);
  CHECK(lane.move(0, 300) == 150);  // 100 bytes at 1 B/ns, 200 at 4 B/ns
  CHECK(windows.between(NodeId{1}, NodeId{0}).size() == 1);
}

TEST_CASE("a_job_that_is_not_placed_is_refused") {
  JobSpec job = ring_job(4, 100);
  job.placement.pop_back();
  CHECK(replay(job, {}, {}).error().code == ErrorCode::invalid_argument);
  job.placement.push_back(NodeId{0});
  CHECK(replay(job, {}, {}).error().message.find("two ranks on one node") != std::string::npos);
}

}  // namespace
}  // namespace loom
