// SPDX-License-Identifier: Apache-2.0
// Edges of timeslots, by addition only.
#include "agents/commit/timeline.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "agents/commit/deadline.hpp"

namespace loom {

Playback::Playback(std::shared_ptr<const NodePlan> plan, const DevicePlan& device, Instant start)
    : plan_(std::move(plan)),
      device_(&device),
      pass_start_(start),
      passes_(plan_->cycle > Duration::zero() ? plan_->cycles : 1) {}

Instant Playback::at() const {
  if (edge_ == Edge::over) {
    return kNever;
  }
  const Instant begin = later(pass_start_, slot().offset);
  if (edge_ == Edge::place) {
    return begin;
  }
  return edge_ == Edge::light ? later(begin, slot().guard) : slot_end();
}

Instant Playback::slot_end() const { return later(later(later(pass_start_, slot().offset), slot().guard), slot().hold); }

void Playback::next_edge() {
  switch (edge_) {
    case Edge::place:
      edge_ = Edge::light;
      break;
    case Edge::light:
      edge_ = Edge::blank;
      break;
    case Edge::blank:
      next_slot();
      break;
    case Edge::over:
      break;
  }
}

void Playback::next_slot() {
  edge_ = Edge::place;
  if (++entry_ < device_->timeline.size()) {
    return;
  }
  entry_ = 0;
  ++pass_;
  pass_start_ = later(pass_start_, plan_->cycle);
  if (passes_left() == 0) {
    edge_ = Edge::over;
  }
}

std::uint64_t Playback::passes_left() const {
  return passes_ == 0 ? std::numeric_limits<std::uint64_t>::max() : passes_ - std::min(pass_, passes_);
}

std::uint64_t Playback::catch_up(Instant now) {
  if (edge_ != Edge::place || entry_ != 0 || plan_->cycle <= Duration::zero() || now < pass_start_) {
    return 0;
  }
  const auto gone_by = static_cast<std::uint64_t>(between(pass_start_, now) / plan_->cycle);
  const std::uint64_t skipped = std::min(gone_by, passes_left());
  pass_ += skipped;
  pass_start_ = later(pass_start_, plan_->cycle * static_cast<std::int64_t>(skipped));
  if (passes_left() == 0) {
    edge_ = Edge::over;
  }
  const auto emitting = std::count_if(device_->timeline.begin(), device_->timeline.end(),
                                      [](const TimedSetpoint& entry) { return emits(entry.setpoint); });
  return skipped * static_cast<std::uint64_t>(emitting);
}

}  // namespace loom
