// SPDX-License-Identifier: Apache-2.0
// Admission: which jobs a plan is made of. What runs is planned first and keeps its light; a job that comes is given other
// places before it is refused, and where jobs may be left out, only the one that cannot be had is. Pure; it plans nothing
// itself, it asks for attempts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "core/planning.hpp"
#include "core/result.hpp"

namespace loom {

/// Plans exactly these jobs; `place`: see PlaceChoice::attempt.
using PlanAttempt = std::function<Result<std::shared_ptr<const PlanResult>>(const Intent& intent, std::uint32_t place)>;

/// Everything at once if that can be; otherwise what runs, and then one by one what comes. A result whose left_out names a job
/// that comes is planned again without it. Errors: those of the first attempt.
Result<std::shared_ptr<const PlanResult>> admit(const PlanRequest& request, const PlanAttempt& attempt);

}  // namespace loom
