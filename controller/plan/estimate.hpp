// Estimate: what the placed jobs of an intent want moved. For now a job's demand is what its spec declares; measured traffic
// will be folded in here.
#pragma once

#include "core/demand.hpp"
#include "core/plan.hpp"

namespace loom {

/// `base`: what is confirmed now, null = darkness; its circuits become JobDemand::held.
Demand estimate(const Intent& placed, const Plan* base);

}  // namespace loom
