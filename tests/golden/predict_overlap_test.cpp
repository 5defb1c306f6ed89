// SPDX-License-Identifier: Apache-2.0
// Overlap of compute and communication, small enough to be followed by hand.
#include <catch2/catch.hpp>

#include "controller/predict/iteration_clock.hpp"
#include "controller/predict/predict.hpp"
#include "controller/workload/models/zoo.hpp"
#include "tests/oracle/closed_form.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;

/// 8 Gb/s: a megabyte takes a millisecond; two ranks: an all-reduce of S bytes takes S on the wire.
Prediction on_slow_pair(JobSpec job) {
  job.node_count = 2;
  const auto model = make_fabric_model("ideal-switch", gigabits(8), 2, {{"latency_us", "0"}});
  REQUIRE(model);
  const auto prediction = predict(job, {*model});
  REQUIRE(prediction);
  return *prediction;
}

Collective reduce_ms(int ms, Duration ready = kForever) { return {.bytes = Bytes{ms * 1'000'000}, .ready = ready}; }

TEST_CASE("buckets_hide_behind_compute_until_it_ends") {
  JobSpec job;
  job.compute = milliseconds{10};
  job.collectives = {reduce_ms(3, milliseconds{4}), reduce_ms(2, milliseconds{5}), reduce_ms(3, milliseconds{10})};
  const Prediction prediction = on_slow_pair(job);
  CHECK(prediction.iteration == milliseconds{13});  // 4..7, 7..9, 10..13
  CHECK(prediction.exposed == milliseconds{3});
  CHECK(prediction.phases[1].start == milliseconds{7});
}

TEST_CASE("without_a_ready_instant_nothing_overlaps") {
  JobSpec job;
  job.compute = milliseconds{10};
  job.collectives = {reduce_ms(3), reduce_ms(2)};
  CHECK(on_slow_pair(job).iteration == milliseconds{15});
}

TEST_CASE("compute_stalls_where_it_needs_what_has_not_come") {
  JobSpec job;
  job.compute = milliseconds{10};
  Collective forward = reduce_ms(5, milliseconds{0});
  forward.needed = milliseconds{2};
  job.collectives = {forward, reduce_ms(1, milliseconds{4})};
  const Prediction prediction = on_slow_pair(job);
  CHECK(prediction.phases[1].start == milliseconds{7});  // compute position 4, stalled from 2 to 5
  CHECK(prediction.iteration == milliseconds{13});
}

TEST_CASE("disjoint_groups_do_not_wait_for_each_other") {
  IterationClock clock{Duration{0}, 4};
  const Collective left{.ranks = {0, 1}, .bytes = Bytes{1}};
  const Collective right{.ranks = {2, 3}, .bytes = Bytes{1}};
  const Collective all{.bytes = Bytes{1}};
  CHECK(clock.start_of(left) == 0);
  clock.finish(left, 100);
  CHECK(clock.start_of(right) == 0);
  clock.finish(right, 40);
  CHECK(clock.start_of(right) == 40);
  CHECK(clock.start_of(all) == 100);
  clock.finish(all, 150);
  CHECK(clock.start_of(left) == 150);
  CHECK(clock.end() == 150);
}

TEST_CASE("bucketed_vgg19_is_faster_than_none_and_never_beats_its_wire") {
  const auto model = make_oddl_model(gigabits(100), 1024, {});
  REQUIRE(model);
  const auto bucketed = predict(*make_workload("vgg19", {1024, {}}), {*model});
  const auto none = predict(*make_workload("vgg19", {1024, {{"overlap", "none"}}}), {*model});
  REQUIRE(bucketed);
  REQUIRE(none);
  CHECK(bucketed->iteration < none->iteration);
  CHECK(bucketed->iteration >= bucketed->compute / 3 + std::chrono::microseconds{91'857});
  CHECK(bucketed->exposed == bucketed->iteration - bucketed->compute);
}

}  // namespace
}  // namespace loom
