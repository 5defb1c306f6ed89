// SPDX-License-Identifier: Apache-2.0
// AnswerWatch: whether to stay awake for the answer to a message that was just sent. Waking costs two processes some ten
// microseconds each; staying awake costs this one its core for as long, and pays only where the other process has another core
// to answer on. That is learnt: a stay that was in vain is followed by twice as many messages without one, and one that paid by
// half as many. It knows no clock.
#pragma once

#include <algorithm>
#include <cstdint>

namespace loom {

class AnswerWatch {
 public:
  /// One more message was sent. True: stay awake for its answer, and say how that ended.
  bool is_worthwhile() {
    if (skips_ > 0) {
      --skips_;
      return false;
    }
    return true;
  }
  void paid() { losses_ = losses_ / 2; }
  void in_vain() {
    losses_ = std::min(losses_ + 1, kLossesMax);
    skips_ = (1U << losses_) - 1;
  }

 private:
  /// On a busy machine one message in 1024 tries whether that has changed.
  static constexpr std::uint32_t kLossesMax = 10;

  std::uint32_t losses_ = 0;
  std::uint32_t skips_ = 0;
};

}  // namespace loom
