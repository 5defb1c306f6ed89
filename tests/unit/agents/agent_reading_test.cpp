// SPDX-License-Identifier: Apache-2.0
// What a reading says against a setpoint, and against all that a device may hold: each tolerance at its border.
#include <catch2/catch.hpp>

#include "agents/commit/steering.hpp"
#include "controller/architectures/sip_ring/fabric.hpp"
#include "core/fabric/occupied_ports.hpp"
#include "core/ring/ring.hpp"
#include "tests/unit/agents/agent_bench.hpp"

namespace loom::test {
namespace {

const std::shared_ptr<const Fabric>& rings() {
  static const auto fabric = [] {
    SipRingParameters parameters;
    parameters.nodes = 8;
    parameters.rings = 1;
    parameters.wavelengths = 8;
    return std::make_shared<const Fabric>(make_sip_ring(parameters));
  }();
  return fabric;
}

DeviceId bank_of_rings() {
  for (const Device& device : rings()->devices) {
    if (device.role == DeviceRole::filter) {
      return device.id;
    }
  }
  FAIL("no bank");
  return {};
}

const RingFilter& ring(std::size_t channel) {
  return std::get<RingFilter>(rings()->element(rings()->device(bank_of_rings()).elements[channel]).kind);
}

bool agree(const Reading& reading, const Setpoint& setpoint) { return agrees(*rings(), bank_of_rings(), reading, setpoint); }

DevicePlan share(Setpoint target, std::vector<Setpoint> may_hold = {}) {
  DevicePlan plan{bank_of_rings(), true, {{{}, {}, kForever, std::move(target)}}};
  plan.may_hold = std::move(may_hold);
  return plan;
}

std::string found(const DevicePlan& plan, const Reading& reading) { return unexpected(*rings(), plan, reading).value_or(""); }

constexpr FrequencySlot kSlot{16, 8};

TEST_CASE("a laser is as told within its accuracy and that of its power meter, and dark is dark wherever it is tuned") {
  const Setpoint lit = TransmitterSetpoint{kSlot, Dbm{100}, true};
  TransmitterObservation seen{centre_of(kSlot), Dbm{100}, true, true, 0, 0};
  for (const std::int64_t off : {2'500, -2'500}) {
    seen.frequency.mhz = centre_of(kSlot).mhz + off;
    CHECK(agree(seen, lit));
    seen.frequency.mhz += off > 0 ? 1 : -1;
    CHECK_FALSE(agree(seen, lit));
  }
  seen.frequency = centre_of(kSlot);
  for (const std::int32_t off : {100, -100}) {
    seen.power = Dbm{100 + off};
    CHECK(agree(seen, lit));
    seen.power = Dbm{100 + off + (off > 0 ? 1 : -1)};
    CHECK_FALSE(agree(seen, lit));
  }
  seen.power = Dbm{100};
  seen.emitting = false;
  CHECK_FALSE(agree(seen, lit));
  const Setpoint dark = TransmitterSetpoint{{0, 8}, Dbm{100}, false};
  CHECK(agree(seen, dark));
  seen.emitting = true;
  CHECK_FALSE(agree(seen, dark));
  seen.frequency = centre_of({0, 8});
  CHECK_FALSE(agree(seen, dark));
}

TEST_CASE("switches are as told when they have settled with the same rows") {
  const WssRoute route{kSlot, 0, 1, Db{0}};
  CHECK(agree(WavelengthSwitchObservation{{route}, true}, WavelengthSwitchSetpoint{{route}}));
  CHECK_FALSE(agree(WavelengthSwitchObservation{{route}, false}, WavelengthSwitchSetpoint{{route}}));
  CHECK_FALSE(agree(WavelengthSwitchObservation{{}, true}, WavelengthSwitchSetpoint{{route}}));
  CHECK(agree(CircuitSwitchObservation{{{0, 1}}, true}, CircuitSwitchSetpoint{{{0, 1}}}));
  CHECK_FALSE(agree(CircuitSwitchObservation{{{0, 1}}, false}, CircuitSwitchSetpoint{{{0, 1}}}));
  CHECK_FALSE(agree(CircuitSwitchObservation{{{0, 2}}, true}, CircuitSwitchSetpoint{{{0, 1}}}));
}

TEST_CASE("a reading of another kind agrees with nothing") {
  const Setpoint laser = TransmitterSetpoint{};
  const Setpoint ocs = CircuitSwitchSetpoint{};
  CHECK_FALSE(agree(TransmitterObservation{}, ocs));
  CHECK_FALSE(agree(WavelengthSwitchObservation{{}, true}, ocs));
  CHECK_FALSE(agree(CircuitSwitchObservation{{}, true}, laser));
  CHECK_FALSE(agree(Reading{}, FilterSetpoint{}));
  CHECK_FALSE(agree(FilterObservation{}, ocs));
  CHECK(agree(FilterObservation{}, FilterSetpoint{}));
}

TEST_CASE("a ring is as told within a part of its width, one that is off may have what a heater reads without power") {
  FilterObservation seen{std::vector<std::int32_t>(rings()->device(bank_of_rings()).elements.size())};
  seen.millivolts[1] = kHeaterOffMillivolts;
  CHECK(agree(seen, FilterSetpoint{}));
  seen.millivolts[1] = kHeaterOffMillivolts + 1;
  CHECK_FALSE(agree(seen, FilterSetpoint{}));
  seen.millivolts[1] = 3'000;
  const Frequency stands = resonance_at(ring(1), 3'000);
  const std::int64_t width = ring(1).fwhm.mhz / kRingWidthParts;
  for (const std::int64_t way : {1, -1}) {
    CHECK(agree(seen, FilterSetpoint{{{1, Frequency{stands.mhz + way * width}}}}));
    CHECK_FALSE(agree(seen, FilterSetpoint{{{1, Frequency{stands.mhz + way * (width + 1)}}}}));
  }
}

TEST_CASE("a switch may hold rows of what it held and of what it shall hold, and none that nobody expects") {
  const Setpoint target = CircuitSwitchSetpoint{{{0, 1}, {2, 2}}};
  const DevicePlan plan = share(target, {CircuitSwitchSetpoint{{{0, 3}, {2, 2}}}});
  CHECK(found(plan, CircuitSwitchObservation{{{0, 1}, {2, 2}}, true}).empty());
  CHECK(found(plan, CircuitSwitchObservation{{{0, 3}, {2, 2}}, true}).empty());
  CHECK(found(plan, CircuitSwitchObservation{{{2, 2}}, false}).empty());  // on its way
  CHECK(found(plan, CircuitSwitchObservation{{{0, 4}, {2, 2}}, true}) ==
        "holds input 0 to output 4, which nobody expects there");
  CHECK(found(plan, CircuitSwitchObservation{{{0, 1}}, true}) == "has lost input 2 to output 2");
  const WssRoute stays{kSlot, 0, 1, Db{0}};
  const WssRoute goes{{32, 8}, 0, 1, Db{0}};
  const DevicePlan wss = share(WavelengthSwitchSetpoint{{stays}}, {WavelengthSwitchSetpoint{{stays, goes}}});
  CHECK(found(wss, WavelengthSwitchObservation{{stays}, true}).empty());
  CHECK(found(wss, WavelengthSwitchObservation{{stays, goes}, true}).empty());
  CHECK_THAT(found(wss, WavelengthSwitchObservation{{goes}, true}), Catch::StartsWith("has lost"));
}

TEST_CASE("what somebody else connected is expected on a switch, unless it is in the way") {
  const DevicePlan plan = share(CircuitSwitchSetpoint{{{0, 1}, {2, 2}}}, {CircuitSwitchSetpoint{{{0, 3}, {2, 2}}}});
  const auto with = [&](std::vector<CrossConnect> connects, std::vector<CrossConnect> occupied) {
    return found(plan, CircuitSwitchObservation{std::move(connects), true, std::move(occupied), {}});
  };
  CHECK(with({{0, 3}, {2, 2}}, {{4, 4}, {5, kPortElsewhere}}).empty());
  CHECK(with({}, {{0, 3}, {2, 2}, {4, 4}}).empty());  // a driver that began anew calls all of them somebody else's
  CHECK(with({{2, 2}}, {{0, 5}}) ==
        "cannot be set: input 0 is connected to output 5 by somebody else; disconnect it there, or set foreign: remove in its "
        "profile");
  CHECK(with({{2, 2}}, {{kPortElsewhere, 1}}) ==
        "cannot be set: output 1 is connected to a port that is none of ours; disconnect it there");
  CHECK(with({}, {{0, 1}, {4, 4}}) == "has lost input 2 to output 2");
  const CircuitSwitchObservation seen{{{2, 2}}, true, {{0, 1}, {4, 4}}, {}};
  CHECK(agree(seen, CircuitSwitchSetpoint{{{0, 1}, {2, 2}}}));
  CHECK(agree(seen, CircuitSwitchSetpoint{{{2, 2}}}));
  CHECK_FALSE(agree(seen, CircuitSwitchSetpoint{{{0, 1}}}));
  CHECK_FALSE(agree(seen, CircuitSwitchSetpoint{{{2, 2}, {3, 3}}}));
}

TEST_CASE("what a switch shall hold is expected though nothing else was, and a state of another kind expects nothing") {
  const DevicePlan plan = share(CircuitSwitchSetpoint{{{0, 1}}}, {CircuitSwitchSetpoint{}});
  CHECK(found(plan, CircuitSwitchObservation{{{0, 1}}, true}).empty());
  CHECK_THAT(found(share(CircuitSwitchSetpoint{}, {FilterSetpoint{}}), CircuitSwitchObservation{{{0, 1}}, true}),
             Catch::StartsWith("holds"));
}

TEST_CASE("a ring stands as one of the states that its bank may hold, or nobody expects it there") {
  FilterObservation seen{std::vector<std::int32_t>(rings()->device(bank_of_rings()).elements.size())};
  seen.millivolts[1] = 3'000;
  const Setpoint heated = FilterSetpoint{{{1, resonance_at(ring(1), 3'000)}}};
  CHECK(found(share(heated), seen).empty());
  CHECK(found(share(heated, {FilterSetpoint{}}), seen).empty());
  CHECK(found(share(FilterSetpoint{}, {heated}), seen).empty());
  CHECK_THAT(found(share(FilterSetpoint{}, {FilterSetpoint{}}), seen), Catch::StartsWith("channel 1 reads 3000 mV"));
  CHECK_THAT(found(share(FilterSetpoint{}, {CircuitSwitchSetpoint{}}), seen), Catch::StartsWith("channel 1 reads 3000 mV"));
}

TEST_CASE("without a reading of its kind nobody knows what a device holds") {
  for (const Reading& reading : {Reading{}, Reading{TransmitterObservation{}}}) {
    CHECK(found(share(CircuitSwitchSetpoint{}), reading) == "has not been read");
  }
  CHECK(found(share(CircuitSwitchSetpoint{}), WavelengthSwitchObservation{}) == "has not been read");
  CHECK(found(share(CircuitSwitchSetpoint{}), FilterObservation{}) == "has not been read");
  CHECK(found(share(FilterSetpoint{}), WavelengthSwitchObservation{}) == "has not been read");
  CHECK(found(share(FilterSetpoint{}), CircuitSwitchObservation{}) == "has not been read");
  CHECK(found(share(WavelengthSwitchSetpoint{}), CircuitSwitchObservation{}) == "has not been read");
}

/// Whose poll is under way when light is confirmed, or falls between that and warm chips, depends on the instant.
TEST_CASE("what a monitor read before chips are warm is told to nobody, and what it reads then is told whatever it is") {
  constexpr Duration kWarm = milliseconds{15};
  constexpr Duration kReadingTakes = milliseconds{12};
  for (int offset = 0; offset < 60; ++offset) {
    CAPTURE(offset);
    AgentBench bench(OtherLight::none, true);
    REQUIRE_FALSE(bench.monitors.empty());
    for (const DeviceId monitor : bench.monitors) {
      bench.device(monitor).reply_delay = kReadingTakes;
    }
    bench.audit_interval = milliseconds{5};
    bench.start();
    bench.receive({}, Welcome{seconds{10}, Revision{}});
    bench.run_for(seconds{1} + milliseconds{offset});
    bench.commit(bench.static_plan(1, 16));
    REQUIRE(bench.count<Applied>() == 1);
    const Instant confirmed = bench.now;
    bench.sent.clear();
    bench.run_for(milliseconds{100});
    std::map<DeviceId, int> told;
    for (const Envelope& envelope : bench.sent) {
      const auto* report = std::get_if<ObservationReport>(&envelope.body);
      for (const Observation& seen : report != nullptr ? report->observations : std::vector<Observation>{}) {
        if (std::ranges::find(bench.monitors, seen.device) != bench.monitors.end() && seen.read_at > confirmed) {
          CHECK(seen.read_at - confirmed >= kWarm + kReadingTakes);
          ++told[seen.device];
        }
      }
    }
    CHECK(told.size() == bench.monitors.size());
  }
}

TEST_CASE("a monitor that answers nothing is told to have failed, however often light changes meanwhile") {
  AgentBench bench(OtherLight::none, true);
  bench.audit_interval = milliseconds{5};
  bench.start();
  bench.receive({}, Welcome{seconds{10}, Revision{}});
  bench.run_for(seconds{1});
  bench.commit(bench.static_plan(1, 16));
  REQUIRE(bench.count<Applied>() == 1);
  bench.run_for(milliseconds{100});
  const DeviceId monitor = bench.monitors.front();
  bench.device(monitor).silent = true;
  bench.sent.clear();
  for (int i = 0; i < 50; ++i) {
    bench.receive(Revision{1}, Confirm{});
    bench.run_for(milliseconds{20});
  }
  const auto says_so = [&](const Envelope& envelope) {
    const auto* report = std::get_if<ObservationReport>(&envelope.body);
    return report != nullptr && std::ranges::any_of(report->observations, [&](const Observation& seen) {
             return seen.device == monitor && seen.health == DeviceHealth::failed;
           });
  };
  CHECK(std::ranges::any_of(bench.sent, says_so));
}

}  // namespace
}  // namespace loom::test
