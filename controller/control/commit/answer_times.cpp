// SPDX-License-Identifier: Apache-2.0
// RFC 6298 on the slowest of a stage, and the rule of three where nothing was lost.
#include "controller/control/commit/answer_times.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

namespace loom {
namespace {

constexpr std::uint64_t kCounted = 16'384;
constexpr double kLateForLoss = 0.01;
constexpr std::ptrdiff_t kDoublings = 12;  ///< of one agent nothing is concluded for more than 8,191

}  // namespace

std::size_t AnswerTimes::class_of(std::size_t asked) {
  return std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(asked)), kClasses - 1);
}

void AnswerTimes::add(std::size_t asked, Duration slowest) {
  Estimate& estimate = estimates_[class_of(asked)];
  if (!estimate.is_known) {
    estimate = {true, slowest, slowest / 2};
    return;
  }
  const Duration beside = slowest > estimate.smoothed ? slowest - estimate.smoothed : estimate.smoothed - slowest;
  estimate.deviation += (beside - estimate.deviation) / 4;
  estimate.smoothed += (slowest - estimate.smoothed) / 8;
}

std::optional<Duration> AnswerTimes::bound(std::size_t asked) const {
  const auto is_known = [](const Estimate& estimate) { return estimate.is_known; };
  const auto own = estimates_.begin() + static_cast<std::ptrdiff_t>(class_of(asked));
  const auto bound_of = [](const Estimate& estimate) {
    return std::max(kAnswerFloor, estimate.smoothed + 4 * estimate.deviation);
  };
  if (const auto larger = std::find_if(own, estimates_.end(), is_known); larger != estimates_.end()) {
    return bound_of(*larger);
  }
  // A part of it grows with the number, the rest does not, so twice as many take twice as long at most.
  const auto smaller = std::find_if(std::reverse_iterator(own), estimates_.rend(), is_known);
  const auto doublings = smaller == estimates_.rend() ? 0 : own - smaller.base() + 1;
  return doublings == 0 || doublings > kDoublings ? std::nullopt : std::optional(bound_of(*smaller) * (1LL << doublings));
}

void AnswerTimes::count(std::uint64_t requests, std::uint64_t repeated) {
  requests_ += requests;
  repeated_ += repeated;
  while (requests_ > kCounted) {
    requests_ /= 2;
    repeated_ /= 2;
  }
}

std::uint32_t AnswerTimes::repeats(std::size_t asked, std::uint32_t most) const {
  if (requests_ == 0) {
    return std::max(1U, most);
  }
  // 95 % are below it: three of so many where none was seen, two deviations of a Poisson count where some were.
  const auto seen = static_cast<double>(repeated_);
  const double likely = std::min(1.0, (repeated_ == 0 ? 3.0 : seen + 2 * std::sqrt(seen)) / static_cast<double>(requests_));
  double late = static_cast<double>(asked) * likely * likely;
  std::uint32_t repeats = 1;
  for (; repeats < most && late > kLateForLoss; ++repeats) {
    late *= likely;
  }
  return repeats;
}

}  // namespace loom
