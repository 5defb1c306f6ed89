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
  int controller_pid = 0;             ///< 0: down
  std::vector<int> agent_pids = {};   ///< by process; 0: down
  Duration join_time{};
};

/// Starts everything; on an error nothing is left running.
Result<LabSession> open_lab(const Globals& globals, const LabOrder& order);

/// Errors: unreachable (it ended, or did not start in time). A second start is at the address of the first.
Result<void> start_controller(LabSession& lab);
Result<void> start_agent_process(LabSession& lab, std::uint32_t process);

/// Does what the scenario says when it says it, follows the jobs into light, accounts for them, replays them and prints. The
/// exit code: kFailed if something became of a job that the scenario does not expect.
int run_jobs(LabSession& lab, const Globals& globals);

}  // namespace loom::cli
