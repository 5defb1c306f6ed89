// SPDX-License-Identifier: Apache-2.0
// AsioLoop: real time for one thread. Ordinary tasks sleep on a timerfd, and those that are due closely one after the other are
// run together: at most 200 us late for it; exact ones sleep to 80 us before their instant and spin the rest. It never runs a
// task on another thread, and never lets a late task overtake an earlier one.
#pragma once

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/signal_set.hpp>
#include <cstdint>
#include <functional>
#include <memory>

#include "core/result.hpp"
#include "runtime/clock.hpp"
#include "runtime/post.hpp"
#include "runtime/seams.hpp"
#include "runtime/timer_queue.hpp"

namespace loom {

/// monotonic: everything runs under one kernel. tai: several hosts; opened only while TAI is synchronised.
enum class LoopClock : std::uint8_t { monotonic, tai };

struct LoopCounters {
  std::uint64_t tasks = 0;
  std::uint64_t exact_tasks = 0;
  Duration exact_lateness_max{};
};

class AsioLoop : public TimeSeam {
 public:
  /// Errors: refused (TAI is not synchronised), internal (no descriptors left).
  static Result<std::unique_ptr<AsioLoop>> open(LoopClock source = LoopClock::monotonic,
                                                const ClockReader& read = read_kernel_clock);
  LoopClock source() const { return source_; }

  Instant now() const override;
  ClockId clock() const override { return clock_; }
  Duration wall_offset() const override;
  void call_at(Instant at, Precision precision, std::function<void()> task) override;

  /// From any thread; the task runs on the loop's thread.
  void post(std::function<void()> task);
  /// post() as a value, for whoever works on a thread of its own. The loop must outlive it.
  Post poster();

  /// Runs until stop(). Returns the signal that ended it, or 0.
  int run();
  /// From any thread. Tasks that have not run are kept.
  void stop();
  /// SIGINT and SIGTERM call `wind_down` on the loop's thread; a second signal, or an empty `wind_down`, stops at once.
  void on_signal(std::function<void(int signal)> wind_down);

  /// For transports that wait for sockets of their own. Loop's thread only.
  asio::io_context& context() { return context_; }
  const LoopCounters& counters() const { return counters_; }

 private:
  AsioLoop(LoopClock source, ClockId clock, int timer_descriptor);
  TimerQueue* earliest();
  void run_due();
  void run_first_of(TimerQueue& queue);
  Instant next_wake() const;
  void arm();
  void arm_soon();
  void wait_for_timer();
  void wait_for_signal();

  asio::io_context context_{1};
  LoopClock source_;
  ClockId clock_;
  asio::posix::stream_descriptor timer_;
  asio::signal_set signals_;
  std::function<void(int)> wind_down_;
  TimerQueue ordinary_;
  TimerQueue exact_;
  std::uint64_t arrivals_ = 0;
  Instant armed_ = kNever;
  Instant ran_at_ = Instant::min();  ///< the last batch of tasks began
  bool running_due_ = false;
  bool is_arm_posted_ = false;
  int signal_ = 0;
  LoopCounters counters_;
};

}  // namespace loom
