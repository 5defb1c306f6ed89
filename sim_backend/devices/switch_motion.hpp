// SPDX-License-Identifier: Apache-2.0
// SwitchMotion: which ways through a switch pass light while some of them move. A way is a WssRoute or a CrossConnect.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "core/plan.hpp"
#include "core/time.hpp"

namespace loom {

/// The same way through the switch; attenuation aside.
inline bool same_way(const WssRoute& a, const WssRoute& b) {
  return a.slot == b.slot && a.input == b.input && a.output == b.output;
}
inline bool same_way(const CrossConnect& a, const CrossConnect& b) { return a == b; }

/// The order in which OpticalState lists them.
inline bool ascends(const WssRoute& a, const WssRoute& b) {
  return std::pair(a.slot.n, a.input) != std::pair(b.slot.n, b.input)
             ? std::pair(a.slot.n, a.input) < std::pair(b.slot.n, b.input)
             : a.output < b.output;
}
inline bool ascends(const CrossConnect& a, const CrossConnect& b) {
  return std::pair(a.input, a.output) < std::pair(b.input, b.output);
}

template <class Way>
class SwitchMotion {
 public:
  /// Nothing moves at `at`.
  bool is_over(Instant at) const { return at >= end_ || at < begin_; }
  Instant end() const { return end_; }
  /// Neither left nor taken up by the change under way.
  const std::vector<Way>& steady() const { return steady_; }
  /// Old and new ways under way, ascending.
  const std::vector<Way>& moving() const { return moving_; }

  /// Call before a change at `at`, with the ways commanded so far.
  void keep_before(Instant at, std::vector<Way> ways) {
    if (at >= end_) {
      steady_ = std::move(ways);
      moving_.clear();
    }
  }
  /// Call after it, with the ways commanded now. What moved already goes on moving.
  void begin(Instant at, Duration takes, const std::vector<Way>& ways) {
    const std::vector<Way> old_steady = std::exchange(steady_, {});
    const std::vector<Way> old_moving = std::exchange(moving_, {});
    for (const Way& way : ways) {
      (contains(old_steady, way) ? steady_ : moving_).push_back(way);
    }
    for (const auto* old : {&old_steady, &old_moving}) {
      for (const Way& way : *old) {
        if (!contains(steady_, way) && !contains(moving_, way)) {
          moving_.push_back(way);
        }
      }
    }
    std::sort(moving_.begin(), moving_.end(), [](const Way& a, const Way& b) { return ascends(a, b); });
    begin_ = at;
    end_ = at + takes;
  }

 private:
  static bool contains(const std::vector<Way>& ways, const Way& wanted) {
    return std::any_of(ways.begin(), ways.end(), [&](const Way& way) { return same_way(way, wanted); });
  }

  std::vector<Way> steady_;
  std::vector<Way> moving_;
  Instant begin_{};
  Instant end_{};
};

}  // namespace loom
