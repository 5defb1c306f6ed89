// SPDX-License-Identifier: Apache-2.0
// Random lawful values of everything that the wire carries, from a seed. Every field gets a value, so that a field which the
// codec forgets cannot compare equal.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/journal/journal.hpp"
#include "core/limits.hpp"
#include "core/message.hpp"

namespace loom::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t word() {  // splitmix64, public domain, Vigna 2015
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  std::int64_t between(std::int64_t min, std::int64_t max) {
    return min + static_cast<std::int64_t>(word() % (static_cast<std::uint64_t>(max - min) + 1));
  }
  template <class Integer>
  Integer number(std::int64_t min, std::int64_t max) {
    return static_cast<Integer>(between(min, max));
  }
  bool coin() { return word() % 2 == 0; }
  template <class Enum>
  Enum any(Enum last) {
    return static_cast<Enum>(between(0, static_cast<std::int64_t>(last)));
  }

 private:
  std::uint64_t state_;
};

Body random_body(Random& random, std::size_t alternative);
/// A lawful envelope with alternative `alternative` of Body.
Envelope random_envelope(Random& random, std::size_t alternative);
Record random_record(Random& random, std::size_t alternative);

/// Plans have no operator==: a commit never asks whether two are equal.
bool equal(const Record& a, const Record& b);

}  // namespace loom::test
