// SPDX-License-Identifier: Apache-2.0
// verify at its borders, element by element: what a WSS, a ring, a grating, a coupler, a circuit switch and a fibre do to
// light.
#include "tests/unit/plan/verify_chain.hpp"

namespace loom::testing {
namespace {

// --- WSS ----------------------------------------------------------------------------------------------------------------

const std::string kUnfit = "passband: wss: a signal of 75000 MHz at 193.10000 THz does not fit its slot at ";
const std::string kLost = "wavelength_continuity: circuit 1: 193.10000 THz of tx-0 does not reach rx-0";

TEST_CASE("verify: a signal fits between both edges of its slot, to the megahertz") {
  const auto edge = [](VerifyBench& bench, int mhz) { bench.kind<WavelengthSelectiveSwitch>("wss").passband_edge = {mhz}; };
  const auto shifted = [](std::int32_t n) {
    VerifyBench bench = chain_to_ring();
    bench.set<WavelengthSwitchSetpoint>("wss").routes[0].slot = {n, 8};
    bench.declare();
    return bench;
  };
  check_border(shifted(0), edge, 12'500, 12'501, {kUnfit + "193.10000 THz of 100000 MHz less its edges", kLost});
  // A slot that is 6.25 GHz higher leaves so much less below the signal, one that is lower so much less above it.
  check_border(shifted(1), edge, 6'250, 6'251, {kUnfit + "193.10625 THz of 100000 MHz less its edges", kLost});
  check_border(shifted(-1), edge, 6'250, 6'251, {kUnfit + "193.09375 THz of 100000 MHz less its edges", kLost});
}

TEST_CASE("verify: a route that touches a signal's slot takes it, however far its centre is") {
  const auto with = [](std::int32_t n) {
    VerifyBench bench = chain_to_ring();
    bench.set<WavelengthSwitchSetpoint>("wss").routes[0].slot = {n, 32};
    bench.declare();
    return bench.verdict();
  };
  CHECK(with(39) == Texts{kUnfit + "193.34375 THz of 400000 MHz less its edges", kLost});
  CHECK(with(40) == Texts{kLost});
  CHECK(with(-39) == Texts{kUnfit + "192.85625 THz of 400000 MHz less its edges", kLost});
  CHECK(with(-40) == Texts{kLost});
}

TEST_CASE("verify: a route of another input takes nothing") {
  VerifyBench bench = chain_to_ring();
  bench.element("wss").inputs = 2;
  build_index(bench.fabric);
  bench.set<WavelengthSwitchSetpoint>("wss").routes[0].input = 1;
  bench.declare();
  CHECK(bench.verdict() == Texts{kLost});
}

/// tx-0 and tx-1 on wavelength 0 through two WSS to rx-0 and rx-1, side by side.
VerifyBench make_pair_of_wss() {
  VerifyBench bench;
  bench.add("tx-0", 0, 1, some_transmitter());
  bench.add("tx-1", 0, 1, some_transmitter());
  bench.add("rx-0", 1, 0, some_receiver());
  bench.add("rx-1", 1, 0, some_receiver());
  bench.add("first", 2, 2, WavelengthSelectiveSwitch{Db{6'000}, {6'250}, milliseconds{100}, Db{50}});
  bench.add("amplifier", 1, 1, Amplifier{Db{0}, Dbm{-2'000}, Dbm{1'000}});
  bench.add("second", 2, 2, WavelengthSelectiveSwitch{Db{6'000}, {6'250}, milliseconds{100}, Db{50}});
  bench.join("tx-0", 0, "first", 0);
  bench.join("tx-1", 0, "first", 1);
  bench.join("first", 0, "amplifier", 0);
  bench.join("amplifier", 0, "second", 0);
  bench.join("first", 1, "second", 1);
  bench.join("second", 0, "rx-0", 0);
  bench.join("second", 1, "rx-1", 0);
  bench.node("a", {"tx-0"}, {"rx-1"});
  bench.node("b", {"tx-1"}, {"rx-0"});
  bench.device("laser-0", DeviceRole::transmitter, 0, {"tx-0"});
  bench.device("laser-1", DeviceRole::transmitter, 1, {"tx-1"});
  bench.device("first", DeviceRole::wavelength_switch, 0, {"first"});
  bench.device("second", DeviceRole::wavelength_switch, 1, {"second"});
  bench.finish("pair");
  bench.light("laser-0", 0);
  bench.light("laser-1", 0);
  for (const char* wss : {"first", "second"}) {
    bench.set<WavelengthSwitchSetpoint>(wss).routes = {{wavelength(0), 0, 0, Db{0}}, {wavelength(0), 1, 1, Db{0}}};
  }
  bench.circuit(1, 1, "tx-0", "rx-0", 0);
  bench.circuit(2, 1, "tx-1", "rx-1", 0);
  bench.declare();
  return bench;
}

Texts crosstalk_at(const Texts& receivers, const std::string& much) {
  Texts texts;
  for (const std::string& each : receivers) {
    texts.push_back("crosstalk: " + each + ": in-band crosstalk of " + much + " dB, limit -20.00 dB");
  }
  return texts;
}

TEST_CASE("verify: what leaks at one WSS passes the next as signals do, and both leaks are summed") {
  const auto first = [](VerifyBench& bench, int centi) {
    bench.kind<WavelengthSelectiveSwitch>("first").isolation = Db{centi};
  };
  const auto second = [](VerifyBench& bench, int centi) {
    bench.kind<WavelengthSelectiveSwitch>("second").isolation = Db{centi};
  };
  const auto both = [&](VerifyBench& bench, int centi) {
    first(bench, centi);
    second(bench, centi);
  };
  check_border(make_pair_of_wss(), first, 2'001, 1'999, crosstalk_at({"rx-0", "rx-1"}, "-19.98"));
  check_border(make_pair_of_wss(), second, 2'001, 1'999, crosstalk_at({"rx-0", "rx-1"}, "-19.98"));
  // What leaks at both adds a little: 2 x 10^-2.302 and 10^-4.604.
  check_border(make_pair_of_wss(), both, 2'303, 2'302, crosstalk_at({"rx-0", "rx-1"}, "-19.99"));
}

TEST_CASE("verify: a leak stops at a WSS that routes nothing of its wavelength from there") {
  VerifyBench bench = make_pair_of_wss();
  bench.kind<WavelengthSelectiveSwitch>("first").isolation = Db{1'000};
  bench.set<TransmitterSetpoint>("laser-1").emit = false;
  bench.plan.circuits.pop_back();
  bench.kind<WavelengthSelectiveSwitch>("second").isolation = Db{6'000};
  bench.declare();
  CHECK(bench.verdict() == Texts{});  // what leaks to rx-1 is heard by nobody who waits
  bench.light("laser-1", 1);
  bench.circuit(2, 1, "tx-1", "rx-1", 1);
  for (const char* wss : {"first", "second"}) {
    auto& routes = bench.set<WavelengthSwitchSetpoint>(wss).routes;
    routes = {{wavelength(0), 0, 0, Db{0}}, {wavelength(1), 1, 1, Db{0}}};
  }
  bench.declare();
  CHECK(bench.verdict() == Texts{});  // wavelength 0 at input 1 of the second meets no route
  bench.set<WavelengthSwitchSetpoint>("second").routes.insert(bench.set<WavelengthSwitchSetpoint>("second").routes.begin() + 1,
                                                              {wavelength(0), 1, 1, Db{0}});
  bench.declare();
  CHECK(bench.verdict() == crosstalk_at({"rx-1"}, "-9.99"));  // 10 dB, and what leaks through both
}

TEST_CASE("verify: an amplifier's input is signals and leaks together") {
  VerifyBench bench = make_pair_of_wss();
  bench.kind<WavelengthSelectiveSwitch>("first").isolation = Db{2'001};
  const auto most = [](VerifyBench& one, int centi) { one.kind<Amplifier>("amplifier").input_max = Dbm{centi}; };
  check_border(bench, most, 4, 3, {"amplifier_input_range: amplifier: 0.04 dBm at its input, allowed -20.00 dBm to 0.03 dBm"});
}

TEST_CASE("verify: a WSS that nobody drives routes nothing, and leaks nothing of a route") {
  VerifyBench bench = make_pair_of_wss();
  bench.add("undriven", 1, 1, WavelengthSelectiveSwitch{});
  bench.fabric.fibres[6].to = {bench.element_id("undriven"), 0};  // instead of rx-1
  bench.join("undriven", 0, "rx-1", 0);
  build_index(bench.fabric);
  CHECK(bench.verdict() == Texts{"wavelength_continuity: circuit 2: 193.10000 THz of tx-1 does not reach rx-1"});
}

TEST_CASE("verify: a transmitter without a fibre lights nothing") {
  VerifyBench bench = make_pair_of_wss();
  bench.fabric.fibres.erase(bench.fabric.fibres.begin());
  for (std::uint32_t i = 0; i < bench.fabric.fibres.size(); ++i) {
    bench.fabric.fibres[i].id = FibreId{i};
  }
  build_index(bench.fabric);
  const std::string dark = "wavelength_continuity: circuit 1: 193.10000 THz of tx-0 does not reach rx-0";
  // `second` is of node b: without tx-0, only its own laser's light comes to it, and nobody has to wait for anybody.
  CHECK(bench.verdict() ==
        Texts{dark,
              "change_declared: second steers nobody else's light but is among the devices that wait for everybody's dark"});
  bench.declare();
  CHECK(bench.verdict() == Texts{dark});
}

// --- light that nobody takes away ---------------------------------------------------------------------------------------

TEST_CASE("verify: light that stays is met by no other, unless its laser is touched or the plan has it anyway") {
  const auto with = [](VerifyBench bench, std::string_view laser, std::int32_t k) {
    const DeviceId id = bench.device_plan(laser).device;
    Texts texts;
    const std::vector<ObservedLight> occupied{{id, TransmitterSetpoint{wavelength(k), Dbm{0}, true}, false}};
    for (const PlanViolation& each : examine(bench.fabric, bench.plan, nullptr, bench.intent, occupied).violations) {
      texts.push_back(each.rule + ": " + each.evidence);
    }
    return texts;
  };
  CHECK(with(chain_to_ring(), "laser-1", 1) == Texts{});  // beside everything: no route of the WSS is open for it
  const Texts met = with(chain_to_ring(), "laser-1", 0);
  CHECK(std::find(met.begin(), met.end(),
                  "one_transmitter_per_coupler_wavelength: coupler: inputs 0 and 1 both carry 193.10000 THz") != met.end());
  VerifyBench darkened = chain_to_ring();
  darkened.device_plan("laser-1").touched = true;  // its agent proves it dark first
  darkened.plan.changed = {NodeId{0}, NodeId{1}};
  CHECK(with(darkened, "laser-1", 0) == Texts{});
  VerifyBench kept = chain_to_ring();  // lit by the plan, untouched: its light is there once
  kept.device_plan("laser-0").touched = false;
  CHECK(kept.verdict().size() == 2);  // it is new, and nobody said so
  CHECK(with(kept, "laser-0", 0) == kept.verdict());
}

// --- gratings -----------------------------------------------------------------------------------------------------------

TEST_CASE("verify: a grating passes the whole width of a signal") {
  const auto with = [](VerifyBench& bench, int mhz) { bench.kind<ArrayedWaveguideGrating>("grating").passband = {mhz}; };
  check_border(chain_of_two(), with, 75'000, 74'999, {"passband: grating passes 74999 MHz of a signal of 75000 MHz"});
}

TEST_CASE("verify: light beside a grating's comb would leave by another order") {
  const auto with = [](VerifyBench& bench, int count) {
    bench.kind<ArrayedWaveguideGrating>("grating").channels.count = count;
  };
  check_border(chain_of_two(), with, 1, 0,
               {"fsr_aliasing: grating: light at 193.10000 THz is none of its channels and would leave by another order",
                "wavelength_continuity: circuit 1: 193.10000 THz of tx-0 does not reach rx-2"});
}

/// tx-0 and tx-1 into a cyclic grating of two inputs and two outputs.
VerifyBench make_router(std::int32_t first, std::int32_t second) {
  VerifyBench bench;
  bench.add("tx-0", 0, 1, some_transmitter());
  bench.add("tx-1", 0, 1, some_transmitter());
  bench.add("rx-0", 1, 0, some_receiver());
  bench.add("rx-1", 1, 0, some_receiver());
  bench.add("grating", 2, 2, ArrayedWaveguideGrating{{wavelength(0), 16, 4}, {80'000}, Db{3'500}}, Db{100});
  bench.join("tx-0", 0, "grating", 0);
  bench.join("tx-1", 0, "grating", 1);
  bench.join("grating", 0, "rx-0", 0);
  bench.join("grating", 1, "rx-1", 0);
  bench.node("a", {"tx-0"}, {"rx-1"});
  bench.node("b", {"tx-1"}, {"rx-0"});
  bench.device("laser-0", DeviceRole::transmitter, 0, {"tx-0"});
  bench.device("laser-1", DeviceRole::transmitter, 1, {"tx-1"});
  bench.finish("router");
  bench.light("laser-0", first);
  bench.light("laser-1", second);
  bench.circuit(1, 1, "tx-0", first % 2 == 0 ? "rx-0" : "rx-1", first);
  bench.circuit(2, 1, "tx-1", second % 2 == 0 ? "rx-1" : "rx-0", second);
  bench.declare();
  return bench;
}

TEST_CASE("verify: a cyclic grating sends input i and channel c to output c + i") {
  CHECK(make_router(0, 0).verdict() == Texts{});
  CHECK(make_router(1, 1).verdict() == Texts{});
  CHECK(make_router(2, 2).verdict() == Texts{});
  CHECK(make_router(3, 1).verdict() == Texts{});
  VerifyBench wrong = make_router(0, 0);
  std::swap(wrong.plan.circuits[0].receiver, wrong.plan.circuits[1].receiver);
  std::swap(wrong.plan.circuits[0].destination, wrong.plan.circuits[1].destination);
  wrong.declare();
  CHECK(wrong.verdict().size() == 4);
}

TEST_CASE("verify: a grating leaks to its other outputs") {
  const auto with = [](VerifyBench& bench, int centi) { bench.kind<ArrayedWaveguideGrating>("grating").isolation = Db{centi}; };
  check_border(make_router(0, 0), with, 2'001, 1'999, crosstalk_at({"rx-0", "rx-1"}, "-19.99"));
}

TEST_CASE("verify: a filter behind a grating of several inputs passes what leaks at its wavelength") {
  VerifyBench bench = make_router(0, 0);
  for (const char* end : {"0", "1"}) {
    const std::string ring = std::string("ring-") + end;
    bench.add(ring, 1, 2, some_ring());
    const auto fibre = std::find_if(bench.fabric.fibres.begin(), bench.fabric.fibres.end(), [&](const Fibre& each) {
      return each.to.element == bench.element_id(std::string("rx-") + end);
    });
    fibre->to = {bench.element_id(ring), 0};
    bench.join(ring, 1, std::string("rx-") + end, 0);
  }
  bench.device("bank", DeviceRole::filter, 0, {"ring-0", "ring-1"});
  bench.fabric.buses.clear();
  bench.finish("router");
  bench.light("laser-0", 0);
  bench.light("laser-1", 0);
  bench.set<FilterSetpoint>("bank").rings = {{0, centre_of(wavelength(0))}, {1, centre_of(wavelength(0))}};
  bench.circuit(1, 1, "tx-0", "rx-0", 0);
  bench.circuit(2, 1, "tx-1", "rx-1", 0);
  bench.declare();
  const auto with = [](VerifyBench& one, int centi) { one.kind<ArrayedWaveguideGrating>("grating").isolation = Db{centi}; };
  check_border(bench, with, 2'001, 1'999, crosstalk_at({"rx-0", "rx-1"}, "-19.99"));
}

/// tx-0 and tx-1 on wavelengths 0 and 1 through a coupler into a grating of one input; rx-0 is behind a ring or right behind
/// it.
VerifyBench make_comb(bool has_rings) {
  VerifyBench bench;
  bench.add("tx-0", 0, 1, some_transmitter());
  bench.add("tx-1", 0, 1, some_transmitter());
  bench.add("rx-0", 1, 0, some_receiver());
  bench.add("rx-1", 1, 0, some_receiver());
  bench.add("coupler", 2, 1, Coupler{}, Db{300});
  bench.add("grating", 1, 2, ArrayedWaveguideGrating{{wavelength(0), 16, 4}, {80'000}, Db{1'000}}, Db{100});
  bench.join("tx-0", 0, "coupler", 0);
  bench.join("tx-1", 0, "coupler", 1);
  bench.join("coupler", 0, "grating", 0);
  for (const char* end : {"0", "1"}) {
    const PortNumber port = end[0] == '0' ? 0 : 1;
    if (has_rings) {
      bench.add(std::string("ring-") + end, 1, 2, some_ring());
      bench.join("grating", port, std::string("ring-") + end, 0);
      bench.join(std::string("ring-") + end, 1, std::string("rx-") + end, 0);
    } else {
      bench.join("grating", port, std::string("rx-") + end, 0);
    }
  }
  bench.node("a", {"tx-0"}, {"rx-1"});
  bench.node("b", {"tx-1"}, {"rx-0"});
  bench.device("laser-0", DeviceRole::transmitter, 0, {"tx-0"});
  bench.device("laser-1", DeviceRole::transmitter, 1, {"tx-1"});
  if (has_rings) {
    bench.device("bank", DeviceRole::filter, 0, {"ring-0", "ring-1"});
  }
  bench.finish("comb");
  bench.light("laser-0", 0);
  bench.light("laser-1", 1);
  if (has_rings) {
    bench.kind<RingFilter>("ring-1").cold_resonance = {193'250'000};
    bench.set<FilterSetpoint>("bank").rings = {{0, centre_of(wavelength(0))}, {1, centre_of(wavelength(1))}};
  }
  bench.circuit(1, 1, "tx-0", "rx-0", 0);
  bench.circuit(2, 1, "tx-1", "rx-1", 1);
  bench.declare();
  return bench;
}

TEST_CASE("verify: a receiver right behind a grating receives every wavelength that leaks, one behind a filter does not") {
  CHECK(make_comb(false).verdict() == crosstalk_at({"rx-0", "rx-1"}, "-10.00"));
  CHECK(make_comb(true).verdict() == Texts{});
}

// --- rings --------------------------------------------------------------------------------------------------------------

TEST_CASE("verify: a ring drops and adds the whole width of a signal") {
  const auto with = [](std::string_view ring) {
    return [ring](VerifyBench& bench, int mhz) { bench.kind<RingFilter>(ring).fwhm = {mhz}; };
  };
  check_border(chain_to_ring(), with("ring-0"), 75'000, 74'999, {"passband: ring-0 drops 74999 MHz of a signal of 75000 MHz"});
  VerifyBench adding = make_chain();
  adding.light("laser-2", 0);
  adding.set<FilterSetpoint>("bank").rings = {{2, centre_of(wavelength(0))}};
  adding.circuit(1, 1, "tx-2", "rx-4", 0);
  adding.declare();
  check_border(adding, with("ring-2"), 75'000, 74'999, {"passband: ring-2 adds 74999 MHz of a signal of 75000 MHz"});
}

/// tx-0 past ring-0 and ring-1 to rx-5; ring-0 is set at `mhz`.
VerifyBench chain_past(std::int64_t mhz, std::int64_t range) {
  VerifyBench bench = make_chain();
  bench.light("laser-0", 0);
  bench.set<WavelengthSwitchSetpoint>("wss").routes = {{wavelength(0), 0, 0, Db{0}}};
  bench.kind<RingFilter>("ring-0").free_spectral_range = {range};
  bench.kind<RingFilter>("ring-0").cold_resonance = {194'000'000};
  bench.set<FilterSetpoint>("bank").rings = {{0, Frequency{mhz}}};
  bench.circuit(1, 1, "tx-0", "rx-5", 0);
  bench.declare();
  return bench;
}

TEST_CASE("verify: a ring takes light within half its width of a resonance, on both sides") {
  const Texts dropped{"stray_light: rx-0 receives tx-0 at 193.10000 THz in no circuit",
                      "wavelength_continuity: circuit 1: 193.10000 THz of tx-0 does not reach rx-5"};
  CHECK(chain_past(193'140'001, 0).verdict() == Texts{});
  CHECK(chain_past(193'140'000, 0).verdict() == dropped);
  CHECK(chain_past(193'060'000, 0).verdict() == dropped);
  CHECK(chain_past(193'059'999, 0).verdict() == Texts{});
}

TEST_CASE("verify: a ring takes light at its other resonances, and that is named") {
  const auto dropped = [](int beside) {
    return Texts{"fsr_aliasing: ring-0: light at 193.10000 THz meets another order of it, " + std::to_string(beside) +
                     " MHz beside the resonance that is set; its free spectral range is 200000 MHz",
                 "stray_light: rx-0 receives tx-0 at 193.10000 THz in no circuit",
                 "wavelength_continuity: circuit 1: 193.10000 THz of tx-0 does not reach rx-5"};
  };
  CHECK(chain_past(193'340'001, 200'000).verdict() == Texts{});
  CHECK(chain_past(193'340'000, 200'000).verdict() == dropped(240'000));
  CHECK(chain_past(193'260'000, 200'000).verdict() == dropped(160'000));
  CHECK(chain_past(193'259'999, 200'000).verdict() == Texts{});
  CHECK(chain_past(193'300'000, 0).verdict() == Texts{});
}

TEST_CASE("verify: a ring drops one wavelength of its bus at a time") {
  const auto with = [](std::int64_t range) {
    VerifyBench bench = chain_of_two();  // wavelength 1 is dropped by ring-1
    bench.set<WavelengthSwitchSetpoint>("wss").routes[0].output = 0;
    bench.plan.circuits[0].receiver = bench.element_id("rx-5");
    bench.plan.circuits[0].destination = NodeId{3};
    bench.kind<RingFilter>("ring-1").free_spectral_range = {range};
    bench.declare();
    return bench.verdict();
  };
  CHECK(with(140'001) == Texts{});
  const Texts both = with(100'000);
  REQUIRE(both.size() > 1);
  CHECK(both[0] ==
        "fsr_aliasing: ring-1: light at 193.10000 THz meets another order of it, 100000 MHz beside the resonance that "
        "is set; its free spectral range is 100000 MHz");
  CHECK(std::find(both.begin(), both.end(),
                  "fsr_aliasing: ring-1 drops 2 wavelengths at once; its free spectral range is 100000 MHz") != both.end());
}

TEST_CASE("verify: what a ring does not add goes nowhere") {
  VerifyBench bench = make_chain();
  bench.light("laser-2", 0);
  bench.circuit(1, 1, "tx-2", "rx-4", 0);
  bench.declare();
  CHECK(bench.verdict() == Texts{"receiver_ring_tuned: ring-2 is parked, circuit 1 comes at 193.10000 THz, tolerance 5000 MHz",
                                 "wavelength_continuity: circuit 1: 193.10000 THz of tx-2 does not reach rx-4"});
}

TEST_CASE("verify: what leaks past a ring of another order is no light that aliases") {
  VerifyBench bench = chain_of_two();  // wavelength 0 leaks at the WSS towards ring-0, which stands two channels above it
  auto& ring = bench.kind<RingFilter>("ring-0");
  ring.free_spectral_range = {200'000};
  ring.cold_resonance = {194'000'000};
  bench.set<FilterSetpoint>("bank").rings.insert(bench.set<FilterSetpoint>("bank").rings.begin(),
                                                 {0, centre_of(wavelength(2))});
  bench.declare();
  CHECK(bench.verdict() == Texts{});
}

// --- couplers and fibres ------------------------------------------------------------------------------------------------

/// chain_of_two with combs of 75 GHz, so that the signals of both transmitters stand side by side, and both circuits dark but
/// for their place on the fibre.
VerifyBench neighbours(std::int64_t width, std::int32_t step) {
  VerifyBench bench = make_chain();
  for (const char* name : {"tx-0", "tx-1"}) {
    bench.kind<Transmitter>(name).channels = {{0, 6}, step, 8};
    bench.kind<Transmitter>(name).signal_width = {width};
  }
  bench.kind<WavelengthSelectiveSwitch>("wss").passband_edge = {0};
  bench.timeline("laser-0")[0].setpoint = TransmitterSetpoint{{0, 6}, Dbm{0}, true};
  bench.timeline("laser-1")[0].setpoint = TransmitterSetpoint{{step, 6}, Dbm{0}, true};
  bench.declare();
  for (const char* laser : {"laser-0", "laser-1"}) {
    bench.intent.overrides.push_back({bench.device_plan(laser).device, bench.set<TransmitterSetpoint>(laser)});
  }
  return bench;
}

TEST_CASE("verify: signals on one fibre are at least as far apart as they are wide") {
  CHECK(neighbours(75'000, 12).verdict() == Texts{});
  CHECK(neighbours(75'001, 12).verdict() ==
        Texts{"wavelength_once_per_segment: fibre 2 after coupler: 193.17500 THz overlaps its neighbour",
              "wavelength_once_per_segment: fibre 3 after amplifier: 193.17500 THz overlaps its neighbour"});
  CHECK(neighbours(75'000, 11).verdict().size() == 2);
}

TEST_CASE("verify: two inputs of a coupler never carry one wavelength") {
  VerifyBench bench = make_chain();
  bench.element("coupler").inputs = 3;  // one of them is open
  build_index(bench.fabric);
  bench.light("laser-0", 3);
  bench.light("laser-1", 3);
  for (const char* laser : {"laser-0", "laser-1"}) {
    bench.intent.overrides.push_back({bench.device_plan(laser).device, bench.set<TransmitterSetpoint>(laser)});
  }
  bench.declare();
  CHECK(bench.verdict() == Texts{"wavelength_once_per_segment: fibre 2 after coupler: 193.40000 THz of 2 transmitters",
                                 "wavelength_once_per_segment: fibre 3 after amplifier: 193.40000 THz of 2 transmitters",
                                 "one_transmitter_per_coupler_wavelength: coupler: inputs 0 and 1 both carry 193.40000 THz"});
}

// --- switches, panels, taps ---------------------------------------------------------------------------------------------

/// tx-0 -> tap (its monitor: rx-1) -> attenuator -> panel -> ocs -> rx-0; every loss is 1 dB.
VerifyBench make_line() {
  VerifyBench bench;
  bench.add("tx-0", 0, 1, some_transmitter());
  bench.add("rx-0", 1, 0, some_receiver());
  bench.add("rx-1", 1, 0, some_receiver());
  bench.add("tap", 1, 2, Tap{}, Db{100});
  bench.add("attenuator", 1, 1, Attenuator{}, Db{100});
  bench.add("panel", 2, 2, PatchPanel{{1, 0}}, Db{100});
  bench.add("ocs", 3, 2, OpticalCircuitSwitch{milliseconds{30}}, Db{100});
  bench.join("tx-0", 0, "tap", 0);
  bench.join("tap", 0, "attenuator", 0);
  bench.join("tap", 1, "rx-1", 0);
  bench.join("attenuator", 0, "panel", 0);
  bench.join("panel", 1, "ocs", 1);
  bench.join("ocs", 1, "rx-0", 0);
  bench.node("a", {"tx-0"}, {"rx-1"});
  bench.node("b", {}, {"rx-0"});
  bench.device("laser-0", DeviceRole::transmitter, 0, {"tx-0"});
  bench.device("ocs", DeviceRole::circuit_switch, 1, {"ocs"});
  bench.finish("line");
  bench.light("laser-0", 0);
  bench.set<CircuitSwitchSetpoint>("ocs").connects = {{0, 0}, {1, 1}};
  bench.circuit(1, 1, "tx-0", "rx-0", 0);
  bench.declare();
  return bench;
}

const std::string kMonitor = "stray_light: rx-1 receives tx-0 at 193.10000 THz in no circuit";
const std::string kDark = "wavelength_continuity: circuit 1: 193.10000 THz of tx-0 does not reach rx-0";

TEST_CASE("verify: light passes taps, attenuators, panels and circuit switches with their losses") {
  VerifyBench bench = make_line();
  const auto with = [](VerifyBench& one, int centi) { one.kind<Receiver>("rx-0").sensitivity = Dbm{centi}; };
  with(bench, -400);
  CHECK(bench.verdict() == Texts{kMonitor});
  with(bench, -399);
  CHECK(bench.verdict() == Texts{kMonitor, "link_budget: rx-0 receives -4.00 dBm, allowed -3.99 dBm to 4.00 dBm"});
}

TEST_CASE("verify: a circuit switch passes only what it connects") {
  const auto with = [](std::vector<CrossConnect> connects) {
    VerifyBench bench = make_line();
    bench.set<CircuitSwitchSetpoint>("ocs").connects = std::move(connects);
    bench.declare();
    return bench.verdict();
  };
  CHECK(with({{1, 1}}) == Texts{kMonitor});
  CHECK(with({}) == Texts{kMonitor, kDark});
  CHECK(with({{0, 1}}) == Texts{kMonitor, kDark});
  CHECK(with({{1, 0}}) == Texts{kMonitor, kDark});
}

TEST_CASE("verify: cross-connects are between ports of their switch, ascending, and share no output") {
  const auto with = [](std::vector<CrossConnect> connects) {
    VerifyBench bench = make_line();
    bench.plan = bench.dark_plan();
    bench.set<CircuitSwitchSetpoint>("ocs").connects = std::move(connects);
    bench.declare();
    return bench.verdict();
  };
  const auto refusal = [](int input, int output) {
    return Texts{"node_plan_complete: ocs: cross-connect " + std::to_string(input) + " to " + std::to_string(output) +
                 " is out of order, out of range or takes an output twice"};
  };
  CHECK(with({{1, 1}, {2, 0}}) == Texts{});
  CHECK(with({{3, 1}}) == refusal(3, 1));
  CHECK(with({{0, 2}}) == refusal(0, 2));
  CHECK(with({{1, 1}, {1, 0}}) == refusal(1, 0));
  CHECK(with({{2, 1}, {1, 0}}) == refusal(1, 0));
  CHECK(with({{1, 1}, {2, 1}}) == refusal(2, 1));
}

TEST_CASE("verify: a panel passes what is wired") {
  VerifyBench bench = make_line();
  bench.kind<PatchPanel>("panel").wiring = {0, 1};
  CHECK(bench.verdict() == Texts{kMonitor, kDark});
}

TEST_CASE("verify: light ends at a packet switch") {
  VerifyBench bench = make_line();
  bench.element("attenuator").kind = PacketSwitch{gigabits(100), {}};
  CHECK(bench.verdict() == Texts{kMonitor, kDark});
}

}  // namespace
}  // namespace loom::testing
