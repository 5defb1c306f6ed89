// SPDX-License-Identifier: Apache-2.0
// Predictions from actual schedules: static rings agree with the closed form, timeslots with their guards and holds.
#include <catch2/catch.hpp>

#include "controller/architectures/oddl/architecture.hpp"
#include "controller/architectures/oddl/fabric.hpp"
#include "controller/predict/predict.hpp"
#include "controller/schedule/job_alone.hpp"
#include "controller/workload/models/zoo.hpp"
#include "controller/workload/ring_groups.hpp"
#include "core/messages/iteration.hpp"
#include "tests/oracle/closed_form.hpp"

namespace loom {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

Circuit circuit(std::uint32_t source, std::uint32_t destination) {
  Circuit made;
  made.source = NodeId{source};
  made.destination = NodeId{destination};
  made.rate = gigabits(100);
  return made;
}

Timeslot rotation(std::uint32_t nodes, std::uint32_t shift) {
  Timeslot timeslot;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    timeslot.circuits.push_back(circuit(i, (i + shift) % nodes));
  }
  return timeslot;
}

JobSchedule static_ring(std::uint32_t nodes) { return {JobId{1}, {{{rotation(nodes, 1)}, 1}}}; }

JobSpec placed(JobSpec job) {
  for (std::uint32_t i = 0; i < job.node_count; ++i) {
    job.placement.push_back(NodeId{i});
  }
  return job;
}

JobSpec all_to_all_job(std::uint32_t nodes, std::int64_t bytes) {
  JobSpec job;
  job.node_count = nodes;
  job.compute = milliseconds{1};
  job.collectives = {{.kind = CollectiveKind::all_to_all, .bytes = Bytes{bytes}}};
  return placed(job);
}

/// Of four nodes, from the last one's readiness to the light of an iteration.
constexpr Duration kAgreement = pass_lead(4, ScheduleTimings{}.trip) + ScheduleTimings{}.trip;

TEST_CASE("a_static_ring_is_predicted_as_the_closed_form_says") {
  const auto job = make_workload("vgg19", {64, {}});
  REQUIRE(job);
  const auto model = make_oddl_model(gigabits(100), 64, {});
  REQUIRE(model);
  const auto symbolic = predict(*job, {*model});
  const auto scheduled = predict_schedule(placed(*job), static_ring(64), {});
  REQUIRE(symbolic);
  REQUIRE(scheduled);
  // The schedule moves whole bytes, the closed form S/N: at most a byte a step and bucket apart.
  CHECK(std::abs((scheduled->iteration - symbolic->iteration).count()) <= 126 * 8);
  CHECK(scheduled->dark == Duration{0});
  CHECK(scheduled->rate == gigabits(100));
  CHECK(order_of(static_ring(64)) == TransferOrder::issue);
}

TEST_CASE("timeslots_cost_their_guards_and_holds") {
  // 4 nodes, 4 x 125,000 B: 10 us a pair at 100 Gb/s. Three timeslots of guard 5 us and hold 10 us.
  JobSchedule schedule{JobId{1}, {{}}};
  for (std::uint32_t shift = 1; shift < 4; ++shift) {
    Timeslot timeslot = rotation(4, shift);
    timeslot.guard = microseconds{5};
    timeslot.hold = microseconds{10};
    schedule.stages[0].timeslots.push_back(timeslot);
  }
  const auto prediction = predict_schedule(all_to_all_job(4, 500'000), schedule, {});
  REQUIRE(prediction);
  // The first guard is over while the model computes; the last byte's latency.
  CHECK(prediction->exposed == kAgreement + microseconds{10 + 2 * 15 + 1});
  CHECK(prediction->dark == kAgreement + microseconds{2 * 5});
  CHECK(prediction->iteration == milliseconds{1} + prediction->exposed);
  CHECK(order_of(schedule) == TransferOrder::merged);
  for (Timeslot& timeslot : schedule.stages[0].timeslots) {
    timeslot.guard = microseconds{1'005};  // 5 us longer than the model computes
  }
  const auto slow = predict_schedule(all_to_all_job(4, 500'000), schedule, {});
  REQUIRE(slow);
  CHECK(slow->dark == kAgreement + microseconds{5 + 2 * 1'005});
}

TEST_CASE("a_stage_change_is_dark_for_as_long_as_it_takes") {
  JobSchedule schedule{JobId{1}, {}};
  for (std::uint32_t shift = 1; shift < 4; ++shift) {
    Timeslot timeslot = rotation(4, shift);
    timeslot.hold = microseconds{10};
    schedule.stages.push_back({{timeslot}, 1});
  }
  const auto prediction = predict_schedule(all_to_all_job(4, 500'000), schedule, {.stage_change = milliseconds{100}});
  REQUIRE(prediction);
  CHECK(prediction->dark == milliseconds{300});  // the last stage is followed by the first
  CHECK(prediction->exposed == milliseconds{300} + microseconds{31});
}

TEST_CASE("a_hold_that_is_too_short_is_named") {
  JobSchedule schedule{JobId{1}, {{}}};
  for (std::uint32_t shift = 1; shift < 4; ++shift) {
    Timeslot timeslot = rotation(4, shift);
    timeslot.hold = microseconds{shift == 2 ? 9 : 10};
    schedule.stages[0].timeslots.push_back(timeslot);
  }
  const auto prediction = predict_schedule(all_to_all_job(4, 500'000), schedule, {});
  REQUIRE_FALSE(prediction);
  CHECK(prediction.error().code == ErrorCode::infeasible);
  CHECK(prediction.error().message == "bytes 125000 from node 0 to node 2: no light after 7.099000 ms");
  schedule.stages[0].cycles = 2;  // what is left goes in the second cycle
  CHECK(predict_schedule(all_to_all_job(4, 500'000), schedule, {}));
}

TEST_CASE("rings_follow_the_direct_transfers_of_a_schedule_with_timeslots") {
  JobSpec job = all_to_all_job(4, 500'000);
  job.collectives.push_back({.bytes = Bytes{400'000}});
  JobSchedule schedule{JobId{1}, {{}}};
  for (std::uint32_t shift = 1; shift < 4; ++shift) {
    Timeslot timeslot = rotation(4, shift);
    timeslot.hold = microseconds{10};
    schedule.stages[0].timeslots.push_back(timeslot);
  }
  schedule.stages.push_back({{rotation(4, 1)}, 1});
  const auto prediction = predict_schedule(job, schedule, {.latency = Duration{0}, .stage_change = microseconds{50}});
  REQUIRE(prediction);
  // 30 us of timeslots, 50 us dark, then 6 steps of 100,000 B, 8 us each, and 50 us back to the timeslots.
  CHECK(prediction->exposed == microseconds{30 + 50 + 48 + 50});
  CHECK(prediction->phases.size() == 2);
}

TEST_CASE("rings_that_take_turns_layer_by_layer_move_group_by_group_in_a_schedule_with_timeslots") {
  // Two layers: each reduces its dense part over all ranks, its experts over every other rank.
  JobSpec job = all_to_all_job(4, 500'000);
  for (int layer = 0; layer < 2; ++layer) {
    job.collectives.push_back({.bytes = Bytes{400'000}});
    job.collectives.push_back({.ranks = {0, 2}, .bytes = Bytes{250'000}});
    job.collectives.push_back({.ranks = {1, 3}, .bytes = Bytes{250'000}});
  }
  const auto groups = ring_groups_of(job.collectives, 4);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].collectives == std::vector<std::uint32_t>{1, 4});
  CHECK(groups[1].collectives == std::vector<std::uint32_t>{2, 3, 5, 6});
  CHECK(groups[1].edges.size() == 4);
  // 2 x 2 (n-1)/n S: of either ring of experts, which go side by side.
  CHECK(groups[0].seconds_at_1_bps == Approx(2 * 1.5 * 400'000 * 8));
  CHECK(groups[1].seconds_at_1_bps == Approx(2 * 1.0 * 250'000 * 8));
  JobSchedule schedule{JobId{1}, {{}}};
  for (std::uint32_t shift = 1; shift < 4; ++shift) {
    Timeslot timeslot = rotation(4, shift);
    timeslot.hold = microseconds{10};
    schedule.stages[0].timeslots.push_back(timeslot);
  }
  for (const std::uint32_t shift : {1U, 2U}) {
    Timeslot timeslot = rotation(4, shift);
    timeslot.hold = microseconds{shift == 1 ? 2 * 48 : 2 * 20};
    schedule.stages[0].timeslots.push_back(timeslot);
  }
  const auto prediction = predict_schedule(job, schedule, {.latency = Duration{0}});
  REQUIRE(prediction);
  CHECK(prediction->exposed == kAgreement + microseconds{30 + 96 + 40});
}

TEST_CASE("a_pipeline_along_a_ring_has_light_until_its_last_rank_has_the_first_piece") {
  // One piece of 50,000 B: 4 us a hop, 7 hops, and no two at once.
  const std::vector<Collective> one{{.kind = CollectiveKind::broadcast, .bytes = Bytes{50'000}}};
  const auto groups = ring_groups_of(one, 8);
  REQUIRE(groups.size() == 1);
  CHECK(groups[0].seconds_at_1_bps == Approx(50'000 * 8));
  CHECK(groups[0].filling_seconds_at_1_bps == Approx(6 * 50'000 * 8));
}

TEST_CASE("experts_on_oddl_have_light_for_every_ring_of_an_iteration") {
  const std::uint32_t ep = GENERATE(2U, 4U, 8U);
  const std::uint32_t nodes = GENERATE(16U, 64U);
  CAPTURE(ep, nodes);
  const auto graph = make_task_graph("moe", {nodes, {{"ep", std::to_string(ep)}}});
  REQUIRE(graph);
  OddlParameters parameters;
  parameters.nodes = nodes;
  parameters.group_size = std::min(nodes, 32U);
  parameters.rate = gigabits(400);
  const Fabric fabric = make_oddl(parameters);
  const auto alone = plan_alone(kOddl, fabric, *graph, timings_on(fabric, {}, kOddl));
  REQUIRE(alone);  // a transfer without light would be named
  CHECK(alone->prediction.phases.size() > 1);
  CHECK(alone->prediction.iteration > alone->prediction.compute);
}

}  // namespace
}  // namespace loom
