// SPDX-License-Identifier: Apache-2.0
// Steering: what must be seen of a device that light passes before it may move. A plan says what it may hold when it is found;
// whatever else it holds, light may meet it that nobody has taken away. Pure.
#pragma once

#include <optional>
#include <string>

#include "core/fabric/fabric.hpp"
#include "core/observation.hpp"
#include "core/plan.hpp"

namespace loom {

/// Nothing, if the reading is one of plan.may_hold, or anything between them and the plan's own setpoint (a move that was
/// interrupted); else what was found that nobody expects, or what is gone that light may pass.
std::optional<std::string> unexpected(const Fabric& fabric, const DevicePlan& plan, const Reading& reading);

/// Is the device already what the setpoint says, as far as a reading can tell?
bool agrees(const Fabric& fabric, DeviceId device, const Reading& reading, const Setpoint& setpoint);

}  // namespace loom
