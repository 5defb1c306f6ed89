// SPDX-License-Identifier: Apache-2.0
// Blame: which jobs of a plan a failure at some of its agents is about. Pure.
#pragma once

#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/ids.hpp"
#include "core/planning.hpp"

namespace loom {

/// Jobs of the plan, ascending, that need none of `failed` (nodes, ascending): none of these is theirs, and none of their light
/// passes what its agent drives. Without a failed node there are none: nobody knows what it was about.
std::vector<JobId> jobs_without(const Fabric& fabric, const PlanResult& plan, const std::vector<NodeId>& failed);

}  // namespace loom
