// SPDX-License-Identifier: Apache-2.0
// A lab: controller, agent processes and emulators of one scenario, started, used and stopped together. In its state folder it
// touches nothing but what the folder's manifest names (lab_manifest.hpp).
#pragma once

#include <string>

#include "cli/options.hpp"

namespace CLI {
class App;
}

namespace loom::cli {

class CommandLine;

struct LabCommand {
  std::string scenario;
  bool keep = false;                   ///< leave everything running at the end
  bool record = false;                 ///< the controller keeps a tape
  std::string inspector_dir{};         ///< handed to the agents; empty: nobody tells of traffic
  std::string training_dir{};          ///< handed to the agents; empty: stand-ins pace iterations
  bool metrics = false;                ///< its daemons serve metrics, each on a port of its own
  std::string connections = "shared";  ///< lightloom-agent --connections
  bool realtime = false;               ///< lightloom-agent --realtime
  bool runs_jobs = false;              ///< what the scenario does while it runs must be possible in a lab
  bool replace = false;                ///< a lab that runs in the folder is stopped
  bool fresh = false;                  ///< journals of an earlier lab are forgotten
  bool no_emulators = false;           ///< what a lab would emulate is there already
  std::string process{};               ///< of `restart`: controller, agents-0, heater-5020, ...
};

/// Starts the scenario's processes, does what the scenario says when it says it, follows its jobs into light, accounts for them
/// and replays their bytes over the light that the devices emitted, and prints it. Ends everything unless told to keep it; an
/// interrupt ends everything in any case, with exit code 130.
int run_lab(const Globals& globals, LabCommand order);
/// Starts the processes and returns when every agent has joined. An earlier lab's journals are gone on from.
int lab_up(const Globals& globals, const LabCommand& order);
/// Stops what a lab left running in the state folder. Journals, logs and keys stay.
int lab_down(const Globals& globals);
/// The processes of the lab in the state folder. Exit code kPartial: some of them have ended.
int lab_status(const Globals& globals);
/// Stops one process and starts it again with the same command; waits until every agent has joined, a minute or as long as
/// --timeout says, and prints for how long light was unattended.
int restart_in_lab(const Globals& globals, const LabCommand& order);

/// Marks a folder of keys as a lab's, so that a lab may be started in it; one that holds anything else stays as it is.
Result<void> mark_key_folder(const std::string& state_dir);

void add_lab(CLI::App& app, CommandLine& line);

}  // namespace loom::cli
