// Estimate: what the placed jobs of an intent want moved. A job's demand is what its spec declares, or what
// was measured of it once its light has followed that.
#pragma once

#include "core/demand.hpp"
#include "core/fabric.hpp"
#include "core/plan.hpp"
#include "core/timings.hpp"

namespace loom {

/// `base`: what is confirmed now, null = darkness; its circuits become JobDemand::held.
Demand estimate(const Intent& placed, const Plan* base);

/// How long a commit leaves the light dark that it touches, at worst: the waits that let every agent hear T and the relight,
/// and the slowest switch and laser of the fabric. Devices that need longer than they promise are not in it.
Duration dark_time_of(const Fabric& fabric, const ControllerTimings& timings);

}  // namespace loom
