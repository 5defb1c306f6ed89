// SPDX-License-Identifier: Apache-2.0
// P = V^2 / R, and a comb of resonances.
#include "core/ring/ring.hpp"

#include <algorithm>
#include <cmath>

#include "core/text/format_text.hpp"

namespace loom {

std::vector<RingFilter> rings_of(const Fabric& fabric, const Device& bank) {
  std::vector<RingFilter> rings;
  rings.reserve(bank.elements.size());
  for (const ElementId element : bank.elements) {
    const auto* ring = std::get_if<RingFilter>(&fabric.element(element).kind);
    LOOM_ASSERT(ring != nullptr);
    rings.push_back(*ring);
  }
  return rings;
}

Frequency resonance_at(const RingFilter& ring, std::int32_t millivolts) {
  const double volts = millivolts / 1000.0;
  const double milliwatts = volts * volts / ring.heater_ohm * 1000;
  return {ring.cold_resonance.mhz - std::llround(milliwatts * ring.mhz_per_milliwatt)};
}

Result<Frequency> resonance_by_hand(const RingFilter& ring, std::int32_t millivolts) {
  if (millivolts > ring.heater_volt_max * 1000) {
    return fail(ErrorCode::out_of_range,
                format_text("{} mV, limit {} mV (heater_voltage_max)", millivolts, std::llround(ring.heater_volt_max * 1000)));
  }
  const Frequency resonance = resonance_at(ring, millivolts);
  const std::int64_t spacing = ring.free_spectral_range.mhz;
  if (const std::int64_t shift = (ring.cold_resonance - resonance).mhz; spacing > 0 && shift >= spacing) {
    const double milliwatts = static_cast<double>(shift % spacing) / ring.mhz_per_milliwatt;
    return fail(ErrorCode::out_of_range,
                format_text("{} mV move it by {} MHz, which is more than its free spectral range of {} MHz: {} mV do the same",
                            millivolts, shift, spacing, std::llround(1000 * std::sqrt(milliwatts / 1000 * ring.heater_ohm))));
  }
  return resonance;
}

FrequencyOffset resonance_distance(const RingFilter& ring, Frequency resonance, Frequency wanted) {
  const std::int64_t spacing = ring.free_spectral_range.mhz;
  const std::int64_t off = (resonance - wanted).mhz;
  return magnitude({spacing <= 0 ? off : off - spacing * ((2 * off + (off < 0 ? -spacing : spacing)) / (2 * spacing))});
}

const RingResonance* wanted_of(const FilterSetpoint& bank, std::size_t channel) {
  const auto found = std::ranges::find(bank.rings, channel, &RingResonance::channel);
  return found == bank.rings.end() ? nullptr : &*found;
}

Frequency stand_of(const RingFilter& ring, const RingResonance& wanted) {
  return wanted.drive ? resonance_at(ring, *wanted.drive) : wanted.resonance;
}

double mhz_per_square_volt(const RingFilter& ring) { return 1e3 * ring.mhz_per_milliwatt / ring.heater_ohm; }

std::int64_t shift_to(const RingFilter& ring, Frequency resonance) {
  const std::int64_t spacing = ring.free_spectral_range.mhz;
  const std::int64_t shift = (ring.cold_resonance - resonance).mhz;
  return spacing > 0 ? ((shift % spacing) + spacing) % spacing : shift;
}

std::int32_t drive_of(const RingFilter& ring, const RingResonance& wanted) {
  if (wanted.drive) {
    return *wanted.drive;
  }
  const auto down = static_cast<double>(std::max(shift_to(ring, wanted.resonance), std::int64_t{0}));
  return static_cast<std::int32_t>(std::lround(std::sqrt(down / mhz_per_square_volt(ring)) * 1e3));
}

std::int32_t trimmed(const RingFilter& ring, std::int32_t millivolts, FrequencyOffset trim) {
  if (trim.mhz == 0) {
    return millivolts;
  }
  const double square = 1e-6 * millivolts * millivolts - static_cast<double>(trim.mhz) / mhz_per_square_volt(ring);
  const double volts = std::min(std::sqrt(std::max(square, 0.0)), ring.heater_volt_max);
  return static_cast<std::int32_t>(std::lround(volts * 1e3));
}

TrimRange trim_range(const RingFilter& ring, const RingResonance& wanted) {
  const double volts = drive_of(ring, wanted) * 1e-3;
  const double up = volts * volts * mhz_per_square_volt(ring);
  const double down = ring.heater_volt_max * ring.heater_volt_max * mhz_per_square_volt(ring) - up;
  return {FrequencyOffset{-std::llround(std::max(down, 0.0))}, FrequencyOffset{std::llround(up)}};
}

std::int32_t set_millivolts(const RingFilter& ring, const FilterObservation& bank, std::size_t channel) {
  const std::int32_t read = channel < bank.millivolts.size() ? bank.millivolts[channel] : 0;
  const auto lock = std::ranges::find(bank.locks, channel, &RingLock::channel);
  return lock == bank.locks.end() ? read : trimmed(ring, read, FrequencyOffset{-lock->trim.mhz});
}

FrequencyOffset off_its_place(const RingFilter& ring, const RingResonance& wanted, std::int32_t millivolts) {
  const Frequency stands = resonance_at(ring, millivolts);
  return wanted.drive ? magnitude(stands - stand_of(ring, wanted)) : resonance_distance(ring, stands, wanted.resonance);
}

bool resonates(const RingFilter& ring, Frequency resonance, Frequency light) {
  return resonance_distance(ring, light, resonance).mhz <= ring.fwhm.mhz / 2;
}

}  // namespace loom
