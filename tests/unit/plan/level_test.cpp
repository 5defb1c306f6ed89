// SPDX-License-Identifier: Apache-2.0
// Levelling by hand-made numbers, and on random fabrics, judged by sums of its own; and that verify sees what was levelled.
#include "controller/plan/lower/level.hpp"

#include <random>

#include "tests/unit/plan/verify_bench.hpp"

namespace loom::testing {
namespace {

///   tx-0 -\                               /0-> voa-0 -> rx-0
///           coupler -> edfa -> wss (1 x 2)
///   tx-1 -/                               \1-> rx-1
/// -4 dB coupler, +10 dB (0 to 20), -6 dB WSS, -1 dB attenuator (and 0 to -20): rx-0 gets -1 dBm of 0 dBm, rx-1 0 dBm.
VerifyBench bench() {
  VerifyBench bench;
  for (const char* name : {"tx-0", "tx-1"}) {
    bench.add(name, 0, 1, some_transmitter());
  }
  for (const char* name : {"rx-0", "rx-1"}) {
    bench.add(name, 1, 0, some_receiver());
  }
  bench.add("coupler", 2, 1, Coupler{}, Db{400});
  bench.add("edfa", 1, 1, Amplifier{.gain = Db{1'000}, .gain_min = Db{0}, .gain_max = Db{2'000}});
  bench.add("wss", 1, 2, WavelengthSelectiveSwitch{Db{3'500}, {6'250}, milliseconds{100}, Db{50}}, Db{600});
  bench.add("voa-0", 1, 1, Attenuator{.loss_max = Db{2'000}}, Db{100});
  bench.join("tx-0", 0, "coupler", 0);
  bench.join("tx-1", 0, "coupler", 1);
  bench.join("coupler", 0, "edfa", 0);
  bench.join("edfa", 0, "wss", 0);
  bench.join("wss", 0, "voa-0", 0);
  bench.join("voa-0", 0, "rx-0", 0);
  bench.join("wss", 1, "rx-1", 0);
  bench.node("a", {"tx-0"}, {"rx-1"});
  bench.node("b", {"tx-1"}, {"rx-0"});
  bench.device("laser-0", DeviceRole::transmitter, 0, {"tx-0"});
  bench.device("laser-1", DeviceRole::transmitter, 1, {"tx-1"});
  bench.device("edfa", DeviceRole::gain_stage, 0, {"edfa"});
  bench.device("wss", DeviceRole::wavelength_switch, 0, {"wss"});
  bench.device("voa-0", DeviceRole::gain_stage, 1, {"voa-0"});
  bench.finish("levels");
  return bench;
}

struct Levelled {
  explicit Levelled(const VerifyBench& from) : bench(from), base(bench.fabric), finder(bench.fabric, base) {}

  Circuit circuit(std::uint32_t k) const {
    Circuit circuit;
    circuit.transmitter = bench.element_id(k == 0 ? "tx-0" : "tx-1");
    circuit.receiver = bench.element_id(k == 0 ? "rx-0" : "rx-1");
    circuit.slot = wavelength(static_cast<std::int32_t>(k));
    return circuit;
  }
  Levels solve(std::vector<bool> stays = {false, false}, Dbm launch = Dbm{0}) {
    Leveller leveller(bench.fabric, base);
    for (std::uint32_t k = 0; k < stays.size(); ++k) {
      const auto path = finder.route_light(circuit(k));
      REQUIRE(path);
      leveller.add(*path, circuit(k).slot, launch, stays[k]);
    }
    return leveller.solve();
  }
  Db gain(const Levels& levels, const char* element) const { return levels.gains[bench.element_id(element).value]; }

  const VerifyBench& bench;
  Positions base;
  PathFinder finder;
};

TEST_CASE("light_within_range_is_left_as_the_fabric_has_it") {
  const VerifyBench all = bench();
  Levelled levelled(all);
  const Levels levels = levelled.solve();
  CHECK(levelled.gain(levels, "edfa") == Db{1'000});
  CHECK(levelled.gain(levels, "voa-0") == Db{0});
  CHECK(levels.routes.empty());
}

TEST_CASE("light_that_is_too_strong_is_attenuated_next_to_its_receiver_and_nobody_elses") {
  VerifyBench all = bench();
  all.kind<Receiver>("rx-0") = {Dbm{-2'000}, Dbm{-250}};
  all.kind<Receiver>("rx-1") = {Dbm{-2'000}, Dbm{-255}};
  Levelled levelled(all);
  const Levels levels = levelled.solve();
  CHECK(levelled.gain(levels, "edfa") == Db{1'000});
  CHECK(levelled.gain(levels, "voa-0") == Db{-250});  // from -1 dBm to a decibel below its overload
  REQUIRE(levels.routes.size() == 1);
  CHECK(levels.routes[0].wss == all.element_id("wss"));
  CHECK(levels.routes[0].route == WssRoute{wavelength(1), 0, 1, Db{360}});  // 3.55 dB, in steps of a tenth
}

TEST_CASE("light_that_is_too_weak_is_amplified_and_who_gets_too_much_by_that_is_attenuated") {
  VerifyBench all = bench();
  all.kind<Receiver>("rx-0") = {Dbm{200}, Dbm{900}};     // wants 3 dBm at least, gets -1
  all.kind<Receiver>("rx-1") = {Dbm{-1'000}, Dbm{300}};  // 2 dBm at most
  Levelled levelled(all);
  const Levels levels = levelled.solve();
  CHECK(levelled.gain(levels, "edfa") == Db{1'400});
  CHECK(levelled.gain(levels, "voa-0") == Db{0});
  REQUIRE(levels.routes.size() == 1);
  CHECK(levels.routes[0].route == WssRoute{wavelength(1), 0, 1, Db{200}});
}

TEST_CASE("what_light_that_stays_lit_passes_remains_as_it_is") {
  VerifyBench all = bench();
  all.kind<Receiver>("rx-1") = {Dbm{200}, Dbm{900}};  // too weak, and only the amplifier could help
  Levelled levelled(all);
  levelled.base.gains[all.element_id("edfa").value] = Db{1'100};
  levelled.base.gains[all.element_id("voa-0").value] = Db{-150};
  levelled.base.routes[all.element_id("wss").value] = {{wavelength(0), 0, 0, Db{70}}};
  const Levels levels = levelled.solve({true, false});
  CHECK(levelled.gain(levels, "edfa") == Db{1'100});
  CHECK(levelled.gain(levels, "voa-0") == Db{-150});
  REQUIRE(levels.routes.size() == 1);
  CHECK(levels.routes[0].route == WssRoute{wavelength(0), 0, 0, Db{70}});
}

TEST_CASE("what_follows_no_order_keeps_its_gain_and_others_make_up_for_it") {
  VerifyBench all = bench();
  all.kind<Receiver>("rx-0") = {Dbm{200}, Dbm{900}};  // wants 3 dBm at least, gets -1
  Levelled levelled(all);
  levelled.base.gains[all.element_id("edfa").value] = Db{1'000};
  Leveller leveller(all.fabric, levelled.base);
  leveller.freeze(all.element_id("edfa"));
  const auto path = levelled.finder.route_light(levelled.circuit(0));
  REQUIRE(path);
  leveller.add(*path, levelled.circuit(0).slot, Dbm{0}, false);
  CHECK(levelled.gain(leveller.solve(), "edfa") == Db{1'000});  // nothing else has any to give
}

TEST_CASE("what_somebody_set_by_hand_stays_and_others_make_up_for_it") {
  const VerifyBench all = bench();  // -1 dBm come, and -20 are enough
  VerifyBench narrow = all;
  narrow.kind<Receiver>("rx-0") = {Dbm{-300}, Dbm{900}};
  Levelled levelled(narrow);
  Leveller leveller(narrow.fabric, levelled.base);
  leveller.hold(narrow.element_id("voa-0"), Db{-500});
  const auto path = levelled.finder.route_light(levelled.circuit(0));
  REQUIRE(path);
  leveller.add(*path, levelled.circuit(0).slot, Dbm{0}, false);
  const Levels levels = leveller.solve();
  CHECK(levelled.gain(levels, "voa-0") == Db{-500});
  CHECK(levelled.gain(levels, "edfa") == Db{1'400});  // -6 dBm would come, a decibel above -3 is wanted
}

TEST_CASE("no_way_leads_through_a_stage_that_is_off_and_follows_no_order") {
  const VerifyBench all = bench();
  const Positions untold(all.fabric);
  PathFinder frozen(all.fabric, untold, {all.element_id("voa-0")});
  const Levelled levelled(all);
  CHECK_FALSE(frozen.route_light(levelled.circuit(0)));
  CHECK(frozen.route_light(levelled.circuit(1)));  // beside it
  Positions told(all.fabric);
  told.gains[all.element_id("voa-0").value] = Db{0};
  PathFinder open(all.fabric, told, {all.element_id("voa-0")});
  CHECK(open.route_light(levelled.circuit(0)));
}

/// Of a path, by the fabric and the levels: sums that the leveller did not make.
double arrives(const Fabric& fabric, const Path& path, FrequencySlot slot, double launch, const Levels& levels) {
  double power = launch;
  for (const Hop& hop : path) {
    const Element& element = fabric.element(hop.element);
    power -= std::holds_alternative<Transmitter>(element.kind) ? 0 : element.insertion_loss.centi / 100.0;
    power += levels.gains[hop.element.value].centi / 100.0;
    for (const RouteLevel& level : levels.routes) {
      const bool is_its = level.wss == hop.element && level.route.slot == slot && level.route.input == hop.input;
      power -= is_its ? level.route.attenuation.centi / 100.0 : 0;
    }
    if (hop.output < element.outputs) {
      power -= fabric.fibres[fabric.fibre_out[hop.element.value][hop.output]->value].loss.centi / 100.0;
    }
  }
  return power;
}

/// Every channel has a route of its own, so whatever the common amplifier does, each can be brought into its window.
TEST_CASE("on_random_fabrics_every_receiver_gets_what_it_reads_where_each_can_be_attenuated_by_itself") {
  std::mt19937 chance(7);
  const auto draw = [&](int least, int most) { return std::uniform_int_distribution(least, most)(chance); };
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    VerifyBench all = bench();
    all.element("coupler").insertion_loss = Db{draw(0, 800)};
    all.element("voa-0").insertion_loss = Db{draw(0, 300)};
    for (const char* name : {"rx-0", "rx-1"}) {
      const Dbm sensitivity{draw(-900, -600)};
      all.kind<Receiver>(name) = {sensitivity, sensitivity + Db{draw(320, 1'500)}};
    }
    const Dbm launch{draw(-500, 200)};
    Levelled levelled(all);
    const Levels levels = levelled.solve({false, false}, launch);
    for (std::uint32_t k = 0; k < 2; ++k) {
      const auto path = levelled.finder.route_light(levelled.circuit(k));
      const double power = arrives(all.fabric, *path, levelled.circuit(k).slot, launch.centi / 100.0, levels);
      const auto& receiver = all.kind<Receiver>(k == 0 ? "rx-0" : "rx-1");
      CHECK(power >= receiver.sensitivity.centi / 100.0 - 1e-6);
      CHECK(power <= receiver.overload.centi / 100.0 + 1e-6);
    }
    const GainRange range = gain_range(all.element("edfa").kind);
    CHECK((levelled.gain(levels, "edfa") >= range.least && levelled.gain(levels, "edfa") <= range.most));
  }
}

/// What verify says of light from tx-1 to rx-1 with this gain of the amplifier.
Texts rules_broken(Db gain) {
  VerifyBench all = bench();
  all.light("laser-1", 1);
  all.set<GainSetpoint>("edfa").gain = gain;
  all.set<WavelengthSwitchSetpoint>("wss").routes = {{wavelength(1), 0, 1, Db{0}}};
  all.circuit(1, 1, "tx-1", "rx-1", 1);
  all.declare();
  Texts rules;
  for (const PlanViolation& each : all.examined().violations) {
    rules.push_back(each.rule);
  }
  return rules;
}

TEST_CASE("verify_adds_up_light_by_the_gains_of_the_plan") {
  CHECK(rules_broken(Db{1'000}).empty());
  CHECK(rules_broken(Db{1'400}).empty());                                    // 4 dBm, which the receiver bears
  CHECK(rules_broken(Db{1'410}) == Texts{std::string(rules::kLinkBudget)});  // which it does not
  CHECK(rules_broken(kGainOff) == Texts{std::string(rules::kLinkBudget)});   // off is lawful, and dark
  CHECK_THAT(rules_broken(Db{2'001}), Catch::VectorContains(std::string(rules::kGainRange)));
}

TEST_CASE("light_that_was_measured_is_judged_by_what_was_measured") {
  const auto broken = [](Db offset) {
    VerifyBench all = bench();
    all.light("laser-1", 1);
    all.set<GainSetpoint>("edfa").gain = Db{1'000};
    all.set<WavelengthSwitchSetpoint>("wss").routes = {{wavelength(1), 0, 1, Db{0}}};  // 0 dBm at rx-1, which reads -10 to 4
    all.circuit(1, 1, "tx-1", "rx-1", 1);
    all.declare();
    DeviceCalibration laser;
    laser.device = DeviceId{1};
    laser.lights = {{wavelength(1), offset, all.element_id("rx-1")}};
    all.intent.calibrations = {laser};
    Texts rules;
    for (const PlanViolation& each : all.examined().violations) {
      rules.push_back(each.rule);
    }
    return rules;
  };
  CHECK(broken(Db{400}).empty());
  CHECK(broken(Db{410}) == Texts{std::string(rules::kLinkBudget)});
  CHECK(broken(Db{-999}).empty());
  CHECK(broken(Db{-1'010}) == Texts{std::string(rules::kLinkBudget)});
}

TEST_CASE("a_gain_that_changes_is_in_the_way_of_light_that_stays") {
  VerifyBench all = bench();
  all.light("laser-1", 1);
  all.set<GainSetpoint>("edfa").gain = Db{1'000};
  all.set<WavelengthSwitchSetpoint>("wss").routes = {{wavelength(1), 0, 1, Db{0}}};
  all.circuit(1, 1, "tx-1", "rx-1", 1);
  all.declare();
  all.confirm();
  CHECK(all.verdict().empty());
  all.set<GainSetpoint>("voa-0").gain = Db{-100};  // beside its way
  all.declare();
  CHECK(all.verdict().empty());
  all.set<GainSetpoint>("edfa").gain = Db{1'100};
  all.declare();
  REQUIRE_FALSE(all.verdict().empty());
  CHECK_THAT(all.verdict()[0], Catch::StartsWith(std::string(rules::kMovingPort)));
}

}  // namespace
}  // namespace loom::testing
