// SPDX-License-Identifier: Apache-2.0
// A wavemeter outranks a laser's own word; a monitor's own drift is light that is missing there.
#include "controller/control/watch/monitor_drift.hpp"

#include "core/text/format_text.hpp"

namespace loom {

Drift MonitorDrift::drift_of(const DevicePlan& plan, const ReconcileLimits& limits) {
  const auto measured = light_.as_measured(plan.device);
  const Observation* seen = measured ? &*measured : sessions_.observed(plan.device);
  const Drift drift = loom::drift_of(*facts_.fabric, plan, seen, facts_.now, limits);
  if (drift == Drift::none && light_.measures_light(plan.device)) {
    return drift_of_witness(plan.device);
  }
  missing_since_.erase(plan.device);
  return drift;
}

/// Only once every device on the way of that light was read since: one of them may be about to say why it is dark.
Drift MonitorDrift::drift_of_witness(DeviceId witness) {
  const auto missing = light_.missing_light(witness);
  if (!missing) {
    missing_since_.erase(witness);
    return Drift::none;
  }
  const auto place = missing_since_.try_emplace(witness, sessions_.observed(witness)->read_at).first;
  return missing->all_read_since >= place->second ? Drift::missing : Drift::none;
}

void MonitorDrift::explain(const DevicePlan& plan, Drift drift, const ReconcileLimits& limits, Alarm& alarm) const {
  const Device& device = facts_.fabric->device(plan.device);
  const auto measured = light_.as_measured(device.id);
  const Observation* seen = measured ? &*measured : sessions_.observed(device.id);
  alarm.evidence = evidence_of(*facts_.fabric, plan, seen, drift, facts_.now, limits);
  alarm.next_command = format_text("loom device show {}", device.id.value);
  if (measured && drift == Drift::detuned) {
    alarm.evidence += ", " + light_.who_measured(device.id);
  }
  if (const auto missing = is_others(device.id) ? light_.missing_light(device.id) : std::nullopt) {
    alarm.evidence = format_text("{} (device {}, node {}) misses light of circuit {}, whose devices all read as planned: {}",
                                 device.name, device.id.value, device.agent.value, missing->circuit.value, missing->why);
    alarm.next_command = format_text("loom circuit explain {}", missing->circuit.value);
  }
}

}  // namespace loom
