// SPDX-License-Identifier: Apache-2.0
// What simulated rings are like in truth, beside what their fabric says.
#pragma once

#include <chrono>

#include "core/time.hpp"
#include "core/units.hpp"

namespace loom {

/// By how much they differ, each ring drawn once from the seed of its device; all zero: they are as the fabric says.
struct RingHabits {
  double resistance = 0;    ///< part by which a heater's resistance differs at most, either way
  FrequencyOffset cold{0};  ///< by which a cold resonance differs at most, either way; 1 nm is 125 GHz
  double crosstalk = 0;     ///< part of a heater's effect that the next ring feels; e times less each ring further
  double substrate = 0;     ///< part of the heat that comes late, with the chip [K]
  Duration substrate_time = std::chrono::milliseconds{3};  ///< and its time constant [K]
  bool operator==(const RingHabits&) const = default;
};

}  // namespace loom
