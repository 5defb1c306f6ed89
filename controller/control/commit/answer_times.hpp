// SPDX-License-Identifier: Apache-2.0
// AnswerTimes: how long the slowest of so many agents takes to answer, and how many messages are lost, as the controller's own
// commits measured it: what T must leave room for. Safety never rests on it: an agent that is too late returns the commit. It
// measures and decides nothing else, and forgets with its incarnation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/time.hpp"

namespace loom {

class AnswerTimes {
 public:
  /// Of a stage that asked `asked` agents for what moves no light, the slowest answer to a request that was not repeated: of a
  /// repeated one nobody knows which copy was answered (Karn's rule, RFC 6298 section 3).
  void add(std::size_t asked, Duration slowest);
  /// A bound of the next slowest answer of as many: the smoothed measure and four times its deviation (RFC 6298 section 2.3),
  /// at least kAnswerFloor. Where only fewer agents were measured, as many times that as there are more. Nothing: too few were
  /// measured.
  std::optional<Duration> bound(std::size_t asked) const;

  /// So many requests had an answer in the end, of which so many had to be repeated.
  void count(std::uint64_t requests, std::uint64_t repeated);
  /// How many losses in a row must be left room for, so that of a hundred stages of `asked` agents one at most ends late for
  /// lost messages; `most` where losses are many, or little is known. At least 1.
  std::uint32_t repeats(std::size_t asked, std::uint32_t most) const;

 private:
  /// By the power of two of the number that was asked: the slowest of many is slower than that of few.
  struct Estimate {
    bool is_known = false;
    Duration smoothed{};
    Duration deviation{};
  };
  static constexpr std::size_t kClasses = 32;
  static std::size_t class_of(std::size_t asked);

  std::array<Estimate, kClasses> estimates_{};
  std::uint64_t requests_ = 0;  ///< both halved from time to time, so that what was long ago counts less
  std::uint64_t repeated_ = 0;
};

/// What nobody waits less for: timers and schedulers of a stock kernel [K].
inline constexpr Duration kAnswerFloor = std::chrono::milliseconds{2};

}  // namespace loom
