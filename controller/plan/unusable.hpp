// SPDX-License-Identifier: Apache-2.0
// Unusable devices in a plan: what needs one is left out, what passes one as it is may stay, light that nobody can put out
// stays in the plan as the occupied place that it is, and the device's agent is asked nothing about it. Pure; which devices are
// unusable, and when they are of use again, is observed by the controller.
#pragma once

#include <vector>

#include "controller/plan/light/paths.hpp"
#include "core/demand.hpp"
#include "core/fabric/fabric.hpp"
#include "core/plan.hpp"
#include "core/planning.hpp"
#include "core/schedule.hpp"

namespace loom {

class UnusableDevices {
 public:
  /// `devices`: ascending, of the fabric. `base`: null = dark. `fire_skew`: PlanRequest's.
  UnusableDevices(const Fabric& fabric, const Plan* base, const std::vector<UnusableDevice>& devices, Duration fire_skew);

  bool empty() const { return devices_.empty(); }
  const UnusableDevice* find(DeviceId id) const;
  /// Their elements, ascending: no new way leads through them.
  const std::vector<ElementId>& frozen() const { return frozen_; }
  /// Those of them of which nobody knows what they hold, ascending: not even the ways of the base lead through them.
  const std::vector<ElementId>& lost() const { return lost_; }

  /// Ports of switches that follow orders: no way leads through what is not ours.
  const std::vector<OccupiedPorts>& occupied() const { return occupied_; }

  /// Takes out of the jobs' desired stages what needs an unusable device: of a job with light in the base those circuits, of
  /// any other job, and of one under grants, all of them. Light in timeslots that cannot go on as it is begins anew as a whole,
  /// without the lasers that follow no order. Ascending job.
  std::vector<LeftOut> leave_out(const Intent& intent, Schedule& schedule) const;
  /// Light of the base that `schedule` does not want any more and that nobody can put out.
  std::vector<Circuit> lingering(const Intent& intent, const Schedule& schedule) const;
  /// The lowered plan asks nothing of them: what holds is planned as it is, a laser of which no light is wanted as dark.
  void leave_alone(Plan& plan) const;

 private:
  struct Wanted;

  bool is_in_base(const Circuit& circuit) const;
  const DevicePlan* base_of(ElementId transmitter) const;
  std::vector<bool> keep_their_light(const std::vector<Wanted>& wanted, const std::vector<bool>& anew) const;
  std::vector<Wanted> wanted_of(const Intent& intent, const Schedule& schedule) const;
  bool is_laid_anew(const Intent& intent, const JobSchedule& schedule, std::size_t number,
                    const std::vector<Wanted>& wanted) const;
  bool is_away(NodeId node) const;
  std::vector<Circuit> lingering_beside(const std::vector<bool>& kept) const;
  void find_needs(const Intent& intent, const std::vector<bool>& anew, std::vector<Wanted>& wanted) const;
  void add_returns(std::vector<Wanted>& wanted) const;
  LeftOut take_out(const Intent& intent, Schedule& schedule, const std::vector<Wanted>& wanted, JobId job) const;

  const Fabric& fabric_;
  const Plan* base_;
  std::vector<UnusableDevice> devices_;
  Duration fire_skew_;
  std::vector<ElementId> frozen_;
  std::vector<ElementId> lost_;
  std::vector<OccupiedPorts> occupied_;
  std::vector<std::vector<const Circuit*>> before_;  ///< of the base, by transmitter
};

}  // namespace loom
