// SPDX-License-Identifier: Apache-2.0
// When two plans say the same of a node.
#pragma once

#include <algorithm>

#include "core/plan.hpp"

namespace loom {

/// Of one node, and the same in all but what is asked of its devices: who is touched, what may be held, who is left alone.
inline bool holds_the_same(const NodePlan& a, const NodePlan& b) {
  return a.node == b.node && a.ends == b.ends && is_paced_alike(&a, b) &&
         std::ranges::equal(a.devices, b.devices, [](const DevicePlan& x, const DevicePlan& y) {
           return x.device == y.device && x.timeline == y.timeline;
         });
}

}  // namespace loom
