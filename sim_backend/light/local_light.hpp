// SPDX-License-Identifier: Apache-2.0
// LocalLight: the light of the devices that one process simulates, for those among them that measure. A process knows no other
// light: a monitor to which other light can come would read darkness and be believed, so there is none; and the taps of a
// switch tell nothing there.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "sim_backend/light/light_model.hpp"

namespace loom {

/// Does a device that `is_known` denies make or steer light on the way to these elements? The first of them; null: none does.
const Device* stranger_upstream(const Fabric& fabric, const std::vector<ElementId>& elements,
                                const std::function<bool(const Device&)>& is_known);

/// Monitors that the process of these nodes simulates though a device that it does not simulate makes or steers light on the
/// way to them: a sentence each, with what to do. Empty: none.
std::vector<std::string> blind_monitors(const Fabric& fabric, std::span<const NodeId> nodes);

class LocalLight {
 public:
  /// Follows light only if this process simulates a device that measures some: it costs a step each change. Precondition: no
  /// monitor is blind.
  LocalLight(const std::shared_ptr<const Fabric>& fabric, std::span<const NodeId> nodes,
             const std::function<bool(const Device&)>& measures);
  void apply(const OpticalChange& change);
  std::optional<std::vector<ArrivingLight>> arriving(PortRef input) const;

 private:
  std::optional<LightModel> light_;
  std::set<ElementId> seen_;  ///< elements at which all light is known
};

}  // namespace loom
