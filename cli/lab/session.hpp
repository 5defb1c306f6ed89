// SPDX-License-Identifier: Apache-2.0
// A running lab as the commands see it, and what is done with its jobs.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cli/connection.hpp"
#include "cli/lab/folder.hpp"
#include "cli/lab/lab.hpp"
#include "cli/lab/processes.hpp"
#include "core/config/scenario/scenario.hpp"
#include "core/time.hpp"
#include "runtime/state/state_folder.hpp"

namespace loom::cli {

/// What this command started, for whoever ends it; any thread.
class StartedProcesses {
 public:
  /// False: they are being stopped, or were, and this one must not run.
  bool note(const LabProcess& process);
  bool has(const LabProcess& process) const;
  /// Of one name; none: it was not started here.
  std::vector<LabProcess> named(const std::string& name) const;
  /// No other is noted from now on.
  Stopped stop(int patience_ms);

 private:
  mutable std::mutex mutex_;
  LabManifest started_;
  bool is_stopped_ = false;
};

struct LabRecord {
  StateFolder files;
  LabFolder folder;
  std::string scenario_path;
  Scenario scenario;
  bool record = false;
  std::string inspector_dir{};             ///< see LabCommand
  std::string address{};                   ///< that the controller is at, or was; empty: it takes any
  std::string training_dir{};              ///< see LabCommand
  bool metrics = false;                    ///< its daemons serve metrics on ports of their own
  std::string connections = "shared";      ///< lightloom-agent --connections
  bool realtime = false;                   ///< lightloom-agent --realtime
  bool emulates = true;                    ///< what is_emulated() says is
  Lifetime lifetime = Lifetime::outlasts;  ///< of its processes
  std::function<bool()> is_interrupted = [] { return false; };
  std::shared_ptr<StartedProcesses> started = std::make_shared<StartedProcesses>();
  std::unique_ptr<Connection> connection = nullptr;
  int controller_pid = 0;            ///< 0: down
  std::vector<int> agent_pids = {};  ///< by process; 0: down
  Duration join_time{};
};

/// Does what the scenario says when it says it, follows the jobs into light, accounts for them, replays them and prints. The
/// exit code: kFailed if something became of a job that the scenario does not expect.
int run_jobs(LabRecord& lab, const Globals& globals);

}  // namespace loom::cli
