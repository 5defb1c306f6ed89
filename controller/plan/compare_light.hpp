// SPDX-License-Identifier: Apache-2.0
// What an iteration takes over planned light; and is a new plan worth its dark time? One iteration of a job over the light that
// it has and over the light that is planned, by the same prediction. Pure.
#pragma once

#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/planning.hpp"

namespace loom {

/// Precondition: `weighing.job` is among the jobs of `result`.
Comparison compare(const Fabric& fabric, const ComparisonRequest& weighing, const PlanResult& result);

/// What `result.predicted` says.
std::vector<PredictedIteration> predict_laid(const Fabric& fabric, const PlanResult& result);

}  // namespace loom
