// SPDX-License-Identifier: Apache-2.0
// Sweeps over two ascending lists.
#include "sim_backend/judge/time_spans.hpp"

#include <algorithm>

namespace loom {

TimeSpans united(TimeSpans spans) {
  std::erase_if(spans, [](const TimeSpan& span) { return span.to <= span.from; });
  std::ranges::sort(spans, {}, &TimeSpan::from);
  TimeSpans whole;
  for (const TimeSpan& span : spans) {
    if (!whole.empty() && span.from <= whole.back().to) {
      whole.back().to = std::max(whole.back().to, span.to);
    } else {
      whole.push_back(span);
    }
  }
  return whole;
}

TimeSpans intersection(std::span<const TimeSpan> a, std::span<const TimeSpan> b) {
  TimeSpans common;
  // The first of `b` that may still matter: a long history is not walked for a short question.
  auto other =
      a.empty() ? b.end() : std::ranges::partition_point(b, [&](const TimeSpan& span) { return span.to <= a.front().from; });
  for (auto one = a.begin(); one != a.end() && other != b.end();) {
    const TimeSpan both{std::max(one->from, other->from), std::min(one->to, other->to)};
    if (both.from < both.to) {
      common.push_back(both);
    }
    one->to < other->to ? static_cast<void>(++one) : static_cast<void>(++other);
  }
  return common;
}

TimeSpans difference(std::span<const TimeSpan> whole, std::span<const TimeSpan> part) {
  TimeSpans rest;
  auto taken = part.begin();
  for (TimeSpan span : whole) {
    while (taken != part.end() && taken->to <= span.from) {
      ++taken;
    }
    for (auto hole = taken; hole != part.end() && hole->from < span.to; ++hole) {
      if (span.from < hole->from) {
        rest.push_back({span.from, hole->from});
      }
      span.from = std::min(hole->to, span.to);
    }
    if (span.from < span.to) {
      rest.push_back(span);
    }
  }
  return rest;
}

Duration length_of(std::span<const TimeSpan> spans) {
  Duration sum{};
  for (const TimeSpan& span : spans) {
    sum += span.length();
  }
  return sum;
}

TimeSpans bridged(const TimeSpans& spans, Duration gap) {
  TimeSpans whole;
  for (const TimeSpan& span : spans) {
    if (!whole.empty() && span.from - whole.back().to <= gap) {
      whole.back().to = span.to;
    } else {
      whole.push_back(span);
    }
  }
  return whole;
}

}  // namespace loom
