// SPDX-License-Identifier: Apache-2.0
// Devices that steer light of other agents: when they move, from where they may, and what never moves them.
#include <catch2/catch.hpp>

#include "tests/unit/agents/agent_bench.hpp"

using namespace loom;
using namespace loom::test;

namespace {

bool is_refused_as(const Outcome& outcome, ErrorCode code, const std::string& name) {
  return outcome.error && outcome.error->code == code && outcome.error->message.find(name) != std::string::npos;
}

void arm_and_go(AgentBench& bench, const NodePlan& plan) {
  bench.receive(plan.revision, Prepare{plan});
  bench.receive(plan.revision, Arm{bench.now + milliseconds{5}});
  bench.receive(plan.revision, Go{});
}

/// One heater bank and one WSS: what is true of both is true whatever steers.
std::vector<DeviceId> steering(const AgentBench& bench) { return {bench.heaters[1], bench.switches[0]}; }

/// As AgentBench::static_plan, with one more route of each WSS that every plan keeps: somebody's light passes it.
NodePlan plan_that_keeps(const AgentBench& bench, std::uint64_t revision, std::int32_t n, bool touched = true) {
  NodePlan plan = bench.static_plan(revision, n, touched);
  for (const DeviceId id : bench.switches) {
    DevicePlan& part = AgentBench::part(plan, id);
    std::get<WavelengthSwitchSetpoint>(part.timeline.front().setpoint).routes.push_back({{64, 8}, 0, 0, Db{0}});
    const Setpoint& stands = bench.devices.at(id)->setpoint;
    part.touched = stands != part.timeline.front().setpoint;
    part.may_hold = part.touched ? std::vector{stands} : std::vector<Setpoint>{};
  }
  return plan;
}

/// Nothing is held any more, as after a power cycle.
void lose_power(AgentBench& bench, DeviceId id) {
  FakeDevice& device = bench.device(id);
  device.setpoint = device.role == DeviceRole::filter ? Setpoint{FilterSetpoint{}} : Setpoint{WavelengthSwitchSetpoint{}};
}

}  // namespace

TEST_CASE("what_steers_light_of_another_agent_moves_in_everybodys_dark_whatever_kind_it_is_of") {
  AgentBench bench;
  bench.start();
  bench.run_for(milliseconds{50});
  const NodePlan plan = bench.static_plan(1, 16);
  arm_and_go(bench, plan);
  bench.run_for(seconds{3});
  REQUIRE(bench.count<Darkened>() == 1);  // its own lasers are dark, another agent's may be lit
  CHECK(bench.actuations(bench.lasers[0], Op::move) == 1);
  for (const auto* devices : {&bench.heaters, &bench.switches}) {
    for (const DeviceId id : *devices) {
      CHECK(bench.actuations(id) == 0);
    }
  }
  CHECK(bench.count<Settled>() == 0);
  bench.receive(plan.revision, Proceed{CommitPhase::move, {}});
  bench.step_until<Settled>();
  CHECK(bench.last<Settled>()->outcome.ok());
  for (const auto* devices : {&bench.heaters, &bench.switches}) {
    for (const DeviceId id : *devices) {
      CHECK(bench.actuations(id, Op::move) == 1);
    }
  }
}

TEST_CASE("what_steers_only_its_own_agents_light_moves_as_soon_as_that_is_dark") {
  AgentBench bench(OtherLight::none);
  bench.start();
  bench.commit(bench.static_plan(1, 16));
  bench.log.clear();
  bench.sent.clear();
  arm_and_go(bench, bench.static_plan(2, 32));
  bench.run_for(milliseconds{50});
  CHECK(bench.count<Settled>() == 1);  // without Proceed{move}
  Instant dark{};
  for (const Actuation& each : bench.log) {
    dark = each.op == Op::dark ? each.done : dark;
  }
  for (const Actuation& each : bench.log) {
    CHECK((each.op != Op::move || each.ordered >= dark));
  }
  CHECK(bench.actuations(bench.switches[0], Op::move) == 1);
  CHECK(bench.actuations(bench.heaters[0], Op::move) == 1);
}

TEST_CASE("an_untouched_device_that_light_passes_is_left_where_it_is_though_a_new_life_finds_it_elsewhere") {
  AgentBench bench(GENERATE(OtherLight::none, OtherLight::passes));
  bench.start();
  bench.commit(bench.static_plan(1, 16));
  const NodePlan plan = bench.static_plan(2, 16, false);
  for (const DeviceId id : steering(bench)) {
    lose_power(bench, id);
  }
  bench.start(2);
  bench.run_for(milliseconds{50});
  bench.log.clear();
  bench.commit(plan);
  CHECK(bench.agent->commit().applied() == Revision{2});
  CHECK(bench.log.empty());  // the light that passes it is on: only a repair that takes it away may set it
  for (const DeviceId id : steering(bench)) {
    CHECK(bench.device(id).setpoint != AgentBench::setpoint(plan, id));
  }
}

TEST_CASE("a_new_life_takes_a_heater_bank_that_reads_as_planned_for_done") {
  AgentBench bench;
  bench.start();
  bench.commit(bench.static_plan(1, 16));
  bench.start(2);
  bench.run_for(milliseconds{50});
  const std::size_t orders = bench.ordered.size();
  bench.log.clear();
  bench.commit(bench.static_plan(2, 16, false));
  CHECK(bench.agent->commit().applied() == Revision{2});
  CHECK(bench.log.empty());
  CHECK(bench.ordered.size() == orders);
}

TEST_CASE("what_is_known_to_be_elsewhere_than_the_plan_says_is_refused_before_anybody_is_dark") {
  for (const std::size_t which : {0, 1}) {
    AgentBench bench;
    bench.start();
    bench.commit(plan_that_keeps(bench, 1, 16));
    const NodePlan plan = plan_that_keeps(bench, 2, 32);
    const DeviceId id = steering(bench)[which];
    CAPTURE(bench.fabric->device(id).name);
    lose_power(bench, id);
    bench.start(2);  // nobody in this incarnation remembers what it held
    bench.run_for(milliseconds{50});
    bench.log.clear();
    bench.receive(plan.revision, Prepare{plan});
    REQUIRE(bench.last<Prepared>() != nullptr);
    CHECK(is_refused_as(bench.last<Prepared>()->outcome, ErrorCode::busy, bench.fabric->device(id).name));
    bench.run_for(seconds{1});
    CHECK(bench.log.empty());
    CHECK(bench.device(bench.lasers[0]).emitting);
  }
}

TEST_CASE("what_lost_its_power_on_the_way_into_the_dark_does_not_move") {
  const OtherLight other = GENERATE(OtherLight::none, OtherLight::passes);
  for (const std::size_t which : {0, 1}) {
    AgentBench bench(other);
    bench.start();
    bench.commit(plan_that_keeps(bench, 1, 16));
    const DeviceId id = steering(bench)[which];
    CAPTURE(bench.fabric->device(id).name);
    const NodePlan plan = plan_that_keeps(bench, 2, 32);
    bench.log.clear();
    bench.receive(plan.revision, Prepare{plan});
    REQUIRE(bench.last<Prepared>() != nullptr);
    bench.run_for(milliseconds{1'100});  // others took long to prepare: what was read then counts no more
    lose_power(bench, id);
    bench.receive(plan.revision, Arm{bench.now + milliseconds{5}});
    bench.receive(plan.revision, Go{});
    bench.step_until<Darkened>();
    bench.receive(plan.revision, Proceed{CommitPhase::move, {}});
    bench.step_until<Settled>();
    REQUIRE(bench.last<Settled>() != nullptr);
    CHECK(is_refused_as(bench.last<Settled>()->outcome, ErrorCode::busy, bench.fabric->device(id).name));
    CHECK(bench.actuations(id) == 0);
    CHECK(bench.agent->commit().state() == RevisionState::failed);
  }
}

TEST_CASE("what_lost_its_power_and_nobody_knows_is_found_while_agents_prepare_and_nobody_is_dark") {
  for (const std::size_t which : {0, 1}) {
    AgentBench bench;
    bench.start();
    bench.commit(plan_that_keeps(bench, 1, 16));
    const DeviceId id = steering(bench)[which];
    CAPTURE(bench.fabric->device(id).name);
    const NodePlan plan = plan_that_keeps(bench, 2, 32);
    lose_power(bench, id);
    bench.log.clear();
    bench.receive(plan.revision, Prepare{plan});
    REQUIRE(bench.last<Prepared>() != nullptr);
    CHECK(is_refused_as(bench.last<Prepared>()->outcome, ErrorCode::busy, bench.fabric->device(id).name));
    CHECK(bench.log.empty());
    CHECK(bench.device(bench.lasers[0]).emitting);
  }
}

TEST_CASE("what_an_earlier_revision_may_have_left_moves_from_wherever_that_put_it") {
  AgentBench bench;
  bench.start();
  bench.commit(bench.static_plan(1, 16));
  const NodePlan before = bench.static_plan(2, 16);
  const NodePlan interrupted = bench.static_plan(2, 32);
  arm_and_go(bench, interrupted);
  bench.step_until<Darkened>();
  bench.receive(interrupted.revision, Proceed{CommitPhase::move, {}});
  bench.run_for(milliseconds{1});  // under way
  bench.start(2);
  bench.run_for(milliseconds{50});
  NodePlan back = bench.static_plan(3, 16);
  for (const auto* devices : {&bench.heaters, &bench.switches}) {
    for (const DeviceId id : *devices) {
      DevicePlan& part = AgentBench::part(back, id);
      part.touched = true;
      part.may_hold = {AgentBench::setpoint(before, id), AgentBench::setpoint(interrupted, id)};
    }
  }
  bench.commit(back);
  CHECK(bench.agent->commit().applied() == Revision{3});
  CHECK(bench.device(bench.switches[0]).setpoint == wss_at(16, 1));
}

TEST_CASE("what_light_passes_is_never_moved_from_nobody_knows_where") {
  AgentBench bench;
  bench.start();
  bench.run_for(milliseconds{50});
  NodePlan plan = bench.static_plan(1, 16);
  AgentBench::part(plan, bench.heaters[0]).may_hold.clear();
  bench.receive(plan.revision, Prepare{plan});
  REQUIRE(bench.last<Prepared>() != nullptr);
  CHECK(
      is_refused_as(bench.last<Prepared>()->outcome, ErrorCode::invalid_argument, bench.fabric->device(bench.heaters[0]).name));
}

TEST_CASE("a_device_that_cannot_be_read_does_not_move_and_is_named") {
  AgentBench bench;
  bench.start();
  bench.commit(bench.static_plan(1, 16));
  bench.log.clear();
  const DeviceId id = bench.switches[1];
  const NodePlan plan = bench.static_plan(2, 32);
  arm_and_go(bench, plan);
  bench.device(id).silent = true;
  bench.step_until<Darkened>();
  bench.receive(plan.revision, Proceed{CommitPhase::move, {}});
  bench.step_until<Settled>();
  REQUIRE(bench.last<Settled>() != nullptr);
  CHECK(is_refused_as(bench.last<Settled>()->outcome, ErrorCode::device_error, bench.fabric->device(id).name));
  CHECK(bench.actuations(id) == 0);
}

TEST_CASE("a_reset_reads_what_light_passes_and_never_moves_it") {
  const OtherLight other = GENERATE(OtherLight::none, OtherLight::passes);  // its own agent's light may be lit, too
  for (const std::size_t which : {0, 1}) {
    AgentBench bench(other);
    bench.start();
    bench.run_for(milliseconds{100});
    bench.commit(bench.static_plan(1, 16));
    const DeviceId id = steering(bench)[which];
    CAPTURE(bench.fabric->device(id).name);
    bench.log.clear();
    bench.receive({}, ResetDevice{id, 7});
    bench.step_until<DeviceReset>();
    REQUIRE(bench.last<DeviceReset>() != nullptr);
    CHECK(bench.last<DeviceReset>()->outcome.ok());  // it is as it was set
    lose_power(bench, id);
    bench.receive({}, ResetDevice{id, 8});
    bench.step_until<DeviceReset>();
    CHECK(is_refused_as(bench.last<DeviceReset>()->outcome, ErrorCode::refused, bench.fabric->device(id).name));
    bench.run_for(seconds{2});
    CHECK(bench.log.empty());
  }
}

TEST_CASE("only_lasers_have_timeslots") {
  AgentBench bench;
  bench.start();
  for (const DeviceId id : steering(bench)) {
    NodePlan plan = bench.static_plan(1, 16);
    AgentBench::part(plan, id).timeline.front().hold = milliseconds{5};
    plan.revision = Revision{10 + id.value};
    bench.receive(plan.revision, Prepare{plan});
    REQUIRE(bench.last<Prepared>() != nullptr);
    CHECK(is_refused_as(bench.last<Prepared>()->outcome, ErrorCode::unsupported, bench.fabric->device(id).name));
  }
}
