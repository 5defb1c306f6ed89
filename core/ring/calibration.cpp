// SPDX-License-Identifier: Apache-2.0
// Heat of a bank in squares of volts: linear, and strongest on its own ring.
#include "core/ring/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/demand.hpp"
#include "core/ring/ring.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

double square_volts(std::int32_t millivolts) { return 1e-6 * millivolts * millivolts; }

double mhz_per_square_volt(const RingLaw& law, std::size_t channel) {
  return channel < law.shift.size() ? 1e-3 * static_cast<double>(law.shift[channel]) : 0;
}

/// Of some tooth of the comb, the nearest above the place, as far down as it must come.
double wrapped(double shift, const RingFilter& ring) {
  const auto spacing = static_cast<double>(ring.free_spectral_range.mhz);
  return spacing > 0 ? shift - spacing * std::floor(shift / spacing) : shift;
}

/// What is heated of a bank, in V^2.
class BankHeat {
 public:
  BankHeat(const DeviceCalibration& bank, std::span<const RingFilter> rings) : rings_(rings), heat_(rings.size(), 0.0) {
    for (std::size_t channel = 0; channel < rings.size(); ++channel) {
      const RingLaw* law = law_of(bank, channel);
      laws_.push_back(law != nullptr ? *law : nominal_law(rings[channel], channel, rings.size()));
    }
  }

  void fix(std::size_t channel, double square_volts) { heat_[channel] = square_volts; }
  /// Once more, with what is known of the others. Returns by how much it changed its mind, in MHz of the ring.
  double settle(std::size_t channel, Frequency wanted) {
    double shift = static_cast<double>((laws_[channel].cold_resonance - wanted).mhz);
    for (std::size_t other = 0; other < heat_.size(); ++other) {
      shift -= other == channel ? 0 : mhz_per_square_volt(laws_[channel], other) * heat_[other];
    }
    const double own = mhz_per_square_volt(laws_[channel], channel);
    const double heat = wrapped(shift, rings_[channel]) / own;
    const double change = std::abs(heat - heat_[channel]) * own;
    heat_[channel] = heat;
    return change;
  }
  double heat(std::size_t channel) const { return heat_[channel]; }

 private:
  std::span<const RingFilter> rings_;
  std::vector<RingLaw> laws_;
  std::vector<double> heat_;
};

Result<std::int32_t> millivolts_of(const RingFilter& ring, double square_volts, const RingResonance& wanted) {
  if (square_volts < 0) {
    return fail(ErrorCode::out_of_range,
                format_text("ring {}: {} lies above where it stands cold, by its calibration; a heater only moves it down",
                            wanted.channel, to_string(wanted.resonance)));
  }
  const double volts = std::sqrt(square_volts);
  if (volts > ring.heater_volt_max) {
    return fail(ErrorCode::out_of_range,
                format_text("ring {}: {} needs {} mV by its calibration, limit {} mV (heater_voltage_max)", wanted.channel,
                            to_string(wanted.resonance), std::llround(volts * 1e3), std::llround(ring.heater_volt_max * 1e3)));
  }
  return static_cast<std::int32_t>(std::lround(volts * 1e3));
}

}  // namespace

FrequencyOffset residual_of(const DeviceCalibration& bank) {
  FrequencyOffset worst{0};
  for (const RingLaw& law : bank.rings) {
    worst = std::max(worst, law.residual);
  }
  return worst;
}

const RingLaw* law_of(const DeviceCalibration& bank, std::size_t channel) {
  const auto found = std::ranges::find(bank.rings, channel, &RingLaw::channel);
  return found == bank.rings.end() ? nullptr : &*found;
}

RingLaw nominal_law(const RingFilter& ring, std::size_t channel, std::size_t channels) {
  RingLaw law{static_cast<std::uint16_t>(channel), ring.cold_resonance, std::vector<std::int64_t>(channels, 0)};
  law.shift[channel] = std::llround(1e3 * mhz_per_square_volt(ring));
  return law;
}

Frequency resonance_by(const RingLaw& law, std::span<const std::int32_t> millivolts) {
  double shift = 0;
  for (std::size_t channel = 0; channel < millivolts.size(); ++channel) {
    shift += mhz_per_square_volt(law, channel) * square_volts(millivolts[channel]);
  }
  return {law.cold_resonance.mhz - std::llround(shift)};
}

Result<void> drive_by(const DeviceCalibration& bank, std::span<const RingFilter> rings, FilterSetpoint& setpoint) {
  constexpr int kRounds = 64;       // crosstalk of a few percent is a thousandth after two
  constexpr double kSettled = 0.5;  // MHz
  BankHeat heat(bank, rings);
  for (const RingResonance& ring : setpoint.rings) {
    if (ring.drive) {
      heat.fix(ring.channel, square_volts(*ring.drive));
    }
  }
  double change = 2 * kSettled;
  for (int round = 0; round < kRounds && change > kSettled; ++round) {
    change = 0;
    for (const RingResonance& ring : setpoint.rings) {
      change = ring.drive ? change : std::max(change, heat.settle(ring.channel, ring.resonance));
    }
  }
  for (RingResonance& ring : setpoint.rings) {
    if (!ring.drive && law_of(bank, ring.channel) != nullptr) {
      const auto millivolts = millivolts_of(rings[ring.channel], heat.heat(ring.channel), ring);
      if (!millivolts) {
        return std::unexpected(millivolts.error());
      }
      ring.drive = *millivolts;
    }
  }
  return {};
}

Headroom headroom_of(const RingLaw& law, const RingFilter& ring, Frequency resonance, FrequencyOffset trim) {
  const double shift = wrapped(static_cast<double>((law.cold_resonance - resonance).mhz), ring) - static_cast<double>(trim.mhz);
  const double most = mhz_per_square_volt(law, law.channel) * ring.heater_volt_max * ring.heater_volt_max;
  return {shift / kRingMhzPerKelvin, (most - shift) / kRingMhzPerKelvin};
}

const DeviceCalibration* calibration_of(const Intent& intent, DeviceId device) {
  const auto after = std::ranges::upper_bound(intent.calibrations, device, {}, &DeviceCalibration::device);
  const bool is_there = after != intent.calibrations.begin() && std::prev(after)->device == device;
  return is_there && !std::prev(after)->is_empty() ? &*std::prev(after) : nullptr;
}

Db power_offset(const Fabric& fabric, const Intent& intent, ElementId transmitter, FrequencySlot slot) {
  const auto device = fabric.device_of_element[transmitter.value];
  const DeviceCalibration* laser = device ? calibration_of(intent, *device) : nullptr;
  if (laser == nullptr) {
    return Db{0};
  }
  const auto found = std::ranges::find(laser->lights, slot, &ChannelLight::slot);
  return found == laser->lights.end() ? Db{0} : found->offset;
}

}  // namespace loom
