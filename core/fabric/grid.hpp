// SPDX-License-Identifier: Apache-2.0
// The ITU-T G.694.1 flexible grid: a frequency slot n/m has its centre at 193.1 THz + n x 6.25 GHz and a width of
// m x 12.5 GHz (G.694.1 (10/2020) section 7). Slots are spectrum; a piece of time is a Timeslot (schedule.hpp).
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "core/result.hpp"
#include "core/units.hpp"

namespace loom {

inline constexpr Frequency kGridAnchor{193'100'000};
inline constexpr FrequencyOffset kGridStep{6'250};
inline constexpr FrequencyOffset kSlotWidthStep{12'500};

/// A frequency slot; `m` >= 1.
struct FrequencySlot {
  std::int32_t n = 0;
  std::int32_t m = 1;
  auto operator<=>(const FrequencySlot&) const = default;
};

constexpr Frequency centre_of(FrequencySlot slot) { return {kGridAnchor.mhz + slot.n * kGridStep.mhz}; }
constexpr FrequencyOffset width_of(FrequencySlot slot) { return {slot.m * kSlotWidthStep.mhz}; }
constexpr Frequency lower_edge_of(FrequencySlot slot) { return {centre_of(slot).mhz - width_of(slot).mhz / 2}; }
constexpr Frequency upper_edge_of(FrequencySlot slot) { return {centre_of(slot).mhz + width_of(slot).mhz / 2}; }
constexpr bool overlaps(FrequencySlot a, FrequencySlot b) {
  return lower_edge_of(a) < upper_edge_of(b) && lower_edge_of(b) < upper_edge_of(a);
}

/// `193.10000 THz`, as people of this field print it.
std::string to_string(Frequency frequency);
/// `-12.50 dBm`; `no light` at or below -40 dBm.
std::string to_string(Dbm power);
std::string to_string(Db ratio);  ///< "6.50 dB"

/// An equally spaced comb of slots, as an AWG or a laser's channel table has it. Channel 0 is the lowest frequency.
struct ChannelPlan {
  FrequencySlot first;
  std::int32_t step_n = 16;  ///< spacing in units of 6.25 GHz
  std::int32_t count = 0;
  bool operator==(const ChannelPlan&) const = default;

  constexpr FrequencySlot slot(std::int32_t channel) const { return {first.n + channel * step_n, first.m}; }
  /// The channel whose slot has this centre number, or -1.
  constexpr std::int32_t channel_of(FrequencySlot slot) const {
    const std::int32_t offset = slot.n - first.n;
    return (offset < 0 || step_n == 0 || offset % step_n != 0 || offset / step_n >= count) ? -1 : offset / step_n;
  }
};

}  // namespace loom
