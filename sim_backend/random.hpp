// SPDX-License-Identifier: Apache-2.0
// Random: the one generator of the simulation (xoshiro256**, Blackman and Vigna 2018, seeded by SplitMix64), with its own
// distributions, so that a seed means the same under every compiler. It never seeds itself. One draw a statement: compilers
// evaluate arguments in different orders.
#pragma once

#include <array>
#include <cstdint>

#include "core/result.hpp"
#include "core/time.hpp"

namespace loom {

class Random {
 public:
  explicit Random(std::uint64_t seed) {
    for (std::uint64_t& word : state_) {
      word = split_mix(seed);
    }
  }

  std::uint64_t next() {
    const std::uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const std::uint64_t carried = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= carried;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  /// Uniform in 0..bound-1. Multiply-shift (Lemire 2019) without rejection: the bias is below 2^-32 for bounds below 2^32.
  std::uint32_t below(std::uint32_t bound) {
    LOOM_ASSERT(bound > 0);
    return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
  }

  /// Uniform in min..max, both included. Precondition: max - min < 2^31 ns times 2 (four seconds); beyond, the grain coarsens.
  Duration between(Duration min, Duration max) {
    LOOM_ASSERT(min <= max);
    const auto span = static_cast<std::uint64_t>((max - min).count());
    if (span < 0xffff'ffffULL) {
      return min + Duration{below(static_cast<std::uint32_t>(span) + 1)};
    }
    const std::uint64_t grain = span / 0xffff'ffffULL + 1;
    return min + Duration{static_cast<std::int64_t>(grain * below(static_cast<std::uint32_t>(span / grain) + 1))};
  }

  /// True `per_million` times in a million. Draws even when the answer is certain, so that one probability never shifts
  /// the draws of another.
  bool chance(std::uint32_t per_million) { return below(1'000'000) < per_million; }

  /// A generator of its own for one part of the world, so that its draws never depend on another part's.
  static Random of_part(std::uint64_t seed, std::uint64_t part) {
    std::uint64_t mixed = seed ^ (part * 0xd1342543de82ef95ULL);
    const std::uint64_t first = split_mix(mixed);
    return Random{first ^ part};
  }

 private:
  static std::uint64_t rotate(std::uint64_t word, int bits) { return (word << bits) | (word >> (64 - bits)); }
  static std::uint64_t split_mix(std::uint64_t& state) {
    state += 0x9e3779b97f4a7c15ULL;
    std::uint64_t word = state;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ULL;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebULL;
    return word ^ (word >> 31);
  }

  std::array<std::uint64_t, 4> state_{};
};

}  // namespace loom
