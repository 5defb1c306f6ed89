// SPDX-License-Identifier: Apache-2.0
// When light is measured, what counts as measured, and what jobs and circuits are told of it: each rule at its border.
#include "controller/control/watch/light_watch.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/architectures/small_fabrics.hpp"

namespace loom::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr JobId kRing{1};
constexpr JobId kExchange{2};  ///< plays timeslots

/// Two jobs in light, and every device reads as planned.
struct Bench {
  ControllerFacts facts;
  DesiredIntent desired;
  ConfirmedPlans confirmed;
  JournalQueue journal{{}};
  AlarmBoard alarms;
  DeviceReadings readings;
  AgentSessions sessions;
  Jobs jobs;
  LightWatch watch;
  EffectSink sink;
  std::shared_ptr<PlanResult> result;

  Bench()
      : facts{small_fabric(0), "oddl", {}, {}, Instant{seconds{100}}},
        readings(*facts.fabric),
        sessions(facts, desired, confirmed, journal, alarms, readings),
        jobs(facts, desired),
        watch(facts, desired, confirmed, sessions, jobs) {
    for (const Node& node : facts.fabric->nodes) {
      greet(node.id);
    }
    Planning planning(facts.fabric);
    planning.request.intent.jobs = {placed_job(kRing.value, {0, 1, 4, 5}), placed_job(kExchange.value, {2, 3, 6, 7})};
    planning.request.intent.jobs[1].spec.collectives[0].kind = CollectiveKind::all_to_all;
    const auto made = planning.attempt();
    INFO((made ? "" : made.error().message));
    REQUIRE(made);
    result = std::make_shared<PlanResult>(**made);
    desired.replace(result->intent);
    jobs.add(kRing);
    jobs.add(kExchange);
    confirm();
    read_all();
    measure();
    REQUIRE(state(kRing) == JobState::lit);
    REQUIRE(state(kExchange) == JobState::lit);
  }

  void greet(NodeId node, bool latched = false) {
    sessions.greet(node, "agents-0", Hello{"test", node.value + 1ULL, {}, {}, latched, {}}, false, sink);
  }
  /// The plan as it is now, or as it was changed since.
  void confirm() {
    confirmed.confirm(std::make_shared<const PlanResult>(*result));
    jobs.planned(*result);
    jobs.confirmed(*result);
  }
  void read_all() {
    for (const auto& seen : perfect_readings(*facts.fabric, result->plan, facts.now)) {
      if (seen) {
        readings.keep(*seen);
      }
    }
  }
  /// As after an event that says nothing of light.
  void follow() { watch.follow(nullptr); }
  /// In any case.
  void measure() {
    facts.now += facts.timings.reconcile_interval;
    watch.look();
  }

  const Circuit& circuit(JobId job, std::size_t index = 0) const {
    for (const Circuit& each : result->plan.circuits) {
      if (each.job == job && index-- == 0) {
        return each;
      }
    }
    FAIL("no such circuit");
    return result->plan.circuits.front();
  }
  void turn_off(const Circuit& of, bool emits = false) {
    const DeviceId laser = *facts.fabric->device_of_element[of.transmitter.value];
    readings.keep(
        Observation{laser,
                    DeviceHealth::ready,
                    facts.now,
                    TransmitterObservation{centre_of(of.slot), emits ? Dbm{-1'500} : Dbm{kNoLight}, emits, true, 0, 0},
                    {}});
  }
  JobState state(JobId job) const { return jobs.at(job).state; }
  std::string reason(JobId job) const { return jobs.at(job).reason; }
  CircuitReport report(const Circuit& of) const { return watch.reports_of({{of, 3}}).at(0); }
};

TEST_CASE("what was read otherwise is measured soon, but not more often than every fourth beat") {
  Bench bench;
  const Instant measured = bench.facts.now;
  bench.turn_off(bench.circuit(kRing));
  bench.follow();
  bench.watch.look();
  CHECK(bench.state(kRing) == JobState::lit);
  bench.watch.note_change();
  bench.facts.now = measured + 4 * bench.facts.timings.beat_interval - nanoseconds{1};
  bench.watch.look();
  CHECK(bench.state(kRing) == JobState::lit);
  bench.facts.now += nanoseconds{1};
  bench.watch.look();
  CHECK(bench.state(kRing) == JobState::dark);
}

TEST_CASE("without news everything is measured once in a while all the same") {
  Bench bench;
  const Instant measured = bench.facts.now;
  bench.turn_off(bench.circuit(kRing));
  bench.facts.now = measured + bench.facts.timings.reconcile_interval - nanoseconds{1};
  bench.watch.look();
  bench.follow();
  CHECK(bench.state(kRing) == JobState::lit);
  bench.facts.now += nanoseconds{1};
  bench.watch.look();
  CHECK(bench.state(kRing) == JobState::dark);
  CHECK(bench.state(kExchange) == JobState::lit);
}

TEST_CASE("a confirmation is measured at once, by the new plan's circuits") {
  Bench bench;
  bench.turn_off(bench.circuit(kRing));
  const Circuit before = bench.circuit(kRing);
  for (Circuit& each : bench.result->plan.circuits) {
    each.id.value += 1'000;
  }
  bench.confirm();
  bench.follow();
  CHECK(bench.state(kRing) == JobState::dark);
  CHECK_THAT(bench.reason(kRing), Catch::Contains("circuit " + std::to_string(bench.circuit(kRing).id.value)));
  CHECK(bench.report(bench.circuit(kRing)).why != "the confirmed plan has no such circuit");
  CHECK(bench.report(before).why == "the confirmed plan has no such circuit");
  CHECK(bench.report(before).state == "FAILED");
  CHECK(bench.report(before).light == LightState::dark);
}

TEST_CASE("an order about lasers is measured at once, and only once") {
  Bench bench;
  bench.desired.set_lasers(false);
  bench.follow();
  CHECK(bench.state(kRing) == JobState::dark);
  CHECK(bench.reason(kRing) == "the lasers are ordered off: loom lasers rearm");
  bench.desired.set_lasers(true);
  bench.follow();
  CHECK(bench.state(kRing) == JobState::lit);
  bench.turn_off(bench.circuit(kRing));
  bench.follow();
  CHECK(bench.state(kRing) == JobState::lit);
}

TEST_CASE("a revision that was confirmed with the lasers off has no light yet") {
  Bench bench;
  bench.result->intent.lasers_off = true;
  bench.confirm();
  bench.follow();
  CHECK(bench.state(kRing) == JobState::dark);
  CHECK_THAT(bench.reason(kRing), Catch::Contains("were off when its revision was confirmed"));
}

TEST_CASE("a job that the plan leaves out is dark for the reason of that, the others are measured") {
  Bench bench;
  bench.result->left_out = {{kRing, Error{ErrorCode::infeasible, "its laser follows no order"}, true, {}, {}}};
  bench.confirm();
  bench.follow();
  CHECK(bench.state(kRing) == JobState::dark);
  CHECK(bench.reason(kRing) == "its laser follows no order");
  CHECK(bench.state(kExchange) == JobState::lit);
  bench.result->left_out.push_back({kExchange, Error{ErrorCode::infeasible, "nor does its"}, true, {}, {}});
  bench.confirm();
  bench.follow();
  CHECK(bench.reason(kExchange) == "nor does its");
}

TEST_CASE("circuits that a plan is without are listed for a job that runs in part, and for no other") {
  Bench bench;
  const std::vector<LeftCircuit> some{{bench.circuit(kRing), 0}, {bench.circuit(kRing, 1), 2}};
  bench.result->left_out = {{kRing, Error{ErrorCode::infeasible, "its laser follows no order"}, true, {}, some},
                            {kExchange, Error{ErrorCode::infeasible, "no path"}, false, {}, some}};
  bench.confirm();
  const std::vector<CircuitReport> rows = bench.watch.left_out_of(kRing);
  REQUIRE(rows.size() == 2);
  CHECK(rows[1].circuit == some[1].circuit);
  CHECK(rows[1].timeslot == 2);
  CHECK(rows[1].light == LightState::dark);
  CHECK(rows[1].why == "its laser follows no order");
  CHECK(bench.watch.left_out_of(kExchange).empty());
  CHECK(bench.watch.left_out_of(JobId{3}).empty());
}

TEST_CASE("a job is as its worst circuit, and of two that are as bad the first is named") {
  Bench bench;
  const Circuit& first = bench.circuit(kRing);
  std::size_t index = 1;
  while (bench.circuit(kRing, index).transmitter == first.transmitter) {
    ++index;
  }
  const Circuit& other = bench.circuit(kRing, index);
  bench.turn_off(other, true);  // emits, but weakly
  bench.measure();
  CHECK(bench.state(kRing) == JobState::degraded);
  CHECK_THAT(bench.reason(kRing), Catch::StartsWith("circuit " + std::to_string(other.id.value) + ": "));
  bench.turn_off(first);
  bench.measure();
  CHECK(bench.state(kRing) == JobState::dark);
  bench.turn_off(other);
  bench.measure();
  CHECK_THAT(bench.reason(kRing), Catch::StartsWith("circuit " + std::to_string(first.id.value) + ": "));
  bench.read_all();
  bench.measure();
  CHECK(bench.state(kRing) == JobState::lit);
  CHECK(bench.reason(kRing).empty());
}

TEST_CASE("nothing is measured before anything is confirmed") {
  Bench bench;
  bench.confirmed.confirm(nullptr);
  bench.measure();
  CHECK(bench.state(kRing) == JobState::lit);
}

TEST_CASE("a circuit's report has its light, its age, its timeslot, and why only where something is wrong") {
  Bench bench;
  CircuitReport row = bench.report(bench.circuit(kRing));
  CHECK(row.light == LightState::lit);
  CHECK(row.state == "CONNECTED");
  CHECK(row.age == bench.facts.timings.reconcile_interval);
  CHECK(row.timeslot == 3);
  CHECK(row.why.empty());
  bench.turn_off(bench.circuit(kRing));
  row = bench.report(bench.circuit(kRing));
  CHECK(row.light == LightState::dark);
  CHECK(row.state == "FAILED");
  CHECK_FALSE(row.why.empty());
}

TEST_CASE("an agent that is away, latched or on its way into the dark says so of its circuits") {
  Bench bench;
  const Circuit circuit = bench.circuit(kRing);
  SECTION("latched") {
    bench.greet(circuit.source, true);
    bench.read_all();
    CHECK(bench.report(circuit).state == "PENDING_CONNECTION");
    CHECK_THAT(bench.report(circuit).why, Catch::Contains("latched"));
  }
  SECTION("ordered off") {
    bench.desired.set_lasers(false);
    const CircuitReport row = bench.report(circuit);
    CHECK(row.light != LightState::lit);
    CHECK(row.state != "CONNECTED");
    bench.greet(circuit.source, true);  // and it has followed
    bench.read_all();
    CHECK(bench.report(circuit).state == "PENDING_CONNECTION");
  }
  SECTION("away") {
    bench.facts.now += bench.facts.timings.dead_after;
    bench.sessions.sweep(bench.sink);
    CHECK_THAT(bench.report(circuit).why, Catch::Contains("away"));
    CHECK(bench.report(circuit).state == "UNKNOWN");
  }
}

TEST_CASE("timeslots that were played through are dark and nothing is wrong, between them it is dark and lit") {
  Bench bench;
  const Circuit circuit = bench.circuit(kExchange);
  bench.turn_off(circuit);
  CHECK(bench.report(circuit).light == LightState::lit);
  for (const NodeId node : bench.desired.job(kExchange)->nodes) {
    bench.jobs.keep_cycle(node, bench.result->plan.revision, 0);
  }
  REQUIRE(bench.jobs.take_played_stage(kExchange).has_value());
  CHECK(bench.report(circuit).light == LightState::dark);
  CHECK(bench.report(circuit).state == "PENDING_CONNECTION");
}

TEST_CASE("a switch that moves as a commit ordered it is no news, one that moves unasked is dark") {
  Bench bench;
  const Circuit circuit = bench.circuit(kRing);
  const LightPaths paths(bench.facts.fabric, {bench.result, &bench.result->plan});
  std::optional<DeviceId> wss;
  for (const Hop& hop : paths.hops(*paths.index_of(circuit.id))) {
    const auto device = bench.facts.fabric->device_of_element[hop.element.value];
    wss = device && bench.facts.fabric->device(*device).role == DeviceRole::wavelength_switch ? device : wss;
  }
  REQUIRE(wss);
  const NodeId agent = bench.facts.fabric->device(*wss).agent;
  Observation seen = *bench.sessions.observed(*wss);
  std::get<WavelengthSwitchObservation>(seen.reading).settled = false;
  bench.readings.keep(seen);
  CHECK(bench.report(circuit).light == LightState::dark);
  auto next = std::make_shared<PlanResult>(*bench.result);
  next->plan.changed = {agent};
  for (DevicePlan& device : next->plan.nodes.edit(agent.value).devices) {
    device.touched = device.device != *wss;
  }
  bench.watch.follow(next);
  CHECK(bench.report(circuit).light == LightState::dark);
  auto moves = std::make_shared<PlanResult>(*next);
  for (DevicePlan& device : moves->plan.nodes.edit(agent.value).devices) {
    device.touched = device.device == *wss;
  }
  bench.watch.follow(moves);
  CHECK(bench.report(circuit).light == LightState::unknown);
  bench.watch.follow(nullptr);
  CHECK(bench.report(circuit).light == LightState::dark);
}

}  // namespace
}  // namespace loom::test
