// SPDX-License-Identifier: Apache-2.0
// FireSkew: how late agents fire, as they measured it: what guards of the fast plane must at least cover. Rounded up to a power
// of two and never smaller again, so that no plan changes because a number did. It measures and decides nothing.
#pragma once

#include <cstddef>
#include <vector>

#include "core/time.hpp"

namespace loom {

class FireSkew {
 public:
  /// The lateness of one agent in one commit; what is early counts as much.
  void add(Duration lateness);
  /// p99.9 of the last kKept firings, or the greatest that it ever came out as; 0: fewer than kNeeded were measured.
  Duration p999();
  std::size_t count() const { return count_; }

 private:
  static constexpr std::size_t kKept = 8'192;
  static constexpr std::size_t kNeeded = 1'000;  ///< fewer have no p99.9
  std::vector<Duration> kept_;                   ///< a ring
  std::size_t count_ = 0;
  Duration skew_{};
};

}  // namespace loom
