// A lab: controller, agent processes and emulators of one scenario, started, used and stopped together.
#pragma once

#include <string>

#include "cli/options.hpp"

namespace loom::cli {

struct LabOrder {
  std::string scenario;
  bool keep = false;            ///< leave everything running at the end
  bool record = false;          ///< the controller keeps a tape
  std::string inspector_dir{};  ///< handed to the agents; empty: nobody tells of traffic
  bool runs_jobs = false;       ///< what the scenario does while it runs must be possible in a lab
};

/// Starts the scenario's processes, does what the scenario says when it says it, follows its jobs into light, accounts for them
/// and replays their bytes over the light that the devices emitted, and prints it. Ends everything unless told to keep it.
int run_lab(const Globals& globals, LabOrder order);
/// Starts the processes and returns when every agent has joined.
int lab_up(const Globals& globals, const LabOrder& order);
/// Stops what a lab left running in the state folder.
int lab_down(const Globals& globals);

}  // namespace loom::cli
