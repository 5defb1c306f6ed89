// Light and devices that are not as confirmed: before the first plan, while an agent is away, and where one was found
// otherwise.
#include "controller/plan/reconcile.hpp"
#include "desk_bench.hpp"

namespace loom::test {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

DeviceId device_named(const DeskBench& desk, const std::string& name) {
  for (const Device& device : desk.fabric->devices) {
    if (device.name == name) {
      return device.id;
    }
  }
  FAIL("no device " << name);
  return {};
}

Observation seen(const DeskBench& desk, DeviceId device, Reading reading) {
  return {device, DeviceHealth::ready, desk.now, std::move(reading), {}};
}

LaserObservation shining(FrequencySlot slot) { return {centre_of(slot), Dbm{0}, true, true, 0, 0}; }

FrequencySlot slot_of(const DeskBench& desk, DeviceId laser, std::int32_t channel) {
  return std::get<Transmitter>(desk.fabric->element(desk.fabric->device(laser).elements[0]).kind).channels.slot(channel);
}

const DevicePlan* last_plan_of(const DeskBench& desk, DeviceId device) {
  const DevicePlan* last = nullptr;
  for (const Envelope& envelope : desk.sent) {
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

bool has_drift_alarm(const DeskBench& desk, DeviceId device) {
  return std::any_of(desk.alarms.begin(), desk.alarms.end(),
                     [&](const Alarm& alarm) { return alarm.code == AlarmCode::drift && alarm.device == device; });
}

}  // namespace

TEST_CASE("light before the first plan is an alarm at once and is darkened by a commit") {
  DeskBench desk;
  const DeviceId laser = desk.laser_of(NodeId{5});
  desk.hear(NodeId{5}, ObservationReport{{seen(desk, laser, shining(slot_of(desk, laser, 2)))}});
  desk.pump();
  CHECK(has_drift_alarm(desk, laser));
  CHECK(desk.rows<DeviceReport>(Noun::devices, laser.value).front().drift == Drift::foreign);
  desk.run_for(seconds{3});
  desk.settle();
  const DevicePlan* plan = last_plan_of(desk, laser);
  REQUIRE(plan != nullptr);
  CHECK(plan->touched);
  CHECK_FALSE(emits(plan->timeline.front().setpoint));
  CHECK(desk.controller->confirmed() == Revision{1});
  CHECK(desk.controller->confirmed_plan()->plan.changed == std::vector{NodeId{5}});
}

TEST_CASE("light of agents that hold a plan nobody here knows stays until a plan is asked for, and goes dark with that") {
  DeskBench desk;
  const DeviceId laser = desk.laser_of(NodeId{5});
  desk.hear(NodeId{5}, Hello{"test", 99, {}, Revision{7}, false, {}});
  desk.hear(NodeId{5}, ObservationReport{{seen(desk, laser, shining(slot_of(desk, laser, 2)))}});
  for (int i = 0; i < 50; ++i) {
    desk.hear(NodeId{5}, Heartbeat{Revision{7}, Revision{7}, false});
    desk.pump();
    desk.now = desk.now + milliseconds{100};
  }
  CHECK(has_drift_alarm(desk, laser));
  CHECK(desk.said<Prepare>() == 0);
  REQUIRE(desk.ask(SubmitJob{ring_of(2), false}).outcome.ok());
  desk.settle();
  const DevicePlan* plan = last_plan_of(desk, laser);
  REQUIRE(plan != nullptr);
  CHECK(plan->touched);
  CHECK_FALSE(emits(plan->timeline.front().setpoint));
}

TEST_CASE("routes that were read before the first plan are where its switches move from") {
  DeskBench desk;
  const DeviceId wss = device_named(desk, "wss-out-0");
  const WssRoute left{slot_of(desk, desk.laser_of(NodeId{0}), 5), 0, 1, Db{0}};
  desk.hear(NodeId{0}, ObservationReport{{seen(desk, wss, WssObservation{{left}, true})}});
  desk.pump();
  desk.light(2);
  const DevicePlan* plan = last_plan_of(desk, wss);
  REQUIRE(plan != nullptr);
  CHECK(plan->touched);
  const auto& routes = std::get<WssSetpoint>(plan->timeline.front().setpoint).routes;
  CHECK(std::find(routes.begin(), routes.end(), left) == routes.end());
  CHECK(std::find(plan->may_hold.begin(), plan->may_hold.end(), Setpoint{WssSetpoint{{left}}}) != plan->may_hold.end());
}

TEST_CASE(
    "a device found other than the plan takes it for has the light that meets it darkened, and the job is lit all the same") {
  DeskBench desk;
  desk.light(2);
  const auto first = desk.controller->confirmed_plan();
  const DeviceId wss = device_named(desk, "wss-in-0");
  bool found = false;
  desk.objection = [&](NodeId node, const NodePlan& plan) -> std::optional<Error> {
    const auto moved = std::find_if(plan.devices.begin(), plan.devices.end(),
                                    [&](const DevicePlan& each) { return each.device == wss && each.touched; });
    if (node != desk.fabric->device(wss).agent || moved == plan.devices.end() || found) {
      return std::nullopt;
    }
    found = true;  // its power went; the agent says so with its answer
    desk.hear(node, ObservationReport{{seen(desk, wss, WssObservation{{}, true})}});
    return Error{ErrorCode::busy, "device wss-in-0 has lost a route"};
  };
  const OperatorReply reply = desk.ask(SubmitJob{ring_of(2), false});
  REQUIRE(reply.outcome.ok());
  desk.settle();
  REQUIRE(found);
  INFO(desk.controller->jobs().at(reply.job).reason);
  CHECK(desk.controller->jobs().at(reply.job).state == JobState::lit);
  for (const Circuit& circuit : first->plan.circuits) {  // of the job that nobody asked to change
    const DevicePlan* laser = last_plan_of(desk, *desk.fabric->device_of_element[circuit.transmitter.value]);
    REQUIRE(laser != nullptr);
    CHECK(laser->touched);
  }
  const auto& may_hold = last_plan_of(desk, wss)->may_hold;
  CHECK(std::find(may_hold.begin(), may_hold.end(), Setpoint{WssSetpoint{}}) != may_hold.end());
}

TEST_CASE("a surprise that goes on is bounded, and the job is refused with the device's name") {
  DeskBench desk;
  desk.light(2);
  const DeviceId wss = device_named(desk, "wss-in-0");
  desk.objection = [&](NodeId node, const NodePlan& plan) -> std::optional<Error> {
    const bool moves = std::any_of(plan.devices.begin(), plan.devices.end(),
                                   [&](const DevicePlan& each) { return each.device == wss && each.touched; });
    return node == desk.fabric->device(wss).agent && moves
               ? std::optional(Error{ErrorCode::busy, "device wss-in-0 holds what nobody expects there"})
               : std::nullopt;
  };
  const OperatorReply reply = desk.ask(SubmitJob{ring_of(2), false});
  REQUIRE(reply.outcome.ok());
  desk.run_for(seconds{60});
  desk.settle();
  CHECK(desk.controller->jobs().at(reply.job).state == JobState::refused);
  CHECK(mentions(desk.controller->jobs().at(reply.job).reason, "wss-in-0"));
}

TEST_CASE("light of a node that went away on its way into maintenance is not steered, until somebody says that it is dark") {
  const bool is_said_dark = GENERATE(false, true);
  DeskBench desk;
  const JobId job = desk.light(2);
  const auto first = desk.controller->confirmed_plan();
  const NodeId node = desk.controller->intent().jobs.front().nodes.front();
  const auto circuit = std::find_if(first->plan.circuits.begin(), first->plan.circuits.end(),
                                    [&](const Circuit& each) { return each.source == node; });
  REQUIRE(circuit != first->plan.circuits.end());
  const auto keeps_its_way = [&] {
    const auto& plan = desk.controller->confirmed_plan()->plan;
    const DeviceId wss = device_named(desk, "wss-out-0");
    const auto* device = &plan.nodes[0].devices.front();
    for (const DevicePlan& each : plan.nodes[0].devices) {
      device = each.device == wss ? &each : device;
    }
    const auto& routes = std::get<WssSetpoint>(device->timeline.front().setpoint).routes;
    return std::any_of(routes.begin(), routes.end(), [&](const WssRoute& route) { return route.slot == circuit->slot; });
  };
  REQUIRE(keeps_its_way());
  REQUIRE(desk.ask(CancelJob{job}).outcome.ok());
  desk.silent.insert(node);  // before it is dark
  if (is_said_dark) {
    desk.run_for(seconds{30});
    REQUIRE(desk.ask(OrderNode{node, NodeOrder::maintain, true}).outcome.ok());
  } else {
    REQUIRE(desk.ask(OrderNode{node, NodeOrder::maintain}).outcome.ok());
    desk.run_for(seconds{30});
    REQUIRE(desk.ask(SubmitJob{ring_of(2), false}).outcome.ok());
  }
  desk.run_for(seconds{30});
  desk.settle();
  CHECK(keeps_its_way() != is_said_dark);
}

}  // namespace loom::test
