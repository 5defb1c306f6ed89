// SPDX-License-Identifier: Apache-2.0
// UncertainState: what a commit that failed after its arming may have left behind: whose light, and which devices that steer it
// nobody can vouch for until a commit with them is confirmed. It widens the next plan to them; it decides nothing about when.
#pragma once

#include <memory>
#include <vector>

#include "controller/plan/reconcile/reconcile.hpp"
#include "controller/plan/steering.hpp"
#include "core/fabric/fabric.hpp"
#include "core/planning.hpp"

namespace loom {

class UncertainState {
 public:
  bool empty() const { return scope_.nodes.empty(); }
  /// Agents, the devices that were touched, and what steers among them; all ascending.
  const RepairScope& scope() const { return scope_; }
  bool has_node(NodeId node) const;
  bool has_device(DeviceId device) const;

  /// The plans that went and were not confirmed: devices may be where any of them wants them, or on the way.
  const std::vector<std::shared_ptr<const Plan>>& plans() const { return plans_; }

  /// Everything that a commit of this plan touches.
  void add(std::shared_ptr<const Plan> plan);
  void add(const RepairScope& more);
  void clear();

  /// What the agent's devices that steer hold now is not what their last report says: their power may have gone in the middle.
  /// They shall be read after `since`.
  void distrust_steering(const Fabric& fabric, NodeId node, Instant since);
  /// The same of one device.
  void distrust(DeviceId device, Instant since);
  Instant unread_since() const { return since_; }
  const std::vector<DeviceId>& unread() const { return unread_; }
  void forget_unread() { unread_.clear(); }

 private:
  RepairScope scope_;
  std::vector<std::shared_ptr<const Plan>> plans_;
  std::vector<DeviceId> unread_;  ///< of an agent that failed: what they hold must be read after `since_`
  Instant since_{};
};

void merge_scope(RepairScope& into, const RepairScope& more);
/// Ascending lists.
void merge_sorted(std::vector<DeviceId>& into, const std::vector<DeviceId>& more);

/// A plan made against the confirmed one, widened to two scopes: their agents take part, what they touch goes dark again, and
/// what steers there is waited for. What is `known` of the fabric says from where it moves, and which light that may meet.
/// `lacks_plan`, by node: it holds nothing of the confirmed plan.
std::shared_ptr<const PlanResult> widened(std::shared_ptr<const PlanResult> plan, const Fabric& fabric,
                                          const RepairScope& uncertain, const RepairScope& repaired, const KnownState& known,
                                          const std::vector<bool>& lacks_plan);

}  // namespace loom
