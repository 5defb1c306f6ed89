// SPDX-License-Identifier: Apache-2.0
// The newest reading of each device stands.
#include "controller/control/device_readings.hpp"

#include <algorithm>

namespace loom {

const Observation* DeviceReadings::observed(DeviceId device) const {
  return observations_[device.value].has_value() ? &*observations_[device.value] : nullptr;
}

bool DeviceReadings::has_all(const std::vector<DeviceId>& devices) const {
  return std::all_of(devices.begin(), devices.end(), [this](DeviceId id) { return observed(id) != nullptr; });
}

bool DeviceReadings::keep(const Observation& observation) {
  const Observation* before = observed(observation.device);
  if (before != nullptr && observation.read_at < before->read_at) {
    return false;
  }
  observations_[observation.device.value] = observation;
  return true;
}

void DeviceReadings::forget(DeviceId device) {
  observations_[device.value].reset();
  light_since_[device.value] = Instant::min();
}

}  // namespace loom
