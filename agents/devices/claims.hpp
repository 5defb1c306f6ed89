// SPDX-License-Identifier: Apache-2.0
// Claims: every device belongs to one activity at a time. A higher activity takes it from a lower one, never the other way,
// so an audit cannot write into a commit and nothing can write into an interlock. Real-time safe.
#pragma once

#include <cstdint>

namespace loom {

/// Ascending rank.
enum class Activity : std::uint8_t { none, audit, lock, reset, timeline, commit, interlock };

class Claim {
 public:
  Activity owner() const { return owner_; }
  /// False: somebody above holds it.
  [[nodiscard]] bool take(Activity activity) {
    if (activity < owner_) {
      return false;
    }
    owner_ = activity;
    return true;
  }
  /// Does nothing when it was taken away in the meantime.
  void release(Activity activity) {
    if (owner_ == activity) {
      owner_ = Activity::none;
    }
  }

 private:
  Activity owner_ = Activity::none;
};

}  // namespace loom
