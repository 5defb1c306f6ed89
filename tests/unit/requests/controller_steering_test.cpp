// SPDX-License-Identifier: Apache-2.0
// Light and devices that are not as confirmed: before the first plan, while an agent is away, and where one was found
// otherwise.
#include "controller/plan/reconcile/reconcile.hpp"
#include "tests/unit/requests/request_bench.hpp"

namespace loom::test {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

DeviceId device_named(const RequestBench& bench, const std::string& name) {
  for (const Device& device : bench.fabric->devices) {
    if (device.name == name) {
      return device.id;
    }
  }
  FAIL("no device " << name);
  return {};
}

Observation seen(const RequestBench& bench, DeviceId device, Reading reading) {
  return {device, DeviceHealth::ready, bench.now, std::move(reading), {}};
}

TransmitterObservation emitting(FrequencySlot slot) { return {centre_of(slot), Dbm{0}, true, true, 0, 0}; }

FrequencySlot slot_of(const RequestBench& bench, DeviceId laser, std::int32_t channel) {
  return std::get<Transmitter>(bench.fabric->element(bench.fabric->device(laser).elements[0]).kind).channels.slot(channel);
}

const DevicePlan* last_plan_of(const RequestBench& bench, DeviceId device) {
  const DevicePlan* last = nullptr;
  for (const Envelope& envelope : bench.sent) {
    const auto* prepare = std::get_if<Prepare>(&envelope.body);
    for (std::size_t i = 0; prepare != nullptr && i < prepare->plan.devices.size(); ++i) {
      last = prepare->plan.devices[i].device == device ? &prepare->plan.devices[i] : last;
    }
  }
  return last;
}

JobSpec ring_of(std::uint32_t nodes) {
  JobSpec spec;
  spec.name = "ring";
  spec.workload = "test";
  spec.node_count = nodes;
  spec.collectives = {{CollectiveKind::all_reduce, {}, Bytes{1'000'000}}};
  return spec;
}

bool has_drift_alarm(const RequestBench& bench, DeviceId device) {
  return std::any_of(bench.alarms.begin(), bench.alarms.end(),
                     [&](const Alarm& alarm) { return alarm.code == AlarmCode::drift && alarm.device == device; });
}

}  // namespace

TEST_CASE("light before the first plan is an alarm at once and is darkened by a commit") {
  RequestBench bench;
  const DeviceId laser = bench.laser_of(NodeId{5});
  bench.receive(NodeId{5}, ObservationReport{{seen(bench, laser, emitting(slot_of(bench, laser, 2)))}});
  bench.pump();
  CHECK(has_drift_alarm(bench, laser));
  CHECK(bench.rows<DeviceReport>(Noun::devices, laser.value).front().drift == Drift::foreign);
  bench.run_for(seconds{3});
  bench.settle();
  const DevicePlan* plan = last_plan_of(bench, laser);
  REQUIRE(plan != nullptr);
  CHECK(plan->touched);
  CHECK_FALSE(emits(plan->timeline.front().setpoint));
  CHECK(bench.controller->confirmed() == Revision{1});
  CHECK(bench.controller->confirmed_plan()->plan.changed == std::vector{NodeId{5}});
}

TEST_CASE("light of agents that hold a plan nobody here knows stays until a plan is asked for, and goes dark with that") {
  RequestBench bench;
  const DeviceId laser = bench.laser_of(NodeId{5});
  bench.receive(NodeId{5}, Hello{"test", 99, {}, Revision{7}, false, {}});
  bench.receive(NodeId{5}, ObservationReport{{seen(bench, laser, emitting(slot_of(bench, laser, 2)))}});
  for (int i = 0; i < 50; ++i) {
    bench.receive(NodeId{5}, Heartbeat{Revision{7}, Revision{7}, false});
    bench.pump();
    bench.now = bench.now + milliseconds{100};
  }
  CHECK(has_drift_alarm(bench, laser));
  CHECK(bench.delivered<Prepare>() == 0);
  REQUIRE(bench.ask(SubmitJob{ring_of(2), false}).outcome.ok());
  bench.settle();
  const DevicePlan* plan = last_plan_of(bench, laser);
  REQUIRE(plan != nullptr);
  CHECK(plan->touched);
  CHECK_FALSE(emits(plan->timeline.front().setpoint));
}

TEST_CASE("routes that were read before the first plan are where its switches move from") {
  RequestBench bench;
  const DeviceId wss = device_named(bench, "wss-out-0");
  const WssRoute left{slot_of(bench, bench.laser_of(NodeId{0}), 5), 0, 1, Db{0}};
  bench.receive(NodeId{0}, ObservationReport{{seen(bench, wss, WavelengthSwitchObservation{{left}, true})}});
  bench.pump();
  bench.light(2);
  const DevicePlan* plan = last_plan_of(bench, wss);
  REQUIRE(plan != nullptr);
  CHECK(plan->touched);
  const auto& routes = std::get<WavelengthSwitchSetpoint>(plan->timeline.front().setpoint).routes;
  CHECK(std::find(routes.begin(), routes.end(), left) == routes.end());
  CHECK(std::find(plan->may_hold.begin(), plan->may_hold.end(), Setpoint{WavelengthSwitchSetpoint{{left}}}) !=
        plan->may_hold.end());
}

TEST_CASE(
    "a device found other than the plan takes it for has the light that meets it darkened, and the job is lit all the same") {
  RequestBench bench;
  bench.light(2);
  const auto first = bench.controller->confirmed_plan();
  const DeviceId wss = device_named(bench, "wss-in-0");
  bool found = false;
  bench.objection = [&](NodeId node, const NodePlan& plan) -> std::optional<Error> {
    const auto moved = std::find_if(plan.devices.begin(), plan.devices.end(),
                                    [&](const DevicePlan& each) { return each.device == wss && each.touched; });
    if (node != bench.fabric->device(wss).agent || moved == plan.devices.end() || found) {
      return std::nullopt;
    }
    found = true;  // its power went; the agent says so with its answer
    bench.receive(node, ObservationReport{{seen(bench, wss, WavelengthSwitchObservation{{}, true})}});
    return Error{ErrorCode::busy, "device wss-in-0 has lost a route"};
  };
  const OperatorReply reply = bench.ask(SubmitJob{ring_of(2), false});
  REQUIRE(reply.outcome.ok());
  bench.settle();
  REQUIRE(found);
  INFO(bench.controller->jobs().at(reply.job).reason);
  CHECK(bench.controller->jobs().at(reply.job).state == JobState::lit);
  for (const Circuit& circuit : first->plan.circuits) {  // of the job that nobody asked to change
    const DevicePlan* laser = last_plan_of(bench, *bench.fabric->device_of_element[circuit.transmitter.value]);
    REQUIRE(laser != nullptr);
    CHECK(laser->touched);
  }
  const auto& may_hold = last_plan_of(bench, wss)->may_hold;
  CHECK(std::find(may_hold.begin(), may_hold.end(), Setpoint{WavelengthSwitchSetpoint{}}) != may_hold.end());
}

TEST_CASE("a surprise that goes on is bounded, and the job is refused with the device's name") {
  RequestBench bench;
  bench.light(2);
  const DeviceId wss = device_named(bench, "wss-in-0");
  bench.objection = [&](NodeId node, const NodePlan& plan) -> std::optional<Error> {
    const bool moves = std::any_of(plan.devices.begin(), plan.devices.end(),
                                   [&](const DevicePlan& each) { return each.device == wss && each.touched; });
    return node == bench.fabric->device(wss).agent && moves
               ? std::optional(Error{ErrorCode::busy, "device wss-in-0 holds what nobody expects there"})
               : std::nullopt;
  };
  const OperatorReply reply = bench.ask(SubmitJob{ring_of(2), false});
  REQUIRE(reply.outcome.ok());
  bench.run_for(seconds{60});
  bench.settle();
  CHECK(bench.controller->jobs().at(reply.job).state == JobState::refused);
  CHECK(mentions(bench.controller->jobs().at(reply.job).reason, "wss-in-0"));
}

TEST_CASE("light of a node that went away on its way into maintenance is not steered, until somebody says that it is dark") {
  const bool is_reported_dark = GENERATE(false, true);
  RequestBench bench;
  const JobId job = bench.light(2);
  const auto first = bench.controller->confirmed_plan();
  const NodeId node = bench.controller->intent().jobs.front().nodes.front();
  const auto circuit = std::find_if(first->plan.circuits.begin(), first->plan.circuits.end(),
                                    [&](const Circuit& each) { return each.source == node; });
  REQUIRE(circuit != first->plan.circuits.end());
  const auto keeps_its_way = [&] {
    const auto& plan = bench.controller->confirmed_plan()->plan;
    const DeviceId wss = device_named(bench, "wss-out-0");
    const auto* device = &plan.nodes[0].devices.front();
    for (const DevicePlan& each : plan.nodes[0].devices) {
      device = each.device == wss ? &each : device;
    }
    const auto& routes = std::get<WavelengthSwitchSetpoint>(device->timeline.front().setpoint).routes;
    return std::any_of(routes.begin(), routes.end(), [&](const WssRoute& route) { return route.slot == circuit->slot; });
  };
  REQUIRE(keeps_its_way());
  REQUIRE(bench.ask(CancelJob{job}).outcome.ok());
  bench.silent.insert(node);  // before it is dark
  if (is_reported_dark) {
    bench.run_for(seconds{30});
    REQUIRE(bench.ask(NodeRequest{node, NodeAction::maintain, true}).outcome.ok());
  } else {
    REQUIRE(bench.ask(NodeRequest{node, NodeAction::maintain}).outcome.ok());
    bench.run_for(seconds{30});
    REQUIRE(bench.ask(SubmitJob{ring_of(2), false}).outcome.ok());
  }
  bench.run_for(seconds{30});
  bench.settle();
  CHECK(keeps_its_way() != is_reported_dark);
}

}  // namespace loom::test
