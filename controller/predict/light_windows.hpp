// SPDX-License-Identifier: Apache-2.0
// A LightTimeline indexed by pair, in nanoseconds from a chosen origin, and how bytes get through its windows: a transfer
// waits in the dark, and goes on in the next window with what is left.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/fabric/light.hpp"

namespace loom {

struct Window {
  double begin = 0;
  double end = 0;  ///< infinity: lit for ever
  double ns_per_byte = 0;
};

inline constexpr double kNoLightEver = std::numeric_limits<double>::infinity();

/// One pair's windows, and when its next transfer may begin.
struct WindowLane {
  const Window* next = nullptr;
  const Window* last = nullptr;  ///< one past the end
  double free = 0;
  double waited = 0;  ///< in the dark, with bytes to send

  /// When the last of `bytes`, ready at `ready`, has left; kNoLightEver when the windows do not suffice. Zero bytes need light
  /// too. Amortised O(1): a lane only moves forward.
  double move(double ready, double bytes) {
    double at = ready < free ? free : ready;
    for (;;) {
      while (next != last && next->end <= at) {
        ++next;
      }
      if (next == last) {
        return free = kNoLightEver;
      }
      if (at < next->begin) {
        waited += next->begin - at;
        at = next->begin;
      }
      const double done = at + bytes * next->ns_per_byte;
      if (done <= next->end + kRoundingNs) {
        return free = done;
      }
      bytes -= (next->end - at) / next->ns_per_byte;
      at = next->end;
    }
  }

  /// Windows are whole nanoseconds; a transfer that fills one exactly must not spill by a rounding error.
  static constexpr double kRoundingNs = 0.5;
};

class LightWindows {
 public:
  /// Windows of no length or rate are dropped; where several of a pair overlap (it has several wavelengths), their rates add;
  /// touching ones of equal rate are joined.
  LightWindows(const LightTimeline& light, Instant origin);

  /// The windows from `source` to `destination` in order of time; empty when it never was lit. O(log pairs).
  std::span<const Window> between(NodeId source, NodeId destination) const;
  WindowLane lane(NodeId source, NodeId destination, double free) const;

 private:
  struct Pair {
    std::uint64_t key = 0;
    std::size_t first = 0;
    std::size_t count = 0;
  };

  void add(std::uint64_t key, Window window);

  std::vector<Window> windows_;
  std::vector<Pair> pairs_;  ///< ascending key
};

}  // namespace loom
