// SPDX-License-Identifier: Apache-2.0
// TroubledHost: the seams of one machine whose host is slow or whose clock is wrong: decorators on time, messages and
// registers. While it is well they pass everything on at once, so that a run without such faults is the run that it was.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "runtime/seams.hpp"

namespace loom {

class TroubledHost {
 public:
  /// `time` is true time.
  explicit TroubledHost(TimeSeam& time);
  ~TroubledHost();
  TroubledHost(const TroubledHost&) = delete;
  TroubledHost& operator=(const TroubledHost&) = delete;

  /// Everything that the machine is told from now on (messages, replies of buses, timers) it is told `delay` later, in the same
  /// order; zero: it has recovered.
  void set_delay(Duration delay) { delay_ = delay; }
  /// From now on its clock stands `offset` beside true time and runs `drift_ppm` too fast. A timer fires when its own clock
  /// says so, as a loop on TAI does.
  void set_clock(Duration offset, std::int64_t drift_ppm);

  TimeSeam& time();
  MessageSeam& over(MessageSeam& messages);
  RegisterSeam& over(RegisterSeam& registers);

 private:
  class Clock;
  class Messages;
  class Buses;
  bool is_well() const;
  /// Runs `task` now, or when the host comes to it.
  void report(std::function<void()> task);

  TimeSeam& true_time_;
  Duration delay_{};
  Instant reported_last_ = Instant{Duration{-1}};  ///< true time: nothing overtakes what is told then
  std::unique_ptr<Clock> clock_;
  std::unique_ptr<Messages> messages_;
  std::unique_ptr<Buses> buses_;
};

}  // namespace loom
