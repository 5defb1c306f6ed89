// SPDX-License-Identifier: Apache-2.0
// A 4-ary heap of (instant, sequence). It never moves a task once it is stored.
#include "sim_backend/world/virtual_loop.hpp"

#include <algorithm>
#include <utility>

namespace loom {
namespace {

constexpr std::size_t kArity = 4;

}  // namespace

void VirtualLoop::call_at(Instant at, Precision, std::function<void()> task) {
  std::uint32_t place = 0;
  if (free_places_.empty()) {
    place = static_cast<std::uint32_t>(tasks_.size());
    tasks_.push_back(std::move(task));
  } else {
    place = free_places_.back();
    free_places_.pop_back();
    tasks_[place] = std::move(task);
  }
  heap_.push_back({std::max(at, now_), sequence_++, place});
  sift_up(heap_.size() - 1);
}

bool VirtualLoop::run_next(Instant end) {
  if (heap_.empty() || heap_.front().at > end) {
    return false;
  }
  const Key key = heap_.front();
  heap_.front() = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) {
    sift_down(0);
  }
  now_ = key.at;
  ++tasks_run_;
  const std::function<void()> task = std::exchange(tasks_[key.place], nullptr);
  free_places_.push_back(key.place);
  task();
  return true;
}

void VirtualLoop::run_until(Instant end) {
  while (run_next(end)) {
  }
  now_ = std::max(now_, end);
}

void VirtualLoop::sift_up(std::size_t index) {
  const Key key = heap_[index];
  while (index > 0) {
    const std::size_t parent = (index - 1) / kArity;
    if (!(key < heap_[parent])) {
      break;
    }
    heap_[index] = heap_[parent];
    index = parent;
  }
  heap_[index] = key;
}

void VirtualLoop::sift_down(std::size_t index) {
  const Key key = heap_[index];
  for (;;) {
    const std::size_t first = index * kArity + 1;
    if (first >= heap_.size()) {
      break;
    }
    const std::size_t last = std::min(first + kArity, heap_.size());
    std::size_t least = first;
    for (std::size_t child = first + 1; child < last; ++child) {
      if (heap_[child] < heap_[least]) {
        least = child;
      }
    }
    if (!(heap_[least] < key)) {
      break;
    }
    heap_[index] = heap_[least];
    index = least;
  }
  heap_[index] = key;
}

}  // namespace loom
