// SPDX-License-Identifier: Apache-2.0
// Devices that can hold their next setpoint ready, unseen (Driver::can_prepare), dark lasers among them: they are made to in
// Prepare, and what they hold is overwritten when the revision comes to nothing.
#pragma once

#include <optional>

#include "agents/devices/device_units.hpp"

namespace loom {

void prepare_devices(StepContext context, DeviceUnits& units, const NodePlan& plan);
/// What any of them holds shall never be shown.
void withdraw_prepared(StepContext context, DeviceUnits& units);

bool is_preparing(const DeviceUnits& units);
/// What moves for the plan, lasers aside, is being read; or a laser of which this process does not know yet whether it shines
/// as the plan wants it: taken for one that does not, it would lose its light.
bool is_being_read(const DeviceUnits& units, const NodePlan& plan);
/// One that could not be made to.
std::optional<std::size_t> failed_preparation(const DeviceUnits& units);

}  // namespace loom
