// SPDX-License-Identifier: Apache-2.0
// Fold: which rank gets which node of a ring of fibre. A job that is too long for its link budget goes out on every other node
// and back on the rest, so that its own ring closes within two hops.
#pragma once

#include <vector>

#include "controller/schedule/architecture.hpp"
#include "core/fabric/fabric.hpp"

namespace loom {

/// Around a ring of fibre whose link budget does not carry the job's last circuit back to its first node: every other node
/// on the way out, the others on the way back. So the last rank is as near to the first as any two neighbours; each segment
/// is crossed once each way, as it is when the last circuit goes all the way back.
std::vector<NodeId> there_and_back(const Fabric& fabric, const std::vector<NodeId>& chosen, const std::vector<NodeUse>& uses);

}  // namespace loom
