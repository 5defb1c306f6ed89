// SPDX-License-Identifier: Apache-2.0
// Light of schedules that an operator gave (Intent::pinned). A scheduler is not asked for these jobs, and gives nobody their
// light, whichever stage it is of.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/demand.hpp"
#include "core/schedule.hpp"

namespace loom {

/// Calls `each(k, circuit)` for the circuits of all stages of Intent::pinned[k], of jobs that are wanted.
template <class Each>
void for_pinned_light(const Intent& intent, const Each& each) {
  for (std::size_t k = 0; k < intent.pinned.size(); ++k) {
    if (std::ranges::find(intent.jobs, intent.pinned[k].job, &Job::id) == intent.jobs.end()) {
      continue;
    }
    for (const Stage& stage : intent.pinned[k].stages) {
      for (const Timeslot& timeslot : stage.timeslots) {
        std::ranges::for_each(timeslot.circuits, [&](const Circuit& circuit) { each(k, circuit); });
      }
    }
  }
}

}  // namespace loom
