// SPDX-License-Identifier: Apache-2.0
// DeviceReadings: what each device read last, in this incarnation of its agent, and since when that can say something of its
// light. It judges nothing.
#pragma once

#include <optional>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/observation.hpp"

namespace loom {

class DeviceReadings {
 public:
  explicit DeviceReadings(const Fabric& fabric)
      : observations_(fabric.devices.size()), light_since_(fabric.devices.size(), Instant::min()) {}

  /// Null: nothing in this incarnation of its agent.
  const Observation* observed(DeviceId device) const;
  /// By device.
  const std::vector<std::optional<Observation>>& observations() const { return observations_; }
  /// The confirmation of the last commit that touched the device: what was read before it says nothing of that light.
  Instant light_since(DeviceId device) const { return light_since_[device.value]; }
  /// The same, by device.
  const std::vector<Instant>& light_since() const { return light_since_; }
  /// Each of these was read.
  bool has_all(const std::vector<DeviceId>& devices) const;

  /// The newest of each device; one that a network overtook is dropped. Precondition: the device is its sender's. True: news.
  bool keep(const Observation& observation);
  /// Read by a reset that was ordered: after whatever was reported.
  void keep_reset(const Observation& observation) { observations_[observation.device.value] = observation; }
  /// A commit that touched it is confirmed.
  void confirm_light(DeviceId device, Instant now) { light_since_[device.value] = now; }
  /// Its agent is another process.
  void forget(DeviceId device);

 private:
  std::vector<std::optional<Observation>> observations_;  ///< index = device
  std::vector<Instant> light_since_;                      ///< index = device
};

}  // namespace loom
