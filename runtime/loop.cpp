// SPDX-License-Identifier: Apache-2.0
// One timerfd (absolute, CLOCK_MONOTONIC) under asio, two queues above it.
#include "runtime/loop.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <utility>

#include "core/text/format_text.hpp"
#include "runtime/clock.hpp"

namespace loom {
namespace {

/// A sleep ends late by 20 us (median) to 165 us (p99) on an ordinary kernel; spinning longer than this buys little.
constexpr Duration kSpin = std::chrono::microseconds{80};
/// Ordinary tasks are woken for no more often than this: where hundreds of agents have timers of their own, each wake costs as
/// much as the task. A task that is alone is not late for it [K].
constexpr Duration kBetweenWakes = std::chrono::microseconds{200};
/// TAI may be stepped while we sleep: look again at least this often.
constexpr Duration kTaiNapMax = std::chrono::seconds{1};

/// The first instant from `at` on at which everything that is relaxed runs together.
Instant relaxed(Instant at) {
  const Duration since = at.time_since_epoch();
  return at <= kNever - kRelaxedLate ? Instant{(since + kRelaxedLate - Duration{1}) / kRelaxedLate * kRelaxedLate} : at;
}

}  // namespace

Result<std::unique_ptr<AsioLoop>> AsioLoop::open(LoopClock source, const ClockReader& read) {
  ClockId clock = kTaiClock;
  if (source == LoopClock::tai) {
    if (const auto tai = check_tai(read); !tai) {
      Error why = tai.error();
      why.message = "this host's " + why.message;
      return std::unexpected(std::move(why));
    }
  } else {
    const Result<ClockId> boot = boot_clock();
    if (!boot) {
      return std::unexpected(boot.error());
    }
    clock = *boot;
  }
  const int descriptor = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  if (descriptor < 0) {
    return fail(ErrorCode::internal, format_text("no timer for the loop: {}", std::strerror(errno)));
  }
  try {
    return std::unique_ptr<AsioLoop>(new AsioLoop(source, clock, descriptor));
  } catch (const std::exception& error) {
    return fail(ErrorCode::internal, format_text("asio cannot open a loop: {}", error.what()));
  }
}

AsioLoop::AsioLoop(LoopClock source, ClockId clock, int timer_descriptor)
    : source_(source), clock_(clock), timer_(context_, timer_descriptor), signals_(context_) {
  wait_for_timer();
}

Instant AsioLoop::now() const { return source_ == LoopClock::tai ? tai_now() : monotonic_now(); }

Duration AsioLoop::wall_offset() const { return utc_now().time_since_epoch() - now().time_since_epoch(); }

void AsioLoop::call_at(Instant at, Precision precision, std::function<void()> task) {
  // What is due already counts as due now: it runs after everything that is due earlier, and not in the batch under way.
  const Instant present = now();
  if (precision == Precision::relaxed && at > present) {
    at = relaxed(at);
  }
  TimerQueue& queue = precision == Precision::exact ? exact_ : ordinary_;
  queue.push({std::max(at, present), arrivals_++, std::move(task)});
  if (!running_due_ && next_wake() < armed_) {
    arm_soon();
  }
}

void AsioLoop::post(std::function<void()> task) { asio::post(context_, std::move(task)); }

Post AsioLoop::poster() {
  return [this](std::function<void()> task) { post(std::move(task)); };
}

int AsioLoop::run() {
  auto guard = asio::make_work_guard(context_);
  context_.restart();
  context_.run();
  return std::exchange(signal_, 0);
}

void AsioLoop::stop() { context_.stop(); }

// --- due tasks -----------------------------------------------------------------------------------------------------------

TimerQueue* AsioLoop::earliest() {
  if (ordinary_.empty() || exact_.empty()) {
    return !ordinary_.empty() ? &ordinary_ : !exact_.empty() ? &exact_ : nullptr;
  }
  return TimerQueue::later(ordinary_.front(), exact_.front()) ? &exact_ : &ordinary_;
}

void AsioLoop::run_first_of(TimerQueue& queue) {
  const TimerQueue::Entry entry = queue.pop();
  ++counters_.tasks;
  if (&queue == &exact_) {
    ++counters_.exact_tasks;
    counters_.exact_lateness_max = std::max(counters_.exact_lateness_max, now() - entry.at);
  }
  entry.task();
}

/// Spins at most once, so that tasks in close succession cannot keep sockets from being read.
void AsioLoop::run_due() {
  running_due_ = true;
  Instant horizon = now();
  ran_at_ = horizon;
  bool spun = false;
  while (TimerQueue* queue = earliest()) {
    if (context_.stopped()) {
      break;
    }
    if (queue->front().at <= horizon) {
      run_first_of(*queue);
      continue;
    }
    if (spun || exact_.empty() || exact_.front().at - horizon > kSpin) {
      break;
    }
    const Instant target = exact_.front().at;
    while (now() < target) {
    }
    horizon = target;
    spun = true;
  }
  running_due_ = false;
}

Instant AsioLoop::next_wake() const {
  const Instant not_before = ran_at_ == Instant::min() ? ran_at_ : ran_at_ + kBetweenWakes;
  Instant wake = ordinary_.empty() ? kNever : std::max(ordinary_.front().at, not_before);
  if (!exact_.empty()) {
    wake = std::min(wake, exact_.front().at - kSpin);
  }
  return wake;
}

void AsioLoop::arm() {
  armed_ = next_wake();
  itimerspec setting{};  // all zero disarms
  if (armed_ != kNever) {
    Duration nap = std::max(armed_ - now(), Duration{0});
    if (source_ == LoopClock::tai) {
      nap = std::min(nap, kTaiNapMax);
    }
    const std::int64_t wake =
        source_ == LoopClock::tai ? ns_of(monotonic_now() + nap) : std::max(ns_of(armed_), std::int64_t{1});
    setting.it_value.tv_sec = wake / 1'000'000'000;
    setting.it_value.tv_nsec = wake % 1'000'000'000;
  }
  LOOM_ASSERT(timerfd_settime(timer_.native_handle(), TFD_TIMER_ABSTIME, &setting, nullptr) == 0);
}

/// Once for all tasks of a turn, and behind what the turn sends: setting the timer anew costs up to 10 us in a virtual machine.
void AsioLoop::arm_soon() {
  if (!std::exchange(is_arm_posted_, true)) {
    asio::post(context_, [this] {
      is_arm_posted_ = false;
      if (next_wake() < armed_) {
        arm();
      }
    });
  }
}

void AsioLoop::wait_for_timer() {
  timer_.async_wait(asio::posix::stream_descriptor::wait_read, [this](const asio::error_code& error) {
    if (error) {
      return;  // the loop is being destroyed
    }
    std::uint64_t expirations = 0;
    [[maybe_unused]] const ssize_t read_bytes = read(timer_.native_handle(), &expirations, sizeof expirations);
    run_due();
    arm();
    wait_for_timer();
  });
}

// --- signals -------------------------------------------------------------------------------------------------------------

void AsioLoop::on_signal(std::function<void(int)> wind_down) {
  wind_down_ = std::move(wind_down);
  asio::error_code error;
  signals_.add(SIGINT, error);
  signals_.add(SIGTERM, error);
  wait_for_signal();
}

void AsioLoop::wait_for_signal() {
  signals_.async_wait([this](const asio::error_code& error, int signal) {
    if (error) {
      return;
    }
    signal_ = signal;
    if (!wind_down_) {
      stop();
      return;
    }
    std::exchange(wind_down_, nullptr)(signal);
    wait_for_signal();
  });
}

}  // namespace loom
