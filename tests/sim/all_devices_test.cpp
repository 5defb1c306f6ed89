// SPDX-License-Identifier: Apache-2.0
// One agent with a device of every kind, real drivers over simulated devices: one commit touches lasers, heaters, WSS and OCS
// together, in the order of the road, judged by what reached the devices and by their light.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "agents/agent.hpp"
#include "controller/architectures/oddl/fabric.hpp"
#include "drivers/registry.hpp"
#include "drivers/transceiver/itla_frame.hpp"
#include "sim_backend/world/sim_bus.hpp"
#include "sim_backend/world/virtual_loop.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr NodeId kNode{0};

/// Two groups of two nodes, an attenuator and a 4 x 4 OCS, all driven by one agent.
std::shared_ptr<const Fabric> everything() {
  OddlParameters parameters;
  parameters.nodes = 4;
  parameters.group_size = 2;
  parameters.channels = 4;
  Fabric fabric = make_oddl(parameters);
  const auto add = [&](const char* name, PortNumber ports, ElementKind kind, DeviceRole role) {
    const ElementId element{static_cast<std::uint32_t>(fabric.elements.size())};
    fabric.elements.push_back({element, name, ports, ports, Db{100}, std::move(kind)});
    const BusId bus{static_cast<std::uint32_t>(fabric.buses.size())};
    fabric.buses.push_back({bus, std::string("bus-") + name, kNode, "sim"});
    const DeviceId device{static_cast<std::uint32_t>(fabric.devices.size())};
    fabric.devices.push_back({device, name, role, kNode, bus, 1, {element}});
  };
  add("voa", 1, Attenuator{.settle_max = milliseconds{20}}, DeviceRole::gain_stage);
  add("ocs", 4, OpticalCircuitSwitch{milliseconds{25}}, DeviceRole::circuit_switch);
  for (Device& device : fabric.devices) {
    device.agent = kNode;
  }
  for (Bus& each : fabric.buses) {
    each.agent = kNode;
  }
  build_index(fabric);
  return std::make_shared<const Fabric>(std::move(fabric));
}

SimBusOptions kept_actuations() {
  SimBusOptions options;
  options.devices.keep_actuations = true;
  return options;
}

/// Host and controller of the agent, played by hand under virtual time.
class Bench {
 public:
  Bench() : fabric(everything()), bus(loop, fabric, {}, kept_actuations()) {
    bus.on_light([this](const OpticalChange& change) { light.push_back(change); });
    AgentOptions options;
    options.node = kNode;
    options.fabric = fabric;
    options.software = "test";
    std::vector<std::unique_ptr<Driver>> drivers;
    for (const DeviceId device : fabric->devices_of_agent[kNode.value]) {
      may_hold_[device] = {idle_setpoint(*fabric, fabric->device(device))};
      drivers.push_back(make_driver(*fabric, device));
    }
    agent = std::make_unique<Agent>(options, std::move(drivers));
    deliver(Started{1, kVirtualClock, {}});
    loop.run_until(loop.now() + seconds{1});
  }

  void receive(Revision revision, Body body) {
    Envelope envelope;
    envelope.role = Role::controller;
    envelope.term = Term{5};
    envelope.node = kNode;
    envelope.clock = kVirtualClock;
    envelope.revision = revision;
    envelope.body = std::move(body);
    deliver(MessageArrived{controller_peer(), std::move(envelope)});
  }
  /// Runs until the agent says T, which is returned.
  template <class T>
  T await() {
    return await_since<T>(sent.size());
  }
  template <class T>
  T await_since(std::size_t before) {
    for (int i = 0; i < 10'000; ++i) {
      for (std::size_t place = before; place < sent.size(); ++place) {
        if (const T* body = std::get_if<T>(&sent[place].body)) {
          return *body;
        }
      }
      loop.run_until(loop.now() + milliseconds{1});
    }
    FAIL("the agent never says it");
    return {};
  }
  /// Up to where the switches may move.
  void begin(const NodePlan& plan) {
    for (const DevicePlan& device : plan.devices) {
      may_hold_[device.device].push_back(device.timeline.front().setpoint);
    }
    const std::size_t before = sent.size();
    receive(plan.revision, Prepare{plan});
    REQUIRE(await_since<Prepared>(before).outcome.ok());
    receive(plan.revision, Arm{loop.now() + milliseconds{5}});
    receive(plan.revision, Go{});
    REQUIRE(await<Darkened>().outcome.ok());
    receive(plan.revision, Proceed{CommitPhase::move, {}});
  }
  void commit(const NodePlan& plan) {
    begin(plan);
    REQUIRE(await<Settled>().outcome.ok());
    relight(plan);
  }
  void relight(const NodePlan& plan) {
    receive(plan.revision, Proceed{CommitPhase::relight, loop.now() + milliseconds{2}});
    REQUIRE(await<Applied>().outcome.ok());
    receive(plan.revision, Confirm{});
    for (const DevicePlan& device : plan.devices) {
      may_hold_[device.device] = {device.timeline.front().setpoint};
    }
  }
  /// Every device another way with each `context`; everything emits. What light passes may stand where the plan before has it,
  /// and where those have it that went since and were not confirmed.
  NodePlan plan(std::uint64_t revision, std::uint16_t context) const {
    NodePlan plan;
    plan.revision = Revision{revision};
    plan.node = kNode;
    for (const DeviceId id : fabric->devices_of_agent[kNode.value]) {
      DevicePlan device{id, true, {{Duration{}, Duration{}, kForever, setpoint(fabric->device(id), context)}}};
      if (fabric->device(id).role != DeviceRole::transmitter) {
        device.may_hold = may_hold_.at(id);
      }
      plan.devices.push_back(std::move(device));
    }
    return plan;
  }
  SimulatedDevice& ocs() { return bus.model(fabric->devices.back().id); }

  VirtualLoop loop;
  std::shared_ptr<const Fabric> fabric;
  SimBus bus;
  std::unique_ptr<Agent> agent;
  std::vector<Envelope> sent;
  std::vector<OpticalChange> light;

 private:
  Setpoint setpoint(const Device& device, std::uint16_t context) const {
    const FrequencySlot slot{-272 + 16 * context, 8};
    const Element& element = fabric->element(device.elements.front());
    switch (device.role) {
      case DeviceRole::transmitter:
        return TransmitterSetpoint{slot, Dbm{0}, true};
      case DeviceRole::filter:
        return FilterSetpoint{
            {{0, std::get<RingFilter>(element.kind).cold_resonance - FrequencyOffset{300'000 + 100'000 * context}}}};
      case DeviceRole::wavelength_switch:
        return WavelengthSwitchSetpoint{{{slot, static_cast<std::uint16_t>(context % element.inputs),
                                          static_cast<std::uint16_t>(context % element.outputs), Db{0}}}};
      case DeviceRole::circuit_switch:
        return CircuitSwitchSetpoint{{{0, context}, {1, static_cast<std::uint16_t>(context + 1)}}};
      case DeviceRole::gain_stage:
        return GainSetpoint{Db{-100 * (1 + context)}};
      case DeviceRole::monitor:
        return MonitorSetpoint{};
    }
    return {};
  }
  void deliver(const Event& event) {
    EffectSink sink;
    agent->step(loop.now(), event, sink);
    for (Effect& effect : sink.effects()) {
      std::visit([this](auto& each) { interpret(each); }, effect);
    }
  }
  void interpret(Send& send) { sent.push_back(std::move(send.envelope)); }
  void interpret(SetTimer& timer) {
    timers_[timer.timer] = timer.at;
    loop.call_at(timer.at, timer.precision, [this, id = timer.timer, at = timer.at] {
      const auto found = timers_.find(id);
      if (found != timers_.end() && found->second == at) {
        timers_.erase(found);
        deliver(TimerFired{id});
      }
    });
  }
  void interpret(CancelTimer& timer) { timers_.erase(timer.timer); }
  void interpret(Transact& order) {
    bus.submit(order.bus, order.order, [this, on = order.bus, transaction = order.transaction](BusReply reply) {
      deliver(BusReplied{on, transaction, std::move(reply)});
    });
  }
  void interpret(Append&) {}
  void interpret(RaiseAlarm&) {}
  void interpret(TellTraining&) {}
  void interpret(LearnPeers&) {}
  void interpret(MakePlan&) { FAIL("an agent never plans"); }

  std::map<TimerId, Instant> timers_;
  std::map<DeviceId, std::vector<Setpoint>> may_hold_;  ///< idle, then what went
};

bool is_switch(const Device& device) {
  return device.role == DeviceRole::wavelength_switch || device.role == DeviceRole::circuit_switch;
}

/// Instants of what reached the devices since `since`.
struct Order {
  Instant last_blank{};
  Instant first_move = kNever;  ///< of a laser or a heater
  Instant first_switch = kNever;
  Instant last_switch{};
  Instant first_relight = kNever;
  std::set<DeviceRole> kinds;
};

Order order_since(Bench& bench, Instant since) {
  Order order;
  for (const Device& device : bench.fabric->devices) {
    for (const Actuation& each : bench.bus.model(device.id).actuations()) {
      if (each.at <= since) {
        continue;
      }
      order.kinds.insert(device.role);
      const bool enables =
          device.role == DeviceRole::transmitter && each.address == static_cast<std::uint32_t>(itla::Register::enable);
      if (is_switch(device)) {
        order.first_switch = std::min(order.first_switch, each.at);
        order.last_switch = std::max(order.last_switch, each.at);
      } else if (enables && each.value == 0) {
        order.last_blank = std::max(order.last_blank, each.at);
      } else if (enables) {
        order.first_relight = std::min(order.first_relight, each.at);
      } else {
        order.first_move = std::min(order.first_move, each.at);
      }
    }
  }
  return order;
}

bool moves(const OpticalState& state) {
  const auto* wss = std::get_if<WssLight>(&state);
  const auto* ocs = std::get_if<OcsLight>(&state);
  return (wss != nullptr && !wss->moving.empty()) || (ocs != nullptr && !ocs->moving.empty());
}

/// Ground truth: a laser lit at an instant at which a switch moves.
bool was_ever_lit_while_moving(const Bench& bench) {
  std::set<std::uint32_t> lit;
  std::set<std::uint32_t> moving;
  bool both = false;
  for (const OpticalChange& change : bench.light) {
    const auto* laser = std::get_if<LaserLight>(&change.state);
    auto& set = laser != nullptr ? lit : moving;
    if (laser != nullptr ? laser->emitting : moves(change.state)) {
      set.insert(change.device.value);
    } else {
      set.erase(change.device.value);
    }
    both = both || (!lit.empty() && !moving.empty());
  }
  return both;
}

TEST_CASE("one_commit_touches_whatever_can_be_set_and_blanks_moves_settles_relights") {
  Bench bench;
  bench.commit(bench.plan(1, 0));
  for (std::uint16_t context = 1; context <= 2; ++context) {
    INFO("turn " << context);
    const Instant since = bench.loop.now();
    bench.commit(bench.plan(context + 1U, context));
    const Order order = order_since(bench, since);
    CHECK(order.kinds.size() == kDeviceRoles.size() - 1);  // all but monitors
    CHECK(order.last_blank > since);
    CHECK(order.last_blank < order.first_switch);  // all dark before any switch moves
    CHECK(order.first_switch <= order.last_switch);
    CHECK(order.first_move < order.first_relight);
    CHECK(order.first_relight > order.last_switch + milliseconds{15});  // on settled reports: 60 percent of 25 ms and more
    CHECK(std::get<OcsLight>(bench.ocs().light(bench.loop.now())).connects ==
          std::vector<CrossConnect>{{0, context}, {1, static_cast<std::uint16_t>(context + 1)}});
  }
  CHECK_FALSE(was_ever_lit_while_moving(bench));
}

TEST_CASE("a_switch_that_reboots_while_it_moves_is_set_again_before_anything_is_relit") {
  Bench bench;
  bench.commit(bench.plan(1, 0));
  const NodePlan next = bench.plan(2, 1);
  const std::size_t before = bench.ocs().actuations().size();
  bench.begin(next);
  while (bench.ocs().actuations().size() < before + 4) {
    REQUIRE(bench.loop.run_next());
  }
  bench.bus.inject(bench.ocs().device(), {.kind = DeviceFaultKind::reboot, .until = bench.loop.now()});
  REQUIRE(bench.await<Settled>().outcome.ok());
  CHECK(std::get<OcsLight>(bench.ocs().light(bench.loop.now())) == OcsLight{{{0, 1}, {1, 2}}, {}});
  bench.relight(next);
  CHECK_FALSE(was_ever_lit_while_moving(bench));
}

TEST_CASE("a_switch_that_is_gone_for_long_fails_its_commit_by_name_and_the_next_one_repairs_it") {
  Bench bench;
  bench.commit(bench.plan(1, 0));
  bench.begin(bench.plan(2, 1));
  const Instant until = bench.loop.now() + seconds{5};
  bench.bus.inject(bench.ocs().device(), {.kind = DeviceFaultKind::reboot, .until = until});
  const Settled settled = bench.await<Settled>();
  REQUIRE_FALSE(settled.outcome.ok());
  CHECK_THAT(settled.outcome.error->message, Catch::Contains("ocs: ") && Catch::Contains("no answer within 500.000 ms"));
  bench.loop.run_until(until + seconds{1});
  for (const Device& device : bench.fabric->devices) {
    if (device.role == DeviceRole::transmitter) {
      CHECK_FALSE(std::get<LaserLight>(bench.bus.model(device.id).light(bench.loop.now())).emitting);
    }
  }
  bench.commit(bench.plan(3, 0));
  CHECK(std::get<OcsLight>(bench.ocs().light(bench.loop.now())) == OcsLight{{{0, 0}, {1, 1}}, {}});
  CHECK_FALSE(was_ever_lit_while_moving(bench));
}

}  // namespace
}  // namespace loom
