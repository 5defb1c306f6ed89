// SPDX-License-Identifier: Apache-2.0
// Estimate: what the placed jobs of an intent want moved. A job's demand is what its spec declares, or what
// was measured of it once its light has followed that.
#pragma once

#include "core/demand.hpp"
#include "core/plan.hpp"

namespace loom {

/// `base`: what is confirmed now, null = darkness; its circuits become JobDemand::held. `darkened`: PlanRequest's; where a job
/// has no circuit in the base, those there do.
Demand estimate(const Intent& placed, const Plan* base, const std::vector<Circuit>* darkened = nullptr);

}  // namespace loom
