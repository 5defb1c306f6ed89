// SPDX-License-Identifier: Apache-2.0
// What a heater must be given for a ring's resonance, and what its electronics can give: the arithmetic that every driver of
// heaters shares. Heat moves a resonance down from cold, by the heater's power, V^2 / R or I^2 R. It knows no protocol.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/plan.hpp"
#include "core/result.hpp"
#include "core/ring/ring.hpp"

namespace loom {

/// One ring's heater.
struct HeaterVoltage {
  std::size_t channel = 0;
  std::int32_t millivolts = 0;
  bool operator==(const HeaterVoltage&) const = default;
};

/// What one channel of the electronics can give.
struct HeaterSource {
  double volt_max = 0;
  double ampere_max = 0;
};

/// "5000 mV", "24000 uA".
std::string millivolt_text(double volts);
std::string microampere_text(double amperes);

/// Volts that put a ring's resonance at `resonance`. out_of_range: it lies above the cold resonance, or needs more than
/// heater_volt_max.
Result<double> heater_volts(const RingFilter& ring, Frequency resonance);
/// The same in whole millivolts.
Result<std::int32_t> heater_millivolts(const RingFilter& ring, Frequency resonance);
/// Where `volts` put it.
Frequency resonance_of_volts(const RingFilter& ring, double volts);

/// What a setpoint gives its ring's heater, within what that bears and the electronics can give; out_of_range names value and
/// limit.
Result<double> drive_volts(const RingFilter& ring, const HeaterSource& source, const RingResonance& wanted);

/// A setpoint that a bank of these rings can take, channel by channel. not_found: no such channel; invalid_argument: channels
/// not ascending; out_of_range: as drive_volts(); unsupported: it is no setpoint of a filter.
Result<void> check_heaters(const std::string& device, std::span<const RingFilter> rings, const HeaterSource& source,
                           const Setpoint& setpoint);
/// Volts by channel; rings that the setpoint does not name are parked at 0. Precondition: check_heaters() was ok.
std::vector<double> volts_by_channel(std::span<const RingFilter> rings, const Setpoint& setpoint);

/// Why electronics that give so much cannot serve these rings; empty: they can. A ring that a plan may heat further than they
/// can give would be found out only when it is.
std::string refuse_weak_source(const Fabric& fabric, const Device& device, const HeaterSource& source);

}  // namespace loom
