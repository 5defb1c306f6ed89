// SPDX-License-Identifier: Apache-2.0
// What the drivers of a plan's devices would refuse: a plan is sound by the fabric, and a device may still have no word for
// what is asked of it.
#pragma once

#include <cstddef>

#include "core/fabric/fabric.hpp"
#include "core/plan.hpp"
#include "core/result.hpp"

namespace loom {

/// Every setpoint of every device that the plan touches, by the driver that would be given it. Errors: the driver's own, naming
/// device, value and limit.
Result<void> check_with_drivers(const Fabric& fabric, const Plan& plan);

/// Before anything is planned for so many nodes: the fabric has as many whose light every WSS on its way has words for. A node
/// whose light leaves, or comes, by ports alone that no driver can name is none of them. Errors: out_of_range, naming how many
/// there are, the first node that is none, and what its driver says.
Result<void> check_reach(const Fabric& fabric, std::size_t nodes);

}  // namespace loom
