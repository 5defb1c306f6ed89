// SPDX-License-Identifier: Apache-2.0
// A plan of jobs on a fabric, made by the pure planner: scheduled, lowered and verified, and what is said, drawn and written of
// it. Jobs come from workloads as they are named, or from a search, which also says what is lit.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "cli/plan/answer.hpp"
#include "cli/plan/inputs.hpp"
#include "cli/plan/plan.hpp"
#include "cli/plan/plan_tables.hpp"
#include "core/planning.hpp"
#include "core/result.hpp"

namespace loom::cli {

/// What a way of planning hands back.
struct Planned {
  PlanAnswer answer;
  std::optional<Picture> drawing{};          ///< only if asked for
  std::shared_ptr<const PlanResult> result;  ///< null: not lowered, so there is nothing to save
  PlanTable links{};
  std::optional<Picture> occupancy{};  ///< only if asked for
};

/// On inputs.fabric. Errors: unsupported (--occupancy on a fabric without rings), those of read_base and make_plan, saying
/// which algorithm a fabric of another kind has; timed_out (`stop` was set).
Result<Planned> plan_in_light(const PlanCommand& order, const PlanInputs& inputs, const std::atomic<bool>* stop = nullptr);

/// Whatever the command line asked for: circuits, tables, a drawing. Errors: storage (a file cannot be written).
Result<void> write_files(const PlanCommand& order, const PlanInputs& inputs, const Planned& planned);

}  // namespace loom::cli
