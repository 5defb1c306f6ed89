// SPDX-License-Identifier: Apache-2.0
// What follows no order, for how long it is left alone, and what light may still come from it: each rule at its border.
#include "controller/control/watch/unusable_watch.hpp"
#include "controller/architectures/sip_ocs/fabric.hpp"

#include <catch2/catch.hpp>

namespace loom::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr FrequencySlot kFirst{0, 8};
constexpr FrequencySlot kSecond{16, 8};

std::shared_ptr<const Fabric> four_nodes() {
  SipOcsParameters parameters;
  parameters.nodes = 4;
  parameters.switches = 2;
  return std::make_shared<const Fabric>(make_sip_ocs(parameters));
}

DevicePlan share(DeviceId device, Setpoint setpoint, bool touched) {
  return {device, touched, {{{}, {}, kForever, std::move(setpoint)}}};
}

Setpoint light(FrequencySlot slot) { return TransmitterSetpoint{slot, Dbm{0}, true}; }

/// Four nodes with two lasers each, and a circuit switch at each of the first two. All agents have just greeted.
struct Bench {
  ControllerFacts facts;
  DesiredIntent desired;
  ConfirmedPlans confirmed;
  JournalQueue journal{{}};
  AlarmBoard alarms;
  DeviceReadings readings;
  AgentSessions sessions;
  UnusableWatch watch;
  EffectSink sink;

  Bench()
      : facts{four_nodes(), "sip_ocs", {}, {}, Instant{seconds{100}}},
        readings(*facts.fabric),
        sessions(facts, desired, confirmed, journal, alarms, readings),
        watch(facts, confirmed, sessions, alarms) {
    for (const Node& node : facts.fabric->nodes) {
      greet(node.id);
    }
  }

  void greet(NodeId node, bool latched = false) {
    sessions.greet(node, "agents-0", Hello{"test", node.value + 1ULL, {}, {}, latched, {}}, false, sink);
  }
  /// Nobody receives this node any more, nor waits for it.
  void lose(NodeId gone) {
    facts.now += facts.timings.stage_deadline;
    for (const Node& node : facts.fabric->nodes) {
      if (node.id != gone) {
        sessions.admit(node.id, {}, sink);
      }
    }
    sessions.sweep(sink);
  }
  DeviceId device(NodeId node, DeviceRole role) const {
    for (const DeviceId id : facts.fabric->devices_of_agent[node.value]) {
      if (facts.fabric->device(id).role == role) {
        return id;
      }
    }
    FAIL("no such device");
    return {};
  }
  DeviceId laser(std::uint32_t node) const { return device(NodeId{node}, DeviceRole::transmitter); }
  DeviceId ocs(std::uint32_t node) const { return device(NodeId{node}, DeviceRole::circuit_switch); }

  void see(DeviceId id, Reading reading, DeviceHealth health = DeviceHealth::ready, const std::string& fault = {}) {
    readings.keep(Observation{id, health, facts.now, std::move(reading), fault});
  }
  void see_laser(DeviceId id, bool emits) { see(id, TransmitterObservation{centre_of(kFirst), Dbm{0}, emits, true, 0, 0}); }
  void receive(DeviceId id, DeviceHealth health, const std::string& fault) {
    watch.observe({id, health, facts.now, {}, fault}, sink);
  }
  void give_up(DeviceId id) { receive(id, DeviceHealth::failed, "no light"); }

  std::shared_ptr<PlanResult> plan_with(const std::vector<DevicePlan>& shares) const {
    auto result = std::make_shared<PlanResult>();
    result->plan.revision = Revision{7};
    for (const Node& node : facts.fabric->nodes) {
      NodePlan own;
      own.revision = Revision{7};
      own.node = node.id;
      result->plan.nodes.push_back(std::move(own));
    }
    for (const DevicePlan& each : shares) {
      const NodeId agent = facts.fabric->device(each.device).agent;
      result->plan.nodes.edit(agent.value).devices.push_back(each);
      if (result->plan.changed.empty() || result->plan.changed.back() != agent) {
        result->plan.changed.push_back(agent);
      }
    }
    return result;
  }
  void confirm(const std::vector<DevicePlan>& shares) {
    confirmed.confirm(plan_with(shares));
    sessions.keep_confirmed();
    watch.commit_confirmed();
  }
  /// A commit of these shares that failed: after its arming, or before; at this device, or at none.
  bool fail_commit(const std::vector<DevicePlan>& shares, bool moved, std::optional<DeviceId> at = {}) {
    const auto plan = plan_with(shares);
    AnswerTimes answers;
    FabricCommit commit(plan, facts.timings, {answers}, {"test"}, facts.now);
    commit.begin(facts.now, facts.header, sink);
    for (const NodeId node : moved ? plan->plan.changed : std::vector<NodeId>{}) {
      commit.on_answer(node, Prepared{{}, milliseconds{1}}, facts.now, facts.header, sink);
    }
    REQUIRE(commit.may_have_moved() == moved);
    if (at) {
      const Error error{ErrorCode::device_error, "does not follow", {}, at};
      commit.on_answer(plan->plan.changed.front(), Prepared{{error}, {}}, facts.now, facts.header, sink);
    } else {
      commit.fail_with({"test"});
    }
    return watch.commit_failed(commit, sink);
  }
  std::optional<UnusableDevice> entry(DeviceId id) const {
    for (const UnusableDevice& each : watch.devices()) {
      if (each.device == id) {
        return each;
      }
    }
    return std::nullopt;
  }
  bool is_tried(DeviceId id) const { return watch.to_be_tried() == std::vector<DeviceId>{id}; }
};

TEST_CASE("only a driver that gave up makes a device unusable, and only a device that is ready is usable again") {
  Bench bench;
  const DeviceId laser = bench.laser(1);
  bench.receive(laser, DeviceHealth::failed, "");  // the module says that it is broken, and was read
  CHECK_FALSE(bench.watch.is_unusable(laser));
  bench.receive(laser, DeviceHealth::ready, "a warning");
  CHECK_FALSE(bench.watch.is_unusable(laser));
  CHECK(bench.alarms.rows().empty());
  bench.give_up(laser);
  CHECK(bench.watch.why(laser) == "no light");
  CHECK_FALSE(is_sound(bench.watch, *bench.facts.fabric, NodeId{1}));
  CHECK(is_sound(bench.watch, *bench.facts.fabric, NodeId{0}));
  REQUIRE(bench.alarms.rows().size() == 1);
  CHECK(bench.alarms.rows()[0].alarm.device == laser);
  CHECK_THAT(bench.alarms.rows()[0].alarm.evidence, Catch::Contains("follows no order: no light"));
  bench.receive(laser, DeviceHealth::moving, "");
  bench.receive(laser, DeviceHealth::failed, "");
  CHECK(bench.watch.is_unusable(laser));
  bench.receive(bench.laser(2), DeviceHealth::ready, "");  // another one
  CHECK(bench.watch.is_unusable(laser));
  bench.receive(laser, DeviceHealth::ready, "");
  CHECK_FALSE(bench.watch.is_unusable(laser));
  CHECK(is_sound(bench.watch, *bench.facts.fabric, NodeId{1}));
}

TEST_CASE("a device is tried when its time has come and it has answered since, not a nanosecond sooner") {
  Bench bench;
  const DeviceId laser = bench.laser(1);
  const Instant began = bench.facts.now;
  bench.give_up(laser);
  bench.facts.now = began + bench.facts.timings.repair_backoff - nanoseconds{1};
  bench.give_up(laser);
  CHECK(bench.watch.to_be_tried().empty());
  bench.facts.now += nanoseconds{1};
  bench.watch.observe({laser, DeviceHealth::failed, began, {}, "no light"}, bench.sink);  // read before it failed
  CHECK(bench.watch.to_be_tried().empty());
  bench.watch.observe({laser, DeviceHealth::failed, began + nanoseconds{1}, {}, "no light"}, bench.sink);
  CHECK(bench.is_tried(laser));
  CHECK_FALSE(bench.watch.is_unusable(laser));
  CHECK_FALSE(bench.entry(laser));
  CHECK(bench.alarms.rows()[0].count == 1);
}

TEST_CASE("the same failure told twice is one failure, what it says is the newest, and so is what must answer") {
  Bench bench;
  const DeviceId laser = bench.laser(1);
  const Instant began = bench.facts.now;
  bench.give_up(laser);
  bench.facts.now += seconds{1};
  CHECK(bench.fail_commit({share(laser, light(kFirst), true)}, false, laser));
  CHECK_THAT(bench.watch.why(laser), Catch::Contains("does not follow"));
  CHECK(bench.alarms.rows()[0].count == 1);
  bench.facts.now = began + bench.facts.timings.repair_backoff;  // of the first time
  bench.watch.observe({laser, DeviceHealth::failed, began + seconds{1}, {}, "no light"}, bench.sink);
  CHECK(bench.watch.to_be_tried().empty());
  bench.give_up(laser);
  CHECK(bench.is_tried(laser));
}

TEST_CASE("a device that is tried and fails is left alone four times as long, at most ten minutes") {
  Bench bench;
  const DeviceId laser = bench.laser(1);
  bench.give_up(laser);
  for (const Duration wait : {Duration{seconds{2}}, Duration{seconds{8}}, Duration{seconds{32}}, Duration{seconds{128}},
                              Duration{seconds{512}}, Duration{minutes{10}}, Duration{minutes{10}}}) {
    bench.facts.now += wait - nanoseconds{1};
    bench.give_up(laser);
    CHECK(bench.watch.to_be_tried().empty());
    bench.facts.now += nanoseconds{1};
    bench.give_up(laser);
    REQUIRE(bench.is_tried(laser));
    CHECK(bench.fail_commit({share(laser, light(kFirst), true)}, false, laser));
    CHECK(bench.watch.to_be_tried().empty());
    CHECK(bench.watch.is_unusable(laser));
  }
  CHECK(bench.alarms.rows()[0].count == 8);
}

TEST_CASE("a device that is tried and falls silent again is unusable after two polls") {
  Bench bench;
  const DeviceId laser = bench.laser(1);
  bench.give_up(laser);
  bench.facts.now += bench.facts.timings.repair_backoff;
  bench.give_up(laser);
  REQUIRE(bench.is_tried(laser));
  const Observation last{laser, DeviceHealth::failed, bench.facts.now, {}, "silent"};
  bench.facts.now += 2 * poll_bound(bench.facts.timings);
  bench.watch.observe(last, bench.sink);
  CHECK(bench.is_tried(laser));
  bench.facts.now += nanoseconds{1};
  bench.watch.observe(last, bench.sink);
  CHECK(bench.watch.to_be_tried().empty());
  CHECK(bench.watch.why(laser) == "silent");
}

TEST_CASE("what is not tried yet and was read long ago is not a new failure") {
  Bench bench;
  const DeviceId laser = bench.laser(1);
  const Observation last{laser, DeviceHealth::failed, bench.facts.now, {}, "no light"};
  bench.watch.observe(last, bench.sink);
  bench.facts.now += seconds{30};
  Observation again = last;
  again.fault = "another word";
  bench.watch.observe(again, bench.sink);
  CHECK(bench.watch.why(laser) == "no light");
}

TEST_CASE("another process of its agent, or a reset by hand, makes a device usable") {
  Bench bench;
  bench.give_up(bench.laser(1));
  bench.give_up(bench.laser(2));
  bench.watch.forget(NodeId{1});
  CHECK_FALSE(bench.watch.is_unusable(bench.laser(1)));
  CHECK(bench.watch.is_unusable(bench.laser(2)));
  bench.watch.forget(bench.laser(2));
  CHECK_FALSE(bench.watch.is_unusable(bench.laser(2)));
}

TEST_CASE("a commit is blamed on what follows no order: its device, an agent that is away, lasers that are latched") {
  Bench bench;
  const std::vector<DevicePlan> two{share(bench.laser(1), light(kFirst), true), share(bench.laser(2), light(kFirst), true)};
  CHECK_FALSE(bench.fail_commit(two, false));
  CHECK(bench.watch.devices().empty());
  const auto beyond = static_cast<std::uint32_t>(bench.facts.fabric->devices.size());
  CHECK_FALSE(bench.fail_commit(two, false, DeviceId{beyond}));
  CHECK_FALSE(bench.fail_commit(two, false, DeviceId{beyond + 1}));
  CHECK(bench.alarms.rows().empty());
  SECTION("its device") {
    CHECK(bench.fail_commit(two, false, bench.laser(1)));
    CHECK(bench.watch.is_unusable(bench.laser(1)));
  }
  SECTION("the first of its agents is away, the second is there") {
    bench.lose(NodeId{1});
    CHECK(bench.fail_commit(two, false));
  }
  SECTION("an agent that takes no part is away") {
    bench.lose(NodeId{3});
    CHECK_FALSE(bench.fail_commit(two, false));
  }
  SECTION("the lasers of the last are latched off") {
    bench.greet(NodeId{2}, true);
    CHECK(bench.fail_commit(two, false));
  }
  SECTION("the lasers of the first are latched off") {
    bench.greet(NodeId{1}, true);
    CHECK(bench.fail_commit(two, false));
  }
}

TEST_CASE("who is away or latched is named with the reason, a latch holds lasers only") {
  Bench bench;
  bench.greet(NodeId{1}, true);
  CHECK_THAT(bench.watch.why(bench.laser(1)), Catch::Contains("lasers of node 1 are latched off"));
  CHECK_FALSE(bench.watch.is_unusable(bench.ocs(1)));
  CHECK(bench.watch.devices().size() == 2);  // its two lasers
  bench.give_up(bench.ocs(1));
  bench.lose(NodeId{0});
  CHECK_THAT(bench.watch.why(bench.laser(0)), Catch::Contains("its agent is dead, node 0 has sent nothing"));
  CHECK_THAT(bench.watch.why(bench.ocs(0)), Catch::Contains("5000 ms"));
  const std::vector<UnusableDevice> all = bench.watch.devices();
  REQUIRE(all.size() == 6);
  CHECK(std::is_sorted(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.device < b.device; }));
  CHECK_FALSE(all.back().why.empty());
}

// --- what may still be there -----------------------------------------------------------------------------------------------

TEST_CASE("a laser that nothing is known to have changed holds what the confirmed plan says") {
  Bench bench;
  const DeviceId laser = bench.laser(1);
  bench.confirm({share(laser, light(kFirst), true)});
  bench.give_up(laser);
  CHECK(bench.entry(laser)->holds);
  CHECK(bench.entry(laser)->may_emit.empty());
  CHECK(bench.watch.may_emit_light(laser));
  bench.see_laser(laser, false);  // read at the very confirmation: not after it
  CHECK(bench.entry(laser)->holds);
  bench.facts.now += nanoseconds{1};
  bench.see_laser(laser, true);
  CHECK(bench.entry(laser)->holds);
  CHECK(bench.watch.may_emit_light(laser));
  bench.see_laser(laser, false);  // what should be light is none
  CHECK_FALSE(bench.entry(laser)->holds);
  CHECK_FALSE(bench.watch.may_emit_light(laser));
}

TEST_CASE("a dark laser that the plan wants dark holds") {
  Bench bench;
  const DeviceId laser = bench.laser(1);
  bench.give_up(laser);
  bench.see_laser(laser, false);
  CHECK(bench.entry(laser)->holds);  // nothing was ever confirmed
  CHECK_FALSE(bench.watch.may_emit_light(laser));
  bench.confirm({share(laser, TransmitterSetpoint{kFirst, Dbm{0}, false}, false)});
  CHECK(bench.entry(laser)->holds);
  CHECK_FALSE(bench.watch.may_emit_light(laser));
  bench.confirm({share(bench.laser(2), light(kFirst), true)});  // a plan with nothing of it
  CHECK(bench.entry(laser)->holds);
  CHECK_FALSE(bench.watch.may_emit_light(laser));
}

TEST_CASE("a laser that a failed commit touched may emit what that asked and what was there, until it is read dark") {
  Bench bench;
  const DeviceId laser = bench.laser(1);
  const DeviceId other = bench.device(NodeId{2}, DeviceRole::transmitter);
  bench.confirm({share(laser, light(kFirst), true)});
  bench.give_up(laser);
  bench.give_up(other);
  bench.facts.now += seconds{1};
  SECTION("a commit that had not armed leaves nothing") {
    bench.fail_commit({share(laser, light(kSecond), true)}, false);
    CHECK(bench.entry(laser)->holds);
    CHECK(bench.entry(laser)->may_emit.empty());
  }
  SECTION("what it did not touch is as it was") {
    bench.fail_commit({share(laser, light(kSecond), false), share(other, light(kSecond), true)}, true);
    CHECK(bench.entry(laser)->holds);
    CHECK(bench.entry(laser)->may_emit.empty());
    CHECK_FALSE(bench.entry(other)->holds);
    CHECK(bench.entry(other)->may_emit == std::vector<FrequencySlot>{kSecond});
    CHECK(bench.watch.may_emit_light(other));  // though nothing confirmed has light there
  }
  SECTION("what it touched may emit both, each named once") {
    for (int i = 0; i < 2; ++i) {
      bench.fail_commit({share(laser, light(kSecond), true), share(other, TransmitterSetpoint{kSecond, Dbm{0}, false}, true)},
                        true);
    }
    CHECK_FALSE(bench.entry(laser)->holds);
    CHECK(bench.entry(laser)->may_emit == std::vector<FrequencySlot>{kSecond, kFirst});
    CHECK(bench.entry(other)->may_emit.empty());  // it was to be dark
    CHECK(bench.watch.may_emit_light(laser));
    CHECK_FALSE(bench.watch.may_emit_light(other));
    bench.see_laser(laser, false);  // at the very failure
    CHECK_FALSE(bench.entry(laser)->may_emit.empty());
    bench.facts.now += nanoseconds{1};
    bench.see_laser(laser, true);
    CHECK_FALSE(bench.entry(laser)->may_emit.empty());
    bench.see_laser(laser, false);
    CHECK(bench.entry(laser)->may_emit.empty());
    CHECK_FALSE(bench.entry(laser)->holds);
  }
  SECTION("a revision that an earlier incarnation let go is one, too") {
    bench.watch.may_have_left(bench.plan_with({share(laser, light(kSecond), true)})->plan);
    CHECK(bench.entry(laser)->may_emit == std::vector<FrequencySlot>{kSecond, kFirst});
  }
  SECTION("until a commit that touches it is confirmed") {
    bench.fail_commit({share(laser, light(kSecond), true), share(other, light(kSecond), true)}, true);
    bench.confirm({share(laser, light(kFirst), true), share(other, light(kSecond), false)});
    CHECK_FALSE(bench.watch.is_unusable(laser));
    CHECK(bench.watch.is_unusable(other));
    CHECK_FALSE(bench.entry(other)->may_emit.empty());
    bench.give_up(laser);
    CHECK(bench.entry(laser)->holds);
    CHECK(bench.entry(laser)->may_emit.empty());
  }
}

TEST_CASE("a latched laser is dark, as is one that an operator has looked at") {
  Bench bench;
  const DeviceId laser = bench.laser(1);
  bench.confirm({share(laser, light(kFirst), true)});
  CHECK_FALSE(bench.watch.may_emit_light(laser));  // it follows orders
  SECTION("latched") {
    bench.greet(NodeId{1}, true);
    CHECK(bench.watch.may_emit_light(laser));  // nobody has read it since its agent started
    bench.see_laser(laser, false);
    CHECK_FALSE(bench.entry(laser)->holds);
    CHECK_FALSE(bench.watch.may_emit_light(laser));
  }
  SECTION("latched, and follows that order as little as others") {
    bench.greet(NodeId{1}, true);
    bench.give_up(laser);
    bench.see(laser, TransmitterObservation{centre_of(kFirst), Dbm{0}, true, true, 0, 0}, DeviceHealth::failed, "sticks");
    CHECK_FALSE(bench.watch.is_proven_dark(laser));
    bench.facts.now += seconds{1};
    bench.see_laser(laser, false);
    CHECK(bench.watch.is_proven_dark(laser));
  }
  SECTION("latched, and nobody can read whether it follows") {
    bench.greet(NodeId{1}, true);
    bench.see(laser, {}, DeviceHealth::failed, "no answer");
    CHECK_FALSE(bench.watch.is_proven_dark(laser));
  }
  SECTION("looked at") {
    bench.lose(NodeId{1});
    CHECK(bench.entry(laser)->holds);
    CHECK(bench.watch.may_emit_light(laser));
    CHECK_FALSE(bench.watch.may_emit_light(bench.ocs(1)));
    bench.sessions.vouch_dark(NodeId{1});
    CHECK_FALSE(bench.entry(laser)->holds);
    CHECK_FALSE(bench.watch.may_emit_light(laser));
  }
}

TEST_CASE("a switch that a failed commit touched holds if it was read since to be as planned, and else nothing relies on it") {
  Bench bench;
  const DeviceId ocs = bench.ocs(1);
  const CircuitSwitchSetpoint crossed{{{0, 1}, {1, 0}}};
  bench.give_up(ocs);
  CHECK(bench.entry(ocs)->holds);
  const auto fail = [&] { bench.fail_commit({share(ocs, CircuitSwitchSetpoint{{{0, 2}}}, true)}, true); };
  SECTION("nothing is confirmed") {
    fail();
    bench.facts.now += seconds{1};
    bench.see(ocs, CircuitSwitchObservation{{}, true});
    CHECK_FALSE(bench.entry(ocs)->holds);
  }
  SECTION("the confirmed plan has nothing of it") {
    bench.confirm({share(bench.laser(1), light(kFirst), true)});
    bench.give_up(ocs);
    fail();
    bench.facts.now += seconds{1};
    bench.see(ocs, CircuitSwitchObservation{{}, true});
    CHECK_FALSE(bench.entry(ocs)->holds);
  }
  SECTION("it is confirmed to be crossed") {
    bench.confirm({share(ocs, crossed, true)});
    bench.facts.now += seconds{1};
    bench.see(ocs, CircuitSwitchObservation{crossed.connects, true});
    bench.give_up(ocs);
    fail();
    CHECK_FALSE(bench.entry(ocs)->holds);  // read before
    bench.facts.now += nanoseconds{1};
    bench.see(ocs, CircuitSwitchObservation{{{0, 2}, {1, 0}}, true});
    CHECK_FALSE(bench.entry(ocs)->holds);
    bench.see(ocs, CircuitSwitchObservation{crossed.connects, true});
    CHECK(bench.entry(ocs)->holds);
    CHECK_FALSE(bench.watch.may_emit_light(ocs));
    // That its node's lasers are latched says nothing of it.
    bench.see(ocs, CircuitSwitchObservation{{{0, 2}, {1, 0}}, true});
    bench.greet(NodeId{1}, true);
    CHECK_FALSE(bench.entry(ocs)->holds);
  }
  SECTION("it was never read") {
    bench.confirm({share(ocs, crossed, true)});
    bench.give_up(ocs);
    fail();
    CHECK_FALSE(bench.entry(ocs)->holds);
  }
}

TEST_CASE("connections that a failed commit may have made are nobody else's") {
  Bench bench;
  const DeviceId ocs = bench.ocs(1);
  bench.confirm({share(ocs, CircuitSwitchSetpoint{{{0, 1}}}, true)});
  bench.facts.now += seconds{1};
  CircuitSwitchObservation seen{{{0, 1}}, true};
  seen.occupied = {{2, 3}};  // of an agent that began anew
  bench.see(ocs, seen);
  REQUIRE(bench.entry(ocs));
  CHECK(bench.entry(ocs)->occupied == std::vector<CrossConnect>{{2, 3}});
  bench.fail_commit({share(ocs, CircuitSwitchSetpoint{{{0, 1}, {2, 3}}}, true)}, true);
  CHECK_FALSE(bench.entry(ocs));
}

TEST_CASE("a laser that a plan has dark and leaves alone may emit what it had, until it is read dark, and after a restart") {
  Bench bench;
  const DeviceId laser = bench.laser(1);
  bench.confirm({share(laser, light(kFirst), true)});
  bench.lose(NodeId{1});
  DevicePlan left_alone = share(laser, TransmitterSetpoint{kFirst, Dbm{0}, false}, false);
  left_alone.left_alone = true;
  left_alone.may_hold = {light(kSecond)};
  bench.confirm({left_alone});
  SECTION("confirmed by this controller") {}
  SECTION("found in the journal") { bench.watch.restore({}); }
  CHECK(bench.entry(laser)->may_emit == std::vector<FrequencySlot>{kSecond});
  bench.facts.now += nanoseconds{1};
  bench.see_laser(laser, false);
  CHECK_FALSE(bench.watch.may_emit_light(laser));
}

TEST_CASE("a latch of its node's lasers does not make a switch hold that a commit left somewhere") {
  Bench bench;
  const DeviceId ocs = bench.ocs(1);
  bench.fail_commit({share(ocs, CircuitSwitchSetpoint{{{0, 2}}}, true)}, true, ocs);
  bench.give_up(ocs);
  CHECK_FALSE(bench.entry(ocs)->holds);
  bench.greet(NodeId{1}, true);
  CHECK_FALSE(bench.entry(ocs)->holds);
}

TEST_CASE("a laser of another's light, which no plan knows, may emit what was read of it") {
  Bench bench;
  const DeviceId laser = bench.laser(1);
  bench.give_up(laser);
  bench.facts.now += nanoseconds{1};
  bench.see_laser(laser, true);
  REQUIRE(bench.entry(laser));
  CHECK(bench.entry(laser)->may_emit.size() == 1);
  CHECK_FALSE(bench.entry(laser)->holds);
  CHECK(bench.watch.may_emit_light(laser));
  CHECK_FALSE(bench.watch.is_proven_dark(laser));
  bench.facts.now += nanoseconds{1};
  bench.see_laser(laser, false);
  CHECK(bench.watch.is_proven_dark(laser));
  CHECK_FALSE(bench.watch.may_emit_light(laser));
}

// --- what stays for somebody's light, and what is back ---------------------------------------------------------------------

TEST_CASE("what would move in light that nobody can prove dark stays as long as that may be there") {
  Bench bench;
  const DeviceId laser = bench.laser(1);
  const DeviceId ocs = bench.ocs(0);
  bench.confirm({share(laser, light(kFirst), true)});
  bench.watch.hold_back({ocs}, laser);
  CHECK_FALSE(bench.watch.is_unusable(ocs));  // the laser follows orders
  CHECK_FALSE(bench.entry(ocs));
  bench.give_up(laser);
  CHECK_THAT(bench.watch.why(ocs), Catch::Contains("may meet it, and nobody can prove that dark: no light"));
  REQUIRE(bench.entry(ocs));
  CHECK(bench.entry(ocs)->holds);
  CHECK_FALSE(bench.watch.is_unusable(bench.ocs(1)));
  bench.confirm({share(bench.laser(2), light(kFirst), true), share(bench.laser(3), light(kFirst), false)});
  // The plan has no light of the laser any more, so that it holds darkness.
  CHECK_FALSE(bench.watch.is_unusable(ocs));
}

TEST_CASE("what was held back is forgotten with the first confirmation after the light is proven dark") {
  Bench bench;
  const DeviceId laser = bench.laser(1);
  const std::vector<DevicePlan> lit{share(laser, light(kFirst), false)};
  bench.confirm(lit);
  bench.give_up(laser);
  bench.watch.hold_back({bench.ocs(0)}, laser);
  bench.confirm(lit);
  CHECK(bench.watch.is_unusable(bench.ocs(0)));  // it may still shine
  bench.facts.now += seconds{1};
  bench.see_laser(laser, false);
  bench.confirm(lit);
  CHECK_FALSE(bench.watch.is_unusable(bench.ocs(0)));
  bench.facts.now += seconds{1};
  bench.see_laser(laser, true);
  CHECK(bench.watch.may_emit_light(laser));
  CHECK_FALSE(bench.watch.is_unusable(bench.ocs(0)));
}

TEST_CASE("what a plan did without is told once when it is of use again") {
  Bench bench;
  CHECK_FALSE(bench.watch.take_recovery());
  bench.give_up(bench.laser(1));
  bench.give_up(bench.laser(2));
  CHECK_FALSE(bench.watch.take_recovery());  // no plan was made of it
  bench.watch.planned_without(bench.watch.devices());
  CHECK_FALSE(bench.watch.take_recovery());
  bench.receive(bench.laser(2), DeviceHealth::ready, "");
  const std::optional<std::string> back = bench.watch.take_recovery();
  REQUIRE(back);
  CHECK_THAT(*back, Catch::Contains("(device " + std::to_string(bench.laser(2).value) + ")"));
  CHECK_FALSE(bench.watch.take_recovery());
  bench.receive(bench.laser(1), DeviceHealth::ready, "");
  CHECK(bench.watch.take_recovery());
  CHECK_FALSE(bench.watch.take_recovery());
}

}  // namespace
}  // namespace loom::test
