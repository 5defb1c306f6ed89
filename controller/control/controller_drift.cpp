// Desired against observed: what drifted, and which node is to be repaired.
#include "controller/control/controller.hpp"

namespace loom {

DriftCounts Controller::drift_counts(Instant) const { return {}; }

std::vector<DeviceReport> Controller::device_rows(const Query& query, Instant) const {
  std::vector<DeviceReport> rows;
  for (const Device& device : options_.fabric->devices) {
    if (query.id.has_value() && *query.id != device.id.value) {
      continue;
    }
    Observation observation;
    observation.device = device.id;
    rows.push_back(
        {device.id, device.name, device.kind, device.agent, observations_[device.id.value].value_or(observation), Drift::none});
  }
  return rows;
}

void Controller::reconcile_now(Instant, EffectSink&) {}

}  // namespace loom
