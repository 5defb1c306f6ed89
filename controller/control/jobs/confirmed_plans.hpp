// SPDX-License-Identifier: Apache-2.0
// ConfirmedPlans: the plan whose light is confirmed. It is told what was confirmed and never judges whether the light is so.
// Earlier revisions that an operator may go back to stand in the journal's state (JournalQueue).
#pragma once

#include <memory>
#include <utility>

#include "core/journal/journal.hpp"
#include "core/planning.hpp"

namespace loom {

class ConfirmedPlans {
 public:
  /// Of the plan in light; 0: nothing was ever confirmed.
  Revision revision() const { return present_ == nullptr ? Revision{} : present_->plan.revision; }
  /// Null: nothing was ever confirmed.
  const std::shared_ptr<const PlanResult>& present() const { return present_; }
  bool exists() const { return present_ != nullptr; }
  /// Precondition: exists().
  const Plan& plan() const { return present_->plan; }
  const Intent& intent() const { return present_->intent; }
  /// Some of what its intent asks for comes or goes with another plan, which follows (JobSchedule::waiting).
  bool is_followed() const;
  /// What the next plan is one step from; null: a dark fabric.
  std::shared_ptr<const Plan> base() const;
  /// Of the job in it; null: it has none.
  const JobSchedule* schedule_of(JobId job) const;
  /// The device's share; null: it has none. Precondition: exists().
  const DevicePlan* desired_of(const Fabric& fabric, DeviceId device) const;
  bool has_light_at(NodeId node) const { return exists() && !plan().nodes[node.value].ends.empty(); }
  /// Its own light, or that of others through what its agent drives.
  bool needs(NodeId node) const;

  /// Where it has the lasers off: the light that jobs had, or were to have, in the stages that they are in. Null: they are on.
  const std::shared_ptr<const std::vector<Circuit>>& darkened() const { return darkened_; }
  /// Devices of which it asked nothing, since they followed no order; ascending.
  const std::vector<DeviceId>& left_alone() const { return left_alone_; }

  void confirm(std::shared_ptr<const PlanResult> confirmed);
  /// What was found in the journal, which keeps plans and no schedules.
  void restore(const SnapshotRecord& state);

 private:
  std::shared_ptr<const PlanResult> present_;
  std::shared_ptr<const std::vector<Circuit>> darkened_;
  std::vector<DeviceId> left_alone_;  ///< of it: few, if any, among all devices
};

}  // namespace loom
