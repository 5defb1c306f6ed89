// SPDX-License-Identifier: Apache-2.0
// What an agent refuses before anything moves: a plan that is not for this node, not complete, or not lawful for a device.
#pragma once

#include <optional>

#include "agents/devices/device_units.hpp"
#include "core/observation.hpp"
#include "core/plan.hpp"
#include "core/result.hpp"

namespace loom {

/// Errors: invalid_argument (not ours, missing, unlawful timeline, a move from nobody knows where), out_of_range (too long, or
/// more light than the fibre behind a laser may carry), unsupported (timeslots of anything but a laser), or whatever the
/// device's driver says. The sentence names node and device. Touches nothing.
Result<void> check_node_plan(const NodePlan& plan, NodeId node, const DeviceUnits& units);

/// One entry that is held until the next revision.
bool is_static(const DevicePlan& plan);
/// Its timeline is a wavelength set, see NodePlan::grants.
bool is_under_grants(const NodePlan& plan, DeviceId device);
/// Anything in it that emits.
bool emits(const NodePlan& plan);
/// Untouched, and by its reading what the setpoint says, whoever made it so (an adoption).
bool is_as_found(const DeviceUnits& units, const DeviceUnit& unit, const DevicePlan& device);
/// Must this device take part in the commit: touched, or not what it shall be? What light passes only where it is touched:
/// nobody took that light away otherwise, and what it is instead is for a repair that does.
bool must_change(const DeviceUnits& units, const DeviceUnit& unit, const NodePlan& plan, const DevicePlan& device);

}  // namespace loom
