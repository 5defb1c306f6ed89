// SPDX-License-Identifier: Apache-2.0
// Kept: which devices a plan leaves as the one before has them, told without making their plans.
#pragma once

#include <vector>

#include "controller/plan/light/paths.hpp"
#include "core/fabric/fabric.hpp"
#include "core/plan.hpp"

namespace loom {

/// What lowering sets of a switch, a bank of filters, a gain stage or a monitor is what `before` says, once and for ever.
/// `gains`: by element, of gain stages. Precondition: `before` is the device's, which is no transmitter.
bool keeps_setpoint(const Fabric& fabric, const DevicePlan& before, const Positions& positions, const std::vector<Db>& gains);

/// Its one entry is dark and lasts.
bool keeps_dark(const DevicePlan& before);

}  // namespace loom
