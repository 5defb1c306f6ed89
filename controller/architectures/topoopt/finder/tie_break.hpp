// SPDX-License-Identifier: Apache-2.0
// Ties broken by seed: a number that looks random and depends on nothing but what is given. No state, no generator.
#pragma once

#include <cstdint>

namespace loom {

/// Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014 (the mixer of SplitMix64).
constexpr std::uint64_t scatter(std::uint64_t seed, std::uint64_t item) {
  std::uint64_t word = seed + (item + 1) * 0x9e3779b97f4a7c15ULL;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ULL;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebULL;
  return word ^ (word >> 31);
}

/// A number below `count`, which is not 0.
constexpr std::uint32_t pick(std::uint64_t seed, std::uint64_t item, std::uint32_t count) {
  return static_cast<std::uint32_t>((scatter(seed, item) >> 32) * count >> 32);
}

}  // namespace loom
