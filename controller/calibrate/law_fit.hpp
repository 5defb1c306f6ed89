// SPDX-License-Identifier: Apache-2.0
// A ring's law of the places at which it was seen to resonate: least squares, and what is known of its kind where they do not
// tell. Pure.
#pragma once

#include <span>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/ring/calibration.hpp"

namespace loom {

/// A ring stood on light of this frequency with these heaters.
struct RingPeak {
  Frequency light;
  std::vector<double> heat;  ///< V^2, by channel of the bank
};

/// Its own heat's effect is within kShiftSpread of what is known, that of others some percent of it, and its cold place within
/// kColdSpread, as far as the peaks do not say otherwise.
RingLaw fit_law(const RingLaw& known, std::span<const RingPeak> peaks);

/// How far from the law this peak lies, MHz: above 0, the ring stood above what the law says.
double misfit(const RingLaw& law, const RingPeak& peak);

inline constexpr FrequencyOffset kColdSpread{150'000};  ///< of cold resonances from what a fabric says: 1.2 nm
inline constexpr double kShiftSpread = 0.1;             ///< likewise of a heater's effect, as a part

}  // namespace loom
