// Weigh: is a new plan worth its dark time? One iteration of a job over the light that it has and over the light that is
// planned, by the same prediction. Pure.
#pragma once

#include "core/fabric/fabric.hpp"
#include "core/planning.hpp"

namespace loom {

/// Precondition: `weighing.job` is among the jobs of `result`.
Comparison compare(const Fabric& fabric, const ComparisonRequest& weighing, const PlanResult& result);

}  // namespace loom
