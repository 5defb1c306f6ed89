// Child processes of a lab: started with their output in a log file, remembered by pid so that a later `lab down` finds them.
#pragma once

#include <string>
#include <vector>

#include "core/result.hpp"

namespace loom::cli {

struct ProcessOrder {
  std::string name;  ///< of the log and the pid file
  std::vector<std::string> command;
};

/// Starts it detached from our terminal, output to FOLDER/NAME.log, pid to FOLDER/NAME.pid. Errors: internal (what and why).
Result<int> start_process(const std::string& folder, const ProcessOrder& order);
/// Is it running and ours to wait for, or alive at all?
bool is_running(int pid);
/// SIGTERM to everything that FOLDER/*.pid names, SIGKILL after `patience_ms`; removes the pid files. Returns how many were
/// running.
int stop_processes(const std::string& folder, int patience_ms);
/// The last lines of FOLDER/NAME.log, for an error message.
std::string tail_of_log(const std::string& folder, const std::string& name);
/// The folder that this program lies in, where its siblings lie too.
std::string program_folder();
/// Resident memory in bytes now, 0 if it is gone.
long long resident_bytes(int pid);

}  // namespace loom::cli
