// SPDX-License-Identifier: Apache-2.0
// What `loom plan` is told on the command line, read and judged before anybody plans: jobs that can be planned for, a fabric
// from a file or a template, an algorithm that exists.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/plan/plan.hpp"
#include "cli/workloads.hpp"
#include "core/demand.hpp"
#include "core/fabric/fabric.hpp"
#include "core/result.hpp"
#include "core/schedule.hpp"
#include "core/units.hpp"

namespace loom::cli {

/// Lights a job instead of the scheduler, on the nodes 0, 1, .. of the fabric.
using LayJob = std::function<Result<JobSchedule>(const Fabric& fabric, const JobDemand& job)>;

struct PlanInputs {
  std::string algorithm;
  std::shared_ptr<const Fabric> fabric;  ///< null: TopoOpt's finder by itself, on as many servers as the job has
  std::vector<PlannedJob> jobs;
  Settings fabric_settings;  ///< without the prefix
  LayJob lay{};              ///< of the only job; empty: the scheduler plans
};

/// Errors: those of the workloads, the settings, the scenario and the fabric file (all of a file's, a line each); infeasible
/// (check_job, check_memory); not_found (an algorithm or template that does not exist, with the nearest); invalid_argument.
Result<PlanInputs> read_plan_inputs(const PlanCommand& order);

/// A fabric of its file, or of a template with these settings for `nodes` nodes of jobs. Errors: invalid_config (all of a
/// file's or template's, a line each), invalid_argument (settings beside a file).
Result<std::shared_ptr<const Fabric>> fabric_named(const std::string& word, std::uint32_t nodes, const Settings& settings);

}  // namespace loom::cli
