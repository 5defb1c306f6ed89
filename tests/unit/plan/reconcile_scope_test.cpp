// SPDX-License-Identifier: Apache-2.0
// What a repair touches: the drifted device, and exactly the light that meets what differs of it.
#include "controller/plan/reconcile/reconcile.hpp"
#include "tests/unit/plan/verify_chain.hpp"

namespace loom::testing {
namespace {

/// Names of what a repair of one device touches, given what was read of it (nothing: it was never read).
struct Scope {
  Texts devices;
  std::vector<NodeId> nodes;
  Texts steering;
};

Scope scope_of(VerifyBench& bench, const Texts& drifted, std::optional<Reading> reading, std::vector<NodeId> restored = {}) {
  std::vector<DeviceId> ids;
  for (const std::string& each : drifted) {
    ids.push_back(bench.device_plan(each).device);
  }
  Observation observation;
  std::vector<const Observation*> observations(bench.fabric.devices.size(), nullptr);
  if (reading) {
    observation.device = ids.front();
    observation.reading = *reading;
    observations[ids.front().value] = &observation;
  }
  const RepairScope found = repair_scope(bench.fabric, bench.plan, ids, observations, restored);
  Scope scope{{}, found.nodes, {}};
  for (const DeviceId id : found.devices) {
    scope.devices.push_back(bench.fabric.device(id).name);
  }
  for (const DeviceId id : found.steering) {
    scope.steering.push_back(bench.fabric.device(id).name);
  }
  return scope;
}

Texts touched(VerifyBench bench, const std::string& drifted, std::optional<Reading> reading) {
  return scope_of(bench, {drifted}, std::move(reading)).devices;
}

// --- WSS ----------------------------------------------------------------------------------------------------------------

TEST_CASE("repair: a drifted laser is touched alone") {
  VerifyBench bench = chain_of_two();
  const Scope scope = scope_of(bench, {"laser-1"}, {});
  CHECK(scope.devices == Texts{"laser-1"});
  CHECK(scope.nodes == std::vector{NodeId{1}});
  CHECK(scope.steering.empty());
}

TEST_CASE("repair: a WSS that was never read takes all light that passes it, one that was read the light that differs") {
  VerifyBench bench = chain_of_two();
  const auto routes = bench.set<WavelengthSwitchSetpoint>("wss").routes;  // wavelength 0 of laser-0, wavelength 1 of laser-1
  const Scope unread = scope_of(bench, {"wss"}, {});
  CHECK(unread.devices == Texts{"laser-0", "laser-1", "wss"});
  CHECK(unread.nodes == std::vector{NodeId{0}, NodeId{1}});
  CHECK(unread.steering == Texts{"wss"});
  CHECK(touched(bench, "wss", std::monostate{}) == Texts{"laser-0", "laser-1", "wss"});
  CHECK(touched(bench, "wss", WavelengthSwitchObservation{{routes[0]}, true}) == Texts{"laser-1", "wss"});
  CHECK(touched(bench, "wss", WavelengthSwitchObservation{{routes[1]}, true}) == Texts{"laser-0", "wss"});
  CHECK(touched(bench, "wss", WavelengthSwitchObservation{{}, true}) == Texts{"laser-0", "laser-1", "wss"});
  CHECK(touched(bench, "wss", WavelengthSwitchObservation{routes, true}) == Texts{"wss"});
  WssRoute weaker = routes[0];
  weaker.attenuation = Db{10};
  CHECK(touched(bench, "wss", WavelengthSwitchObservation{{weaker, routes[1]}, true}) == Texts{"laser-0", "wss"});
}

TEST_CASE("repair: a foreign row concerns light of its input or of its exit, where their slots overlap") {
  VerifyBench bench = chain_of_two();
  bench.element("wss").inputs = 2;
  build_index(bench.fabric);
  auto routes =
      bench.set<WavelengthSwitchSetpoint>("wss").routes;  // from input 0: wavelength 0 to output 1, wavelength 1 to output 0
  const auto with = [&](WssRoute foreign) {
    auto seen = routes;
    seen.push_back(foreign);
    return touched(bench, "wss", WavelengthSwitchObservation{seen, true});
  };
  CHECK(with({wavelength(5), 0, 0, Db{0}}) == Texts{"wss"});
  CHECK(with({wavelength(0), 1, 0, Db{0}}) == Texts{"wss"});  // of another input, to an exit that wavelength 0 leaves alone
  CHECK(with({wavelength(0), 1, 1, Db{0}}) == Texts{"laser-0", "wss"});  // into the exit of laser-0's light
  CHECK(with({wavelength(1), 1, 0, Db{0}}) == Texts{"laser-1", "wss"});
  CHECK(with({wavelength(5), 1, 1, Db{0}}) == Texts{"wss"});  // that exit, another wavelength
  CHECK(with({wavelength(0), 0, 0, Db{0}}) == Texts{"laser-0", "wss"});
  CHECK(with({{8, 16}, 0, 0, Db{0}}) == Texts{"laser-0", "laser-1", "wss"});  // a wide one over both
}

TEST_CASE("repair: dark lasers and light elsewhere are left alone") {
  VerifyBench bench = chain_of_two();
  bench.set<TransmitterSetpoint>("laser-1").emit = false;
  CHECK(touched(bench, "wss", {}) == Texts{"laser-0", "wss"});
  bench.light("laser-3", 0);
  CHECK(touched(bench, "wss", {}) == Texts{"laser-0", "wss"});
}

// --- rings --------------------------------------------------------------------------------------------------------------

TEST_CASE("repair: a ring takes the light that it drops with it") {
  VerifyBench bench = chain_of_two();
  bench.kind<RingFilter>("ring-0").cold_resonance = {194'000'000};
  CHECK(touched(bench, "bank", FilterObservation{{0, 0, 0, 0}}) == Texts{"laser-1", "bank"});
}

TEST_CASE("repair: a ring takes light with it that its resonance comes near to on its way back") {
  // 1 V takes a ring 37 GHz down; light of wavelength 1 is at 193.2 THz, the ring 80 GHz wide and wanted cold.
  const auto with = [](std::int64_t cold_mhz, std::int32_t millivolts, std::int64_t range = 0) {
    VerifyBench one = make_chain();
    one.light("laser-3", 1);
    one.kind<RingFilter>("ring-3").cold_resonance = {cold_mhz};
    one.kind<RingFilter>("ring-3").free_spectral_range = {range};
    one.circuit(1, 1, "tx-3", "rx-6", 1);
    one.declare();
    return touched(one, "bank", FilterObservation{{0, 0, 0, millivolts}});
  };
  const Texts met{"laser-3", "bank"};
  const Texts missed{"bank"};
  CHECK(with(193'120'000, 1'000) == met);  // cold resonance 80 GHz below the light
  CHECK(with(193'119'999, 1'000) == missed);
  CHECK(with(193'317'000, 1'000) == met);  // heated resonance 80 GHz above the light
  CHECK(with(193'317'001, 1'000) == missed);
  CHECK(with(193'119'999, 1'000, 900'000) == met);  // of a ring with orders nothing can be said
}

TEST_CASE("repair: a ring that was not read takes the light that meets it") {
  const auto with = [](std::optional<Reading> reading) {
    VerifyBench bench = make_chain();
    bench.light("laser-3", 1);
    bench.kind<RingFilter>("ring-3").cold_resonance = {194'000'000};
    bench.circuit(1, 1, "tx-3", "rx-6", 1);
    bench.declare();
    return touched(bench, "bank", std::move(reading));
  };
  CHECK(with(FilterObservation{{0, 0, 0, 0}}) == Texts{"bank"});
  CHECK(with(FilterObservation{{0, 0, 0}}) == Texts{"laser-3", "bank"});  // of ring-3 it says nothing
  CHECK(with(std::monostate{}) == Texts{"laser-3", "bank"});
  CHECK(with({}) == Texts{"laser-3", "bank"});
}

// --- the way that light takes -------------------------------------------------------------------------------------------

/// tx-0 -> grating -> (0) wss-0 -> rx-0, (1) wss-1 -> rx-1; tx-1 -> panel -> (1) ocs -> splitter -> both inputs of wss-2 ->
/// rx-2. The circuit switch is driven by `agent`; light of laser-1 of node 1 alone comes to it.
VerifyBench make_branches(std::uint32_t agent = 1) {
  VerifyBench bench;
  bench.add("tx-0", 0, 1, some_transmitter());
  bench.add("tx-1", 0, 1, some_transmitter());
  for (const char* name : {"rx-0", "rx-1", "rx-2"}) {
    bench.add(name, 1, 0, some_receiver());
  }
  bench.add("grating", 1, 2, ArrayedWaveguideGrating{{wavelength(0), 16, 2}, {80'000}, Db{3'500}});
  for (const char* name : {"wss-0", "wss-1"}) {
    bench.add(name, 1, 1, WavelengthSelectiveSwitch{});
  }
  bench.add("panel", 1, 2, PatchPanel{{1}});
  bench.add("ocs", 2, 2, OpticalCircuitSwitch{milliseconds{30}});
  bench.add("splitter", 1, 2, Coupler{}, Db{300});
  bench.add("wss-2", 2, 1, WavelengthSelectiveSwitch{});
  bench.add("wss-3", 1, 1, WavelengthSelectiveSwitch{});
  bench.join("tx-0", 0, "grating", 0);
  bench.join("grating", 0, "wss-0", 0);
  bench.join("grating", 1, "wss-1", 0);
  bench.join("wss-0", 0, "rx-0", 0);
  bench.join("wss-1", 0, "rx-1", 0);
  bench.join("tx-1", 0, "panel", 0);
  bench.join("panel", 1, "ocs", 1);
  bench.join("panel", 0, "wss-3", 0);
  bench.join("ocs", 0, "splitter", 0);
  bench.join("splitter", 0, "wss-2", 0);
  bench.join("splitter", 1, "wss-2", 1);
  bench.join("wss-2", 0, "rx-2", 0);
  bench.node("a", {"tx-0"}, {"rx-0", "rx-1"});
  bench.node("b", {"tx-1"}, {"rx-2"});
  bench.device("laser-0", DeviceRole::transmitter, 0, {"tx-0"});
  bench.device("laser-1", DeviceRole::transmitter, 1, {"tx-1"});
  for (const char* name : {"wss-0", "wss-1", "wss-2", "wss-3"}) {
    bench.device(name, DeviceRole::wavelength_switch, 0, {name});
  }
  bench.device("ocs", DeviceRole::circuit_switch, agent, {"ocs"});
  bench.finish("branches");
  bench.light("laser-0", 0);
  bench.light("laser-1", 0);
  bench.set<CircuitSwitchSetpoint>("ocs").connects = {{1, 0}};
  bench.set<WavelengthSwitchSetpoint>("wss-2").routes = {{wavelength(0), 1, 0, Db{0}}};
  return bench;
}

TEST_CASE(
    "repair: light is followed by a grating's channel, a panel's wire, a switch's rows, and to every exit of a splitter") {
  CHECK(touched(make_branches(), "wss-0", {}) == Texts{"laser-0", "wss-0"});
  CHECK(touched(make_branches(), "wss-1", {}) == Texts{"wss-1"});
  CHECK(touched(make_branches(), "wss-3", {}) == Texts{"wss-3"});
  CHECK(touched(make_branches(), "wss-2", {}) == Texts{"laser-1", "wss-2"});
  VerifyBench other_channel = make_branches();
  other_channel.light("laser-0", 1);
  CHECK(touched(other_channel, "wss-0", {}) == Texts{"wss-0"});
  CHECK(touched(other_channel, "wss-1", {}) == Texts{"laser-0", "wss-1"});
  VerifyBench beside_the_comb = make_branches();
  beside_the_comb.light("laser-0", 2);
  CHECK(touched(beside_the_comb, "wss-0", {}) == Texts{"wss-0"});
  VerifyBench open = make_branches();
  open.set<CircuitSwitchSetpoint>("ocs").connects = {{0, 0}};
  CHECK(touched(open, "wss-2", {}) == Texts{"wss-2"});
  VerifyBench unwired = make_branches();
  unwired.kind<PatchPanel>("panel").wiring = {};
  CHECK(touched(unwired, "wss-2", {}) == Texts{"wss-2"});
  // Light that a WSS blocks meets nothing behind it.
  VerifyBench behind = make_branches();
  behind.element("rx-0").kind = WavelengthSelectiveSwitch{};
  CHECK(touched(behind, "wss-0", WavelengthSwitchObservation{{{wavelength(4), 0, 0, Db{0}}}, true}) == Texts{"wss-0"});
}

TEST_CASE("repair: a circuit switch takes light of the input or of the exit that differs") {
  const auto with = [](std::optional<Reading> reading) { return touched(make_branches(), "ocs", std::move(reading)); };
  const Texts met{"laser-1", "ocs"};
  CHECK(with({}) == met);
  CHECK(with(std::monostate{}) == met);
  CHECK(with(CircuitSwitchObservation{{}, true}) == met);
  CHECK(with(CircuitSwitchObservation{{{1, 1}}, true}) == met);
  CHECK(with(CircuitSwitchObservation{{{1, 0}, {0, 0}}, true}) == met);  // another input led into its exit
  CHECK(with(CircuitSwitchObservation{{{1, 0}, {0, 1}}, true}) == Texts{"ocs"});
  VerifyBench of_the_other = make_branches(0);
  CHECK(scope_of(of_the_other, {"ocs"}, {}).devices == met);
  CHECK(scope_of(of_the_other, {"ocs"}, {}).steering == Texts{"ocs"});
  VerifyBench of_its_own = make_branches(1);  // nobody else's light can come to it: it waits for its own alone
  CHECK(scope_of(of_its_own, {"ocs"}, {}).steering.empty());
}

// --- jobs in timeslots --------------------------------------------------------------------------------------------------

/// Job 1 in timeslots on tx-0 and tx-1; job 2 stays lit on tx-3.
VerifyBench two_jobs() {
  VerifyBench bench = chain_in_timeslots();
  bench.timeslot("laser-1", 2, Duration{}, milliseconds{31}, milliseconds{1});
  bench.circuit(3, 1, "tx-1", "rx-5", 2);
  bench.light("laser-3", 0);
  bench.circuit(4, 2, "tx-3", "rx-6", 0);
  bench.declare();
  return bench;
}

TEST_CASE("repair: a transmitter in timeslots takes its whole job with it, one that stays lit does not") {
  VerifyBench bench = two_jobs();
  const Scope slots = scope_of(bench, {"laser-1"}, {});
  CHECK(slots.devices == Texts{"laser-0", "laser-1"});
  CHECK(slots.nodes == std::vector{NodeId{0}, NodeId{1}});
  CHECK(scope_of(bench, {"laser-3"}, {}).devices == Texts{"laser-3"});
  bench.plan.circuits[2].job = JobId{2};  // then job 2 has tx-1's timeslots and tx-3's light
  CHECK(scope_of(bench, {"laser-3"}, {}).devices == Texts{"laser-3"});
  CHECK(scope_of(bench, {"laser-1"}, {}).devices == Texts{"laser-1", "laser-3"});
}

TEST_CASE("repair: an agent that lost its plan takes part, and its timeslots begin anew with their job") {
  VerifyBench bench = two_jobs();
  const Scope player = scope_of(bench, {}, {}, {NodeId{1}});
  CHECK(player.devices == Texts{"laser-0", "laser-1"});
  CHECK(player.nodes == std::vector{NodeId{0}, NodeId{1}});
  const Scope still = scope_of(bench, {}, {}, {NodeId{3}});
  CHECK(still.devices.empty());
  CHECK(still.nodes == std::vector{NodeId{3}});
  VerifyBench undriven = two_jobs();  // tx-4 of node d has no device, and no timeslots that anybody plays
  undriven.add("tx-4", 0, 1, some_transmitter());
  undriven.fabric.nodes[3].transmitters.push_back(undriven.element_id("tx-4"));
  build_index(undriven.fabric);
  CHECK(scope_of(undriven, {}, {}, {NodeId{3}}).devices.empty());
  VerifyBench unplanned = two_jobs();
  unplanned.plan.nodes.edit(1).devices.clear();
  CHECK(scope_of(unplanned, {}, {}, {NodeId{1}}).devices.empty());
  const Scope none = scope_of(bench, {}, {}, {});
  CHECK(none.devices.empty());
  CHECK(none.nodes.empty());
}

}  // namespace
}  // namespace loom::testing
