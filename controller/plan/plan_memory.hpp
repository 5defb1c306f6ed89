// SPDX-License-Identifier: Apache-2.0
// PlanMemory: what a planner has found out about its fabric and need not find out again. A plan is the same without it.
#pragma once

#include <memory>

#include "controller/plan/light/way_index.hpp"
#include "controller/plan/verify/light_order.hpp"
#include "core/fabric/fabric.hpp"

namespace loom {

/// Of one thread, and of the fabric that was planned on last.
class PlanMemory {
 public:
  void learn(const std::shared_ptr<const Fabric>& fabric) {
    if (fabric_ != fabric) {
      fabric_ = fabric;
      ways_ = std::make_shared<const WayIndex>(*fabric);
      order_ = std::make_shared<const LightOrder>(*fabric);
    }
  }
  /// Precondition: learn().
  const std::shared_ptr<const WayIndex>& ways() const { return ways_; }
  const LightOrder& order() const { return *order_; }

 private:
  std::shared_ptr<const Fabric> fabric_;
  std::shared_ptr<const WayIndex> ways_;
  std::shared_ptr<const LightOrder> order_;
};

}  // namespace loom
