// SPDX-License-Identifier: Apache-2.0
// LocalLight: the light of the devices that one process simulates, for the monitors among them. A process knows no other light:
// a monitor to which other light can come would read darkness and be believed, so there is none.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "sim_backend/light/light_model.hpp"

namespace loom {

/// Monitors that the process of these nodes simulates though a device that it does not simulate makes or steers light on the
/// way to them: a sentence each, with what to do. Empty: none.
std::vector<std::string> blind_monitors(const Fabric& fabric, std::span<const NodeId> nodes);

class LocalLight {
 public:
  /// Follows light only if this process simulates a monitor: it costs a step each change. Precondition: none is blind.
  LocalLight(const std::shared_ptr<const Fabric>& fabric, std::span<const NodeId> nodes);
  void apply(const OpticalChange& change);
  std::vector<ArrivingLight> arriving(ElementId receiver) const;

 private:
  std::optional<LightModel> light_;
};

}  // namespace loom
