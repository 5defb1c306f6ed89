// SPDX-License-Identifier: Apache-2.0
// What was found, said as an override, and what a plan makes of it.
#include "controller/plan/reconcile/adoption.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

#include "controller/architectures/oddl/fabric.hpp"
#include "controller/architectures/registry.hpp"
#include "controller/plan/pipeline.hpp"

namespace {

using namespace loom;

/// 8 nodes of ODDL, 4 of them in light; an idle laser, and the devices of a lit node.
struct Lab {
  Lab() {
    OddlParameters parameters;
    parameters.nodes = 8;
    parameters.group_size = 4;
    parameters.channels = 6;
    request.fabric = std::make_shared<const Fabric>(make_oddl(parameters));
    request.revision = Revision{1};
    Job job;
    job.id = JobId{1};
    job.spec.node_count = 4;
    job.spec.collectives = {{CollectiveKind::all_reduce, {}, Bytes{1'000}, 1}};
    request.intent.jobs = {job};
    confirmed = *make_plan(all_architectures(), request);
    request.base = {confirmed, &confirmed->plan};
    request.intent = confirmed->intent;
    request.next_circuit = confirmed->next_circuit;
    request.revision = Revision{2};
  }

  const DevicePlan& plan_of(const Plan& plan, DeviceId id) const {
    const auto& devices = plan.nodes[request.fabric->device(id).agent.value].devices;
    return *std::find_if(devices.begin(), devices.end(), [&](const DevicePlan& each) { return each.device == id; });
  }
  const DevicePlan& desired(DeviceId id) const { return plan_of(confirmed->plan, id); }
  DeviceId laser_of(NodeId node) const {
    return *request.fabric->device_of_element[request.fabric->nodes[node.value].transmitters.front().value];
  }
  DeviceId lit_laser() const { return laser_of(confirmed->plan.circuits.front().source); }
  DeviceId idle_laser() const {
    const auto& nodes = confirmed->intent.jobs.front().nodes;
    for (const Node& node : request.fabric->nodes) {
      if (std::find(nodes.begin(), nodes.end(), node.id) == nodes.end()) {
        return laser_of(node.id);
      }
    }
    return {};
  }
  DeviceId busy_wss() const {
    for (const Device& device : request.fabric->devices) {
      if (device.role == DeviceRole::wavelength_switch &&
          !std::get<WavelengthSwitchSetpoint>(desired(device.id).timeline.front().setpoint).routes.empty()) {
        return device.id;
      }
    }
    return {};
  }
  const Transmitter& transmitter(DeviceId laser) const {
    return std::get<Transmitter>(request.fabric->element(request.fabric->device(laser).elements.front()).kind);
  }
  Result<DeviceOverride> adopt(DeviceId id, Reading reading, Drift drift = Drift::foreign) const {
    return adoption_of(*request.fabric, desired(id), {id, DeviceHealth::ready, {}, std::move(reading), {}}, drift, Revision{1},
                       nullptr);
  }
  Result<std::shared_ptr<const PlanResult>> plan_with(const DeviceOverride& adopted) {
    request.intent.overrides = {adopted};
    return make_plan(all_architectures(), request);
  }

  PlanRequest request;
  std::shared_ptr<const PlanResult> confirmed;
};

TEST_CASE("a plan beside which something was found names its agent and touches nothing") {
  Lab lab;
  const DeviceId laser = lab.idle_laser();
  const Transmitter& transmitter = lab.transmitter(laser);
  const auto adopted = lab.adopt(
      laser, TransmitterObservation{centre_of(transmitter.channels.slot(5)), transmitter.launch_power, true, true, 0, 0});
  REQUIRE(adopted);
  const auto made = lab.plan_with(*adopted);
  REQUIRE(made);
  const Plan& plan = (*made)->plan;
  CHECK(plan.changed == std::vector{lab.request.fabric->device(laser).agent});
  CHECK(plan.touched.empty());
  CHECK_FALSE(lab.plan_of(plan, laser).touched);
  CHECK(emits(lab.plan_of(plan, laser).timeline.front().setpoint));
  CHECK(plan.circuits == lab.confirmed->plan.circuits);
}

TEST_CASE("the power of a dim laser becomes that of its circuit, which keeps its id") {
  Lab lab;
  const DeviceId laser = lab.lit_laser();
  const auto& planned = std::get<TransmitterSetpoint>(lab.desired(laser).timeline.front().setpoint);
  const Dbm weak = planned.power - Db{400};
  const auto adopted = lab.adopt(laser, TransmitterObservation{centre_of(planned.slot), weak, true, true, 0, 0}, Drift::dim);
  REQUIRE(adopted);
  const auto made = lab.plan_with(*adopted);
  REQUIRE(made);
  CHECK(std::get<TransmitterSetpoint>(lab.plan_of((*made)->plan, laser).timeline.front().setpoint) ==
        TransmitterSetpoint{planned.slot, weak, true});
  CHECK((*made)->plan.touched.empty());
  CHECK((*made)->plan.circuits == lab.confirmed->plan.circuits);

  lab.request.base = {*made, &(*made)->plan};  // a later plan finds nothing to change
  lab.request.revision = Revision{3};
  const auto later = make_plan(all_architectures(), lab.request);
  REQUIRE(later);
  CHECK((*later)->plan.changed.empty());
}

TEST_CASE("an adoption that is cleared gives the device back to the plan") {
  Lab lab;
  const DeviceId laser = lab.idle_laser();
  const Transmitter& transmitter = lab.transmitter(laser);
  const auto adopted = lab.adopt(
      laser, TransmitterObservation{centre_of(transmitter.channels.slot(5)), transmitter.launch_power, true, true, 0, 0});
  REQUIRE(adopted);
  const auto made = lab.plan_with(*adopted);
  REQUIRE(made);
  lab.request.base = {*made, &(*made)->plan};
  lab.request.revision = Revision{3};
  lab.request.intent.overrides.clear();
  const auto cleared = make_plan(all_architectures(), lab.request);
  REQUIRE(cleared);
  CHECK(lab.plan_of((*cleared)->plan, laser).touched);
  CHECK_FALSE(emits(lab.plan_of((*cleared)->plan, laser).timeline.front().setpoint));
}

TEST_CASE("light on no channel is not adopted, and neither is a switch that lacks a desired row") {
  const Lab lab;
  const DeviceId laser = lab.idle_laser();
  const Frequency beside = centre_of(lab.transmitter(laser).channels.slot(2)) + FrequencyOffset{9'000};
  const auto off_grid = lab.adopt(laser, TransmitterObservation{beside, Dbm{0}, true, true, 0, 0});
  REQUIRE_FALSE(off_grid);
  CHECK(off_grid.error().message.find("is on none of its 6 channels") != std::string::npos);

  const DeviceId wss = lab.busy_wss();
  auto routes = std::get<WavelengthSwitchSetpoint>(lab.desired(wss).timeline.front().setpoint).routes;
  routes.front().output ^= 1U;
  const auto moved = lab.adopt(wss, WavelengthSwitchObservation{routes, true});
  REQUIRE_FALSE(moved);
  CHECK(moved.error().message.find("is desired and is missing there") != std::string::npos);
}

TEST_CASE("a row that the plan needs is refused with the adopted one named and the command that clears it") {
  Device device;
  device.id = DeviceId{7};
  device.name = "ocs-0";
  device.role = DeviceRole::circuit_switch;
  const DeviceOverride adopted{device.id, CircuitSwitchSetpoint{{{1, 4}, {3, 2}}}, Revision{1}};
  const std::vector<TimedSetpoint> planned{{{}, {}, kForever, CircuitSwitchSetpoint{{{0, 5}, {2, 6}}}}};
  const auto both = beside(device, planned, adopted);
  REQUIRE(both);
  CHECK(both->front().setpoint == Setpoint{CircuitSwitchSetpoint{{{0, 5}, {1, 4}, {2, 6}, {3, 2}}}});

  const auto taken = beside(device, {{{}, {}, kForever, CircuitSwitchSetpoint{{{0, 4}}}}}, adopted);
  REQUIRE_FALSE(taken);
  CHECK(taken.error().code == ErrorCode::conflict);
  CHECK(taken.error().message == "ocs-0 (device 7): input 1 to output 4 was adopted, and the plan needs input 0 to output 4");
  CHECK(taken.error().next_command == "loom device set 7 --clear");
}

TEST_CASE("a WSS route of another colour stands beside an adopted one, an overlapping one of its input does not") {
  Device device;
  device.name = "wss-0";
  device.role = DeviceRole::wavelength_switch;
  const DeviceOverride adopted{device.id, WavelengthSwitchSetpoint{{{FrequencySlot{8, 4}, 1, 2, Db{0}}}}, Revision{1}};
  const auto planned = [](FrequencySlot slot, std::uint16_t input, std::uint16_t output) {
    return std::vector<TimedSetpoint>{{{}, {}, kForever, WavelengthSwitchSetpoint{{{slot, input, output, Db{0}}}}}};
  };
  CHECK(beside(device, planned({0, 4}, 1, 3), adopted));
  CHECK(beside(device, planned({8, 4}, 0, 3), adopted));
  CHECK_FALSE(beside(device, planned({8, 4}, 1, 3), adopted));
  CHECK_FALSE(beside(device, planned({6, 4}, 0, 2), adopted));
  CHECK(beside(device, planned({8, 4}, 1, 2), adopted) == planned({8, 4}, 1, 2));
}

}  // namespace
