// SPDX-License-Identifier: Apache-2.0
// One quantile, when somebody asks.
#include "controller/control/commit/fire_skew.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace loom {

void FireSkew::add(Duration lateness) {
  const Duration beside = lateness < Duration{} ? -lateness : lateness;
  if (kept_.size() < kKept) {
    kept_.push_back(beside);
  } else {
    kept_[count_ % kKept] = beside;
  }
  ++count_;
}

Duration FireSkew::p999() {
  if (kept_.size() < kNeeded) {
    return skew_;
  }
  std::vector<Duration> sorted = kept_;
  const auto place = static_cast<std::ptrdiff_t>((sorted.size() * 999 + 999) / 1000 - 1);  // nearest rank
  std::nth_element(sorted.begin(), sorted.begin() + place, sorted.end());
  const auto measured = static_cast<std::uint64_t>(sorted[static_cast<std::size_t>(place)].count());
  skew_ = std::max(skew_, measured == 0 ? Duration{} : Duration{static_cast<std::int64_t>(std::bit_ceil(measured))});
  return skew_;
}

}  // namespace loom
