// SPDX-License-Identifier: Apache-2.0
// Entries: by which node of each of its groups a job's ring comes in, on ODDL. A group's light for one receiver port leads to
// one group, so a ring that enters the next group at a port whose light is wanted at home stands in its own way, or in another
// job's.
#pragma once

#include <optional>
#include <vector>

#include "controller/schedule/architecture.hpp"
#include "core/fabric/fabric.hpp"
#include "core/ids.hpp"

namespace loom {

struct OddlShape;

/// `chosen` in an order in which the ring from rank to rank, and back to the first, stands in the fewest ways: groups as they
/// come, the nodes of each so that its entry is first and, behind routers, its last one is the partner of the next entry.
/// Heuristic costs, exact minimum of their sum. O(groups x ports^3), far less where the groups have a port in common.
std::vector<NodeId> enter_groups(const OddlShape& shape, const std::vector<NodeId>& chosen, const std::vector<NodeUse>& taken);

}  // namespace loom
