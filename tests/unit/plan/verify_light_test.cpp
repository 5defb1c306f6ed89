// SPDX-License-Identifier: Apache-2.0
// verify at its borders, in the light: receivers, amplifiers, crosstalk of one and of several jobs, who may emit, and what the
// certificate claims.
#include "tests/unit/plan/verify_chain.hpp"

namespace loom::testing {
namespace {

// --- receivers and amplifiers -------------------------------------------------------------------------------------------

TEST_CASE("verify: a receiver gets between its sensitivity and its overload, to the hundredth of a decibel") {
  const auto sensitivity = [](VerifyBench& bench, int centi) { bench.kind<Receiver>("rx-0").sensitivity = Dbm{centi}; };
  const auto overload = [](VerifyBench& bench, int centi) { bench.kind<Receiver>("rx-0").overload = Dbm{centi}; };
  check_border(chain_to_ring(), sensitivity, -600, -599,
               {"link_budget: rx-0 receives -6.00 dBm, allowed -5.99 dBm to 4.00 dBm"});
  check_border(chain_to_ring(), overload, -600, -601,
               {"link_budget: rx-0 receives -6.00 dBm, allowed -10.00 dBm to -6.01 dBm"});
}

TEST_CASE("verify: every loss on the way counts") {
  const auto with = [](auto change) {
    VerifyBench bench = chain_to_ring();
    bench.kind<Receiver>("rx-0").sensitivity = Dbm{-600};
    change(bench);
    return bench.verdict();
  };
  const Texts lost{"link_budget: rx-0 receives -6.01 dBm, allowed -6.00 dBm to 4.00 dBm"};
  CHECK(with([](VerifyBench& b) { b.set<TransmitterSetpoint>("laser-0").power = Dbm{-1}; }) == lost);
  CHECK(with([](VerifyBench& b) { b.set<WavelengthSwitchSetpoint>("wss").routes[0].attenuation = Db{1}; }) == lost);
  CHECK(with([](VerifyBench& b) { b.kind<RingFilter>("ring-0").drop_loss.centi += 1; }) == lost);
  CHECK(with([](VerifyBench& b) { b.element("ring-0").insertion_loss.centi += 1; }) == lost);
  CHECK(with([](VerifyBench& b) { b.element("coupler").insertion_loss.centi += 1; }) == lost);
  CHECK(with([](VerifyBench& b) { b.kind<Amplifier>("amplifier").gain.centi -= 1; }) == lost);
  CHECK(with([](VerifyBench& b) { b.fabric.fibres[0].loss = Db{1}; }) == lost);  // tx-0 to the coupler
  CHECK(with([](VerifyBench& b) { b.fabric.fibres[5].loss = Db{1}; }) == lost);  // ring-0 to rx-0
  CHECK(with([](VerifyBench& b) { b.fabric.fibres[6].loss = Db{1}; }) == Texts{});
}

TEST_CASE("verify: each timeslot's light is weighed") {
  const auto with = [](VerifyBench& bench, int centi) {
    bench.set<WavelengthSwitchSetpoint>("wss").routes[1].attenuation = Db{centi};
  };
  check_border(chain_in_timeslots(), with, 400, 401, {"link_budget: rx-0 receives -10.01 dBm, allowed -10.00 dBm to 4.00 dBm"});
}

TEST_CASE("verify: an amplifier's input is in its range, to the hundredth of a decibel") {
  const auto least = [](VerifyBench& bench, int centi) { bench.kind<Amplifier>("amplifier").input_min = Dbm{centi}; };
  const auto most = [](VerifyBench& bench, int centi) { bench.kind<Amplifier>("amplifier").input_max = Dbm{centi}; };
  const std::string head = "amplifier_input_range: amplifier: -3.00 dBm at its input, allowed ";
  check_border(chain_to_ring(), least, -300, -299, {head + "-2.99 dBm to 10.00 dBm"});
  check_border(chain_to_ring(), most, -300, -301, {head + "-20.00 dBm to -3.01 dBm"});
}

TEST_CASE("verify: an amplifier's input is the sum of all that comes, and nothing is asked of one in the dark") {
  const auto most = [](VerifyBench& bench, int centi) { bench.kind<Amplifier>("amplifier").input_max = Dbm{centi}; };
  check_border(chain_of_two(), most, 1, 0,
               {"amplifier_input_range: amplifier: 0.01 dBm at its input, allowed -20.00 dBm to 0.00 dBm"});
  VerifyBench dark = make_chain();
  dark.kind<Amplifier>("amplifier").input_min = Dbm{0};
  CHECK(dark.verdict() == Texts{});
}

/// Job 1 is as in chain_in_timeslots; job 2 is tx-1 on wavelength 2, to rx-5.
VerifyBench chain_of_two_jobs(bool second_has_timeslots) {
  VerifyBench bench = chain_in_timeslots();
  if (second_has_timeslots) {
    bench.timeslot("laser-1", 2, Duration{}, milliseconds{31}, milliseconds{1});
  } else {
    bench.light("laser-1", 2);
  }
  bench.set<WavelengthSwitchSetpoint>("wss").routes.push_back({wavelength(2), 0, 0, Db{0}});
  bench.circuit(3, 2, "tx-1", "rx-5", 2);
  bench.plan.certificate.physically_isolated = false;
  bench.plan.certificate.shared_amplifiers = {bench.element_id("amplifier")};
  bench.declare();
  return bench;
}

TEST_CASE("verify: timeslots of another job count at an amplifier with their worst, whenever they are") {
  const auto most = [](VerifyBench& bench, int centi) { bench.kind<Amplifier>("amplifier").input_max = Dbm{centi}; };
  const std::string found = "amplifier_input_range: amplifier: 0.01 dBm at its input, allowed -20.00 dBm to 0.00 dBm";
  check_border(chain_of_two_jobs(false), most, 1, 0, {found});
  check_border(chain_of_two_jobs(true), most, 1, 0, {found});
}

// --- crosstalk ----------------------------------------------------------------------------------------------------------

/// Three nodes of one laser and one receiver each around one WSS: tx-0 to rx-1 to rx-2 to rx-0, all on wavelength 0, so that
/// each receiver receives what the WSS leaks of the two others.
VerifyBench make_cross() {
  VerifyBench bench;
  for (const char* name : {"tx-0", "tx-1", "tx-2"}) {
    bench.add(name, 0, 1, some_transmitter());
  }
  for (const char* name : {"rx-0", "rx-1", "rx-2"}) {
    bench.add(name, 1, 0, some_receiver());
  }
  bench.add("wss", 3, 3, WavelengthSelectiveSwitch{Db{3'500}, {6'250}, milliseconds{100}, Db{50}});
  for (PortNumber port = 0; port < 3; ++port) {
    bench.join("tx-" + std::to_string(port), 0, "wss", port);
    bench.join("wss", port, "rx-" + std::to_string(port), 0);
  }
  bench.node("a", {"tx-0"}, {"rx-0"});
  bench.node("b", {"tx-1"}, {"rx-1"});
  bench.node("c", {"tx-2"}, {"rx-2"});
  bench.device("laser-0", DeviceRole::transmitter, 0, {"tx-0"});
  bench.device("laser-1", DeviceRole::transmitter, 1, {"tx-1"});
  bench.device("laser-2", DeviceRole::transmitter, 2, {"tx-2"});
  bench.device("wss", DeviceRole::wavelength_switch, 0, {"wss"});
  bench.finish("cross");
  bench.set<WavelengthSwitchSetpoint>("wss").routes = {
      {wavelength(0), 0, 1, Db{0}}, {wavelength(0), 1, 2, Db{0}}, {wavelength(0), 2, 0, Db{0}}};
  return bench;
}

const Texts kFrom{"tx-0", "tx-1", "tx-2"};
const Texts kTo{"rx-1", "rx-2", "rx-0"};

void light_all(VerifyBench& bench, std::vector<std::uint64_t> jobs) {
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    bench.light("laser-" + std::to_string(i), 0);
    bench.circuit(i + 1, jobs[i], kFrom[i], kTo[i], 0);
  }
  bench.declare();
}

void isolate(VerifyBench& bench, int centi) { bench.kind<WavelengthSelectiveSwitch>("wss").isolation = Db{centi}; }

Texts too_much_at(const Texts& receivers, const std::string& much) {
  Texts texts;
  for (const std::string& each : receivers) {
    texts.push_back("crosstalk: " + each + ": in-band crosstalk of " + much + " dB, limit -20.00 dB");
  }
  return texts;
}

TEST_CASE("verify: crosstalk of one leak is at most -20 dB") {
  VerifyBench bench = make_cross();
  light_all(bench, {1, 1});
  check_border(bench, isolate, 2'001, 1'999, too_much_at({"rx-1", "rx-2"}, "-19.99"));
}

TEST_CASE("verify: two leaks that are lawful alone are too much in sum") {
  VerifyBench bench = make_cross();
  light_all(bench, {1, 1, 1});
  check_border(bench, isolate, 2'302, 2'301, too_much_at({"rx-0", "rx-1", "rx-2"}, "-19.99"));
}

TEST_CASE("verify: leaks of other jobs are summed as a job's own are") {
  VerifyBench bench = make_cross();
  light_all(bench, {1, 2, 3});
  check_border(bench, isolate, 2'302, 2'301, too_much_at({"rx-0", "rx-1", "rx-2"}, "-19.99"));
}

/// Circuit i is lit by a job of its own, in timeslots where `jobs` says so.
VerifyBench cross_in_timeslots(std::vector<bool> has_timeslots) {
  VerifyBench bench = make_cross();
  for (std::size_t i = 0; i < has_timeslots.size(); ++i) {
    const std::string laser = "laser-" + std::to_string(i);
    if (has_timeslots[i]) {
      bench.timeslot(laser, 0, Duration{}, milliseconds{31} + milliseconds{5} * static_cast<int>(i), milliseconds{2});
    } else {
      bench.light(laser, 0);
    }
    bench.circuit(i + 1, i + 1, kFrom[i], kTo[i], 0);
  }
  bench.declare();
  return bench;
}

TEST_CASE("verify: leaks of jobs in timeslots count against light that stays, all at once") {
  check_border(cross_in_timeslots({false, true, true}), isolate, 2'302, 2'301, too_much_at({"rx-2", "rx-0", "rx-1"}, "-19.99"));
}

TEST_CASE("verify: leaks of light that stays and of other timeslots count against each timeslot") {
  check_border(cross_in_timeslots({true, true, true}), isolate, 2'302, 2'301, too_much_at({"rx-1", "rx-2", "rx-0"}, "-19.99"));
  check_border(cross_in_timeslots({true, false, false}), isolate, 2'302, 2'301,
               too_much_at({"rx-1", "rx-0", "rx-2"}, "-19.99"));
}

/// One job whose three timeslots follow each other: 0 to 1, then 1 to 2, then 2 to 0.
VerifyBench cross_in_turn() {
  VerifyBench bench = make_cross();
  for (int i = 0; i < 3; ++i) {
    const auto place = static_cast<std::size_t>(i);
    bench.timeslot("laser-" + std::to_string(i), 0, milliseconds{40} * i, milliseconds{31}, milliseconds{9});
    bench.circuit(place + 1, 1, kFrom[place], kTo[place], 0);
  }
  bench.declare();
  return bench;
}

TEST_CASE("verify: timeslots of one job disturb each other from the first nanosecond that they are lit together") {
  VerifyBench bench = cross_in_turn();
  isolate(bench, 1'000);
  const auto at = [](VerifyBench& one, Duration offset) { one.timeline("laser-1")[0].offset = offset; };
  check_border(bench, at, Duration{milliseconds{9}}, Duration{milliseconds{9}} - Duration{1},
               too_much_at({"rx-1", "rx-2"}, "-10.00"));
}

TEST_CASE("verify: of timeslots that follow each other the worst counts for another job, not their sum") {
  VerifyBench bench = cross_in_turn();
  bench.timeline("laser-0") = {{{}, {}, kForever, TransmitterSetpoint{wavelength(0), Dbm{0}, true}}};
  bench.plan.circuits[0].job = JobId{2};
  bench.declare();
  check_border(bench, isolate, 2'001, 1'999, too_much_at({"rx-2", "rx-0", "rx-1"}, "-19.99"));
}

// --- who emits, and for whom --------------------------------------------------------------------------------------------

TEST_CASE("verify: light of no circuit is named where it is made and where it is heard") {
  VerifyBench bench = chain_to_ring();
  bench.plan.circuits.clear();
  bench.declare();
  CHECK(bench.verdict() == Texts{"stray_light: tx-0 emits at 193.10000 THz for no circuit",
                                 "stray_light: rx-0 receives tx-0 at 193.10000 THz in no circuit"});
}

TEST_CASE("verify: a receiver that waits for one transmitter receives no other") {
  VerifyBench bench = chain_to_ring();  // ring-0 and a coupler before it: tx-1 on wavelength 0 comes along
  bench.light("laser-1", 0);
  bench.circuit(2, 1, "tx-1", "rx-2", 0);
  bench.declare();
  CHECK(bench.verdict() == Texts{"wavelength_once_per_segment: fibre 2 after coupler: 193.10000 THz of 2 transmitters",
                                 "wavelength_once_per_segment: fibre 3 after amplifier: 193.10000 THz of 2 transmitters",
                                 "wavelength_once_per_segment: fibre 4 after wss: 193.10000 THz of 2 transmitters",
                                 "wavelength_once_per_segment: fibre 5 after ring-0: 193.10000 THz of 2 transmitters",
                                 "one_transmitter_per_coupler_wavelength: coupler: inputs 0 and 1 both carry 193.10000 THz",
                                 "wavelength_continuity: circuit 2: 193.10000 THz of tx-1 does not reach rx-2"});
}

TEST_CASE("verify: a circuit's light comes at its wavelength, from its transmitter, to its receiver") {
  VerifyBench unlit = chain_to_ring();
  unlit.set<TransmitterSetpoint>("laser-0").emit = false;
  CHECK(unlit.verdict() == Texts{"wavelength_continuity: circuit 1: tx-0 never emits at 193.10000 THz"});
  VerifyBench astray = chain_to_ring();
  astray.set<WavelengthSwitchSetpoint>("wss").routes.clear();
  astray.declare();
  CHECK(astray.verdict() == Texts{"wavelength_continuity: circuit 1: 193.10000 THz of tx-0 does not reach rx-0"});
}

TEST_CASE("verify: a transmitter is in one circuit at a time, and a receiver too") {
  VerifyBench forked = chain_to_ring();
  forked.circuit(2, 1, "tx-0", "rx-5", 0);
  forked.declare();
  CHECK(forked.verdict() == Texts{"endpoint_once: tx-0 is in circuit 2 and in another one at the same time",
                                  "wavelength_continuity: circuit 2: 193.10000 THz of tx-0 does not reach rx-5"});
  VerifyBench joined = chain_of_two();
  joined.plan.circuits[1].receiver = joined.element_id("rx-2");
  joined.plan.circuits[1].destination = NodeId{1};
  joined.declare();
  CHECK(joined.verdict() == Texts{"endpoint_once: rx-2 is in circuit 2 and in another one at the same time",
                                  "stray_light: rx-1 receives tx-1 at 193.20000 THz in no circuit"});
}

TEST_CASE("verify: a timeslot later the same ends may be in other circuits") {
  VerifyBench bench = chain_in_timeslots();  // tx-0 is in two circuits, one after the other
  CHECK(bench.verdict() == Texts{});
  auto& timeline = bench.timeline("laser-0");
  timeline.push_back(timeline[0]);
  timeline[2].offset = 2 * (microseconds{30'101} + milliseconds{1});
  bench.plan.nodes.edit(0).cycle = 3 * (microseconds{30'101} + milliseconds{1});
  CHECK(bench.verdict() == Texts{});  // the same circuit twice in a cycle
}

DeviceOverride by_hand(VerifyBench& bench, std::string_view laser, Revision found_beside = {}, bool emit = true) {
  Setpoint setpoint = bench.set<TransmitterSetpoint>(laser);
  return {bench.device_plan(laser).device, emit ? setpoint : darkened(setpoint), found_beside};
}

TEST_CASE("verify: what an operator lit by hand is for no circuit and may be heard where nobody waits") {
  VerifyBench bench = make_chain();
  bench.light("laser-0", 0);
  bench.set<WavelengthSwitchSetpoint>("wss").routes = {{wavelength(0), 0, 0, Db{0}}};
  bench.set<FilterSetpoint>("bank").rings = {{0, centre_of(wavelength(0))}};
  bench.declare();
  CHECK(bench.verdict().size() == 2);
  bench.intent.overrides = {by_hand(bench, "laser-0")};
  CHECK(bench.verdict() == Texts{});
  bench.intent.overrides = {by_hand(bench, "laser-0", Revision{1})};  // adopted as it was found
  CHECK(bench.verdict() == Texts{});
  bench.intent.overrides = {by_hand(bench, "laser-0", Revision{1}, false)};  // adopted for its power alone: it serves circuits
  CHECK(bench.verdict().size() == 2);
  bench.intent.overrides = {by_hand(bench, "laser-0", Revision{}, false)};  // dark by hand: then nobody lit it
  CHECK(bench.verdict().size() == 2);
  bench.intent.overrides = {by_hand(bench, "laser-1")};  // another one
  bench.intent.overrides[0].setpoint = bench.set<TransmitterSetpoint>("laser-0");
  CHECK(bench.verdict().size() == 2);
  DeviceOverride none = by_hand(bench, "laser-0");
  none.device.value = static_cast<std::uint32_t>(bench.fabric.devices.size());
  bench.intent.overrides = {none};
  CHECK(bench.verdict().size() == 2);
}

TEST_CASE("verify: light by hand at a receiver that waits for a circuit is stray, and counts as crosstalk") {
  VerifyBench bench = make_cross();
  light_all(bench, {1});
  bench.light("laser-1", 1);
  bench.set<WavelengthSwitchSetpoint>("wss").routes.push_back({wavelength(1), 1, 1, Db{0}});
  bench.declare();
  bench.intent.overrides = {by_hand(bench, "laser-1")};
  CHECK(bench.verdict() == Texts{"stray_light: rx-1 receives tx-1 at 193.20000 THz in no circuit",
                                 "crosstalk: rx-1: in-band crosstalk of 0.00 dB, limit -20.00 dB"});
}

// --- jobs and what the certificate says ---------------------------------------------------------------------------------

TEST_CASE("verify: a transmitter serves one job") {
  VerifyBench bench = chain_in_timeslots();
  bench.plan.circuits[1].job = JobId{2};
  bench.declare();
  CHECK(bench.verdict() == Texts{"job_isolation: tx-0 serves two jobs, one of them job 2"});
}

TEST_CASE("verify: two jobs in timeslots never use one wavelength of one fibre, since nobody aligns them") {
  VerifyBench bench = chain_in_timeslots();
  bench.timeslot("laser-1", 2, Duration{}, milliseconds{31}, milliseconds{1});
  bench.set<WavelengthSwitchSetpoint>("wss").routes.push_back({wavelength(2), 0, 0, Db{0}});
  bench.circuit(3, 2, "tx-1", "rx-5", 2);
  bench.plan.certificate.physically_isolated = false;
  bench.plan.certificate.shared_amplifiers = {bench.element_id("amplifier")};
  bench.declare();
  CHECK(bench.verdict() == Texts{});
  bench.set<TransmitterSetpoint>("laser-1").slot = wavelength(1);  // job 1's second timeslot has it
  bench.plan.circuits[2].slot = wavelength(1);
  bench.plan.circuits[2].receiver = bench.element_id("rx-0");
  bench.plan.circuits[2].destination = NodeId{0};
  bench.declare();
  const std::string rest =
      " carries 193.20000 THz of two jobs, of a job and of nobody, or of a laser that goes on beside its job";
  CHECK(bench.verdict() ==
        Texts{"crosstalk: rx-0: in-band crosstalk of 0.00 dB, limit -20.00 dB", "job_isolation: fibre 2 after coupler" + rest,
              "wavelength_once_per_segment: fibre 2 after coupler" + rest,
              "one_transmitter_per_coupler_wavelength: fibre 2 after coupler" + rest,
              "job_isolation: fibre 3 after amplifier" + rest, "wavelength_once_per_segment: fibre 3 after amplifier" + rest,
              "job_isolation: fibre 4 after wss" + rest, "wavelength_once_per_segment: fibre 4 after wss" + rest,
              "job_isolation: fibre 5 after ring-0" + rest, "wavelength_once_per_segment: fibre 5 after ring-0" + rest});
}

std::string says(int wavelength, int physical, int claimed, int is, int amplifiers) {
  return "job_isolation: the certificate says wavelength_isolated " + std::to_string(wavelength) + ", physically_isolated " +
         std::to_string(physical) + ", shared amplifiers " + std::to_string(claimed) + "; the light says 1, " +
         std::to_string(is) + ", " + std::to_string(amplifiers);
}

TEST_CASE("verify: the certificate says whether jobs share fibre, and every amplifier that they share") {
  const VerifyBench shared = chain_of_two_jobs(false);
  CHECK(shared.verdict() == Texts{});
  const auto with = [&](bool wavelength, bool physical, std::vector<ElementId> amplifiers) {
    VerifyBench bench = shared;
    bench.plan.certificate = {wavelength, physical, std::move(amplifiers), {}};
    return bench.verdict();
  };
  const ElementId amplifier = shared.element_id("amplifier");
  CHECK(with(true, true, {amplifier}) == Texts{says(1, 1, 1, 0, 1)});
  CHECK(with(true, false, {}) == Texts{says(1, 0, 0, 0, 1)});
  CHECK(with(true, false, {shared.element_id("coupler")}) == Texts{says(1, 0, 1, 0, 1)});
  CHECK(with(false, false, {amplifier}) == Texts{says(0, 0, 1, 0, 1)});
  VerifyBench alone = chain_of_two();
  alone.plan.certificate.physically_isolated = false;
  CHECK(alone.verdict() == Texts{says(1, 0, 0, 1, 0)});
  alone.plan.certificate = {true, true, {amplifier}, {}};
  CHECK(alone.verdict() == Texts{says(1, 1, 1, 1, 0)});
}

TEST_CASE("verify: a measurement by hand beside a job shares nothing that the certificate speaks of") {
  VerifyBench bench = chain_to_ring();
  bench.light("laser-1", 1);
  bench.set<WavelengthSwitchSetpoint>("wss").routes.push_back({wavelength(1), 0, 1, Db{0}});
  bench.declare();
  bench.intent.overrides = {by_hand(bench, "laser-1")};
  CHECK(bench.verdict() == Texts{});
}

}  // namespace
}  // namespace loom::testing
