// What `loom plan` is told on the command line, read and judged before anybody plans: jobs that can be planned for, a fabric
// from a file or a template, an algorithm that exists.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/plan/plan.hpp"
#include "cli/workloads.hpp"
#include "core/fabric/fabric.hpp"
#include "core/result.hpp"
#include "core/units.hpp"

namespace loom::cli {

struct PlanInputs {
  std::string algorithm;
  std::shared_ptr<const Fabric> fabric;  ///< null: TopoOpt's finder by itself, on as many servers as the job has
  std::vector<PlannedJob> jobs;
  Settings fabric_settings;  ///< without the prefix
};

/// Errors: those of the workloads, the settings, the scenario and the fabric file (all of a file's, a line each); infeasible
/// (check_job, check_memory); not_found (an algorithm or template that does not exist, with the nearest); invalid_argument.
Result<PlanInputs> read_plan_inputs(const PlanCommand& order);

}  // namespace loom::cli
