// SPDX-License-Identifier: Apache-2.0
// A plan's circuits on disk: what `loom plan -o` writes, `loom schedule apply` takes and `loom plan --base` plans against.
// The same circuits as `loom schedule show --json` prints, and which node is which rank of a job.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "controller/plan/pipeline.hpp"
#include "core/result.hpp"

namespace loom::cli {

/// Errors: storage (the file cannot be written).
Result<void> write_plan(const std::filesystem::path& path, const Fabric& fabric, const PlanResult& result);

struct BasePlan {
  std::shared_ptr<const Plan> plan;
  CircuitId next_circuit;
  std::map<JobId, std::vector<NodeId>> ranks;  ///< rank -> node; of a file without jobs: nodes ascending
};

/// Reads circuits and lowers and verifies them as a plan that is lit already. Errors: invalid_config (every error of the
/// file), unsupported (timeslots: how long each lasts is not in the file), invalid_argument (no transmitter or receiver named,
/// or one that the fabric does not have there), and those of make_plan: the file is of another fabric.
Result<BasePlan> read_base(const std::filesystem::path& path, std::shared_ptr<const Fabric> fabric,
                           const std::string& algorithm);

}  // namespace loom::cli
