// Reconcile: desired x observed -> in which way each device differs, and whose agents need a repair (which is again a commit).
// Pure; never decides when, and never sends anything.
#pragma once

#include <vector>

#include "core/fabric.hpp"
#include "core/observation.hpp"
#include "core/plan.hpp"
#include "core/report.hpp"

namespace loom {

struct ReconcileLimits {
  Duration stale_after = std::chrono::seconds{10};
  FrequencyOffset detuned_beyond{2'500};  ///< ITLA-MSA end-of-life frequency accuracy, +-2.5 GHz
  Db dim_beyond{300};
  double ring_volt_tolerance = 0.05;  ///< fraction of the wanted heater voltage that is still in tune
};

struct DeviceDrift {
  DeviceId device;
  Drift drift = Drift::none;
  bool operator==(const DeviceDrift&) const = default;
};

struct Reconciliation {
  std::vector<DeviceDrift> devices;  ///< ascending; every device of the fabric
  DriftCounts counts;
  std::vector<NodeId> repair;  ///< ascending; agents with a drift other than stale (a stale device is asked first)
};

/// `observations`: the latest of each device, in any order; a device without one is stale. A device in several ways of drift
/// has the first of foreign, missing, detuned, dim: light that nobody asked for is the most harmful. Lasers that play timeslots
/// agree with any of their entries.
Reconciliation reconcile(const Fabric& fabric, const Plan& desired, const std::vector<Observation>& observations, Instant now,
                         const ReconcileLimits& limits = {});

}  // namespace loom
