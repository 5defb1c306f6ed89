// SPDX-License-Identifier: Apache-2.0
// Agents that misbehave, die, or come back, seen from the controller alone: each is named and counted, nobody else suffers, and
// nothing is applied by half. Plans are real ones.
#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>

#include "controller/architectures/oddl/fabric.hpp"
#include "controller/architectures/registry.hpp"
#include "controller/control/controller.hpp"
#include "controller/control/timers.hpp"
#include "controller/plan/pipeline.hpp"

namespace loom {
namespace {

using Catch::Matchers::Contains;
using std::chrono::milliseconds;
using std::chrono::seconds;

std::shared_ptr<const Fabric> fabric_of_eight() {
  OddlParameters parameters;
  parameters.nodes = 8;
  parameters.group_size = 4;
  parameters.channels = 6;
  return std::make_shared<const Fabric>(make_oddl(parameters));
}

/// Host, planner, journal and obedient agents around one controller. Whoever is in `mute` never answers.
class Bench {
 public:
  Bench() : fabric(fabric_of_eight()), controller({fabric, "oddl", {}, {}}) {
    feed(Started{1, kVirtualClock, {}});
    for (const Node& node : fabric->nodes) {
      hello(node.id, 100 + node.id.value);
    }
  }

  void feed(const Event& event) {
    EffectSink sink;
    controller.step(now, event, sink);
    std::uint64_t appends = 0;
    for (Effect& effect : sink.effects()) {
      if (auto* send = std::get_if<Send>(&effect)) {
        sent.push_back(*send);
        inbox_.push_back(std::move(*send));
      } else if (std::holds_alternative<Append>(effect)) {
        ++appends;
      } else if (auto* make = std::get_if<MakePlan>(&effect)) {
        orders_.push_back(make->request);
      } else if (auto* alarm = std::get_if<RaiseAlarm>(&effect)) {
        alarms.push_back(std::move(alarm->alarm));
      }
    }
    appended_ += appends;
    if (appends > 0) {
      feed(Appended{appended_});
    }
  }

  void receive(NodeId from, NodeId claims, Body body, Revision revision = {}) {
    feed(MessageArrived{agent_peer(from),
                        {kWireVersion, "agent", Role::agent, Term{1}, claims, kVirtualClock, revision, std::move(body)}});
  }
  void receive(NodeId node, Body body, Revision revision = {}) { receive(node, node, std::move(body), revision); }
  void hello(NodeId node, std::uint64_t boot, Revision applied = {}) {
    receive(node, Hello{"test", boot, {}, applied, false, {}});
  }

  /// Lets `time` pass in steps of 50 ms: heartbeats of everybody who is not mute, timers, plans, answers.
  void pass(Duration time) {
    for (const Instant end = now + time; now < end; now += milliseconds{50}) {
      for (const Node& node : fabric->nodes) {
        if (!is_mute(node.id)) {
          receive(node.id, Heartbeat{controller.confirmed(), controller.confirmed(), false});
        }
      }
      for (const TimerId timer : {timers::kSweep, timers::kTick, timers::kPlan, timers::kReconcile}) {
        feed(TimerFired{timer});
      }
      settle();
    }
  }

  std::uint64_t submissions = 0;
  void submit(std::uint32_t nodes) {
    JobSpec spec;
    spec.name = "ring";
    spec.node_count = nodes;
    spec.collectives = {{CollectiveKind::all_reduce, {}, Bytes{1'000}, 1}};
    feed(MessageArrived{{Peer::Kind::operator_, 7},
                        {kWireVersion,
                         "ada",
                         Role::operator_,
                         {},
                         {},
                         {},
                         {},
                         OperatorRequest{RequestId{100 + ++submissions}, SubmitJob{spec, false}}}});
  }

  std::vector<CircuitReport> circuits() {
    sent.clear();
    feed(MessageArrived{
        {Peer::Kind::operator_, 7},
        {kWireVersion, "ada", Role::operator_, {}, {}, {}, {}, OperatorRequest{RequestId{2}, Query{Noun::circuits, {}}}}});
    return std::get<std::vector<CircuitReport>>(std::get<OperatorReply>(sent.back().envelope.body).rows);
  }

  /// What each device of the node would read if it were as planned.
  ObservationReport as_planned(NodeId node) const {
    ObservationReport report;
    for (const DevicePlan& plan : controller.confirmed_plan()->plan.nodes[node.value].devices) {
      report.observations.push_back({plan.device, DeviceHealth::ready, now, read(plan), ""});
    }
    return report;
  }

  std::size_t count(AlarmCode code) const {
    return static_cast<std::size_t>(
        std::count_if(alarms.begin(), alarms.end(), [&](const Alarm& alarm) { return alarm.code == code; }));
  }
  std::uint64_t malformed() {
    sent.clear();
    feed(MessageArrived{
        {Peer::Kind::operator_, 7},
        {kWireVersion, "ada", Role::viewer, {}, {}, {}, {}, OperatorRequest{RequestId{3}, Query{Noun::status, {}}}}});
    return std::get<StatusReport>(std::get<OperatorReply>(sent.back().envelope.body).rows).malformed;
  }

  std::shared_ptr<const Fabric> fabric;
  Controller controller;
  Instant now{seconds{1}};
  std::vector<NodeId> mute;
  std::vector<Send> sent;
  std::vector<Alarm> alarms;
  bool doubles_answers = false;

 private:
  bool is_mute(NodeId node) const { return std::find(mute.begin(), mute.end(), node) != mute.end(); }

  void settle() {
    while (!inbox_.empty() || !orders_.empty()) {
      if (!orders_.empty()) {
        const auto order = orders_.front();
        orders_.pop_front();
        feed(Planned{{order->revision, make_plan(all_architectures(), *order), milliseconds{1}}});
        continue;
      }
      const Send send = inbox_.front();
      inbox_.pop_front();
      if (send.to.kind == Peer::Kind::agent && !is_mute(send.envelope.node)) {
        answer(send.envelope);
      }
    }
  }

  void answer(const Envelope& asked) {
    std::optional<Body> body;
    if (std::holds_alternative<Prepare>(asked.body)) {
      body = Prepared{{}, milliseconds{1}};
    } else if (std::holds_alternative<Arm>(asked.body)) {
      body = Armed{{}, milliseconds{100}};
    } else if (std::holds_alternative<Go>(asked.body)) {
      body = Darkened{{}, {}};
    } else if (const auto* proceed = std::get_if<Proceed>(&asked.body)) {
      body = proceed->phase == CommitPhase::move ? Body(Settled{{}, {}}) : Body(Applied{{}, {}});
    }
    for (int times = body ? 1 + (doubles_answers ? 1 : 0) : 0; times > 0; --times) {
      receive(asked.node, *body, asked.revision);
    }
  }

  Reading read(const DevicePlan& plan) const {
    const Setpoint& setpoint = plan.timeline.front().setpoint;
    if (const auto* laser = std::get_if<TransmitterSetpoint>(&setpoint)) {
      return TransmitterObservation{centre_of(laser->slot), laser->emit ? laser->power : kNoLight, laser->emit, true, 0, 0};
    }
    if (const auto* wss = std::get_if<WavelengthSwitchSetpoint>(&setpoint)) {
      return WavelengthSwitchObservation{wss->routes, true};
    }
    const Device& device = fabric->device(plan.device);
    FilterObservation bank{std::vector<std::int32_t>(device.elements.size())};
    for (const RingResonance& wanted : std::get<FilterSetpoint>(setpoint).rings) {
      const auto& ring = std::get<RingFilter>(fabric->element(device.elements[wanted.channel]).kind);
      const double watts = static_cast<double>((ring.cold_resonance - wanted.resonance).mhz) / ring.mhz_per_milliwatt / 1000;
      bank.millivolts[wanted.channel] = static_cast<std::int32_t>(std::lround(1000 * std::sqrt(watts * ring.heater_ohm)));
    }
    return bank;
  }

  std::deque<Send> inbox_;
  std::deque<std::shared_ptr<const PlanRequest>> orders_;
  std::uint64_t appended_ = 0;
};

/// Every node reports that it is as planned.
void report_all(Bench& bench) {
  for (const Node& node : bench.fabric->nodes) {
    bench.receive(node.id, bench.as_planned(node.id));
  }
}

/// One job of four nodes is in light, and its devices have been read.
class LitBench : public Bench {
 public:
  LitBench() {
    submit(4);
    pass(seconds{1});
    REQUIRE(controller.confirmed_plan() != nullptr);
    REQUIRE(controller.confirmed_plan()->plan.circuits.size() == 4);
    pass(milliseconds{100});
    report_all(*this);
    REQUIRE(controller.drift().counts() == DriftCounts{});
  }
};

}  // namespace

TEST_CASE("an agent that never acks is named in the refusal, and the light of others is left alone") {
  LitBench bench;
  const Revision before = bench.controller.confirmed();
  std::vector<NodeId> lit;
  for (const Circuit& circuit : bench.controller.confirmed_plan()->plan.circuits) {
    lit.push_back(circuit.source);
  }
  // It stays connected, and answers no request.
  const NodeId silent{7};
  REQUIRE(std::find(lit.begin(), lit.end(), silent) == lit.end());
  bench.submit(4);
  bench.mute = {silent};
  for (int i = 0; i < 140; ++i) {
    bench.receive(silent, Heartbeat{});
    bench.pass(milliseconds{50});
  }
  CHECK(bench.controller.jobs().at(JobId{2}).state == JobState::refused);
  CHECK_THAT(bench.controller.jobs().at(JobId{2}).reason, Contains("node 7"));
  CHECK(bench.controller.jobs().at(JobId{1}).state == JobState::lit);
  CHECK(bench.controller.confirmed() >= before);
  CHECK(bench.controller.confirmed_plan()->plan.circuits.size() == 4);
}

TEST_CASE("an agent that acks everything twice changes nothing") {
  Bench bench;
  bench.doubles_answers = true;
  bench.submit(8);
  bench.pass(seconds{1});
  REQUIRE(bench.controller.confirmed_plan() != nullptr);
  CHECK(bench.controller.confirmed() == Revision{1});
  CHECK(bench.controller.history().back().outcome == CommitOutcome::committed);
  CHECK(bench.controller.history().size() == 1);
}

TEST_CASE("acks of a stale revision count for nothing") {
  LitBench bench;
  bench.mute = {NodeId{7}};
  bench.submit(4);
  bench.pass(milliseconds{100});
  for (const Body& stale : {Body(Prepared{}), Body(Armed{}), Body(Darkened{}), Body(Settled{}), Body(Applied{})}) {
    bench.receive(NodeId{7}, stale, Revision{1});
    bench.receive(NodeId{7}, stale, Revision{999});
  }
  bench.pass(milliseconds{100});
  CHECK(bench.controller.confirmed() == Revision{1});
  CHECK_FALSE(bench.controller.is_idle());
}

TEST_CASE("an agent that speaks in another node's name is counted and not heard") {
  LitBench bench;
  const std::uint64_t before = bench.malformed();
  bench.mute = {NodeId{7}};
  bench.submit(4);
  bench.pass(milliseconds{100});
  bench.receive(NodeId{6}, NodeId{7}, Prepared{}, Revision{2});
  bench.receive(NodeId{6}, NodeId{7}, Heartbeat{});
  CHECK(bench.malformed() == before + 2);
  CHECK(bench.controller.confirmed() == Revision{1});
}

TEST_CASE("observations of another agent's devices are counted and not believed") {
  LitBench bench;
  const std::uint64_t before = bench.malformed();
  ObservationReport lie = bench.as_planned(NodeId{0});
  for (Observation& observation : lie.observations) {
    observation.reading = TransmitterObservation{};
  }
  bench.receive(NodeId{1}, lie);
  CHECK(bench.malformed() == before + lie.observations.size());
  CHECK(bench.controller.drift().counts() == DriftCounts{});
}

TEST_CASE("a report that a newer one overtook is dropped") {
  LitBench bench;
  ObservationReport old = bench.as_planned(NodeId{0});
  std::get<TransmitterObservation>(old.observations.front().reading).emitting = false;
  bench.now += milliseconds{100};
  bench.receive(NodeId{0}, bench.as_planned(NodeId{0}));
  bench.receive(NodeId{0}, old);
  CHECK(bench.controller.drift().counts() == DriftCounts{});
}

TEST_CASE("two agents that claim one node are an alarm with a command, and the first keeps its session") {
  LitBench bench;
  const std::uint32_t present = bench.controller.present_agents();
  bench.feed(MessageRefused{agent_peer(NodeId{3}), Error{ErrorCode::conflict, "node 3 is claimed by a second connection"}});
  REQUIRE(bench.count(AlarmCode::agent_duplicate) == 1);
  CHECK(bench.alarms.back().node == NodeId{3});
  CHECK(bench.alarms.back().next_command == "loom node show 3");
  CHECK(bench.controller.present_agents() == present);
}

TEST_CASE("the light that passes what a dead agent drives is unknown, with an alarm, and the rest stays connected") {
  const auto unknown_without = [](NodeId dead, auto concerns) {
    LitBench bench;
    bench.mute = {dead};
    bench.pass(seconds{1});
    CHECK(bench.count(AlarmCode::agent_dead) == 1);
    std::size_t unknown = 0;
    for (const CircuitReport& row : bench.circuits()) {
      CHECK(row.state == (concerns(row.circuit) ? "UNKNOWN" : "CONNECTED"));
      CHECK(row.light == (concerns(row.circuit) ? LightState::unknown : LightState::lit));
      CHECK((row.why.find("node " + std::to_string(dead.value)) != std::string::npos) == concerns(row.circuit));
      unknown += row.state == "UNKNOWN" ? 1 : 0;
    }
    bench.pass(seconds{1});  // jobs are measured at their own pace
    CHECK(bench.controller.jobs().at(JobId{1}).state == JobState::degraded);
    return unknown;
  };
  // Node 2 drives its own laser and the ring before its own receiver.
  CHECK(unknown_without(NodeId{2}, [](const Circuit& circuit) {
          return circuit.source == NodeId{2} || circuit.destination == NodeId{2};
        }) == 2);
  // Node 0 drives its group's switches as well: all of this light passes them.
  CHECK(unknown_without(NodeId{0}, [](const Circuit&) { return true; }) == 4);
}

TEST_CASE("an agent that lost its plan and finds its devices as they were is given the plan and touches nothing") {
  LitBench bench;
  const NodeId node = bench.controller.confirmed_plan()->plan.circuits.front().source;
  const Revision before = bench.controller.confirmed();
  bench.hello(node, 4'711);
  bench.pass(seconds{1});
  CHECK(bench.controller.confirmed() == before);  // nothing is written before everything was read
  bench.receive(node, bench.as_planned(node));
  bench.sent.clear();
  bench.pass(seconds{1});
  CHECK(bench.controller.confirmed().value == before.value + 1);
  for (const Send& send : bench.sent) {
    if (const auto* prepare = std::get_if<Prepare>(&send.envelope.body)) {
      CHECK(send.envelope.node == node);
      for (const DevicePlan& device : prepare->plan.devices) {
        CHECK_FALSE(device.touched);
      }
    }
  }
  bench.pass(seconds{5});
  CHECK(bench.controller.confirmed().value == before.value + 1);
}

TEST_CASE("an agent that lost its plan and a laser's light has that laser touched and nothing else") {
  LitBench bench;
  const NodeId node = bench.controller.confirmed_plan()->plan.circuits.front().source;
  bench.hello(node, 4'711);
  ObservationReport report = bench.as_planned(node);
  std::get<TransmitterObservation>(report.observations.front().reading).emitting = false;
  bench.receive(node, report);
  CHECK(bench.controller.drift().counts().missing == 1);
  bench.sent.clear();
  bench.pass(seconds{1});
  for (const Send& send : bench.sent) {
    if (const auto* prepare = std::get_if<Prepare>(&send.envelope.body)) {
      CHECK(send.envelope.node == node);
      for (const DevicePlan& device : prepare->plan.devices) {
        CHECK(device.touched == (device.device == report.observations.front().device));
      }
    }
  }
  CHECK(bench.controller.history().back().touched == 1);
  CHECK_THAT(bench.controller.history().back().reason, Contains("repair of laser-"));
}

TEST_CASE("an agent back with an older revision whose slice never changed is left alone") {
  LitBench bench;
  const Revision before = bench.controller.confirmed();
  bench.hello(NodeId{7}, 4'711, Revision{1});
  bench.receive(NodeId{7}, bench.as_planned(NodeId{7}));
  bench.pass(seconds{5});
  CHECK(bench.controller.confirmed() == before);
}

}  // namespace loom
