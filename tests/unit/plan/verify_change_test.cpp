// SPDX-License-Identifier: Apache-2.0
// verify at its borders, from one revision to the next: what changes is declared, what stays is left alone, and light beside a
// WSS that reloads keeps its margin.
#include "tests/unit/plan/verify_chain.hpp"

namespace loom::testing {
namespace {

const std::string kDeclare = "change_declared: ";

/// What else is said of a device that steers others' light and changes although the plan does not know of it.
Texts undeclared_move(const std::string& device) {
  return {kDeclare + device + " changes but is not marked as touched",
          kDeclare + device + " moves but is not among the devices that wait for everybody's dark",
          kDeclare + device + " moves from where the base has it, which is not among what it may hold"};
}
Texts operator+(Texts texts, const std::string& more) {
  texts.push_back(more);
  return texts;
}

/// chain_of_two, confirmed as revision 1; the plan is revision 2 and the same.
VerifyBench confirmed_two() {
  VerifyBench bench = chain_of_two();
  bench.confirm();
  return bench;
}

// --- the base -----------------------------------------------------------------------------------------------------------

TEST_CASE("verify: a plan is against what is confirmed") {
  const auto on = [](VerifyBench bench, std::uint64_t base) {
    bench.plan.base.value = base;
    for (NodePlan& slice : bench.plan.nodes.edit_all()) {
      slice.base.value = base;
    }
    return bench.verdict();
  };
  CHECK(on(chain_of_two(), 0) == Texts{});
  CHECK(on(chain_of_two(), 1) == Texts{kDeclare + "the plan is against revision 1, confirmed is 0"});
  CHECK(on(confirmed_two(), 1) == Texts{});
  CHECK(on(confirmed_two(), 0) == Texts{kDeclare + "the plan is against revision 0, confirmed is 1"});
  CHECK(on(confirmed_two(), 2) == Texts{kDeclare + "the plan is against revision 2, confirmed is 1"});
}

TEST_CASE("verify: the same plan again changes nothing") { CHECK(confirmed_two().verdict() == Texts{}); }

// --- devices and nodes --------------------------------------------------------------------------------------------------

TEST_CASE("verify: a device that changes is touched") {
  const auto undeclared = [](VerifyBench bench, std::string_view device) {
    bench.device_plan(device).touched = false;
    return bench.verdict();
  };
  const std::string rest = " changes but is not marked as touched";
  CHECK(undeclared(chain_of_two(), "laser-0") ==
        Texts{kDeclare + "laser-0" + rest, kDeclare + "circuit 1 is new, but laser-0 is not touched"});
  CHECK(undeclared(chain_of_two(), "bank") == Texts{kDeclare + "bank" + rest});
  CHECK(undeclared(chain_of_two(), "wss") == Texts{kDeclare + "wss" + rest});
  VerifyBench moved = confirmed_two();
  moved.light("laser-3", 1);  // beside everything
  moved.circuit(3, 1, "tx-3", "rx-6", 1);
  moved.declare();
  CHECK(moved.verdict() == Texts{});
  CHECK(undeclared(moved, "laser-3") ==
        Texts{kDeclare + "laser-3" + rest, kDeclare + "circuit 3 is new, but laser-3 is not touched"});
}

TEST_CASE("verify: a device that is idle before the first plan need not be touched, one that is not must be") {
  const auto with = [](auto change) {
    VerifyBench bench = make_chain();
    change(bench);
    return bench.verdict();
  };
  const std::string absent = kDeclare + "a changes but is not among the nodes that take part";
  CHECK(with([](VerifyBench& b) { b.set<TransmitterSetpoint>("laser-0").slot = wavelength(3); }) == Texts{});
  CHECK(with([](VerifyBench& b) { b.set<FilterSetpoint>("bank").rings = {{3, Frequency{193'149'000}}}; }) ==
        undeclared_move("bank") + absent);
  CHECK(with([](VerifyBench& b) {
          b.timeline("laser-0").push_back({Duration{1}, {}, kForever, b.timeline("laser-0")[0].setpoint});
          b.timeline("laser-0")[0].hold = Duration{1};
        }) == Texts{kDeclare + "laser-0 changes but is not marked as touched", absent});
  CHECK(with([](VerifyBench& b) { b.set<WavelengthSwitchSetpoint>("wss").routes = {{wavelength(0), 0, 0, Db{0}}}; }) ==
        undeclared_move("wss") + absent);
}

TEST_CASE("verify: what waits for everybody's dark is what moves and steers, and nothing else") {
  const auto waits = [](VerifyBench bench, const Texts& devices) {
    bench.plan.moved_steering.clear();
    for (const std::string& each : devices) {
      bench.plan.moved_steering.push_back(bench.device_plan(each).device);
    }
    std::sort(bench.plan.moved_steering.begin(), bench.plan.moved_steering.end());
    return bench.verdict();
  };
  const std::string rest = " the devices that wait for everybody's dark";
  const VerifyBench moving = chain_of_two();  // of node a; light of tx-1 of node b passes both
  CHECK(waits(moving, {"bank", "wss"}) == Texts{});
  CHECK(waits(moving, {"bank"}) == Texts{kDeclare + "wss moves but is not among" + rest});
  CHECK(waits(moving, {"wss"}) == Texts{kDeclare + "bank moves but is not among" + rest});
  CHECK(waits(moving, {}) ==
        Texts{kDeclare + "bank moves but is not among" + rest, kDeclare + "wss moves but is not among" + rest});
  CHECK(waits(moving, {"laser-0", "bank", "wss"}) ==
        Texts{kDeclare + "laser-0 steers nobody else's light but is among" + rest});
  const VerifyBench still = confirmed_two();
  CHECK(waits(still, {}) == Texts{});
  CHECK(waits(still, {"wss"}) == Texts{kDeclare + "wss does not move but is among" + rest});
  CHECK(waits(still, {"bank"}) == Texts{kDeclare + "bank does not move but is among" + rest});
}

/// chain_of_two and a circuit switch, driven by `agent`, that light of tx-3 of node d comes to.
VerifyBench with_circuit_switch(std::uint32_t agent) {
  VerifyBench bench = make_chain();
  bench.add("ocs", 2, 2, OpticalCircuitSwitch{milliseconds{30}});
  bench.fabric.fibres[bench.fabric.fibre_out[bench.element_id("ring-3").value][0]->value].to = {bench.element_id("ocs"), 0};
  bench.join("ocs", 1, "rx-6", 0);
  bench.device("ocs", DeviceRole::circuit_switch, agent, {"ocs"});
  bench.fabric.buses.clear();
  bench.finish("chain");
  bench.set<CircuitSwitchSetpoint>("ocs").connects = {{0, 1}};
  return bench;
}

TEST_CASE("verify: circuit switches are declared as WSS are") {
  VerifyBench bench = with_circuit_switch(0);
  CHECK(bench.verdict() == undeclared_move("ocs") + (kDeclare + "a changes but is not among the nodes that take part"));
  bench.declare();
  CHECK(bench.verdict() == Texts{});
  bench.plan.moved_steering.clear();
  CHECK(bench.verdict() == Texts{kDeclare + "ocs moves but is not among the devices that wait for everybody's dark"});
}

TEST_CASE("verify: what only its own agent's light passes waits for nobody else's dark") {
  VerifyBench bench = with_circuit_switch(3);
  CHECK(bench.verdict() == Texts{kDeclare + "ocs changes but is not marked as touched",
                                 kDeclare + "ocs moves from where the base has it, which is not among what it may hold",
                                 kDeclare + "d changes but is not among the nodes that take part"});
  bench.declare();
  CHECK(bench.verdict() == Texts{});
  bench.plan.moved_steering = {bench.device_plan("ocs").device};
  CHECK(bench.verdict() ==
        Texts{kDeclare + "ocs steers nobody else's light but is among the devices that wait for everybody's dark"});
}

TEST_CASE("verify: what moves may hold what the base has of it, whatever else it may hold") {
  const std::string rest = " moves from where the base has it, which is not among what it may hold";
  const auto with = [](VerifyBench bench, std::string_view device, std::vector<Setpoint> states) {
    bench.device_plan(device).may_hold = std::move(states);
    return bench.verdict();
  };
  const WavelengthSwitchSetpoint other{{{wavelength(5), 0, 0, Db{0}}}};
  const FilterSetpoint warm{{{3, Frequency{193'149'000}}}};
  CHECK(with(chain_of_two(), "wss", {}) == Texts{kDeclare + "wss" + rest});
  CHECK(with(chain_of_two(), "wss", {other}) == Texts{kDeclare + "wss" + rest});
  CHECK(with(chain_of_two(), "wss", {other, WavelengthSwitchSetpoint{}}) == Texts{});
  CHECK(with(chain_of_two(), "bank", {warm}) == Texts{kDeclare + "bank" + rest});
  CHECK(with(chain_of_two(), "bank", {warm, FilterSetpoint{}}) == Texts{});
  CHECK(with(confirmed_two(), "wss", {}) == Texts{});  // it does not move
  VerifyBench later = confirmed_two();
  const Setpoint before = later.set<WavelengthSwitchSetpoint>("wss");
  later.set<WavelengthSwitchSetpoint>("wss").routes.push_back({wavelength(5), 0, 0, Db{0}});
  later.declare();
  CHECK(with(later, "wss", {WavelengthSwitchSetpoint{}}) == Texts{kDeclare + "wss" + rest});  // idle is not what is confirmed
  CHECK(with(later, "wss", {WavelengthSwitchSetpoint{}, before}) == Texts{});
}

TEST_CASE("verify: a node takes part if a device of it is touched or its timing changes") {
  const auto with = [](VerifyBench bench, auto change) {
    change(bench, bench.plan.nodes.edit(2));
    return bench.verdict();
  };
  const Texts absent{kDeclare + "c changes but is not among the nodes that take part"};
  CHECK(with(make_chain(), [](auto&, NodePlan& slice) { slice.cycle = Duration{1}; }) == absent);
  CHECK(with(make_chain(), [](auto&, NodePlan& slice) { slice.devices[0].touched = true; }) == absent);
  CHECK(with(confirmed_two(), [](auto&, NodePlan& slice) { slice.cycle = Duration{1}; }) == absent);
  CHECK(with(confirmed_two(), [](auto&, NodePlan& slice) { slice.cycles = 2; }) == absent);
  CHECK(with(confirmed_two(), [](auto&, NodePlan& slice) { slice.devices[0].touched = true; }) == absent);
  CHECK(with(confirmed_two(), [](auto& b, NodePlan& slice) {
          slice.cycles = 2;
          b.plan.changed = {NodeId{2}};
        }) == Texts{});
  CHECK(with(confirmed_two(), [](auto& b, NodePlan& slice) {
          slice.cycles = 2;
          b.plan.changed = {NodeId{1}, NodeId{3}};
        }) == absent);
}

// --- circuits -----------------------------------------------------------------------------------------------------------

TEST_CASE("verify: a laser that is left alone in the dark changes nothing, whatever else is planned of it") {
  VerifyBench bench = confirmed_two();
  bench.set<TransmitterSetpoint>("laser-3").slot = wavelength(2);
  CHECK(bench.verdict() == Texts{kDeclare + "laser-3 changes but is not marked as touched",
                                 kDeclare + "d changes but is not among the nodes that take part"});
  bench.device_plan("laser-3").left_alone = true;
  CHECK(bench.verdict() == Texts{});
  bench.set<TransmitterSetpoint>("laser-3").emit = true;  // light is a change all the same
  const Texts lit = bench.verdict();
  CHECK(std::find(lit.begin(), lit.end(), kDeclare + "laser-3 changes but is not marked as touched") != lit.end());
  VerifyBench switching = confirmed_two();  // and so is a switch
  switching.set<WavelengthSwitchSetpoint>("wss").routes.push_back({wavelength(5), 0, 0, Db{0}});
  switching.device_plan("wss").left_alone = true;
  CHECK(switching.verdict() == undeclared_move("wss") + (kDeclare + "a changes but is not among the nodes that take part"));
}

TEST_CASE("verify: the touched circuits are those that begin or end") {
  const auto with = [](auto change) {
    VerifyBench bench = chain_of_two();
    change(bench.plan.touched);
    return bench.verdict();
  };
  CHECK(with([](auto& touched) { touched.pop_back(); }) ==
        Texts{kDeclare + "the plan names 1 touched circuits, begun or ended are 2"});
  CHECK(with([](auto& touched) { touched.push_back(CircuitId{3}); }) ==
        Texts{kDeclare + "the plan names 3 touched circuits, begun or ended are 2"});
  CHECK(with([](auto& touched) { touched[0].value = 7; }) ==
        Texts{kDeclare + "the plan names 2 touched circuits, begun or ended are 2"});
  VerifyBench ended = confirmed_two();
  ended.light("laser-0", 0);
  ended.set<TransmitterSetpoint>("laser-0").emit = false;
  ended.plan.circuits.erase(ended.plan.circuits.begin());
  ended.declare();
  CHECK(ended.verdict() == Texts{});
  ended.plan.touched.clear();
  CHECK(ended.verdict() == Texts{kDeclare + "the plan names 0 touched circuits, begun or ended are 1"});
}

TEST_CASE("verify: a circuit that is new has its laser touched") {
  VerifyBench bench = confirmed_two();
  bench.plan.circuits[0].id = CircuitId{3};
  std::swap(bench.plan.circuits[0], bench.plan.circuits[1]);
  bench.declare();
  CHECK(bench.verdict() == Texts{kDeclare + "circuit 3 is new, but laser-0 is not touched"});
}

TEST_CASE("verify: a circuit that keeps its id keeps its ends, its rate, its light and its way") {
  const std::string rest = " keeps its id from revision 1, but its ends, its light or its way are others or are touched";
  VerifyBench faster = confirmed_two();
  CHECK(faster.verdict() == Texts{});
  faster.plan.circuits[0].rate.bits_per_second += 1;
  CHECK(faster.verdict() == Texts{"unchanged_untouched: circuit 1" + rest});
  VerifyBench touched = confirmed_two();
  touched.device_plan("laser-1").touched = true;
  touched.plan.changed = {NodeId{1}};
  CHECK(touched.verdict() == Texts{"unchanged_untouched: circuit 2" + rest});
  VerifyBench moved = confirmed_two();
  moved.set<WavelengthSwitchSetpoint>("wss").routes[0].attenuation = Db{1};
  moved.declare();
  CHECK(moved.verdict() == Texts{"moving_port: tx-0 stays lit at 193.10000 THz while a switch or filter on its way moves",
                                 "unchanged_untouched: circuit 1" + rest});
}

TEST_CASE("verify: a circuit that keeps its id does not keep it in the dark") {
  VerifyBench bench = confirmed_two();
  bench.set<TransmitterSetpoint>("laser-0").emit = false;
  CHECK(
      bench.verdict() ==
      Texts{"wavelength_continuity: circuit 1: tx-0 never emits at 193.10000 THz",
            kDeclare + "laser-0 changes but is not marked as touched",
            kDeclare + "a changes but is not among the nodes that take part",
            "unchanged_untouched: circuit 1 keeps its id from revision 1, but its ends, its light or its way are others or are "
            "touched"});
}

/// tx-4 of node d has no device: nobody can light it.
VerifyBench with_undriven_transmitter() {
  VerifyBench bench = chain_to_ring();
  bench.add("tx-4", 0, 1, some_transmitter());
  bench.fabric.nodes[3].transmitters.push_back(bench.element_id("tx-4"));
  build_index(bench.fabric);
  bench.circuit(2, 1, "tx-4", "rx-4", 3);
  bench.declare();
  return bench;
}

TEST_CASE("verify: a circuit of a transmitter that nobody drives is never lit") {
  CHECK(with_undriven_transmitter().verdict() == Texts{"wavelength_continuity: circuit 2: tx-4 never emits at 193.40000 THz"});
  VerifyBench optical = with_undriven_transmitter();
  optical.fabric.return_path = ReturnPath::optical;
  const Texts found = optical.verdict();
  CHECK(std::find(found.begin(), found.end(), "wavelength_continuity: circuit 2: tx-4 never emits at 193.40000 THz") !=
        found.end());
}

// --- ports that move ----------------------------------------------------------------------------------------------------

TEST_CASE("verify: a switch may move for others while light that it does not carry elsewhere stays") {
  VerifyBench bench = confirmed_two();
  bench.set<WavelengthSwitchSetpoint>("wss").routes.push_back({wavelength(5), 0, 0, Db{0}});
  bench.declare();
  CHECK(bench.verdict() == Texts{});
}

TEST_CASE("verify: a filter on lit light's way does not move, not by a megahertz") {
  VerifyBench bench = confirmed_two();
  bench.set<FilterSetpoint>("bank").rings[0].resonance.mhz += 1;
  bench.declare();
  CHECK(bench.verdict()[0] == "moving_port: tx-1 stays lit at 193.20000 THz while a switch or filter on its way moves");
}

/// tx-0 past ring-0 to rx-5; then ring-0 goes from one resonance to another.
Texts ring_that_goes(std::int64_t from, std::int64_t to, std::int64_t range = 0) {
  VerifyBench bench = make_chain();
  bench.light("laser-0", 2);
  bench.set<WavelengthSwitchSetpoint>("wss").routes = {{wavelength(2), 0, 0, Db{0}}};
  bench.kind<RingFilter>("ring-0").free_spectral_range = {range};
  bench.kind<RingFilter>("ring-0").cold_resonance = {194'000'000};
  bench.set<FilterSetpoint>("bank").rings = {{0, Frequency{from}}};
  bench.circuit(1, 1, "tx-0", "rx-5", 2);
  bench.declare();
  CHECK(bench.verdict() == Texts{});
  bench.confirm();
  bench.set<FilterSetpoint>("bank").rings = {{0, Frequency{to}}};
  bench.declare();
  return bench.verdict();
}

TEST_CASE("verify: a filter that lit light passes may move beside it and not across it") {
  const Texts across{
      "moving_port: tx-0 stays lit at 193.30000 THz while a switch or filter on its way moves",
      "unchanged_untouched: circuit 1 keeps its id from revision 1, but its ends, its light or its way are others "
      "or are touched"};
  CHECK(ring_that_goes(193'900'000, 193'340'001) == Texts{});
  CHECK(ring_that_goes(192'900'000, 193'259'999) == Texts{});
  CHECK(ring_that_goes(193'340'001, 193'259'999) == across);
  CHECK(ring_that_goes(193'259'999, 193'340'001) == across);
  // With orders 200 GHz apart, light at 193.3 THz lies between two of them; resonances are 40 GHz away at least.
  CHECK(ring_that_goes(193'340'001, 193'459'999, 200'000) == Texts{});
  CHECK(ring_that_goes(193'340'001, 193'540'001, 200'000) == across);
  CHECK(ring_that_goes(193'259'999, 193'140'001, 200'000) == Texts{});
  CHECK(ring_that_goes(193'259'999, 193'059'999, 200'000) == across);
  CHECK(ring_that_goes(193'340'001, 193'259'999, 200'000) == across);
}

TEST_CASE("verify: light in timeslots is disturbed on any of its wavelengths") {
  VerifyBench bench = chain_in_timeslots();
  bench.confirm();
  CHECK(bench.verdict() == Texts{});
  VerifyBench first = bench;
  first.set<WavelengthSwitchSetpoint>("wss").routes[0].attenuation = Db{1};
  first.declare();
  CHECK(first.verdict()[0] == "moving_port: tx-0 stays lit at 193.10000 THz while a switch or filter on its way moves");
  CHECK(first.examined().disturbed == std::vector{bench.element_id("tx-0")});
  VerifyBench second = bench;
  second.set<WavelengthSwitchSetpoint>("wss").routes[1].attenuation = Db{1};
  second.declare();
  CHECK(second.verdict()[0] == "moving_port: tx-0 stays lit at 193.20000 THz while a switch or filter on its way moves");
}

TEST_CASE("verify: a laser that is touched may see its way move") {
  VerifyBench bench = confirmed_two();
  bench.set<WavelengthSwitchSetpoint>("wss").routes[0].attenuation = Db{1};
  bench.plan.circuits[0].id = CircuitId{3};
  std::swap(bench.plan.circuits[0], bench.plan.circuits[1]);
  bench.declare();
  bench.device_plan("laser-0").touched = true;
  CHECK(bench.verdict() == Texts{});
}

/// tx-0 -> panel -> ocs -> coupler 1x2 -> rx-0, rx-1.
VerifyBench confirmed_line() {
  VerifyBench bench;
  bench.add("tx-0", 0, 1, some_transmitter());
  bench.add("rx-0", 1, 0, some_receiver());
  bench.add("panel", 1, 2, PatchPanel{{1}});
  bench.add("ocs", 2, 2, OpticalCircuitSwitch{milliseconds{30}});
  bench.add("splitter", 1, 2, Coupler{}, Db{300});
  bench.add("late", 2, 1, WavelengthSelectiveSwitch{Db{3'500}, {6'250}, milliseconds{100}, Db{50}});
  bench.add("beside", 1, 1, WavelengthSelectiveSwitch{Db{3'500}, {6'250}, milliseconds{100}, Db{50}});
  bench.join("panel", 0, "beside", 0);
  bench.join("tx-0", 0, "panel", 0);
  bench.join("panel", 1, "ocs", 1);
  bench.join("ocs", 0, "splitter", 0);
  bench.join("splitter", 1, "late", 1);
  bench.join("late", 0, "rx-0", 0);
  bench.node("a", {"tx-0"}, {});
  bench.node("b", {}, {"rx-0"});
  bench.device("laser-0", DeviceRole::transmitter, 0, {"tx-0"});
  bench.device("ocs", DeviceRole::circuit_switch, 1, {"ocs"});
  bench.device("late", DeviceRole::wavelength_switch, 1, {"late"});
  bench.device("beside", DeviceRole::wavelength_switch, 1, {"beside"});
  bench.finish("line");
  bench.light("laser-0", 0);
  bench.set<CircuitSwitchSetpoint>("ocs").connects = {{1, 0}};
  bench.set<WavelengthSwitchSetpoint>("late").routes = {{wavelength(0), 1, 0, Db{0}}};
  bench.circuit(1, 1, "tx-0", "rx-0", 0);
  bench.declare();
  CHECK(bench.verdict() == Texts{});
  bench.confirm();
  return bench;
}

TEST_CASE("verify: the way of lit light is followed through panels, circuit switches and splitters") {
  const std::string moved = "moving_port: tx-0 stays lit at 193.10000 THz while a switch or filter on its way moves";
  VerifyBench at_the_end = confirmed_line();
  at_the_end.set<WavelengthSwitchSetpoint>("late").routes[0].attenuation = Db{1};
  at_the_end.declare();
  CHECK(at_the_end.verdict()[0] == moved);
  VerifyBench between = confirmed_line();
  between.set<CircuitSwitchSetpoint>("ocs").connects = {};
  between.declare();
  const Texts found = between.verdict();
  CHECK(std::find(found.begin(), found.end(), moved) != found.end());
  VerifyBench beside = confirmed_line();
  beside.set<CircuitSwitchSetpoint>("ocs").connects = {{0, 1}, {1, 0}};
  beside.declare();
  CHECK(beside.verdict() == Texts{});
  VerifyBench unwired = confirmed_line();
  unwired.set<WavelengthSwitchSetpoint>("beside").routes = {
      {wavelength(0), 0, 0, Db{0}}};  // behind the panel's output that is not wired
  unwired.declare();
  CHECK(unwired.verdict() == Texts{});
  VerifyBench other_input = confirmed_line();
  other_input.set<WavelengthSwitchSetpoint>("late").routes = {{wavelength(0), 0, 0, Db{0}}, {wavelength(0), 1, 0, Db{0}}};
  other_input.declare();
  CHECK(other_input.verdict() == Texts{});
}

TEST_CASE("verify: the way of light that runs in a circle has an end") {
  VerifyBench bench;
  bench.add("tx-0", 0, 1, some_transmitter());
  bench.add("rx-0", 1, 0, some_receiver());
  bench.add("coupler", 2, 2, Coupler{}, Db{300});
  bench.join("tx-0", 0, "coupler", 0);
  bench.join("coupler", 0, "coupler", 1);
  bench.join("coupler", 1, "rx-0", 0);
  bench.node("a", {"tx-0"}, {});
  bench.node("b", {}, {"rx-0"});
  bench.device("laser-0", DeviceRole::transmitter, 0, {"tx-0"});
  bench.finish("circle");
  bench.light("laser-0", 0);
  bench.circuit(1, 1, "tx-0", "rx-0", 0);
  bench.declare();
  bench.confirm();
  const Texts found = bench.verdict();
  // Each fibre that it comes to twice is named once, and both inputs of the coupler carry it.
  const std::string itself = ": nothing takes it out of its circle, or it came by two ways";
  CHECK(found == Texts{"optical_loop: light of tx-0 at 193.10000 THz meets itself on fibre 2 after coupler" + itself,
                       "optical_loop: light of tx-0 at 193.10000 THz meets itself on fibre 1 after coupler" + itself,
                       "one_transmitter_per_coupler_wavelength: coupler: inputs 0 and 1 both carry 193.10000 THz"});
}

// --- margins ------------------------------------------------------------------------------------------------------------

/// chain_of_two is confirmed; then a third job moves the WSS on the way of both circuits. Margins: 4 dB at rx-2 and rx-1.
VerifyBench reloading() {
  VerifyBench bench = confirmed_two();
  bench.set<WavelengthSwitchSetpoint>("wss").routes.push_back({wavelength(5), 0, 0, Db{0}});
  bench.declare();
  return bench;
}

TEST_CASE("verify: light that stays keeps its margin while a WSS on its way reloads") {
  const auto dip = [](VerifyBench& bench, int centi) { bench.kind<WavelengthSelectiveSwitch>("wss").reload_dip = Db{centi}; };
  const std::string rest = " stays lit with a margin of 4.00 dB, and dips by 4.01 dB while WSS on its way reload";
  check_border(reloading(), dip, 400, 401, {"reload_dip: circuit 1" + rest, "reload_dip: circuit 2" + rest});
  VerifyBench bench = reloading();
  dip(bench, 401);
  CHECK(bench.examined().disturbed == std::vector{bench.element_id("tx-0"), bench.element_id("tx-1")});
  dip(bench, 400);
  CHECK(bench.examined().disturbed.empty());
}

TEST_CASE("verify: a margin is the least of sensitivity, overload and crosstalk") {
  const auto with = [](auto change) {
    VerifyBench bench = reloading();
    bench.kind<WavelengthSelectiveSwitch>("wss").reload_dip = Db{300};
    change(bench);
    return bench.examined().light;
  };
  const LightMargins plain = with([](VerifyBench&) {});
  CHECK(plain.circuits == 2);
  CHECK(plain.link_margin == Db{400});
  CHECK(reloading().fabric.element(plain.weakest).name == "rx-2");  // of equals the first
  CHECK(plain.dipped == 2);
  CHECK(plain.dip == Db{300});
  CHECK(plain.dip_time == milliseconds{100});
  CHECK(plain.dip_margin == Db{100});
  const LightMargins loud = with([](VerifyBench& b) { b.kind<Receiver>("rx-1").overload = Dbm{-250}; });
  CHECK(loud.link_margin == Db{350});
  CHECK(reloading().fabric.element(loud.weakest).name == "rx-1");
  CHECK(loud.dip_margin == Db{100});  // a dip takes nothing from an overload
  const LightMargins weak = with([](VerifyBench& b) { b.kind<Receiver>("rx-2").sensitivity = Dbm{-950}; });
  CHECK(weak.link_margin == Db{350});
  CHECK(reloading().fabric.element(weak.weakest).name == "rx-2");
  CHECK(weak.dip_margin == Db{50});
  const LightMargins noisy = with([](VerifyBench& b) {  // wavelength 1 leaks at the WSS, and then at the grating to rx-2
    b.kind<WavelengthSelectiveSwitch>("wss").isolation = Db{1'000};
    b.kind<ArrayedWaveguideGrating>("grating").isolation = Db{1'250};
  });
  CHECK(noisy.crosstalk.centi == -2'250);
  CHECK(noisy.crosstalk_margin.centi == 250);
  CHECK(reloading().fabric.element(noisy.noisiest).name == "rx-2");
  CHECK(noisy.dip_margin.centi == -50);
}

TEST_CASE("verify: light that goes dark for the change does not dip, and light that no WSS reloads under does not") {
  VerifyBench bench = chain_of_two();  // new: all of it is touched, and the WSS moves
  bench.kind<WavelengthSelectiveSwitch>("wss").reload_dip = Db{500};
  CHECK(bench.verdict() == Texts{});
  CHECK(bench.examined().light.dipped == 0);
  CHECK(bench.examined().light.dip_margin == Db{0});
  VerifyBench still = confirmed_two();
  still.kind<WavelengthSelectiveSwitch>("wss").reload_dip = Db{500};
  CHECK(still.verdict() == Texts{});
}

TEST_CASE("verify: of receivers with equal crosstalk the first is named, and light that never came has no margin") {
  VerifyBench quiet = chain_of_two();
  quiet.kind<WavelengthSelectiveSwitch>("wss").isolation = Db{20'000};
  quiet.kind<ArrayedWaveguideGrating>("grating").isolation = Db{20'000};
  CHECK(quiet.fabric.element(quiet.examined().light.noisiest).name == "rx-2");
  CHECK(quiet.examined().light.crosstalk == Db{-12'000});  // stands for none
  VerifyBench lost = chain_of_two();
  lost.set<WavelengthSwitchSetpoint>("wss").routes.pop_back();
  CHECK(lost.examined().light.circuits == 1);
}

TEST_CASE("verify: no plan at all has no margins") { CHECK(make_chain().examined().light == LightMargins{}); }

TEST_CASE("verify: a certificate claims the margins of its light or none") {
  const LightMargins light = reloading().examined().light;
  const auto with = [&](auto change) {
    VerifyBench bench = reloading();
    bench.plan.certificate.light = light;
    change(bench.plan.certificate.light);
    return bench.verdict();
  };
  CHECK(with([](LightMargins&) {}) == Texts{});
  CHECK(with([](LightMargins& claimed) { claimed.circuits = 0; }) == Texts{});
  const std::string is = "; the light says 2, 4.00 dB, " + to_string(light.crosstalk);
  const std::string head = "certificate_light: the certificate claims ";
  CHECK(with([](LightMargins& claimed) { claimed.circuits = 3; }) ==
        Texts{head + "3 circuits with a link margin of 4.00 dB and crosstalk of " + to_string(light.crosstalk) + is});
  CHECK(with([](LightMargins& claimed) { claimed.link_margin.centi += 1; }) ==
        Texts{head + "2 circuits with a link margin of 4.01 dB and crosstalk of " + to_string(light.crosstalk) + is});
  CHECK(with([](LightMargins& claimed) { claimed.dip_margin.centi += 1; }) ==
        Texts{head + "2 circuits with a link margin of 4.00 dB and crosstalk of " + to_string(light.crosstalk) + is});
}

TEST_CASE("verify: what is received at its worst over all timeslots is what margins speak of") {
  VerifyBench bench = chain_in_timeslots();
  auto& timeline = bench.timeline("laser-0");
  timeline.push_back(timeline[0]);
  timeline[2].offset = 2 * (microseconds{30'101} + milliseconds{1});
  std::get<TransmitterSetpoint>(timeline[2].setpoint).power = Dbm{-150};  // the first circuit again, weaker
  bench.plan.nodes.edit(0).cycle = 3 * (microseconds{30'101} + milliseconds{1});
  CHECK(bench.verdict() == Texts{});
  CHECK(bench.examined().light.link_margin == Db{250});
  std::swap(std::get<TransmitterSetpoint>(timeline[0].setpoint), std::get<TransmitterSetpoint>(timeline[2].setpoint));
  CHECK(bench.examined().light.link_margin == Db{250});
}

}  // namespace
}  // namespace loom::testing
