// SPDX-License-Identifier: Apache-2.0
// Deadlines of the agent. A timer is only what wakes it up; the deadline, compared with the time of the event, decides. So a
// timer that fires early, twice or for something forgotten does nothing. Periods are counted from the previous deadline,
// never from now, and sums that leave the range of an Instant stay at kNever.
#pragma once

#include <optional>

#include "core/ids.hpp"
#include "core/step.hpp"
#include "core/time.hpp"

namespace loom {

/// One step of the machine: when it happens, and where its effects go.
struct StepContext {
  Instant now;
  EffectSink* sink = nullptr;
};

inline constexpr TimerId kSessionTimer{1};
inline constexpr TimerId kAuditTimer{2};
inline constexpr TimerId kReportTimer{3};
inline constexpr TimerId kFireTimer{4};
inline constexpr TimerId kRelightTimer{5};
inline constexpr TimerId kCycleTimer{6};
inline constexpr TimerId kInterlockTimer{7};
inline constexpr TimerId kGrantTimer{8};        ///< requests, repeats, windows
inline constexpr TimerId kGrantEdgeTimer{9};    ///< triggers of the grant table
inline constexpr TimerId kOrdersHereTimer{10};  ///< of operators at this agent's own process
inline constexpr TimerId kPassTimer{11};        ///< readiness for an iteration
inline constexpr TimerId kPassStartTimer{12};   ///< streams of an iteration are offered
inline constexpr TimerId kEdgeProofTimer{13};   ///< whether an edge came is asked
inline constexpr TimerId kLockTimer{14};        ///< rings are brought back to their light
inline constexpr TimerId kLightTimer{15};       ///< monitors are read after a commit
inline constexpr TimerId kRehearsalTimer{16};   ///< what firing needs is looked at before T
/// Two timers a device: its driver's wake, and the next edge of its timeline.
inline constexpr std::uint64_t kUnitTimers = 32;
constexpr TimerId wake_timer(std::size_t unit) { return {kUnitTimers + 2 * unit}; }
constexpr TimerId edge_timer(std::size_t unit) { return {kUnitTimers + 1 + 2 * unit}; }
/// Nothing: it is no wake_timer.
constexpr std::optional<std::size_t> unit_of_wake(TimerId timer) {
  return timer.value >= kUnitTimers && timer.value % 2 == 0 ? std::optional<std::size_t>((timer.value - kUnitTimers) / 2)
                                                            : std::nullopt;
}

/// Real-time safe.
constexpr Duration sum(Duration a, Duration b) {
  if (b > Duration::zero() && a > Duration::max() - b) {
    return Duration::max();
  }
  if (b < Duration::zero() && a < Duration::min() - b) {
    return Duration::min();
  }
  return a + b;
}
constexpr Instant later(Instant instant, Duration by) { return Instant{sum(instant.time_since_epoch(), by)}; }
constexpr Duration between(Instant from, Instant to) {
  return to >= from ? sum(to.time_since_epoch(),
                          from.time_since_epoch() == Duration::min() ? Duration::max() : -from.time_since_epoch())
                    : Duration::zero() - between(to, from);
}

/// The first multiple of `period` after `previous` that lies after `now`. Precondition: period > 0.
constexpr Instant next_period(Instant previous, Duration period, Instant now) {
  const Instant next = later(previous, period);
  return next > now ? next : later(previous, period * (between(previous, now) / period + 1));
}

class Deadline {
 public:
  constexpr explicit Deadline(TimerId timer, Precision precision = Precision::ordinary)
      : timer_(timer), precision_(precision) {}

  void set(StepContext context, Instant at) {
    at_ = at;
    if (at != kNever) {
      context.sink->emit(SetTimer{timer_, at, precision_});
    }
  }
  void forget() { at_ = kNever; }
  bool is_set() const { return at_ != kNever; }
  bool passed(Instant now) const { return is_set() && now >= at_; }
  Instant at() const { return at_; }
  TimerId timer() const { return timer_; }

 private:
  TimerId timer_;
  Precision precision_;
  Instant at_ = kNever;
};

}  // namespace loom
