// SPDX-License-Identifier: Apache-2.0
// ClockWatch: looks once a second whether a clock that hosts share may still time a commit, and tells when that changes. A loop
// on the monotonic clock has nothing to watch: one kernel's clock is always the same as itself. Loop's thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "core/step.hpp"
#include "runtime/clock.hpp"
#include "runtime/loop.hpp"

namespace loom {

struct ClockCounters {
  bool is_tai = false;
  bool is_good = true;
  int offset_seconds = 0;  ///< TAI - UTC, as read last
  Duration max_error{};    ///< the kernel's bound, as read last
  std::uint64_t checks = 0;
  std::uint64_t losses = 0;  ///< times that it was good and is not any more
};

class ClockWatch {
 public:
  using Changed = std::function<void(const ClockJudged& judged)>;

  /// A TAI loop was opened while its clock was good: only what changes from then on is told.
  ClockWatch(AsioLoop& loop, Changed changed, ClockReader read = read_kernel_clock,
             Duration interval = std::chrono::seconds{1});
  ~ClockWatch();

  const ClockCounters& counters() const;

 private:
  class Core;
  std::shared_ptr<Core> core_;  ///< shared with the task under way, which does nothing once the watch is gone
};

}  // namespace loom
