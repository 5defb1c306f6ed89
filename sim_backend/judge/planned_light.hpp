// SPDX-License-Identifier: Apache-2.0
// PlannedPaths: which elements the light of each circuit passes if every device is as a plan says: for telling whose light a
// device that fails can take along.
#pragma once

#include <map>
#include <memory>
#include <set>

#include "core/fabric/fabric.hpp"
#include "core/plan.hpp"

namespace loom {

/// By transmitter; of a device with a timeline the first entry counts.
std::map<ElementId, std::set<ElementId>> planned_paths(const std::shared_ptr<const Fabric>& fabric, const Plan& plan);

}  // namespace loom
