// SPDX-License-Identifier: Apache-2.0
// Readiness, stalls and ranks that are busy.
#include "controller/predict/iteration_clock.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace loom {

double IterationClock::ready_ns(const Collective& collective) const {
  return std::min(static_cast<double>(collective.ready.count()), compute_ns_);
}

double IterationClock::wall(double position) {
  while (!stalls_.empty() && stalls_.top().needed < position) {
    stall_ = std::max(stall_, stalls_.top().amount);
    stalls_.pop();
  }
  return position + stall_;
}

double IterationClock::start_of(const Collective& collective) {
  last_ready_ = std::max(last_ready_, ready_ns(collective));
  double start = wall(last_ready_);
  if (collective.ranks.empty()) {
    start = std::max(start, all_free_);
    for (const double free : rank_free_) {
      start = std::max(start, free);
    }
    return start;
  }
  start = std::max(start, all_free_);
  if (!rank_free_.empty()) {
    for (const std::uint32_t rank : collective.ranks) {
      start = std::max(start, rank_free_[rank]);
    }
  }
  return start;
}

void IterationClock::finish(const Collective& collective, double finish_ns) {
  last_finish_ = std::max(last_finish_, finish_ns);
  if (collective.ranks.empty()) {
    all_free_ = finish_ns;
    rank_free_.clear();
  } else {
    rank_free_.resize(nodes_, all_free_);
    for (const std::uint32_t rank : collective.ranks) {
      rank_free_[rank] = finish_ns;
    }
  }
  if (collective.needed < kForever) {
    const double needed = std::max(static_cast<double>(collective.needed.count()), ready_ns(collective));
    if (needed <= compute_ns_) {
      stalls_.push({needed, finish_ns - needed});
      all_stalls_.push_back({needed, finish_ns - needed});
    }
  }
}

std::vector<LaneInterval> IterationClock::computes() const {
  std::vector<Stall> stalls = all_stalls_;
  std::ranges::sort(stalls, {}, &Stall::needed);
  std::vector<LaneInterval> intervals;
  double position = 0;
  double stalled = 0;
  for (const Stall& stall : stalls) {  // as wall() says it of every position
    if (stall.amount > stalled) {
      intervals.push_back({position + stalled, stall.needed + stalled});
      position = stall.needed;
      stalled = stall.amount;
    }
  }
  intervals.push_back({position + stalled, compute_ns_ + stalled});
  return intervals;
}

double IterationClock::end() {
  return std::max(wall(std::nextafter(compute_ns_, std::numeric_limits<double>::infinity())), last_finish_);
}

}  // namespace loom
