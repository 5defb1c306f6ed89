// SPDX-License-Identifier: Apache-2.0
// Order of reading, and when a voltage is the wanted one.
#include "drivers/heater/measured_heaters.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "core/ring/ring.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::int32_t kOpenFromMillivolts = 200;  ///< below it currents are too small to tell anything [K]
constexpr double kOpenBelow = 0.1;                 ///< of the current that heater_ohm lets expect [K]

}  // namespace

MeasuredHeaters::MeasuredHeaters(std::vector<RingFilter> rings, std::int32_t accuracy_millivolts)
    : rings_(std::move(rings)), accuracy_(accuracy_millivolts), channels_(rings_.size()) {}

void MeasuredHeaters::begin_pass() {
  for (Channel& channel : channels_) {
    channel.is_written = false;
    channel.millivolts.reset();
    channel.microamperes.reset();
  }
}

void MeasuredHeaters::begin_pass_of_hot(Target target) {
  for (std::size_t channel = 0; channel < size(); ++channel) {
    if (is_hot(target, channel)) {
      channels_[channel].millivolts.reset();
      channels_[channel].microamperes.reset();
    }
  }
}

std::optional<MeasuredHeaters::Reading> MeasuredHeaters::next_reading(Target target, bool with_currents) const {
  const auto first = [&](bool hot, auto member) -> std::optional<std::size_t> {
    for (std::size_t channel = 0; channel < size(); ++channel) {
      if (is_hot(target, channel) == hot && !(channels_[channel].*member)) {
        return channel;
      }
    }
    return std::nullopt;
  };
  if (const auto cold = first(false, &Channel::millivolts)) {
    return Reading{*cold, false};
  }
  if (const auto current = with_currents ? first(true, &Channel::microamperes) : std::nullopt) {
    return Reading{*current, true};
  }
  const auto hot = first(true, &Channel::millivolts);
  return hot ? std::optional(Reading{*hot, false}) : std::nullopt;
}

void MeasuredHeaters::keep(std::size_t channel, std::optional<double> volts, std::optional<double> amperes) {
  if (volts) {
    channels_[channel].millivolts = static_cast<std::int32_t>(std::lround(*volts * 1e3));
  }
  if (amperes) {
    channels_[channel].microamperes = static_cast<std::int32_t>(std::lround(*amperes * 1e6));
  }
}

void MeasuredHeaters::keep_write(std::size_t channel, std::optional<std::int32_t> commanded) {
  channels_[channel].is_written = true;
  channels_[channel].commanded = commanded;
}

void MeasuredHeaters::forget_commands() {
  for (Channel& channel : channels_) {
    channel.is_limited = false;
    channel.commanded.reset();
  }
}

bool MeasuredHeaters::has_written() const { return std::ranges::any_of(channels_, &Channel::is_written); }

std::optional<std::size_t> MeasuredHeaters::next_write(Target target) const {
  for (std::size_t channel = 0; channel < target.size(); ++channel) {
    if (must_write(channel, target[channel].millivolts)) {
      return channel;
    }
  }
  return std::nullopt;
}

/// What was set and measures right stays; so does what measures like it, where nobody knows what it was set to.
bool MeasuredHeaters::must_write(std::size_t channel, std::int32_t wanted) const {
  const Channel& now = channels_[channel];
  if (now.is_written) {
    return false;
  }
  const bool is_set =
      now.commanded ? *now.commanded == wanted : wanted == 0 || std::abs(millivolts(channel) - wanted) <= accuracy_;
  return !is_set || !stands_at(channel, wanted);
}

bool MeasuredHeaters::stands_at(std::size_t channel, std::int32_t wanted) const {
  const RingFilter& ring = rings_[channel];
  const std::int32_t read = millivolts(channel);
  return wanted == 0 ? std::abs(read) <= kHeaterOffMillivolts
                     : magnitude(resonance_at(ring, read) - resonance_at(ring, wanted)).mhz <= ring.fwhm.mhz / kRingWidthParts;
}

std::string MeasuredHeaters::open_heater() const {
  for (std::size_t channel = 0; channel < size(); ++channel) {
    const auto& microamperes = channels_[channel].microamperes;
    const double ohm = rings_[channel].heater_ohm;
    const double expected = millivolts(channel) * 1e-3 / ohm;
    if (microamperes && millivolts(channel) >= kOpenFromMillivolts && *microamperes * 1e-6 < kOpenBelow * expected) {
      return format_text("heater open on channel {}: {} mV and {} uA measured, {} expected through {} ohm", channel,
                         millivolts(channel), *microamperes, microampere_text(expected), std::llround(ohm));
    }
  }
  return {};
}

std::optional<std::vector<std::int32_t>> MeasuredHeaters::all_millivolts() const {
  std::vector<std::int32_t> all;
  for (const Channel& channel : channels_) {
    if (!channel.millivolts) {
      return std::nullopt;
    }
    all.push_back(*channel.millivolts);
  }
  return all;
}

std::vector<HeaterVoltage> MeasuredHeaters::held(Target target) const {
  std::vector<HeaterVoltage> held;
  for (std::size_t channel = 0; channel < size(); ++channel) {
    const bool stands = channel < target.size() && stands_at(channel, target[channel].millivolts);
    held.push_back(stands ? target[channel] : HeaterVoltage{channel, millivolts(channel)});
  }
  return held;
}

}  // namespace loom
