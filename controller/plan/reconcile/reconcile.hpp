// SPDX-License-Identifier: Apache-2.0
// Reconcile: desired x observed -> in which way each device differs, the sentence that says so, and what a repair has to touch
// (a repair is again a commit). Pure; never decides when, and never sends anything.
#pragma once

#include <string>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/messages/report.hpp"
#include "core/observation.hpp"
#include "core/plan.hpp"
#include "core/ring/ring.hpp"

namespace loom {

struct ReconcileLimits {
  Duration stale_after = std::chrono::seconds{10};
  FrequencyOffset detuned_beyond{2'500};  ///< ITLA-MSA end-of-life frequency accuracy, +-2.5 GHz
  Db dim_beyond{300};
  std::int64_t ring_width_parts = kRingWidthParts;  ///< a ring is detuned when it is further off than its width / this
};

struct DeviceDrift {
  DeviceId device;
  Drift drift = Drift::none;
  bool operator==(const DeviceDrift&) const = default;
};

struct Reconciliation {
  std::vector<DeviceDrift> devices;  ///< ascending; every device of the plan
  DriftCounts counts;
};

/// One device. `seen` null: never reported, which is stale; so is a device that gave up and whose last reading still agrees. A
/// device in several ways of drift has the first of foreign, missing, detuned, dim: light that nobody asked for is the most
/// harmful. Lasers that play timeslots agree with any of their entries.
Drift drift_of(const Fabric& fabric, const DevicePlan& plan, const Observation* seen, Instant now,
               const ReconcileLimits& limits);

/// One sentence: the device, what is desired, what was observed, how old that is, and the limit that it broke.
std::string evidence_of(const Fabric& fabric, const DevicePlan& plan, const Observation* seen, Drift drift, Instant now,
                        const ReconcileLimits& limits);

/// All devices of the plan at once; `observations`: the latest of each device, in any order.
Reconciliation reconcile(const Fabric& fabric, const Plan& desired, const std::vector<Observation>& observations, Instant now,
                         const ReconcileLimits& limits = {});

void add(DriftCounts& counts, Drift drift);
void remove(DriftCounts& counts, Drift drift);

/// What a commit has to touch so that devices come back to what is desired of them. Everything else keeps its light.
struct RepairScope {
  std::vector<NodeId> nodes;       ///< ascending: agents that take part
  std::vector<DeviceId> devices;   ///< ascending: the drifted ones, and lasers whose light must not see them move
  std::vector<DeviceId> steering;  ///< ascending: those of `devices` that steer light of other agents
};

/// `drifted`: ascending devices of `desired`; `observations` by device, null where nothing is known. Light that may meet what
/// differs of a drifted switch or ring, light that was observed among it, goes dark with it; a transmitter that plays timeslots
/// takes its whole job with it, since timeslots count from one relight. `restored`: agents that lost their plan, whose devices
/// are as desired.
RepairScope repair_scope(const Fabric& fabric, const Plan& desired, const std::vector<DeviceId>& drifted,
                         const std::vector<const Observation*>& observations, const std::vector<NodeId>& restored);

}  // namespace loom
