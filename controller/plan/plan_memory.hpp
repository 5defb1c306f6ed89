// SPDX-License-Identifier: Apache-2.0
// PlanMemory: what a planner has found out about its fabric, and about the plan before, and need not find out again. A plan is
// the same without it.
#pragma once

#include <cstdint>
#include <memory>

#include "controller/plan/light/way_index.hpp"
#include "controller/plan/lower/lower_memory.hpp"
#include "controller/plan/verify/light_order.hpp"
#include "controller/plan/verify/verify_memory.hpp"
#include "core/fabric/fabric.hpp"

namespace loom {

/// Of one thread, and of the fabric that was planned on last.
class PlanMemory {
 public:
  PlanMemory() = default;
  /// Of whoever plans once: of the plan nothing is kept.
  static PlanMemory of_one_plan() {
    PlanMemory memory;
    memory.keeps_plans_ = false;
    return memory;
  }
  /// For plans that are only tried, between two that are made: what is known of the fabric.
  PlanMemory for_trials() const {
    PlanMemory memory = of_one_plan();
    memory.fabric_ = fabric_;
    memory.ways_ = ways_;
    memory.order_ = order_;
    return memory;
  }
  void learn(const std::shared_ptr<const Fabric>& fabric) {
    if (fabric_ != fabric) {
      lowered_.forget();
      verified_.forget();
      fabric_ = fabric;
      ways_ = std::make_shared<const WayIndex>(*fabric);
      order_ = std::make_shared<const LightOrder>(*fabric);
    }
  }
  /// Of the plans that were made: how many were lowered, and judged, only where they differ from the one before.
  std::uint64_t lowered_again() const { return lowered_.told(); }
  std::uint64_t verified_again() const { return verified_.told(); }
  /// Precondition: learn().
  const std::shared_ptr<const WayIndex>& ways() const { return ways_; }
  Result<Lowered> lower(const LowerRequest& request) { return keeps_plans_ ? lowered_.lower(request) : loom::lower(request); }
  Verdict examine(const Plan& plan, const Plan* base, const Intent& intent, const std::vector<ObservedLight>& occupied) {
    return keeps_plans_ ? verified_.examine(*fabric_, *order_, plan, base, intent, occupied)
                        : loom::examine(*fabric_, *order_, plan, base, intent, occupied);
  }

 private:
  std::shared_ptr<const Fabric> fabric_;
  std::shared_ptr<const WayIndex> ways_;
  std::shared_ptr<const LightOrder> order_;
  LowerMemory lowered_;
  VerifyMemory verified_;
  bool keeps_plans_ = true;
};

}  // namespace loom
