// SPDX-License-Identifier: Apache-2.0
// Drift at its borders: each word of it one step inside and one step outside its limit, and the sentence that says so.
#include "controller/plan/reconcile/reconcile.hpp"
#include "tests/unit/plan/verify_chain.hpp"

namespace loom::testing {
namespace {

const Instant kNow = instant_from_ns(20'000'000'000);

/// One device of a bench, as read a second ago.
struct Seen {
  explicit Seen(VerifyBench of, std::string_view device) : bench(std::move(of)), plan(bench.device_plan(device)) {
    observation.device = plan.device;
    observation.health = DeviceHealth::ready;
    observation.read_at = kNow - std::chrono::seconds{1};
  }
  Drift drift() const { return drift_of(bench.fabric, plan, &observation, kNow, {}); }
  Drift drift(const Reading& reading) {
    observation.reading = reading;
    return drift();
  }
  std::string evidence() const { return evidence_of(bench.fabric, plan, &observation, drift(), kNow, {}); }
  std::string evidence(const Reading& reading) {
    observation.reading = reading;
    return evidence();
  }

  VerifyBench bench;
  DevicePlan plan;
  Observation observation{};
};

TransmitterObservation lit(std::int64_t mhz = 193'100'000, std::int32_t centi = 0) {
  return {Frequency{mhz}, Dbm{centi}, true, true, 0, 0};
}
const TransmitterObservation kDark{Frequency{193'100'000}, kNoLight, false, false, 0, 0};

TEST_CASE("reconcile: a lit laser is missing, detuned or dim beyond its limits, on both sides") {
  Seen seen(chain_to_ring(), "laser-0");
  CHECK(seen.drift(lit()) == Drift::none);
  CHECK(seen.drift(kDark) == Drift::missing);
  TransmitterObservation between = lit();  // on, and without light: read between its two registers
  between.power = kNoLight;
  CHECK(seen.drift(between) == Drift::missing);
  between.power = Dbm{-3'999};
  CHECK(seen.drift(between) == Drift::dim);
  CHECK(seen.drift(lit(193'102'500)) == Drift::none);
  CHECK(seen.drift(lit(193'102'501)) == Drift::detuned);
  CHECK(seen.drift(lit(193'097'500)) == Drift::none);
  CHECK(seen.drift(lit(193'097'499)) == Drift::detuned);
  CHECK(seen.drift(lit(193'100'000, -300)) == Drift::none);
  CHECK(seen.drift(lit(193'100'000, -301)) == Drift::dim);
  CHECK(seen.drift(lit(193'100'000, 500)) == Drift::none);
  CHECK(seen.drift(lit(193'102'501, -301)) == Drift::detuned);
}

TEST_CASE("reconcile: a dark laser is foreign when it emits") {
  Seen seen(make_chain(), "laser-0");
  CHECK(seen.drift(kDark) == Drift::none);
  TransmitterObservation tuned = kDark;
  tuned.frequency.mhz += 900'000;  // where it stands in the dark is nobody's business
  CHECK(seen.drift(tuned) == Drift::none);
  CHECK(seen.drift(lit()) == Drift::foreign);
  CHECK(seen.drift(lit(193'100'000, -3'999)) == Drift::foreign);
  CHECK(seen.drift(lit(193'100'000, -4'000)) == Drift::none);  // it emits nothing
}

TEST_CASE("reconcile: a laser in timeslots agrees with any of its entries, and with darkness if the last one ends") {
  Seen seen(chain_in_timeslots(), "laser-0");  // wavelengths 0 and 1
  CHECK(seen.drift(lit(193'100'000)) == Drift::none);
  CHECK(seen.drift(lit(193'200'000)) == Drift::none);
  CHECK(seen.drift(kDark) == Drift::none);
  CHECK(seen.drift(lit(193'300'000)) == Drift::detuned);
  CHECK(seen.drift(lit(193'100'000, -301)) == Drift::dim);  // by the first entry
  seen.plan.timeline.back().hold = kForever;
  CHECK(seen.drift(kDark) == Drift::missing);
  seen.plan.timeline.back().hold = milliseconds{1};
  std::get<TransmitterSetpoint>(seen.plan.timeline[0].setpoint).emit = false;  // then the first word is foreign
  CHECK(seen.drift(lit(193'300'000)) == Drift::foreign);
  CHECK(seen.drift(lit(193'200'000)) == Drift::none);
}

TEST_CASE("reconcile: a switch with a row that nobody asked for is foreign, else one that lacks a row is missing") {
  Seen seen(chain_of_two(), "wss");
  const auto routes = std::get<WavelengthSwitchSetpoint>(seen.plan.timeline[0].setpoint).routes;
  REQUIRE(routes.size() == 2);
  CHECK(seen.drift(WavelengthSwitchObservation{routes, true}) == Drift::none);
  CHECK(seen.drift(WavelengthSwitchObservation{{routes[1], routes[0]}, true}) == Drift::none);
  CHECK(seen.drift(WavelengthSwitchObservation{{routes[0]}, true}) == Drift::missing);
  CHECK(seen.drift(WavelengthSwitchObservation{{}, true}) == Drift::missing);
  const WssRoute foreign{wavelength(3), 0, 0, Db{0}};
  CHECK(seen.drift(WavelengthSwitchObservation{{routes[0], routes[1], foreign}, true}) == Drift::foreign);
  CHECK(seen.drift(WavelengthSwitchObservation{{routes[0], foreign}, true}) == Drift::foreign);
  WssRoute weaker = routes[1];
  weaker.attenuation = Db{1};
  CHECK(seen.drift(WavelengthSwitchObservation{{routes[0], weaker}, true}) == Drift::foreign);
}

TEST_CASE("reconcile: circuit switches drift as WSS do") {
  VerifyBench bench = make_chain();
  bench.add("ocs", 2, 2, OpticalCircuitSwitch{milliseconds{30}});
  bench.device("ocs", DeviceRole::circuit_switch, 3, {"ocs"});
  bench.fabric.buses.clear();
  bench.finish("chain");
  bench.set<CircuitSwitchSetpoint>("ocs").connects = {{0, 1}};
  Seen seen(bench, "ocs");
  CHECK(seen.drift(CircuitSwitchObservation{{{0, 1}}, true}) == Drift::none);
  CHECK(seen.drift(CircuitSwitchObservation{{}, true}) == Drift::missing);
  CHECK(seen.drift(CircuitSwitchObservation{{{0, 1}, {1, 0}}, true}) == Drift::foreign);
  CHECK(seen.evidence(CircuitSwitchObservation{{{0, 0}, {1, 1}}, true}) ==
        "ocs (device 6, node 3) is foreign: desired and not there: cross-connect from input 0 to output 1; there and not "
        "desired: cross-connect from input 0 to output 0 and 1 more (read 1000 ms ago)");
}

TEST_CASE("reconcile: what somebody else connected is no drift, is there where it is desired, and is named in the way") {
  VerifyBench bench = make_chain();
  bench.add("ocs", 2, 2, OpticalCircuitSwitch{milliseconds{30}});
  bench.device("ocs", DeviceRole::circuit_switch, 3, {"ocs"});
  bench.fabric.buses.clear();
  bench.finish("chain");
  bench.set<CircuitSwitchSetpoint>("ocs").connects = {{0, 1}};
  Seen seen(bench, "ocs");
  CHECK(seen.drift(CircuitSwitchObservation{{{0, 1}}, true, {{1, 0}}, {}}) == Drift::none);
  CHECK(seen.drift(CircuitSwitchObservation{{}, true, {{0, 1}, {1, 0}}, {}}) == Drift::none);
  CHECK(seen.drift(CircuitSwitchObservation{{{1, 0}}, true, {{0, 1}}, {}}) == Drift::foreign);
  const CircuitSwitchObservation blocked{{}, true, {{0, 0}}, {}};
  CHECK(seen.drift(blocked) == Drift::missing);
  CHECK_THAT(seen.evidence(blocked), Catch::Contains("input 0 is connected to output 0 by somebody else; disconnect it there"));
}

// --- heaters: 1 V on 1 kOhm is 1 mW, which is 37 GHz --------------------------------------------------------------------

/// A bank of four rings, of which ring 1 is wanted at `mhz`.
Seen bank_at(std::int64_t mhz, std::int64_t range = 0) {
  VerifyBench bench = make_chain();
  bench.kind<RingFilter>("ring-1").free_spectral_range = {range};
  bench.set<FilterSetpoint>("bank").rings = {{1, Frequency{mhz}}};
  return Seen(bench, "bank");
}
constexpr std::int64_t kAtOneVolt = 193'150'000 - 37'000;
const FilterObservation kOneVolt{{0, 1'000, 0, 0}};

TEST_CASE("reconcile: where a heater puts its ring") {
  const RingFilter ring = some_ring();
  CHECK(resonance_at(ring, 0) == Frequency{193'150'000});
  CHECK(resonance_at(ring, 1'000) == Frequency{kAtOneVolt});
  CHECK(resonance_at(ring, 2'000) == Frequency{193'150'000 - 4 * 37'000});
}

TEST_CASE("reconcile: a ring is detuned beyond an eighth of its width, on both sides") {
  CHECK(bank_at(kAtOneVolt + 10'000).drift(kOneVolt) == Drift::none);
  CHECK(bank_at(kAtOneVolt + 10'001).drift(kOneVolt) == Drift::detuned);
  CHECK(bank_at(kAtOneVolt - 10'000).drift(kOneVolt) == Drift::none);
  CHECK(bank_at(kAtOneVolt - 10'001).drift(kOneVolt) == Drift::detuned);
}

TEST_CASE("reconcile: a ring's next resonance is as good as the one that was asked for") {
  for (const std::int64_t orders : {-400'000, -200'000, 200'000, 400'000}) {
    const std::int64_t wanted = kAtOneVolt + orders;
    CHECK(bank_at(wanted + 10'000, 200'000).drift(kOneVolt) == Drift::none);
    CHECK(bank_at(wanted + 10'001, 200'000).drift(kOneVolt) == Drift::detuned);
    CHECK(bank_at(wanted - 10'000, 200'000).drift(kOneVolt) == Drift::none);
    CHECK(bank_at(wanted - 10'001, 200'000).drift(kOneVolt) == Drift::detuned);
  }
}

TEST_CASE("reconcile: a heater is off at 50 mV") {
  CHECK(bank_at(kAtOneVolt).drift(FilterObservation{{50, 1'000, 50, 50}}) == Drift::none);
  CHECK(bank_at(kAtOneVolt).drift(FilterObservation{{51, 1'000, 0, 0}}) == Drift::foreign);
  CHECK(bank_at(kAtOneVolt).drift(FilterObservation{{0, 50, 0, 0}}) == Drift::missing);
  CHECK(bank_at(kAtOneVolt).drift(FilterObservation{{0, 51, 0, 0}}) == Drift::detuned);
  CHECK(bank_at(kAtOneVolt).drift(FilterObservation{{0}}) == Drift::missing);  // a channel that nobody read is off
  CHECK(bank_at(193'150'000).drift(FilterObservation{{0, 0, 0, 0}}) == Drift::none);
}

TEST_CASE("reconcile: of a bank's rings the most harmful drift is its own: foreign, missing, detuned") {
  VerifyBench bench = make_chain();
  const Frequency wanted{kAtOneVolt};
  bench.set<FilterSetpoint>("bank").rings = {{0, wanted}, {1, wanted}};
  Seen seen(bench, "bank");
  const auto with = [&](std::int32_t first, std::int32_t second, std::int32_t third) {
    return seen.drift(FilterObservation{{first, second, third, 0}});
  };
  CHECK(with(1'000, 1'000, 0) == Drift::none);
  CHECK(with(2'000, 1'000, 0) == Drift::detuned);
  CHECK(with(1'000, 2'000, 0) == Drift::detuned);
  CHECK(with(2'000, 0, 0) == Drift::missing);
  CHECK(with(0, 2'000, 0) == Drift::missing);
  CHECK(with(0, 1'000, 0) == Drift::missing);
  CHECK(with(0, 2'000, 500) == Drift::foreign);
  CHECK(with(1'000, 1'000, 500) == Drift::foreign);
}

// --- readings that tell nothing -----------------------------------------------------------------------------------------

TEST_CASE("reconcile: a reading is stale when it is too old, to the nanosecond, or unknown, or another device's") {
  Seen seen(chain_to_ring(), "laser-0");
  seen.observation.reading = lit();
  seen.observation.read_at = kNow - std::chrono::seconds{10};
  CHECK(seen.drift() == Drift::none);
  seen.observation.read_at = kNow - std::chrono::seconds{10} - Duration{1};
  CHECK(seen.drift() == Drift::stale);
  CHECK(seen.evidence() == "laser-0 (device 0, node 0) is stale: read 10000 ms ago, limit 10000 ms");
  seen.observation.read_at = kNow;
  seen.observation.health = DeviceHealth::unknown;
  CHECK(seen.drift() == Drift::stale);
  seen.observation.health = DeviceHealth::ready;
  CHECK(seen.drift(std::monostate{}) == Drift::stale);
  CHECK(drift_of(seen.bench.fabric, seen.plan, nullptr, kNow, {}) == Drift::stale);
  CHECK(evidence_of(seen.bench.fabric, seen.plan, nullptr, Drift::stale, kNow, {}) ==
        "laser-0 (device 0, node 0) is stale: it was never read");
  const std::vector<Reading> readings{lit(), kOneVolt, WavelengthSwitchObservation{}, CircuitSwitchObservation{}};
  for (const char* device : {"laser-0", "bank", "wss"}) {
    Seen one(chain_to_ring(), device);
    std::uint32_t stale = 0;
    for (const Reading& reading : readings) {
      stale += one.drift(reading) == Drift::stale ? 1 : 0;
    }
    CHECK(stale == 3);  // all but the reading of its own kind
    const Reading other = std::string_view(device) == "bank" ? Reading{lit()} : Reading{kOneVolt};
    one.observation.reading = other;
    CHECK(evidence_of(one.bench.fabric, one.plan, &one.observation, Drift::missing, kNow, {}).find("no reading of its kind") !=
          std::string::npos);
  }
}

TEST_CASE(
    "reconcile: a device that gave up is stale where its last reading agrees, unless a laser says itself that it is broken") {
  Seen seen(chain_to_ring(), "laser-0");
  seen.observation.reading = lit();
  seen.observation.health = DeviceHealth::failed;
  CHECK(seen.drift() == Drift::stale);
  TransmitterObservation broken = lit();
  broken.status_fatal = 1;
  CHECK(seen.drift(broken) == Drift::none);
  seen.observation.fault = "no answer";
  CHECK(seen.drift(broken) == Drift::stale);
  CHECK(seen.evidence() == "laser-0 (device 0, node 0) is stale: read 1000 ms ago, limit 10000 ms; its driver says: no answer");
  CHECK(seen.drift(kDark) == Drift::missing);
  seen.observation.health = DeviceHealth::moving;
  CHECK(seen.drift(lit()) == Drift::none);
  Seen bank = bank_at(kAtOneVolt);
  bank.observation.health = DeviceHealth::failed;
  CHECK(bank.drift(kOneVolt) == Drift::stale);
}

// --- sentences ----------------------------------------------------------------------------------------------------------

TEST_CASE("reconcile: the sentence about a laser names what was desired, what was seen and the limit") {
  Seen seen(chain_to_ring(), "laser-0");
  const std::string head = "laser-0 (device 0, node 0) is ";
  CHECK(seen.evidence(kDark) == head + "missing: desired 193.10000 THz at 0.00 dBm, observed darkness (read 1000 ms ago)");
  CHECK(seen.evidence(lit(193'102'600)) ==
        head +
            "detuned: desired 193.10000 THz at 0.00 dBm, observed 193.10260 THz at 0.00 dBm, off by +2.6 GHz, limit +2.5 GHz "
            "(read 1000 ms ago)");
  CHECK(seen.evidence(lit(193'097'400)) ==
        head +
            "detuned: desired 193.10000 THz at 0.00 dBm, observed 193.09740 THz at 0.00 dBm, off by -2.6 GHz, limit +2.5 GHz "
            "(read 1000 ms ago)");
  CHECK(seen.evidence(lit(193'100'000, -455)) ==
        head +
            "dim: desired 193.10000 THz at 0.00 dBm, observed 193.10000 THz at -4.55 dBm, weaker by 4.5 dB, limit 3.0 dB "
            "(read 1000 ms ago)");
  Seen idle(make_chain(), "laser-0");
  CHECK(idle.evidence(lit()) == head + "foreign: desired darkness, observed 193.10000 THz at 0.00 dBm (read 1000 ms ago)");
  Seen slots(chain_in_timeslots(), "laser-0");
  CHECK(slots.evidence(lit(193'300'000)) ==
        head +
            "detuned: desired 193.10000 THz at 0.00 dBm or another of its 2 timeslots, observed 193.30000 THz at 0.00 dBm, off "
            "by +200.0 GHz, limit +2.5 GHz (read 1000 ms ago)");
}

TEST_CASE("reconcile: the sentence about a bank names the first ring that is off, and how many more") {
  const std::string head = "bank (device 4, node 0) is ";
  CHECK(bank_at(kAtOneVolt).evidence(FilterObservation{{0, 0, 0, 0}}) ==
        head +
            "missing: channel 1: desired resonance 193.11300 THz, observed 0 mV, which is 193.15000 THz, off by +37.0 GHz, "
            "limit +10.0 GHz (read 1000 ms ago)");
  CHECK(bank_at(kAtOneVolt - 10'000).evidence(FilterObservation{{1'000, 1'000, 0, 0}}) ==
        head +
            "foreign: channel 0: desired no heat, observed 1000 mV, which is 193.11300 THz, off by -37.0 GHz, limit +10.0 GHz "
            "(read 1000 ms ago)");
  CHECK(bank_at(kAtOneVolt).evidence(FilterObservation{{1'000, 0, 0, 1'000}}) ==
        head +
            "foreign: channel 0: desired no heat, observed 1000 mV, which is 193.11300 THz, off by -37.0 GHz, limit +10.0 GHz; "
            "and 2 more channels (read 1000 ms ago)");
  CHECK(bank_at(kAtOneVolt).evidence(FilterObservation{{0}}) ==
        head + "missing: channel 1: desired resonance 193.11300 THz, not read (read 1000 ms ago)");
  VerifyBench two = make_chain();
  two.set<FilterSetpoint>("bank").rings = {{1, Frequency{kAtOneVolt}}, {3, Frequency{kAtOneVolt}}};
  CHECK(Seen(std::move(two), "bank").evidence(FilterObservation{}) ==
        head + "missing: channel 1: desired resonance 193.11300 THz, not read; and 1 more channels (read 1000 ms ago)");
}

TEST_CASE("reconcile: the sentence about a WSS names the first row on each side") {
  Seen seen(chain_of_two(), "wss");
  const auto routes = std::get<WavelengthSwitchSetpoint>(seen.plan.timeline[0].setpoint).routes;
  CHECK(
      seen.evidence(WavelengthSwitchObservation{{}, true}) ==
      "wss (device 5, node 0) is missing: desired and not there: route n=0 m=8 from input 0 to output 1 and 1 more; there and "
      "not desired: none (read 1000 ms ago)");
  CHECK(seen.evidence(WavelengthSwitchObservation{{routes[0], {{32, 4}, 0, 1, Db{0}}, routes[1]}, true}) ==
        "wss (device 5, node 0) is foreign: desired and not there: none; there and not desired: route n=32 m=4 from input 0 to "
        "output 1 (read 1000 ms ago)");
}

TEST_CASE("reconcile: a stage whose light contradicts what it says is told with both and the limit") {
  VerifyBench bench = chain_of_two();
  bench.add("edfa", 1, 1, Amplifier{Db{1'200}});
  bench.device("edfa", DeviceRole::gain_stage, 3, {"edfa"});
  bench.fabric.buses.clear();
  bench.finish("chain");
  Seen seen(bench, "edfa");
  seen.plan.timeline.front().setpoint = GainSetpoint{Db{1'200}};
  const auto said = [&](const GainObservation& stage) { return seen.evidence(stage); };
  CHECK(
      said({Db{1'200}, true, Dbm{-1'000}, Dbm{-100}}) ==
      "edfa (device 6, node 3) is dim: desired 12.00 dB, observed 12.00 dB with -10.00 dBm before it and -1.00 dBm behind it, "
      "off by -3.00 dB, limit 1.50 dB (read 1000 ms ago)");
  CHECK(said({Db{1'131}, true}).find("desired 12.00 dB, observed 11.31 dB, off by -0.69 dB, limit 0.30 dB") !=
        std::string::npos);
  CHECK(said({kGainOff, true}).find("desired 12.00 dB, observed off (") != std::string::npos);
}

TEST_CASE("reconcile: a reading of another kind of device is none") {
  VerifyBench bench = chain_of_two();
  bench.add("ocs", 2, 2, OpticalCircuitSwitch{milliseconds{30}});
  bench.device("ocs", DeviceRole::circuit_switch, 3, {"ocs"});
  bench.add("voa", 1, 1, Attenuator{});
  bench.device("voa", DeviceRole::gain_stage, 3, {"voa"});
  bench.fabric.buses.clear();
  bench.finish("chain");
  const std::vector<std::pair<std::string, Reading>> readings{{"laser-0", kDark},
                                                              {"voa", GainObservation{Db{0}, true}},
                                                              {"bank", FilterObservation{{0, 0, 0, 0}}},
                                                              {"wss", WavelengthSwitchObservation{{}, true}},
                                                              {"ocs", CircuitSwitchObservation{{}, true}}};
  for (const auto& [device, own] : readings) {
    for (const auto& [other, reading] : readings) {
      Seen seen(bench, device);
      CHECK((seen.drift(reading) == Drift::stale) == (device != other));
      const std::string text = evidence_of(bench.fabric, seen.plan, &seen.observation, Drift::missing, kNow, {});
      CHECK((text.find("no reading of its kind") != std::string::npos) == (device != other));
    }
  }
}

// --- all devices --------------------------------------------------------------------------------------------------------

TEST_CASE("reconcile: of several readings of a device the latest counts, and readings of no device are ignored") {
  VerifyBench bench = chain_to_ring();
  const auto laser = [&](std::int64_t ns, const TransmitterObservation& reading) {
    return Observation{bench.device_plan("laser-0").device, DeviceHealth::ready, instant_from_ns(ns), reading, ""};
  };
  const auto judge = [&](std::vector<Observation> observations) {
    return reconcile(bench.fabric, bench.plan, observations, instant_from_ns(3'000)).devices.front().drift;
  };
  CHECK(judge({laser(1'000, kDark), laser(2'000, lit())}) == Drift::none);
  CHECK(judge({laser(2'000, lit()), laser(1'000, kDark)}) == Drift::none);
  CHECK(judge({laser(2'000, kDark), laser(2'000, lit())}) == Drift::none);  // of the same instant the one that came last
  Observation none = laser(2'000, lit());
  none.device.value = static_cast<std::uint32_t>(bench.fabric.devices.size());
  CHECK(judge({none}) == Drift::stale);
  const auto all = reconcile(bench.fabric, bench.plan, {}, instant_from_ns(3'000));
  CHECK(all.devices.size() == bench.fabric.devices.size());
  CHECK(all.counts.stale == all.devices.size());
  for (std::uint32_t i = 0; i < all.devices.size(); ++i) {
    CHECK(all.devices[i].device == DeviceId{i});
  }
}

TEST_CASE("reconcile: drift is counted up and down by its word, and none is not counted") {
  DriftCounts counts;
  for (const Drift drift : {Drift::none, Drift::missing, Drift::foreign, Drift::detuned, Drift::dim, Drift::stale}) {
    add(counts, drift);
  }
  CHECK(counts == DriftCounts{1, 1, 1, 1, 1});
  add(counts, Drift::dim);
  remove(counts, Drift::missing);
  CHECK(counts == DriftCounts{0, 1, 1, 2, 1});
  for (const Drift drift : {Drift::none, Drift::foreign, Drift::detuned, Drift::dim, Drift::dim, Drift::stale}) {
    remove(counts, drift);
  }
  CHECK(counts == DriftCounts{});
}

}  // namespace
}  // namespace loom::testing
