// SPDX-License-Identifier: Apache-2.0
// DurationHistogram: durations counted by size, as Prometheus keeps them. A plain value of a step machine: adding to it
// compares sixteen numbers and takes neither a lock nor memory, so what fires may do it.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "core/time.hpp"

namespace loom {

class DurationHistogram {
 public:
  /// Upper bounds, included. Commits take milliseconds, their agents' lateness tens of microseconds, a plan of 1024 nodes up to
  /// seconds, a WSS up to ten.
  static constexpr std::array<Duration, 16> kBounds{
      std::chrono::microseconds{10},  std::chrono::microseconds{30},   std::chrono::microseconds{100},
      std::chrono::microseconds{300}, std::chrono::milliseconds{1},    std::chrono::milliseconds{3},
      std::chrono::milliseconds{10},  std::chrono::milliseconds{25},   std::chrono::milliseconds{50},
      std::chrono::milliseconds{100}, std::chrono::milliseconds{250},  std::chrono::milliseconds{500},
      std::chrono::seconds{1},        std::chrono::milliseconds{2500}, std::chrono::seconds{5},
      std::chrono::seconds{10}};

  /// Real-time safe.
  void add(Duration duration) {
    std::size_t bucket = 0;
    while (bucket < kBounds.size() && duration > kBounds[bucket]) {
      ++bucket;
    }
    ++counts_[bucket];
    sum_ += duration;
  }
  DurationHistogram& operator+=(const DurationHistogram& other) {
    for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
      counts_[bucket] += other.counts_[bucket];
    }
    sum_ += other.sum_;
    return *this;
  }

  /// How many were longer than the bound before `bucket` and no longer than its own; the last one has none.
  std::uint64_t count(std::size_t bucket) const { return counts_[bucket]; }
  std::uint64_t count() const {
    std::uint64_t all = 0;
    for (const std::uint64_t each : counts_) {
      all += each;
    }
    return all;
  }
  Duration sum() const { return sum_; }

 private:
  std::array<std::uint64_t, kBounds.size() + 1> counts_{};
  Duration sum_{};
};

}  // namespace loom
