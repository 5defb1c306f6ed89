// SPDX-License-Identifier: Apache-2.0
// Placement: which nodes a job gets. Whole free groups first, so that jobs meet as seldom as possible in one group's
// spectrum; in which order its ranks take them is the architecture's own. A placed job never moves. Deterministic: jobs and
// nodes in id order.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/schedule/architecture.hpp"
#include "core/demand.hpp"
#include "core/fabric/fabric.hpp"
#include "core/planning.hpp"
#include "core/result.hpp"

namespace loom {

/// Where to look for a job's nodes.
struct PlaceChoice {
  std::vector<UnusableDevice> unusable{};  ///< nodes whose light needs one of them are the last that are given
  /// 0: as described above. Each further one looks elsewhere: first where no other job is, then that many places on.
  std::uint32_t attempt = 0;
  /// What is wanted altogether; null: just the intent that is placed. Its other jobs are not planned now and keep their nodes.
  const Intent* wanted = nullptr;
};

/// The intent with Job::nodes of every job filled, and Job::share where `architecture` has something to share out (null: it has
/// not, and ranks come as nodes do). Jobs that have nodes keep
/// them; one whose node_count has changed since loses its last ones or gets more. A spec's own placement is obeyed or refused.
/// Errors: infeasible (needs N nodes, F free), conflict (two jobs want a node), invalid_argument (no such node, or twice).
Result<Intent> place(const Fabric& fabric, const Architecture* architecture, const Intent& intent,
                     const PlaceChoice& choice = {});

}  // namespace loom
