// SPDX-License-Identifier: Apache-2.0
// Instants and durations of the control plane. This header names time; it never asks what time it is:
// only runtime/ and sim_backend/ own a clock, everybody else is handed an Instant with each event.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

namespace loom {

/// Tag of the one time line that a step machine sees. It has no now(): a clock reading arrives with each event.
struct ControlClock {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = std::chrono::nanoseconds;
  using time_point = std::chrono::time_point<ControlClock, duration>;
  static constexpr bool is_steady = true;
};

using Duration = std::chrono::nanoseconds;
using Instant = ControlClock::time_point;

/// Tag of wall-clock time, UTC since 1970: what people read beside an event. Nobody decides by it and nobody asks for it; it is
/// an instant plus the offset that came with the first event of an incarnation (Started::wall_offset).
struct WallClock {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = std::chrono::nanoseconds;
  using time_point = std::chrono::time_point<WallClock, duration>;
  static constexpr bool is_steady = false;
};
using WallTime = WallClock::time_point;

/// Later than every instant that a run reaches.
inline constexpr Instant kNever{Duration{std::numeric_limits<std::int64_t>::max()}};
/// A hold that ends only with the next revision.
inline constexpr Duration kForever{std::numeric_limits<std::int64_t>::max()};

constexpr Instant instant_from_ns(std::int64_t ns) { return Instant{Duration{ns}}; }
constexpr std::int64_t ns_of(Instant instant) { return instant.time_since_epoch().count(); }
constexpr WallTime wall_time(Instant instant, Duration offset) { return WallTime{instant.time_since_epoch() + offset}; }
constexpr std::int64_t ns_of(WallTime time) { return time.time_since_epoch().count(); }
/// RFC 3339 with microseconds: "2026-11-22T08:22:56.000125Z"; "-" for the epoch itself, which stands for not known.
std::string to_string(WallTime time);
constexpr double seconds_of(Duration duration) { return static_cast<double>(duration.count()) * 1e-9; }
constexpr double milliseconds_of(Duration duration) { return static_cast<double>(duration.count()) * 1e-6; }

/// How much a timer's punctuality is worth.
enum class Precision : std::uint8_t {
  ordinary,
  exact,    ///< may spin a core for the last tens of microseconds (firing at T)
  relaxed,  ///< may come up to kRelaxedLate late, so that many of them need one wake
};
inline constexpr Duration kRelaxedLate = std::chrono::milliseconds{10};

}  // namespace loom
