// SPDX-License-Identifier: Apache-2.0
// PeakLock: the control law that keeps one ring on its light. It looks where the ring stands, a little to either side, and once
// more where it stands. By how much the sides differ is the distance to a Lorentzian's top, whatever the light's power; that
// they lie below the middle says that the top is near; that the middle is still the same says that it was the ring which made
// the difference, and not the light. Pure: no clock, no device.
#pragma once

#include <optional>

#include "core/observation.hpp"
#include "core/ring/ring.hpp"
#include "core/units.hpp"

namespace loom {

/// What was seen of a ring's light, in the order in which it was looked at, in any linear unit; nothing, or not above 0: no
/// light.
struct LockLook {
  std::optional<double> middle{};
  std::optional<double> below{};
  std::optional<double> above{};
  std::optional<double> again{};  ///< where it stood at first
};

class PeakLock {
 public:
  /// `fwhm`: of the ring, above 0.
  explicit PeakLock(FrequencyOffset fwhm);

  /// Of the ring's setpoint, which may have changed since.
  void limit(TrimRange range);
  /// Where it should stand.
  FrequencyOffset trim() const { return trim_; }
  /// Where it is looked at: below and above.
  FrequencyOffset side(bool above) const;
  /// `look`: at trim() and its sides.
  void see(const LockLook& look);
  /// The ring was set by somebody else.
  void forget();

  LockState state() const { return state_; }
  /// By the last look.
  FrequencyOffset off() const { return off_; }

 private:
  void see_edge(bool to_above);

  double half_width_;   ///< MHz
  double top_ = 0;      ///< light where it stood at the last look
  int far_looks_ = 0;   ///< in a row that told of no top near by
  int edge_looks_ = 0;  ///< in a row in which one side alone was dark: below 0 the upper one
  TrimRange range_;
  FrequencyOffset trim_{0};
  FrequencyOffset off_{0};
  LockState state_ = LockState::waiting;
};

/// How far a ring stands above its light, MHz, by how much more of it drops `dither` above than below: (above - below) /
/// (above + below). Lorentzian of this half width, which gives the same difference near its top and once more further out.
/// Nothing: no ring gives such a difference, so the light itself changed between the two looks.
std::optional<double> offset_from_peak(double difference, double half_width, double dither, bool is_near);

}  // namespace loom
