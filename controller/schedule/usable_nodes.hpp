// SPDX-License-Identifier: Apache-2.0
// Usable nodes: which nodes have light at all while some devices follow no order. A node's light cannot avoid what stands on
// its only way out, or on its only way in. For placement, which looks elsewhere first; whether a certain circuit needs what is
// unusable is asked of its path (controller/plan/unusable).
#pragma once

#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/planning.hpp"

namespace loom {

struct NodeFitness {
  std::vector<bool> unfit;     ///< by node: none of its transmitters, or none of its receivers, is of use
  std::vector<bool> impaired;  ///< by node: some are not
};

NodeFitness fitness_of(const Fabric& fabric, const std::vector<UnusableDevice>& unusable);

}  // namespace loom
