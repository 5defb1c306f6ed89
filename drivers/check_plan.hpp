// SPDX-License-Identifier: Apache-2.0
// What the drivers of a plan's devices would refuse: a plan is sound by the fabric, and a device may still have no word for
// what is asked of it.
#pragma once

#include "core/fabric/fabric.hpp"
#include "core/plan.hpp"
#include "core/result.hpp"

namespace loom {

/// Every setpoint of every device that the plan touches, by the driver that would be given it. Errors: the driver's own, naming
/// device, value and limit.
Result<void> check_with_drivers(const Fabric& fabric, const Plan& plan);

}  // namespace loom
