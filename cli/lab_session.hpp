// A running lab as the commands see it, and what is done with its jobs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/connection.hpp"
#include "cli/lab.hpp"
#include "cli/lab_files.hpp"
#include "core/config/scenario.hpp"
#include "core/time.hpp"

namespace loom::cli {

struct LabSession {
  LabFiles files;
  std::string scenario_path;
  Scenario scenario;
  bool record = false;
  std::string inspector_dir{};  ///< see LabOrder
  std::unique_ptr<Connection> connection = nullptr;
  int controller_pid = 0;
  std::vector<int> agent_pids = {};
  Duration join_time{};
};

/// Starts everything; on an error nothing is left running.
Result<LabSession> open_lab(const Globals& globals, const LabOrder& order);

/// Submits the scenario's jobs one after the other, follows each into light, replays it and prints. The exit code.
int run_jobs(LabSession& lab, const Globals& globals);

}  // namespace loom::cli
