// SPDX-License-Identifier: Apache-2.0
// TimeSpans: sets of instants as ascending, disjoint spans, and what a judge of light does with them. Values only.
#pragma once

#include <span>
#include <vector>

#include "core/time.hpp"

namespace loom {

/// From `from` until just before `to`; `to` = kNever: without end.
struct TimeSpan {
  Instant from{};
  Instant to = kNever;
  Duration length() const { return to - from; }
  bool operator==(const TimeSpan&) const = default;
};

using TimeSpans = std::vector<TimeSpan>;  ///< ascending; none empty, none touches the next

/// Any spans in any order, empty ones too; those that touch become one.
TimeSpans united(TimeSpans spans);
TimeSpans intersection(std::span<const TimeSpan> a, std::span<const TimeSpan> b);
/// What `whole` has and `part` has not.
TimeSpans difference(std::span<const TimeSpan> whole, std::span<const TimeSpan> part);
Duration length_of(std::span<const TimeSpan> spans);
/// Gaps of at most `gap` between two spans are filled.
TimeSpans bridged(const TimeSpans& spans, Duration gap);

}  // namespace loom
