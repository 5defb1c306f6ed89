// SPDX-License-Identifier: Apache-2.0
// Sleeps until shortly before the instant, then watches the clock.
#include "drivers/bus/trigger/gpio_trigger.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// A thread that sleeps is woken up to some 100 us late by a kernel that is not preemptible [K].
constexpr Duration kWatch = std::chrono::microseconds{300};
/// Nearer than this the thread would see it in the past.
constexpr Duration kNearest = std::chrono::microseconds{20};
constexpr int kEdgePriority =
    20;  ///< of SCHED_FIFO: behind interrupts (50), before loops in real time (runtime/program/realtime.hpp)
constexpr Duration kLongestSleep = std::chrono::milliseconds{50};  ///< the clock may be set meanwhile

}  // namespace

GpioTrigger::~GpioTrigger() {
  thread_.request_stop();
  changed_.notify_all();
}

Result<void> GpioTrigger::open() {
  LOOM_TRY(port_->open(line_));
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  sched_param priority{};
  priority.sched_priority = kEdgePriority;
  (void)pthread_setschedparam(thread_.native_handle(), SCHED_FIFO, &priority);  // where rtprio allows it (docs/hosts.md)
  return {};
}

Result<void> GpioTrigger::arm(Instant at) {
  LOOM_TRY(take_trouble());
  if (const Duration left = at - now_(); left < kNearest) {
    return fail(ErrorCode::timed_out,
                format_text("{} line {}: an edge was asked for {} us from now, it takes {} us", line_.chip, line_.line,
                            left / std::chrono::microseconds{1}, kNearest / std::chrono::microseconds{1}));
  }
  const std::scoped_lock lock(mutex_);
  at_ = at;
  changed_.notify_all();
  return {};
}

Result<void> GpioTrigger::disarm() {
  const std::scoped_lock lock(mutex_);
  at_ = kNever;
  changed_.notify_all();
  return {};
}

Result<void> GpioTrigger::take_trouble() {
  const std::scoped_lock lock(mutex_);
  const auto trouble = std::exchange(trouble_, std::nullopt);
  return trouble ? Result<void>(std::unexpected(*trouble)) : Result<void>{};
}

void GpioTrigger::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const Duration left = at_ == kNever ? kLongestSleep + kWatch : at_ - now_();
    if (left > kWatch) {
      changed_.wait_for(lock, stop, std::min(left - kWatch, kLongestSleep), [at = at_, this] { return at_ != at; });
      continue;
    }
    // What is taken back in these last microseconds is taken back all the same: the lock is free while it watches.
    if (left > Duration{0}) {
      lock.unlock();
      std::this_thread::yield();
      lock.lock();
      continue;
    }
    at_ = kNever;
    lock.unlock();
    give_edge();
    lock.lock();
  }
}

void GpioTrigger::give_edge() {
  auto given = port_->set(true);
  if (given) {
    std::this_thread::sleep_for(line_.pulse);
    given = port_->set(false);
  }
  if (!given) {
    const std::scoped_lock lock(mutex_);
    trouble_ = Error{ErrorCode::device_error, given.error().message};
  }
}

}  // namespace loom
