// SPDX-License-Identifier: Apache-2.0
// TimerQueue: tasks by their instants, earliest first, in the order of their numbers where instants are equal. Only those of
// the next fraction of a second are kept in order; what is further off rests in unsorted buckets until its turn, so a process
// whose thousands of devices all have a timer some seconds off pays for few of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "core/time.hpp"

namespace loom {

class TimerQueue {
 public:
  struct Entry {
    Instant at;
    std::uint64_t number = 0;  ///< order of arrival
    std::function<void()> task;
  };
  static bool later(const Entry& a, const Entry& b) { return a.at != b.at ? a.at > b.at : a.number > b.number; }

  bool empty() const { return near_.empty(); }
  /// Precondition: not empty.
  const Entry& front() const { return near_.front(); }
  void push(Entry entry) {
    if (const std::int64_t bucket = bucket_of(entry.at); bucket >= near_end_) {
      far_[bucket].push_back(std::move(entry));
      return refill();
    }
    near_.push_back(std::move(entry));
    std::push_heap(near_.begin(), near_.end(), later);
  }
  /// Precondition: not empty.
  Entry pop() {
    std::pop_heap(near_.begin(), near_.end(), later);
    Entry entry = std::move(near_.back());
    near_.pop_back();
    refill();
    return entry;
  }

 private:
  static constexpr int kBucketBits = 25;  ///< of nanoseconds: 34 ms [K]
  static std::int64_t bucket_of(Instant at) { return ns_of(at) >> kBucketBits; }

  void refill() {
    if (!near_.empty() || far_.empty()) {
      return;
    }
    const auto next = far_.begin();
    near_end_ = next->first + 1;
    near_ = std::move(next->second);
    far_.erase(next);
    std::make_heap(near_.begin(), near_.end(), later);
  }

  std::vector<Entry> near_;                         ///< a heap; empty only if everything is
  std::map<std::int64_t, std::vector<Entry>> far_;  ///< by bucket, all of them from `near_end_` on
  std::int64_t near_end_ = INT64_MIN;               ///< first bucket that is not in near_
};

}  // namespace loom
