// SPDX-License-Identifier: Apache-2.0
// Adoption: what was found on a device, said as an override that stands beside the plan (core/demand.hpp), and what a device
// shall be with it. Pure; whether anything is adopted is the policy's and the controller's business.
#pragma once

#include <vector>

#include "core/demand.hpp"
#include "core/fabric/fabric.hpp"
#include "core/observation.hpp"
#include "core/plan.hpp"
#include "core/result.hpp"

namespace loom {

/// The override that makes what was read desired. `desired`: of the confirmed plan, whose revision is `beside`; `known`: an
/// earlier adoption on this device, which stays, or null.
/// Errors: refused (with the reason: such a reading is no lawful setpoint, or something desired is missing there as well).
Result<DeviceOverride> adoption_of(const Fabric& fabric, const DevicePlan& desired, const Observation& seen, Drift drift,
                                   Revision beside, const DeviceOverride* known);

/// The planned timeline with what was adopted beside it. Precondition: `adopted` is, and its setpoint is of this device's kind.
/// Errors: conflict (the plan needs what the adoption takes; names both and the command that clears it).
Result<std::vector<TimedSetpoint>> beside(const Device& device, const std::vector<TimedSetpoint>& planned,
                                          const DeviceOverride& adopted);

/// Overrides of the intent that were found beside this plan: the fabric is the plan and these.
std::vector<DeviceOverride> found_beside(const Plan& plan, const Intent& intent);
/// What the fabric is: the confirmed plan, and on its devices what was found there. Next to it such a device does not change.
Plan as_found(const Fabric& fabric, const Plan& confirmed, const std::vector<DeviceOverride>& found);

}  // namespace loom
