// SPDX-License-Identifier: Apache-2.0
// MonitorDrift: drift as monitors have it: a laser by its measured frequency, a monitor or a
// switch that measures its ports by the light that does not come to it. It remembers since when light is missing, and raises
// and repairs nothing.
#pragma once

#include <map>

#include "controller/control/agent_sessions.hpp"
#include "controller/control/facts.hpp"
#include "controller/control/watch/light_watch.hpp"
#include "controller/plan/reconcile/reconcile.hpp"
#include "core/alarm.hpp"

namespace loom {

class MonitorDrift {
 public:
  MonitorDrift(const ControllerFacts& facts, const AgentSessions& sessions, const LightWatch& light)
      : facts_(facts), sessions_(sessions), light_(light) {}

  /// What the device's reading is against what is desired of it; a monitor's, against the light that should come to it.
  Drift drift_of(const DevicePlan& plan, const ReconcileLimits& limits);
  /// Is it light that is missing at the device, which reads as planned itself? No repair of it brings that back.
  bool is_others(DeviceId device) const { return missing_since_.contains(device); }
  /// Evidence and next command of a drift.
  void explain(const DevicePlan& plan, Drift drift, const ReconcileLimits& limits, Alarm& alarm) const;

 private:
  Drift drift_of_witness(DeviceId witness);

  const ControllerFacts& facts_;
  const AgentSessions& sessions_;
  const LightWatch& light_;
  std::map<DeviceId, Instant> missing_since_;  ///< by witness: its first reading without light that nobody else explains
};

}  // namespace loom
