// SPDX-License-Identifier: Apache-2.0
// What a commit that failed leaves in doubt, and how the next plan is widened to it.
#include "controller/control/commit/uncertain_state.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/architectures/small_fabrics.hpp"

namespace loom::test {
namespace {

struct Bench {
  std::shared_ptr<const Fabric> fabric = small_fabric(3);
  std::shared_ptr<PlanResult> result;
  KnownState known;

  Bench() {
    Planning planning(fabric);
    planning.request.intent.jobs = {placed_job(1, {0, 1, 2, 3})};
    const auto made = planning.attempt();
    REQUIRE(made);
    result = std::make_shared<PlanResult>(**made);
    for (NodePlan& node : result->plan.nodes.edit_all()) {
      for (DevicePlan& device : node.devices) {
        device.touched = false;
      }
    }
    result->plan.changed.clear();
    result->plan.touched.clear();
    result->plan.moved_steering.clear();
    known.confirmed = &result->plan;
    known.observations.resize(fabric->devices.size());
  }
  std::shared_ptr<const PlanResult> widen(const RepairScope& uncertain, const RepairScope& repaired = {}) const {
    return widened(result, *fabric, uncertain, repaired, known, std::vector<bool>(fabric->nodes.size()));
  }
  DeviceId laser_of(std::uint32_t node, std::size_t index = 0) const {
    for (const DeviceId id : fabric->devices_of_agent[node]) {
      if (fabric->device(id).role == DeviceRole::transmitter && index-- == 0) {
        return id;
      }
    }
    FAIL("no such laser");
    return {};
  }
  DevicePlan& share(PlanResult& of, DeviceId id) const {
    for (DevicePlan& device : of.plan.nodes.edit(fabric->device(id).agent.value).devices) {
      if (device.device == id) {
        return device;
      }
    }
    FAIL("no such device");
    return of.plan.nodes.edit(0).devices[0];
  }
  bool is_touched(const PlanResult& of, DeviceId id) const { return share(const_cast<PlanResult&>(of), id).touched; }
  /// A switch, and the node that drives it.
  DeviceId ocs(std::size_t index) const {
    for (const Device& device : fabric->devices) {
      if (device.role == DeviceRole::circuit_switch && index-- == 0) {
        return device.id;
      }
    }
    FAIL("no such switch");
    return {};
  }
};

TEST_CASE("what a plan that went leaves in doubt is what it touches of agents that take part") {
  Bench bench;
  auto plan = std::make_shared<PlanResult>(*bench.result);
  plan->plan.changed = {NodeId{1}};
  plan->plan.moved_steering = {bench.ocs(1), bench.ocs(0)};
  bench.share(*plan, bench.laser_of(1)).touched = true;
  bench.share(*plan, bench.laser_of(2)).touched = true;  // its agent is not asked
  UncertainState state;
  CHECK(state.empty());
  state.add({plan, &plan->plan});
  CHECK_FALSE(state.empty());
  CHECK(state.scope().devices == std::vector<DeviceId>{bench.laser_of(1)});
  CHECK(state.scope().steering == std::vector<DeviceId>{bench.ocs(0), bench.ocs(1)});
  CHECK(state.has_node(NodeId{1}));
  CHECK_FALSE(state.has_node(NodeId{2}));
  CHECK(state.has_device(bench.laser_of(1)));
  CHECK_FALSE(state.has_device(bench.laser_of(1, 1)));
  state.clear();
  CHECK(state.empty());
  CHECK(state.plans().empty());
}

TEST_CASE("of an agent that failed its own switches are to be read, and no other's") {
  Bench bench;
  UncertainState state;
  state.add(RepairScope{{NodeId{0}, NodeId{1}}, {}, {bench.ocs(0), bench.ocs(1)}});
  const Instant now{std::chrono::seconds{3}};
  state.distrust_steering(*bench.fabric, bench.fabric->device(bench.ocs(1)).agent, now);
  CHECK(state.unread() == std::vector<DeviceId>{bench.ocs(1)});
  CHECK(state.unread_since() == now);
  state.distrust(bench.ocs(0), now + std::chrono::seconds{1});
  CHECK(state.unread().size() == 2);
  state.forget_unread();
  CHECK(state.unread().empty());
}

TEST_CASE("a plan is as it was where nothing is in doubt, drifted or known otherwise") {
  Bench bench;
  CHECK(bench.widen({}) == bench.result);
}

TEST_CASE("a plan is widened to what is in doubt, to what drifted, or to what a switch is known to hold") {
  Bench bench;
  const DeviceId laser = bench.laser_of(1);
  const RepairScope scope{{NodeId{1}}, {laser}, {}};
  for (const bool is_uncertain : {true, false}) {
    const auto wide = is_uncertain ? bench.widen(scope) : bench.widen({}, scope);
    CHECK(wide->plan.changed == std::vector<NodeId>{NodeId{1}});
    CHECK(bench.is_touched(*wide, laser));
    CHECK_FALSE(bench.is_touched(*wide, bench.laser_of(1, 1)));
    CHECK_FALSE(bench.is_touched(*wide, bench.laser_of(2)));
    std::vector<CircuitId> of_laser;  // one of node 1's two has light
    for (const Circuit& circuit : wide->plan.circuits) {
      if (bench.fabric->device_of_element[circuit.transmitter.value] == laser) {
        of_laser.push_back(circuit.id);
      }
    }
    REQUIRE_FALSE(of_laser.empty());
    CHECK(wide->plan.touched == of_laser);
  }
}

TEST_CASE("what the plan itself touches stays touched beside what is in doubt") {
  Bench bench;
  const DeviceId own = bench.laser_of(1, 1);
  bench.result->plan.changed = {NodeId{1}};
  bench.share(*bench.result, own).touched = true;
  const auto wide = bench.widen({{NodeId{1}}, {bench.laser_of(1)}, {}});
  CHECK(bench.is_touched(*wide, own));
  CHECK(bench.is_touched(*wide, bench.laser_of(1)));
  CHECK(wide->plan.changed == std::vector<NodeId>{NodeId{1}});
}

TEST_CASE("a switch that moves and was read otherwise than planned takes the light that meets it along") {
  Bench bench;
  const DeviceId ocs = bench.ocs(0);
  const NodeId agent = bench.fabric->device(ocs).agent;
  DevicePlan& share = bench.share(*bench.result, ocs);
  share.touched = true;
  bench.result->plan.changed = {agent};
  bench.result->plan.moved_steering = {ocs};
  REQUIRE_FALSE(std::get<CircuitSwitchSetpoint>(share.timeline[0].setpoint).connects.empty());
  Observation seen{ocs, DeviceHealth::ready, {}, CircuitSwitchObservation{{{0, 7}, {1, 6}}, true}, {}};
  bench.known.observations[ocs.value] = &seen;
  const auto wide = bench.widen({});
  CHECK(wide != bench.result);
  CHECK(wide->plan.changed.size() > 1);
  CHECK_FALSE(wide->plan.touched.empty());
}

}  // namespace
}  // namespace loom::test
