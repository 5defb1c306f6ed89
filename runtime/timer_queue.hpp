// SPDX-License-Identifier: Apache-2.0
// TimerQueue: tasks by their instants, earliest first, in the order of their numbers where instants are equal. Only those of
// the next fraction of a second are kept in order; what is further off rests in unsorted buckets until its turn, so a process
// whose thousands of devices all have a timer some seconds off pays for few of them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
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
  void push(Entry entry);
  /// Precondition: not empty.
  Entry pop();

 private:
  void refill();

  std::vector<Entry> near_;                         ///< a heap; empty only if everything is
  std::map<std::int64_t, std::vector<Entry>> far_;  ///< by bucket, all of them from `near_end_` on
  std::int64_t near_end_ = INT64_MIN;               ///< first bucket that is not in near_
};

}  // namespace loom
