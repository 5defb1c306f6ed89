// SPDX-License-Identifier: Apache-2.0
// Playback: where one device is in its timeslots: a cursor over edges whose instants are all counted from `start`, so that
// nothing drifts however late a step is. Pure: it moves no device and sets no timer. Real-time safe but for the constructor.
#pragma once

#include <cstdint>
#include <memory>

#include "core/plan.hpp"
#include "core/time.hpp"

namespace loom {

class Playback {
 public:
  /// Precondition: the plan passed check_node_plan, `device` is in it.
  Playback(std::shared_ptr<const NodePlan> plan, const DevicePlan& device, Instant start);

  enum class Edge : std::uint8_t {
    place,  ///< the timeslot begins: move in the dark
    light,  ///< its guard is over: emit, if settled
    blank,  ///< its hold is over: dark
    over,   ///< all passes were played
  };
  Edge edge() const { return edge_; }
  /// When the edge is; kNever when over.
  Instant at() const;
  /// The timeslot that the edge belongs to. Precondition: not over.
  const TimedSetpoint& slot() const { return device_->timeline[entry_]; }
  Instant slot_end() const;
  bool in_first_slot() const { return pass_ == 0 && entry_ == 0; }

  /// To the next edge.
  void next_edge();
  /// To the first edge of the next timeslot.
  void next_slot();
  /// At the first edge of a pass: leaves out the whole passes that have gone by. Returns the emitting timeslots among them.
  std::uint64_t catch_up(Instant now);

 private:
  std::uint64_t passes_left() const;

  std::shared_ptr<const NodePlan> plan_;
  const DevicePlan* device_;
  Instant pass_start_;
  std::uint64_t passes_;  ///< 0: for ever
  std::uint64_t pass_ = 0;
  std::size_t entry_ = 0;
  Edge edge_ = Edge::place;
};

}  // namespace loom
