// SPDX-License-Identifier: Apache-2.0
// What is asked of an intent and of two plans before one is lowered or judged by its difference to the other. No word of light:
// lower and verify share none.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/demand.hpp"
#include "core/plan.hpp"

namespace loom {

/// Lasers are on, and nobody sets, measures or has measured anything by hand.
inline bool is_jobs_alone(const Intent& intent) {
  return !intent.lasers_off && intent.overrides.empty() && intent.calibrations.empty() && intent.probes.empty() &&
         intent.drives.empty();
}

/// Of one node, and the same in all but what is asked of its devices: who is touched, what may be held, who is left alone.
inline bool holds_the_same(const NodePlan& a, const NodePlan& b) {
  return a.node == b.node && a.ends == b.ends && is_paced_alike(&a, b) &&
         std::ranges::equal(a.devices, b.devices, [](const DevicePlan& x, const DevicePlan& y) {
           return x.device == y.device && x.timeline == y.timeline;
         });
}

/// The same of all nodes; those that both share are not looked at.
inline bool holds_the_same(const NodePlans& a, const NodePlans& b) {
  bool is_same = a.size() == b.size();
  for (std::size_t i = 0; is_same && i < a.size(); ++i) {
    is_same = a.shares(b, i) || holds_the_same(a[i], b[i]);
  }
  return is_same;
}

}  // namespace loom
