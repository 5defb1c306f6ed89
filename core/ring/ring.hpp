// SPDX-License-Identifier: Apache-2.0
// Where a micro-ring stands at a heater voltage, and how far that is from where it should. Pure arithmetic of one ring: what
// the registers of a bank mean to whoever compares them with a plan.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/fabric/grid.hpp"
#include "core/observation.hpp"
#include "core/plan.hpp"
#include "core/result.hpp"

namespace loom {

inline constexpr std::int32_t kHeaterOffMillivolts = 50;  ///< a heater at or below it is off: 2.5 uW, 0.1 GHz
/// A ring is where it should be within its width / this: a Lorentzian then drops 0.3 dB less.
inline constexpr std::int64_t kRingWidthParts = 8;

/// The ring filters of a bank, by channel. Precondition: all of its elements are.
std::vector<RingFilter> rings_of(const Fabric& fabric, const Device& bank);

/// Where the heater of `ring` puts its resonance at `millivolts`: P = V^2 / R, the resonance falls by mhz_per_milliwatt.
Frequency resonance_at(const RingFilter& ring, std::int32_t millivolts);

/// The same of a voltage that somebody gives by hand. out_of_range, with both numbers: more than heater_volt_max, or so much
/// that a lower voltage brings the comb to the same place, which is the one that it would get.
Result<Frequency> resonance_by_hand(const RingFilter& ring, std::int32_t millivolts);

/// Between a resonance and the nearest tooth of the comb at `wanted`.
FrequencyOffset resonance_distance(const RingFilter& ring, Frequency resonance, Frequency wanted);

/// What is wanted of the ring of this channel; null: it is cold.
const RingResonance* wanted_of(const FilterSetpoint& bank, std::size_t channel);

/// Where a setpoint puts a ring, in the fabric's figures: the place that its drive has there, where its calibration gives one.
/// Of a driven ring that is no place of light; it is what voltages are compared in.
Frequency stand_of(const RingFilter& ring, const RingResonance& wanted);

/// By which a ring falls for each V^2 of its heater, in the fabric's figures, MHz.
double mhz_per_square_volt(const RingFilter& ring);

/// How far a heater must take the ring down to `resonance`, MHz: to the nearest tooth of its comb above; below 0, of a ring
/// without one: it lies above the cold resonance.
std::int64_t shift_to(const RingFilter& ring, Frequency resonance);

/// Heater voltage of a setpoint in the fabric's figures, mV: its drive, or what the nearest tooth of the comb above the wanted
/// resonance needs.
std::int32_t drive_of(const RingFilter& ring, const RingResonance& wanted);

/// Heater voltage, mV, that puts a ring `trim` higher than `millivolts` does: never below 0, never above heater_volt_max.
std::int32_t trimmed(const RingFilter& ring, std::int32_t millivolts, FrequencyOffset trim);

/// How far a ring may be moved from where a setpoint puts it, its heater being between off and its ceiling.
struct TrimRange {
  FrequencyOffset lowest{0};
  FrequencyOffset highest{0};
  FrequencyOffset within(FrequencyOffset trim) const { return std::clamp(trim, lowest, highest); }
};
TrimRange trim_range(const RingFilter& ring, const RingResonance& wanted);

/// The voltage of this channel as its setpoint has it: what is read, less what its agent gave it to hold it on its light.
/// Nothing was read of it: 0.
std::int32_t set_millivolts(const RingFilter& ring, const FilterObservation& bank, std::size_t channel);

/// How far a ring stands at `millivolts` from where a setpoint puts it.
FrequencyOffset off_its_place(const RingFilter& ring, const RingResonance& wanted, std::int32_t millivolts);

/// Light within half a width of a resonance of its comb drops.
bool resonates(const RingFilter& ring, Frequency resonance, Frequency light);

}  // namespace loom
