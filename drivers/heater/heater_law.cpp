// SPDX-License-Identifier: Apache-2.0
// P = V^2 / R, in both directions, and its limits.
#include "drivers/heater/heater_law.hpp"

#include <algorithm>
#include <cmath>

#include "core/text/format_text.hpp"

namespace loom {

std::string millivolt_text(double volts) { return format_text("{} mV", std::llround(std::min(volts * 1e3, 1e9))); }
std::string microampere_text(double amperes) { return format_text("{} uA", std::llround(std::min(amperes * 1e6, 1e12))); }

Result<double> heater_volts(const RingFilter& ring, Frequency resonance) {
  const std::int64_t shift = shift_to(ring, resonance);
  if (shift < 0) {
    return fail(ErrorCode::out_of_range,
                format_text("resonance {} lies above the cold resonance {}; a heater only moves it down", to_string(resonance),
                            to_string(ring.cold_resonance)));
  }
  const double watt = static_cast<double>(shift) / ring.mhz_per_milliwatt * 1e-3;
  const double volts = std::sqrt(watt * ring.heater_ohm);
  if (!(volts <= ring.heater_volt_max)) {
    return fail(ErrorCode::out_of_range, format_text("resonance {} needs {} of heating, limit {}", to_string(resonance),
                                                     millivolt_text(volts), millivolt_text(ring.heater_volt_max)));
  }
  return volts;
}

Result<std::int32_t> heater_millivolts(const RingFilter& ring, Frequency resonance) {
  const auto volts = heater_volts(ring, resonance);
  if (!volts) {
    return std::unexpected(volts.error());
  }
  return static_cast<std::int32_t>(std::lround(*volts * 1e3));
}

Frequency resonance_of_volts(const RingFilter& ring, double volts) {
  return {ring.cold_resonance.mhz - std::llround(volts * volts / ring.heater_ohm * 1e3 * ring.mhz_per_milliwatt)};
}

namespace {

/// Its drive, where it has one.
Result<double> wanted_volts(const RingFilter& ring, const RingResonance& wanted) {
  if (!wanted.drive) {
    return heater_volts(ring, wanted.resonance);
  }
  const double volts = *wanted.drive * 1e-3;
  if (!(volts >= 0 && volts <= ring.heater_volt_max)) {
    return fail(ErrorCode::out_of_range,
                format_text("{} mV of heating, allowed 0 to {}", *wanted.drive, millivolt_text(ring.heater_volt_max)));
  }
  return volts;
}

}  // namespace

Result<double> drive_volts(const RingFilter& ring, const HeaterSource& source, const RingResonance& wanted) {
  const Frequency resonance = wanted.resonance;
  const auto volts = wanted_volts(ring, wanted);
  if (!volts) {
    return volts;
  }
  if (*volts > source.volt_max) {
    return fail(ErrorCode::out_of_range, format_text("resonance {} needs {} of heating, full scale {}", to_string(resonance),
                                                     millivolt_text(*volts), millivolt_text(source.volt_max)));
  }
  if (const double amperes = *volts / ring.heater_ohm; amperes > source.ampere_max) {
    return fail(ErrorCode::out_of_range,
                format_text("resonance {} needs {} through {} ohm, full scale {}", to_string(resonance),
                            microampere_text(amperes), std::llround(ring.heater_ohm), microampere_text(source.ampere_max)));
  }
  return volts;
}

Result<void> check_heaters(const std::string& device, std::span<const RingFilter> rings, const HeaterSource& source,
                           const Setpoint& setpoint) {
  const auto* heater = std::get_if<FilterSetpoint>(&setpoint);
  if (heater == nullptr) {
    return fail(ErrorCode::unsupported, device + ": a heater bank takes ring resonances only");
  }
  std::int32_t previous = -1;
  for (const RingResonance& ring : heater->rings) {
    const std::string where = format_text("{} channel {}: ", device, ring.channel);
    if (ring.channel >= rings.size()) {
      return fail(ErrorCode::not_found, format_text("{}the bank has channels 0 to {}", where, rings.size() - 1));
    }
    if (ring.channel <= previous) {
      return fail(ErrorCode::invalid_argument, where + "channels must ascend and come once");
    }
    previous = ring.channel;
    if (const auto volts = drive_volts(rings[ring.channel], source, ring); !volts) {
      return fail(volts.error().code, where + volts.error().message);
    }
  }
  return {};
}

std::vector<double> volts_by_channel(std::span<const RingFilter> rings, const Setpoint& setpoint) {
  LOOM_ASSERT(std::holds_alternative<FilterSetpoint>(setpoint));
  std::vector<double> volts(rings.size(), 0.0);
  for (const RingResonance& ring : std::get<FilterSetpoint>(setpoint).rings) {
    LOOM_ASSERT(ring.channel < rings.size());
    const auto needed = wanted_volts(rings[ring.channel], ring);
    LOOM_ASSERT(needed.has_value());
    volts[ring.channel] = *needed;
  }
  return volts;
}

std::string refuse_weak_source(const Fabric& fabric, const Device& device, const HeaterSource& source) {
  for (const ElementId element : device.elements) {
    const auto* ring = std::get_if<RingFilter>(&fabric.element(element).kind);
    if (ring == nullptr) {
      continue;  // who reads the file says so
    }
    const double least = std::min(source.volt_max, source.ampere_max * ring->heater_ohm);
    if (ring->heater_volt_max > least * (1 + 1e-9)) {
      return format_text("'{}' may be heated with {} (heater_voltage_max), full scale of its device is {} into {} ohm",
                         fabric.element(element).name, millivolt_text(ring->heater_volt_max), millivolt_text(least),
                         std::llround(ring->heater_ohm));
    }
  }
  return {};
}

}  // namespace loom
