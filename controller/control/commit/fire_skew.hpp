// FireSkew: how late agents fire, as they measured it: what guards of the fast plane must at least cover. Rounded up to a power
// of two and never smaller again, so that no plan changes because a number did. It measures and decides nothing.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/time.hpp"

namespace loom {

class FireSkew {
 public:
  /// Latenesses of one commit's agents; what is early counts as much.
  void add(std::span<const Duration> latenesses);
  /// p99.9 of the last kKept firings, or the greatest it ever was; 0: fewer than kNeeded were measured.
  Duration p999() const { return skew_; }
  std::size_t count() const { return count_; }

 private:
  static constexpr std::size_t kKept = 8'192;
  static constexpr std::size_t kNeeded = 1'000;  ///< fewer have no p99.9
  std::vector<Duration> kept_;                   ///< a ring
  std::size_t count_ = 0;
  Duration skew_{};
};

}  // namespace loom
