// SPDX-License-Identifier: Apache-2.0
// What an operator decides instead of the planner: schedules of jobs that are pinned, setpoints that are given by hand, nodes
// that must not be touched. Applied around scheduling and lowering; verify judges the result like any other plan.
#pragma once

#include "controller/schedule/architecture.hpp"
#include "core/demand.hpp"
#include "core/fabric/fabric.hpp"
#include "core/plan.hpp"
#include "core/result.hpp"
#include "core/schedule.hpp"

namespace loom {

/// The scheduler is not asked about jobs that have a pinned schedule: what they want moved is taken out of `demand`.
Demand take_pinned(Demand& demand, const Intent& intent);
/// Adds the pinned schedules of the intent's jobs, with who forwards over them as `own` says (null: as they are given); jobs
/// stay in ascending order. `wanted`: what they want moved. Errors: those of Architecture::forward_over.
Result<void> add_pinned(Schedule& schedule, const Intent& intent, const Demand& wanted, const Architecture* own);

/// Replaces the timelines of devices that were set by hand, adds to those on which something was adopted, and says again who is
/// touched for it. Errors: conflict (the plan needs the device, or what an adopted row takes), invalid_argument (no such
/// device, or a setpoint of another kind).
Result<void> apply_overrides(const Fabric& fabric, const Intent& intent, const Plan* base, Plan& plan);

/// Errors: conflict (a circuit ends at a node in maintenance, or one of its switches would move by the planner's will).
Result<void> check_maintenance(const Fabric& fabric, const Intent& intent, const Plan& plan);

}  // namespace loom
