// SPDX-License-Identifier: Apache-2.0
// BasePlan: what the plan in light says, looked up by device, transmitter and element, for whoever lowers the next one.
#pragma once

#include <optional>
#include <vector>

#include "controller/plan/light/paths.hpp"
#include "core/fabric/fabric.hpp"
#include "core/plan.hpp"

namespace loom {

class BasePlan {
 public:
  /// `plan`: null for a dark fabric. `lost`: elements, ascending, that do not hold what it says.
  BasePlan(const Fabric& fabric, const Plan* plan, const std::vector<ElementId>& lost);

  const DevicePlan* device(DeviceId id) const { return devices_[id.value]; }
  const NodePlan* node(NodeId id) const { return plan_ == nullptr ? nullptr : &plan_->nodes[id.value]; }
  /// Ascending id, which is the order of their timeslots.
  const std::vector<const Circuit*>& circuits(ElementId transmitter) const { return circuits_[transmitter.value]; }
  const Positions& positions() const { return positions_; }
  /// By element; nothing: the ring is parked, or it is none.
  const std::vector<std::optional<Frequency>>& resonances() const { return resonances_; }

 private:
  void read(const Device& device, const Setpoint& setpoint);

  const Plan* plan_;
  Positions positions_;
  std::vector<std::optional<Frequency>> resonances_;
  std::vector<const DevicePlan*> devices_;
  std::vector<std::vector<const Circuit*>> circuits_;
};

}  // namespace loom
