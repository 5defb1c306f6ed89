// SPDX-License-Identifier: Apache-2.0
// One training iteration's clock: compute runs on, collectives start when their data is ready and their ranks are free, and
// compute stalls where it needs what has not come. Symmetric ranks: all of them stall alike.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "controller/predict/node_lane.hpp"
#include "core/demand.hpp"

namespace loom {

class IterationClock {
 public:
  /// Rank by rank bookkeeping only if some collective does not take part of all ranks.
  IterationClock(Duration compute, std::uint32_t node_count)
      : compute_ns_(static_cast<double>(compute.count())), nodes_(node_count) {}

  /// Earliest start, ns since the iteration's start. Collectives are asked in issue order: none overtakes another.
  double start_of(const Collective& collective);
  void finish(const Collective& collective, double finish_ns);
  /// Compute done, and every collective.
  double end();
  /// When compute ran on, with what stalled it until now; in order of time.
  std::vector<LaneInterval> computes() const;

 private:
  struct Stall {
    double needed = 0;
    double amount = 0;
    bool operator>(const Stall& other) const { return needed > other.needed; }
  };

  double ready_ns(const Collective& collective) const;
  /// When the compute that takes `position` ns without stalls is done. What is needed just there does not count yet: groups
  /// whose collectives are ready at one instant go side by side.
  double wall(double position);

  double compute_ns_;
  std::uint32_t nodes_;
  double last_ready_ = 0;
  double stall_ = 0;
  double last_finish_ = 0;
  double all_free_ = 0;            ///< no rank is free earlier
  std::vector<double> rank_free_;  ///< empty until a collective of some ranks comes
  std::priority_queue<Stall, std::vector<Stall>, std::greater<>> stalls_;
  std::vector<Stall> all_stalls_;
};

}  // namespace loom
