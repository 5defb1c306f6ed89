// SPDX-License-Identifier: Apache-2.0
// loom plan --search on SiP-ML's fabrics: how many groups of how many GPUs reach accuracy first, each candidate partitioned and
// placed; the best of them planned in light, and the one that is then predicted to be the first is the answer.
#pragma once

#include "cli/plan/plan.hpp"
#include "controller/schedule/architecture.hpp"

namespace loom::cli {

/// Which search the named fabric or algorithm has; of a file, that of its architecture. StrategySearch::alternating where
/// nothing is named, or nobody knows it (the search then says so).
StrategySearch search_of(const PlanCommand& order);

/// The command.
int plan_by_accuracy(const Globals& globals, const PlanCommand& order);

}  // namespace loom::cli
