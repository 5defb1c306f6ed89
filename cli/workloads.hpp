// SPDX-License-Identifier: Apache-2.0
// Workloads as people write them, read: every command's one way from words (a model of the zoo, a TopoOpt task graph or a
// trace, how many nodes, --set key=value) to a task graph and to the job that a controller is asked for. What is done with them
// then, and on which fabric, is the command's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "controller/workload/fabric_settings.hpp"
#include "controller/workload/settings.hpp"
#include "controller/workload/task_graph.hpp"
#include "core/config/calibration_file.hpp"
#include "core/config/scenario/scenario.hpp"
#include "core/demand.hpp"
#include "core/result.hpp"

namespace loom::cli {

/// One job, before its workload is read.
struct WorkloadWords {
  std::string workload;     ///< a name of the zoo, or a file
  std::uint32_t nodes = 0;  ///< 0: as the file says
  Settings settings;        ///< of the workload only
  std::string name{};       ///< empty: the workload's
};

/// What a command is told to move: one of these is named.
struct WorkloadSources {
  std::string workload;  ///< a name of the zoo, or any file
  std::string demand;    ///< --demand
  std::string model;     ///< --model
};
/// The one that is named, as a workload. Errors: invalid_argument (none or two of them, a file that is not of its kind).
Result<std::string> workload_of(const WorkloadSources& sources);

/// The jobs of a scenario, in its order.
std::vector<WorkloadWords> workloads_of(const Scenario& scenario);

/// `--set` of a command that takes a fabric's settings too (fabric.key=value). The calibration's, which may be null, hold where
/// nothing was said. Errors: as parse_settings.
Result<SplitSettings> read_settings(const std::vector<std::string>& words, const Calibration* calibration = nullptr);
/// Of one job among several with the same `--set`: what its workload knows, and what none of `all` does, which it will refuse.
Settings own_settings(const std::string& workload, const std::vector<std::string>& all, const Settings& settings);

/// What it computes and moves. Errors: as load_task_graph.
Result<TaskGraph> read_graph(const WorkloadWords& words);

/// What is planned for, with what it was made of.
struct PlannedJob {
  TaskGraph graph;
  JobSpec spec;
};
/// Errors: as read_graph and job_of; infeasible (check_job: one node has nobody to send to, ...).
Result<PlannedJob> read_planned_job(const WorkloadWords& words);

/// What a controller is asked for. Errors: as load_workload.
Result<JobSpec> read_job(const WorkloadWords& words);

}  // namespace loom::cli
