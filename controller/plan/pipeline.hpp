// SPDX-License-Identifier: Apache-2.0
// The planning worker's whole job: intent -> demand -> schedule -> plan -> verified plan. Pure: the same request gives the same
// result, so replay agrees. It never touches the base plan's light where nothing about it changed.
#pragma once

#include <memory>

#include "controller/plan/plan_memory.hpp"
#include "controller/schedule/architecture.hpp"
#include "core/planning.hpp"
#include "core/result.hpp"

namespace loom {

/// Places jobs, estimates, schedules (by PlanRequest::algorithm among `known`), lowers and verifies. `known` also says what is
/// particular about the fabric's architecture; one that it does not have is placed as nodes come.
/// Errors: those of placement, registry and scheduler; invalid_argument (an option that the architecture does not have);
/// out_of_range (a job's stage does not exist, a limit of core/limits.hpp); unverified (names every broken rule once, with
/// evidence): such a plan must never be sent.
/// `memory`: of whoever plans on the same fabric again and again; what comes out does not depend on it.
Result<std::shared_ptr<const PlanResult>> make_plan(const Architectures& known, const PlanRequest& request, PlanMemory& memory);
/// The same, once.
Result<std::shared_ptr<const PlanResult>> make_plan(const Architectures& known, const PlanRequest& request);

}  // namespace loom
