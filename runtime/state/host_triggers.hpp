// SPDX-License-Identifier: Apache-2.0
// The trigger lines of one agent process, of those that an installation has.
#pragma once

#include <vector>

#include "core/config/scenario/scenario.hpp"
#include "core/result.hpp"
#include "runtime/real_buses.hpp"

namespace loom {

/// Lines of these nodes that are lines of this host; simulated edges are none. Errors: invalid_config.
Result<std::vector<PlacedTrigger>> own_triggers(const Scenario& scenario, const std::vector<NodeId>& nodes);

}  // namespace loom
