// SPDX-License-Identifier: Apache-2.0
// With x the distance to the top, h the half width and d the dither: (above - below) / (above + below) = -2 x d / (h^2 + x^2 +
// d^2), which two x solve; and 1 / power is 1 + (x / h)^2 of its least, whose second difference is 2 (d / h)^2 everywhere.
#include "agents/lock/peak_lock.hpp"

#include <algorithm>
#include <cmath>

namespace loom {
namespace {

constexpr double kDitherParts = 10;  ///< of the full width, while it is not locked: 0.2 dB less light while it is looked at
constexpr double kLockedDitherParts = 20;  ///< likewise, once it is
constexpr int kFarLooks =
    3;  ///< in a row until a ring is believed to be far away: what tells is a small difference of large numbers
constexpr double kLockedParts = 8;   ///< likewise: what a ring may be off anyway (core/ring/ring.hpp)
constexpr double kGain = 0.8;        ///< of what was found; the rest is noise's share
constexpr double kNearMost = 2.5;    ///< times less light than at the top: a little more than at half its width
constexpr double kFarthest = 100;    ///< half widths that anybody would call a distance
constexpr double kImpossible = 1.3;  ///< times the largest difference that a ring makes: noise makes no more of it
constexpr double kSteady = 1.25;     ///< times more light, or less, at the end of a look: more is a light that changes [K]
constexpr int kEdgeLooks = 2;        ///< in a row until a side is believed to be dark: light goes out, too

}  // namespace

std::optional<double> offset_from_peak(double difference, double half_width, double dither, bool is_near) {
  const double reach = std::hypot(half_width, dither);
  const double most = dither / reach;
  if (std::abs(difference) > kImpossible * most) {
    return std::nullopt;
  }
  if (std::abs(difference) >= most) {
    return difference > 0 ? -reach : reach;
  }
  const double root = std::sqrt(dither * dither - difference * difference * reach * reach);
  return is_near ? -difference * reach * reach / (dither + root) : -(dither + root) / difference;
}

namespace {

/// Within half a width of the top, as far as noise lets it be told.
bool is_near_top(double below, double middle, double above, double half_width, double dither) {
  const double second = 1 / below + 1 / above - 2 / middle;
  const double least = second * half_width * half_width / (2 * dither * dither);  ///< 1 / power at the top
  return least * kNearMost >= 1 / middle;
}

}  // namespace

PeakLock::PeakLock(FrequencyOffset fwhm) : half_width_(static_cast<double>(fwhm.mhz) / 2) {}

void PeakLock::limit(TrimRange range) {
  range_ = range;
  trim_ = range_.within(trim_);
}

FrequencyOffset PeakLock::side(bool above) const {
  const double dither = 2 * half_width_ / (state_ == LockState::locked ? kLockedDitherParts : kDitherParts);
  return range_.within(trim_ + FrequencyOffset{std::llround(above ? dither : -dither)});
}

namespace {

bool is_dark(const std::optional<double>& light) { return !light || *light <= 0; }

bool is_steady(const LockLook& look) {
  return is_dark(look.middle) == is_dark(look.again) &&
         (is_dark(look.middle) || (*look.middle <= kSteady * *look.again && *look.again <= kSteady * *look.middle));
}

}  // namespace

void PeakLock::see(const LockLook& look) {
  if (!is_steady(look)) {
    return;
  }
  if (!is_dark(look.middle) && is_dark(look.below) != is_dark(look.above)) {
    return see_edge(is_dark(look.below));
  }
  edge_looks_ = 0;
  if (is_dark(look.below) || is_dark(look.middle) || is_dark(look.above)) {
    state_ = LockState::no_light;
    return;
  }
  // At an end of its range it can look to one side less far: what it sees there is of that place.
  const double centre = static_cast<double>(side(true).mhz + side(false).mhz) / 2;
  const double dither = static_cast<double>(side(true).mhz - side(false).mhz) / 2;
  const bool is_even = std::abs(centre - static_cast<double>(trim_.mhz)) < 1;
  const bool keeps = state_ == LockState::locked && *look.middle * kNearMost >= top_;
  const bool is_seen_near = keeps || !is_even || is_near_top(*look.below, *look.middle, *look.above, half_width_, dither);
  far_looks_ = is_seen_near ? 0 : far_looks_ + 1;
  const double difference = (*look.above - *look.below) / (*look.above + *look.below);
  const auto found = dither > 0 ? offset_from_peak(difference, half_width_, dither, far_looks_ < kFarLooks) : std::nullopt;
  if (!found) {
    state_ = LockState::no_light;
    return;
  }
  const double off = *found + static_cast<double>(trim_.mhz) - centre;
  off_ = FrequencyOffset{std::llround(std::clamp(off, -kFarthest * half_width_, kFarthest * half_width_))};
  const FrequencyOffset wanted{trim_.mhz - std::llround(kGain * std::clamp(off, -half_width_, half_width_))};
  trim_ = range_.within(wanted);
  top_ = *look.middle;
  state_ = is_seen_near && std::abs(off) <= 2 * half_width_ / kLockedParts ? LockState::locked
           : trim_ != wanted                                               ? LockState::at_limit
                                                                           : LockState::seeking;
}

/// At the edge of what is seen at all: that one side has light is enough to go there.
void PeakLock::see_edge(bool to_above) {
  edge_looks_ = to_above ? std::max(edge_looks_, 0) + 1 : std::min(edge_looks_, 0) - 1;
  if (std::abs(edge_looks_) >= kEdgeLooks) {
    trim_ = side(to_above);
    state_ = LockState::seeking;
  }
}

void PeakLock::forget() {
  trim_ = FrequencyOffset{0};
  off_ = FrequencyOffset{0};
  far_looks_ = 0;
  edge_looks_ = 0;
  state_ = LockState::waiting;
}

}  // namespace loom
