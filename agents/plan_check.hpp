// What an agent refuses before anything moves: a plan that is not for this node, not complete, or not lawful for a device.
#pragma once

#include <optional>

#include "agents/lanes.hpp"
#include "core/observation.hpp"
#include "core/plan.hpp"
#include "core/result.hpp"

namespace loom {

/// Errors: invalid_argument (not ours, missing, unlawful timeline), out_of_range (too long), unsupported (a switch with a
/// timeline), or whatever the device's driver says. The sentence names node and device. Touches nothing.
Result<void> check_node_plan(const NodePlan& plan, NodeId node, const DeviceLanes& lanes);

/// One entry that is held until the next revision.
bool is_static(const DevicePlan& plan);
/// Anything in it that emits.
/// Its timeline is a palette, see NodePlan::grants.
bool is_under_grants(const NodePlan& plan, DeviceId device);
bool emits(const NodePlan& plan);
/// Is the device already what the setpoint says, as far as a reading can tell (heaters: never)?
bool agrees(const Reading& reading, const Setpoint& setpoint);
/// Untouched, and by its reading what the setpoint says, whoever made it so (an adoption).
bool is_as_found(const Lane& lane, const DevicePlan& device);
/// Must this device take part in the commit: touched, or not what it shall be?
bool must_change(const Lane& lane, const NodePlan& plan, const DevicePlan& device);

}  // namespace loom
