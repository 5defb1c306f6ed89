// SPDX-License-Identifier: Apache-2.0
// The walk of a laser's light to what moves, at its borders: which way it may take past rings, gratings and circles, and what a
// reading says that a device holds.
#include "controller/plan/light/light_scope.hpp"

#include "tests/unit/plan/verify_chain.hpp"

namespace loom::testing {
namespace {

// --- what was read ------------------------------------------------------------------------------------------------------

std::optional<Setpoint> found(const VerifyBench& bench, std::string_view device, const Reading& reading) {
  VerifyBench copy = bench;
  return found_setpoint(copy.fabric, copy.device_plan(device).device, reading);
}

TEST_CASE("scope: a laser holds the channel that it was read near, or light beside all of them") {
  const VerifyBench bench = make_chain();  // channels 0 to 7, 193.1 to 193.8 THz, 100 GHz wide
  const auto slot_at = [&](std::int64_t mhz) {
    const auto setpoint = found(bench, "laser-0", TransmitterObservation{Frequency{mhz}, Dbm{-123}, true, true, 0, 0});
    REQUIRE(setpoint.has_value());
    const auto& laser = std::get<TransmitterSetpoint>(*setpoint);
    CHECK(laser.emit);
    CHECK(laser.power == Dbm{-123});
    return laser.slot;
  };
  CHECK(slot_at(193'100'000) == wavelength(0));
  CHECK(slot_at(193'149'999) == wavelength(0));
  CHECK(slot_at(193'150'001) == wavelength(1));
  CHECK(slot_at(193'850'000) == wavelength(7));
  CHECK(slot_at(193'850'001) == FrequencySlot{120, 8});
  CHECK(slot_at(193'853'125) == FrequencySlot{121, 8});
  CHECK(slot_at(193'050'000) == wavelength(0));
  CHECK(slot_at(193'049'999) == FrequencySlot{-8, 8});
  CHECK(slot_at(193'046'875) == FrequencySlot{-9, 8});
  const auto dark = found(bench, "laser-0", TransmitterObservation{Frequency{193'200'000}, kNoLight, false, true, 0, 0});
  CHECK(dark == Setpoint{TransmitterSetpoint{wavelength(1), Dbm{0}, false}});  // what it would launch
}

TEST_CASE("scope: a heater is off up to its limit, and a bank is read as a whole or not at all") {
  const VerifyBench bench = make_chain();
  const auto rings = [&](std::vector<std::int32_t> millivolts) -> std::optional<std::vector<std::uint16_t>> {
    const auto setpoint = found(bench, "bank", FilterObservation{std::move(millivolts)});
    if (!setpoint) {
      return std::nullopt;
    }
    std::vector<std::uint16_t> channels;
    for (const RingResonance& ring : std::get<FilterSetpoint>(*setpoint).rings) {
      channels.push_back(ring.channel);
    }
    return channels;
  };
  using Channels = std::vector<std::uint16_t>;
  CHECK(rings({0, 0, 0, 0}) == Channels{});
  CHECK(rings({50, 51, 0, 1'000}) == Channels{1, 3});
  CHECK(rings({50, 51, 0, 1'000, 1'000}) == Channels{1, 3});  // a channel that has no ring
  CHECK_FALSE(rings({50, 51, 0}).has_value());
  CHECK_FALSE(rings({}).has_value());
}

TEST_CASE("scope: a reading of another kind of device says nothing") {
  VerifyBench bench = make_chain();
  bench.add("ocs", 2, 2, OpticalCircuitSwitch{milliseconds{30}});
  bench.device("ocs", DeviceRole::circuit_switch, 3, {"ocs"});
  bench.fabric.buses.clear();
  bench.finish("chain");
  const std::vector<std::pair<std::string, Reading>> readings{
      {"laser-0", TransmitterObservation{Frequency{193'100'000}, Dbm{0}, true, true, 0, 0}},
      {"bank", FilterObservation{{0, 0, 0, 0}}},
      {"wss", WavelengthSwitchObservation{{}, true}},
      {"ocs", CircuitSwitchObservation{{}, true}}};
  for (const auto& [device, own] : readings) {
    for (const auto& [other, reading] : readings) {
      CHECK(found(bench, device, reading).has_value() == (device == other));
    }
    CHECK_FALSE(found(bench, device, std::monostate{}).has_value());
  }
}

// --- the way ------------------------------------------------------------------------------------------------------------

/// Lasers whose light may meet what differs of `moving` between the bench's plan, the `others` and what was read.
struct ScopeBench {
  explicit ScopeBench(VerifyBench of) : bench(std::move(of)), observations(bench.fabric.devices.size(), nullptr) {}

  Texts met(const std::string& moving, const std::vector<const Plan*>& others) {
    Texts names;
    for (const DeviceId id :
         lasers_that_meet({bench.fabric, bench.plan, others, observations}, {bench.device_plan(moving).device})) {
      names.push_back(bench.fabric.device(id).name);
    }
    return names;
  }

  VerifyBench bench;
  std::vector<const Observation*> observations;
};

/// tx-0 -> ring (bus), tx-1 -> ring (adds); ring drops -> wss-drop -> rx-0, passes -> wss-through -> rx-1. Light of wavelength
/// 0, 193.1 THz; the ring is 80 GHz wide.
VerifyBench make_fork() {
  VerifyBench bench;
  bench.add("tx-0", 0, 1, some_transmitter());
  bench.add("tx-1", 0, 1, some_transmitter());
  bench.add("rx-0", 1, 0, some_receiver());
  bench.add("rx-1", 1, 0, some_receiver());
  bench.add("ring", 2, 2, some_ring());
  bench.add("wss-drop", 1, 1, WavelengthSelectiveSwitch{});
  bench.add("wss-through", 1, 1, WavelengthSelectiveSwitch{});
  bench.join("tx-0", 0, "ring", 0);
  bench.join("tx-1", 0, "ring", 1);
  bench.join("ring", 1, "wss-drop", 0);
  bench.join("ring", 0, "wss-through", 0);
  bench.join("wss-drop", 0, "rx-0", 0);
  bench.join("wss-through", 0, "rx-1", 0);
  bench.node("a", {"tx-0"}, {"rx-0"});
  bench.node("b", {"tx-1"}, {"rx-1"});
  bench.device("laser-0", DeviceRole::transmitter, 0, {"tx-0"});
  bench.device("laser-1", DeviceRole::transmitter, 1, {"tx-1"});
  bench.device("bank", DeviceRole::filter, 0, {"ring"});
  bench.device("wss-drop", DeviceRole::wavelength_switch, 0, {"wss-drop"});
  bench.device("wss-through", DeviceRole::wavelength_switch, 1, {"wss-through"});
  bench.finish("fork");
  return bench;
}

/// Whose light comes to the WSS behind the drop, and to the one behind the way through, when the ring is at `now` or `before`.
std::pair<Texts, Texts> forked(std::string_view laser, std::int64_t now, std::int64_t before) {
  VerifyBench bench = make_fork();
  bench.light(laser, 0);
  for (const char* wss : {"wss-drop", "wss-through"}) {
    bench.set<WavelengthSwitchSetpoint>(wss).routes = {{wavelength(0), 0, 0, Db{0}}};
  }
  bench.set<FilterSetpoint>("bank").rings = {{0, Frequency{now}}};
  VerifyBench other = bench;
  for (const char* wss : {"wss-drop", "wss-through"}) {
    other.set<WavelengthSwitchSetpoint>(wss).routes.clear();
  }
  other.set<FilterSetpoint>("bank").rings = {{0, Frequency{before}}};
  ScopeBench scope(bench);
  return {scope.met("wss-drop", {&other.plan}), scope.met("wss-through", {&other.plan})};
}

TEST_CASE("scope: a ring drops light on its resonance, passes it elsewhere, and may do both where it moves") {
  const Texts none;
  const Texts bus{"laser-0"};
  const Texts added{"laser-1"};
  using Both = std::pair<Texts, Texts>;
  CHECK(forked("laser-0", 193'100'000, 193'100'000) == Both{bus, none});
  CHECK(forked("laser-0", 193'140'000, 193'140'000) == Both{bus, none});  // half a width beside it
  CHECK(forked("laser-0", 193'140'001, 193'140'001) == Both{none, bus});
  CHECK(forked("laser-0", 193'060'000, 193'060'000) == Both{bus, none});
  CHECK(forked("laser-0", 193'059'999, 193'059'999) == Both{none, bus});
  CHECK(forked("laser-0", 193'150'000, 193'140'000) == Both{bus, none});  // an eighth of a width is where it stands
  CHECK(forked("laser-0", 193'150'001, 193'140'000) == Both{bus, bus});
  CHECK(forked("laser-0", 193'140'000, 193'150'001) == Both{bus, bus});
  CHECK(forked("laser-0", 193'300'000, 193'200'000) == Both{bus, bus});  // wherever it has been
  // What is added goes through on resonance, and nowhere else; it is never dropped.
  CHECK(forked("laser-1", 193'100'000, 193'100'000) == Both{none, added});
  CHECK(forked("laser-1", 193'200'000, 193'200'000) == Both{none, none});
  CHECK(forked("laser-1", 193'200'000, 193'100'000) == Both{none, added});
}

TEST_CASE("scope: a ring that stands as it stood concerns no light, with orders or without") {
  for (const std::int64_t range : {0, 900'000}) {
    VerifyBench bench = make_fork();
    bench.light("laser-0", 0);
    bench.kind<RingFilter>("ring").free_spectral_range = {range};
    bench.set<FilterSetpoint>("bank").rings = {{0, Frequency{193'100'000}}};
    VerifyBench other = bench;
    other.set<FilterSetpoint>("bank").rings = {{0, Frequency{193'110'000}}};
    CHECK(ScopeBench(bench).met("bank", {&other.plan}) == Texts{});
    other.set<FilterSetpoint>("bank").rings = {{0, Frequency{193'110'001}}};
    CHECK(ScopeBench(bench).met("bank", {&other.plan}) == Texts{"laser-0"});
  }
}

TEST_CASE("scope: what was not read is as the plans say, and meets all light where no plan speaks of it") {
  VerifyBench bench = chain_of_two();
  const Plan same = bench.plan;
  ScopeBench scope(bench);
  CHECK(scope.met("wss", {&same}) == Texts{});
  CHECK(scope.met("wss", {}) == Texts{"laser-0", "laser-1"});
}

TEST_CASE("scope: light that was read counts beside what any plan says") {
  VerifyBench bench = chain_of_two();
  bench.set<TransmitterSetpoint>("laser-1").emit = false;
  VerifyBench other = bench;
  other.set<WavelengthSwitchSetpoint>("wss").routes.clear();
  ScopeBench scope(bench);
  CHECK(scope.met("wss", {&other.plan}) == Texts{"laser-0"});
  Observation seen;
  seen.device = scope.bench.device_plan("laser-1").device;
  seen.reading = TransmitterObservation{centre_of(wavelength(1)), Dbm{0}, true, true, 0, 0};
  scope.observations[seen.device.value] = &seen;
  CHECK(scope.met("wss", {&other.plan}) == Texts{"laser-0", "laser-1"});
  seen.reading = TransmitterObservation{centre_of(wavelength(1)), kNoLight, false, true, 0, 0};
  CHECK(scope.met("wss", {&other.plan}) == Texts{"laser-0"});
}

/// tx-0 and tx-1 -> cyclic grating of two channels -> wss-0, wss-1.
TEST_CASE("scope: light beside a grating's comb leaves by none of its outputs, whichever input it came by") {
  VerifyBench bench;
  for (const char* name : {"tx-0", "tx-1"}) {
    bench.add(name, 0, 1, some_transmitter());
  }
  bench.add("grating", 2, 2, ArrayedWaveguideGrating{{wavelength(0), 16, 2}, {80'000}, Db{3'500}});
  bench.add("rx-0", 1, 0, some_receiver());
  bench.add("rx-1", 1, 0, some_receiver());
  bench.join("tx-0", 0, "grating", 0);
  bench.join("tx-1", 0, "grating", 1);
  for (const std::string i : {"0", "1"}) {
    bench.add("wss-" + i, 1, 1, WavelengthSelectiveSwitch{});
    bench.join("grating", i == "0" ? 0 : 1, "wss-" + i, 0);
    bench.join("wss-" + i, 0, "rx-" + i, 0);
  }
  bench.node("a", {"tx-0"}, {"rx-0"});
  bench.node("b", {"tx-1"}, {"rx-1"});
  bench.device("laser-0", DeviceRole::transmitter, 0, {"tx-0"});
  bench.device("laser-1", DeviceRole::transmitter, 1, {"tx-1"});
  bench.device("wss-0", DeviceRole::wavelength_switch, 0, {"wss-0"});
  bench.device("wss-1", DeviceRole::wavelength_switch, 0, {"wss-1"});
  bench.finish("router");
  const auto met = [&](std::int32_t first, std::int32_t second, const char* wss) {
    VerifyBench lit = bench;
    lit.light("laser-0", first);
    lit.light("laser-1", second);
    return ScopeBench(lit).met(wss, {});
  };
  CHECK(met(0, 0, "wss-0") == Texts{"laser-0"});
  CHECK(met(0, 0, "wss-1") == Texts{"laser-1"});
  CHECK(met(1, 1, "wss-0") == Texts{"laser-1"});
  CHECK(met(2, 2, "wss-0") == Texts{});
  CHECK(met(2, 2, "wss-1") == Texts{});
}

TEST_CASE("scope: light in a circle is followed once round") {
  VerifyBench bench;
  bench.add("tx-0", 0, 1, some_transmitter());
  bench.add("rx-0", 1, 0, some_receiver());
  bench.add("coupler", 2, 2, Coupler{}, Db{300});
  bench.add("wss", 1, 1, WavelengthSelectiveSwitch{});
  bench.add("beside", 1, 1, WavelengthSelectiveSwitch{});
  bench.join("tx-0", 0, "coupler", 0);
  bench.join("coupler", 0, "coupler", 1);
  bench.join("coupler", 1, "wss", 0);
  bench.join("wss", 0, "rx-0", 0);
  bench.node("a", {"tx-0"}, {"rx-0"});
  bench.device("laser-0", DeviceRole::transmitter, 0, {"tx-0"});
  bench.device("wss", DeviceRole::wavelength_switch, 0, {"wss"});
  bench.device("beside", DeviceRole::wavelength_switch, 0, {"beside"});
  bench.finish("circle");
  bench.light("laser-0", 0);
  CHECK(ScopeBench(bench).met("wss", {}) == Texts{"laser-0"});
  CHECK(ScopeBench(bench).met("beside", {}) == Texts{});
}

}  // namespace
}  // namespace loom::testing
