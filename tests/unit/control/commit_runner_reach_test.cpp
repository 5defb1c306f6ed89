// SPDX-License-Identifier: Apache-2.0
// What a commit can ask of nobody: agents that are away, devices that are left alone, light that nobody can prove dark.
#include "tests/unit/control/commit_runner_bench.hpp"

namespace loom::test {
namespace {

/// A job in light, and a plan that is as confirmed, for the test to change.
struct Bench : RunnerBench {
  Bench() { light(1, {2, 3}); }
  std::shared_ptr<PlanResult> same() const {
    auto plan = std::make_shared<PlanResult>(*confirmed.present());
    plan->plan.revision = orders.back()->revision;
    plan->intent = desired.intent();
    plan->plan.changed.clear();
    plan->plan.touched.clear();
    plan->plan.moved_steering.clear();
    for (NodePlan& node : plan->plan.nodes.edit_all()) {
      for (DevicePlan& device : node.devices) {
        device.touched = false;
      }
    }
    return plan;
  }
  DevicePlan& share(PlanResult& plan, DeviceId id) const {
    for (DevicePlan& device : plan.plan.nodes.edit(facts.fabric->device(id).agent.value).devices) {
      if (device.device == id) {
        return device;
      }
    }
    FAIL("no such device");
    return plan.plan.nodes.edit(0).devices[0];
  }
  const Plan& under_way() const {
    REQUIRE(runner.under_way() != nullptr);
    return runner.under_way()->plan().plan;
  }
  /// The switch that the light of node 2's first circuit passes loses its rows.
  std::shared_ptr<PlanResult> without_rows() const {
    auto plan = same();
    for (const std::uint32_t node : {0U, 1U}) {
      const DeviceId ocs = device(node, DeviceRole::circuit_switch);
      DevicePlan& of = share(*plan, ocs);
      of.touched = true;
      std::get<CircuitSwitchSetpoint>(of.timeline.front().setpoint).connects.clear();
      plan->plan.changed.push_back(NodeId{node});
      plan->plan.moved_steering.push_back(ocs);
    }
    std::sort(plan->plan.moved_steering.begin(), plan->plan.moved_steering.end());
    return plan;
  }
};

TEST_CASE("a repair asks nothing of an agent that is given up, nor of a device that is left alone") {
  Bench bench;
  SECTION("given up") {
    bench.want();
    bench.await_request();
    bench.pass(bench.facts.timings.stage_deadline, {NodeId{3}});
    bench.runner.repair_with_next_plan(
        {{NodeId{2}, NodeId{3}}, {bench.laser(2), bench.laser(2, 1), bench.laser(3), bench.laser(3, 1)}, {}});
    bench.planned(bench.same());
    CHECK(bench.under_way().changed == std::vector<NodeId>{NodeId{2}});
    for (const Circuit& circuit : bench.under_way().circuits) {
      const auto& touched = bench.under_way().touched;
      CHECK(std::binary_search(touched.begin(), touched.end(), circuit.id) == (circuit.source == NodeId{2}));
    }
  }
  SECTION("left alone") {
    bench.want();
    bench.await_request();
    const auto plan = bench.same();
    bench.share(*plan, bench.laser(2, 1)).left_alone = true;
    bench.runner.repair_with_next_plan({{NodeId{2}}, {bench.laser(2), bench.laser(2, 1)}, {}});
    bench.planned(plan);
    auto copy = bench.runner.under_way()->plan();
    CHECK(bench.share(copy, bench.laser(2)).touched);
    CHECK_FALSE(bench.share(copy, bench.laser(2, 1)).touched);
  }
}

TEST_CASE("a node in maintenance that is away is waited for only where its light may meet what moves") {
  Bench bench;
  Intent intent = bench.desired.intent();
  intent.maintenance = {NodeId{2}};
  bench.desired.replace(intent);
  bench.pass(bench.facts.timings.dead_after, {NodeId{2}});
  bench.want();
  bench.pass(bench.facts.timings.debounce, {NodeId{2}});
  bench.consider();
  REQUIRE_FALSE(bench.orders.empty());
  SECTION("it may") {
    bench.planned(bench.without_rows());
    const auto& changed = bench.under_way().changed;
    CHECK(std::find(changed.begin(), changed.end(), NodeId{2}) != changed.end());
    CHECK_THAT(bench.runner.waits_for(), Catch::Contains("the agent of node 2"));
  }
  SECTION("somebody has seen that it is dark") {
    bench.sessions.vouch_dark(NodeId{2});
    auto plan = bench.without_rows();
    plan->plan.changed.push_back(NodeId{2});
    bench.planned(plan);
    CHECK(bench.under_way().changed == std::vector<NodeId>{NodeId{0}, NodeId{1}});
    CHECK(bench.runner.waits_for().empty());
  }
}

TEST_CASE("nothing moves in light of a laser that follows no order, unless that was read dark, nobody is refused for it") {
  Bench bench;
  bench.add(2, {4, 5});
  bench.want();
  bench.await_request();
  const auto plan = bench.without_rows();
  for (const std::size_t index : {0U, 1U}) {
    bench.share(*plan, bench.laser(2, index)).left_alone = true;
  }
  const auto give_up = [&] {
    for (const std::size_t index : {0U, 1U}) {
      bench.unusable.observe({bench.laser(2, index), DeviceHealth::failed, bench.facts.now, {}, "no light"}, bench.scratch);
    }
  };
  SECTION("it may shine") {
    give_up();
    bench.planned(plan);
    CHECK(bench.runner.under_way() == nullptr);
    CHECK_THAT(bench.last().reason, Catch::Contains("which follows no order, may meet what moves"));
    CHECK(bench.state(2) == JobState::pending);
    const bool is_held = bench.unusable.is_unusable(bench.device(0, DeviceRole::circuit_switch)) ||
                         bench.unusable.is_unusable(bench.device(1, DeviceRole::circuit_switch));
    CHECK(is_held);
  }
  SECTION("it follows orders again since it was planned, and was not asked") {
    bench.planned(plan);
    CHECK(bench.runner.under_way() == nullptr);
  }
  SECTION("it was read dark") {
    give_up();
    bench.pass(std::chrono::seconds{1});
    for (const std::size_t index : {0U, 1U}) {
      bench.readings.keep(Observation{bench.laser(2, index), DeviceHealth::failed, bench.facts.now,
                                      TransmitterObservation{{}, Dbm{kNoLight}, false, false, 0, 0}, "no light"});
    }
    bench.planned(plan);
    CHECK(bench.runner.under_way() != nullptr);
  }
}

TEST_CASE("what follows a revision is ordered again when it fails, and nothing else is") {
  Bench bench;
  const bool is_followed = GENERATE(true, false);
  auto present = std::make_shared<PlanResult>(*bench.confirmed.present());
  present->schedule.jobs.back().waiting = is_followed ? 1 : 0;
  bench.confirmed.confirm(present);
  bench.want();
  bench.await_request();
  const auto plan = bench.made();
  plan->plan.changed = {NodeId{2}};
  bench.planned(plan);
  bench.handle(CommitState::preparing);
  REQUIRE(bench.runner.under_way() != nullptr);
  bench.fail_now();
  REQUIRE(bench.returns.uncertain().empty());
  bench.durable();
  CHECK(bench.runner.is_idle() != is_followed);
  CHECK(bench.returns.misses_something() == is_followed);
  if (is_followed) {
    bench.await_request();
    CHECK_THAT(bench.orders.back()->reason, Catch::StartsWith("again"));
  }
}

TEST_CASE("maintenance whose plan is refused is taken back where light needs the node, aloud, and stays elsewhere") {
  RunnerBench bench;
  bench.light(1, {2, 3});
  const auto [node, is_needed] = GENERATE(std::pair{NodeId{2}, true},  // light of its own
                                          std::pair{NodeId{0}, true},  // drives a switch that the light passes
                                          std::pair{NodeId{7}, false});
  CAPTURE(node.value);
  Intent asked = bench.desired.intent();
  set_member(asked.maintenance, node, true);
  set_member(asked.drained, node, true);
  bench.desired.replace(asked);
  const std::uint64_t ordered = bench.sessions[node].laser_order;
  bench.want("node goes into maintenance");
  bench.await_request();
  bench.refuse_plan();
  CHECK(bench.desired.in_maintenance(node) != is_needed);
  CHECK(bench.desired.intent().drained.empty() == is_needed);
  CHECK((bench.sessions[node].node_order > ordered) == is_needed);  // it may be latched for it already
  CHECK(bench.state(1) == JobState::lit);
  const auto is_told = [&](const StandingAlarm& row) {
    return row.alarm.node == node &&
           row.alarm.evidence.find("does not go into maintenance, its light goes on: no free path") != std::string::npos;
  };
  CHECK(std::ranges::any_of(bench.alarms.rows(), is_told) == is_needed);
}

}  // namespace
}  // namespace loom::test
