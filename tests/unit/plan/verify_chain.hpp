// SPDX-License-Identifier: Apache-2.0
// The chain: one fabric by hand that has a coupler, an amplifier, a WSS, rings and a grating, each met by light whose power is
// a round number.
//
//   tx-0 (a) -\                          /0-> ring-0 -> ring-1 -> rx-5 (d)      drops: rx-0 (a), rx-1 (a)
//              coupler -> amplifier -> wss
//   tx-1 (b) -/                          \1-> grating: 0 -> rx-2 (b), 1 -> rx-3 (c)
//   tx-2 (c) -> ring-2 (adds) -> rx-4 (d)
//   tx-3 (d) -> ring-3 (passes) -> rx-6 (c)
#pragma once

#include "tests/unit/plan/verify_bench.hpp"

namespace loom::testing {

/// -3 dB coupler, +3 dB amplifier, -5 dB WSS, -1 dB drop or grating: a receiver behind the WSS gets -6 dBm of a laser's 0 dBm.
inline VerifyBench make_chain() {
  VerifyBench bench;
  for (const char* name : {"tx-0", "tx-1", "tx-2", "tx-3"}) {
    bench.add(name, 0, 1, some_transmitter());
  }
  for (const char* name : {"rx-0", "rx-1", "rx-2", "rx-3", "rx-4", "rx-5", "rx-6"}) {
    bench.add(name, 1, 0, some_receiver());
  }
  bench.add("coupler", 2, 1, Coupler{}, Db{300});
  bench.add("amplifier", 1, 1, Amplifier{Db{300}, Dbm{-2'000}, Dbm{1'000}});
  bench.add("wss", 1, 2, WavelengthSelectiveSwitch{Db{3'500}, {6'250}, milliseconds{100}, Db{50}}, Db{500});
  bench.add("grating", 1, 2, ArrayedWaveguideGrating{{wavelength(0), 16, 2}, {80'000}, Db{3'500}}, Db{100});
  for (const char* name : {"ring-0", "ring-1", "ring-2", "ring-3"}) {
    bench.add(name, 2, 2, some_ring());
  }
  bench.join("tx-0", 0, "coupler", 0);
  bench.join("tx-1", 0, "coupler", 1);
  bench.join("coupler", 0, "amplifier", 0);
  bench.join("amplifier", 0, "wss", 0);
  bench.join("wss", 0, "ring-0", 0);
  bench.join("ring-0", 1, "rx-0", 0);
  bench.join("ring-0", 0, "ring-1", 0);
  bench.join("ring-1", 1, "rx-1", 0);
  bench.join("ring-1", 0, "rx-5", 0);
  bench.join("wss", 1, "grating", 0);
  bench.join("grating", 0, "rx-2", 0);
  bench.join("grating", 1, "rx-3", 0);
  bench.join("tx-2", 0, "ring-2", 1);
  bench.join("ring-2", 0, "rx-4", 0);
  bench.join("tx-3", 0, "ring-3", 0);
  bench.join("ring-3", 0, "rx-6", 0);
  bench.node("a", {"tx-0"}, {"rx-0", "rx-1"});
  bench.node("b", {"tx-1"}, {"rx-2"});
  bench.node("c", {"tx-2"}, {"rx-3", "rx-6"});
  bench.node("d", {"tx-3"}, {"rx-4", "rx-5"});
  bench.device("laser-0", DeviceRole::transmitter, 0, {"tx-0"});
  bench.device("laser-1", DeviceRole::transmitter, 1, {"tx-1"});
  bench.device("laser-2", DeviceRole::transmitter, 2, {"tx-2"});
  bench.device("laser-3", DeviceRole::transmitter, 3, {"tx-3"});
  bench.device("bank", DeviceRole::filter, 0, {"ring-0", "ring-1", "ring-2", "ring-3"});
  bench.device("wss", DeviceRole::wavelength_switch, 0, {"wss"});
  bench.finish("chain");
  return bench;
}

/// Circuit 1 of job 1: tx-0 on wavelength 0 to rx-0, dropped by ring-0.
inline VerifyBench chain_to_ring() {
  VerifyBench bench = make_chain();
  bench.light("laser-0", 0);
  bench.set<WavelengthSwitchSetpoint>("wss").routes = {{wavelength(0), 0, 0, Db{0}}};
  bench.set<FilterSetpoint>("bank").rings = {{0, centre_of(wavelength(0))}};
  bench.circuit(1, 1, "tx-0", "rx-0", 0);
  bench.declare();
  return bench;
}

/// Circuit 1 of job 1: tx-0 on wavelength 0 through the grating to rx-2; circuit 2 of job 1: tx-1 on wavelength 1 to rx-1,
/// dropped by ring-1. Each is the other's way back.
inline VerifyBench chain_of_two() {
  VerifyBench bench = make_chain();
  bench.light("laser-0", 0);
  bench.light("laser-1", 1);
  bench.set<WavelengthSwitchSetpoint>("wss").routes = {{wavelength(0), 0, 1, Db{0}}, {wavelength(1), 0, 0, Db{0}}};
  bench.kind<RingFilter>("ring-1").cold_resonance = {193'250'000};
  bench.set<FilterSetpoint>("bank").rings = {{1, centre_of(wavelength(1))}};
  bench.circuit(1, 1, "tx-0", "rx-2", 0);
  bench.circuit(2, 1, "tx-1", "rx-1", 1);
  bench.declare();
  return bench;
}

/// Job 1 in timeslots: tx-0 on wavelength 0 to rx-2, then on wavelength 1 to rx-0. Guards are exactly what they must be.
inline VerifyBench chain_in_timeslots() {
  VerifyBench bench = make_chain();
  const Duration need = microseconds{30'101};
  bench.kind<RingFilter>("ring-0").cold_resonance = {193'250'000};
  bench.set<WavelengthSwitchSetpoint>("wss").routes = {{wavelength(0), 0, 1, Db{0}}, {wavelength(1), 0, 0, Db{0}}};
  bench.set<FilterSetpoint>("bank").rings = {{0, centre_of(wavelength(1))}};
  bench.timeslot("laser-0", 0, Duration{}, need, milliseconds{1});
  bench.timeslot("laser-0", 1, need + milliseconds{1}, need, milliseconds{1});
  bench.circuit(1, 1, "tx-0", "rx-2", 0);
  bench.circuit(2, 1, "tx-0", "rx-0", 1);
  bench.declare();
  return bench;
}

}  // namespace loom::testing
