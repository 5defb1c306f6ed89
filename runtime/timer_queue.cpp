// SPDX-License-Identifier: Apache-2.0
// A heap of the present bucket.
#include "runtime/timer_queue.hpp"

#include <algorithm>
#include <utility>

namespace loom {
namespace {

constexpr int kBucketBits = 25;  ///< of nanoseconds: 34 ms [K]

std::int64_t bucket_of(Instant at) { return ns_of(at) >> kBucketBits; }

}  // namespace

void TimerQueue::push(Entry entry) {
  if (const std::int64_t bucket = bucket_of(entry.at); bucket >= near_end_) {
    far_[bucket].push_back(std::move(entry));
    return refill();
  }
  near_.push_back(std::move(entry));
  std::push_heap(near_.begin(), near_.end(), later);
}

TimerQueue::Entry TimerQueue::pop() {
  std::pop_heap(near_.begin(), near_.end(), later);
  Entry entry = std::move(near_.back());
  near_.pop_back();
  refill();
  return entry;
}

void TimerQueue::refill() {
  if (!near_.empty() || far_.empty()) {
    return;
  }
  const auto next = far_.begin();
  near_end_ = next->first + 1;
  near_ = std::move(next->second);
  far_.erase(next);
  std::make_heap(near_.begin(), near_.end(), later);
}

}  // namespace loom
