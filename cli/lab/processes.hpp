// SPDX-License-Identifier: Apache-2.0
// A lab's processes: started with their output in a log, noted in the manifest before their program runs, and ended only while
// number, start, boot and program agree with what was noted. Signals go through a pidfd, so that a number which is given to
// another process in between never reaches that one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/lab/manifest.hpp"
#include "core/result.hpp"

namespace loom::cli {

struct ProcessSpec {
  std::string name;  ///< of its log and in the manifest
  std::vector<std::string> command;
  bool extends_log = false;  ///< what earlier incarnations of it said stays; else it is emptied
};

enum class Lifetime : std::uint8_t {
  ours,      ///< the kernel kills it (SIGKILL) if the thread that started it ends, however that comes about
  outlasts,  ///< until somebody stops it
};

/// Called with what names the process, before its program runs; an error and it never does.
using NoteProcess = std::function<Result<void>(const LabProcess&)>;

/// Starts it detached from our terminal, output to FOLDER/NAME.log (0600). Returns when its program runs. Errors: storage (the
/// log), unreachable (it cannot be run: why), those of `note`.
Result<LabProcess> start_process(const std::string& folder, const ProcessSpec& order, Lifetime lifetime,
                                 const NoteProcess& note);

enum class ProcessState : std::uint8_t {
  running,
  ended,
  another,  ///< its number is given to another process now
};

ProcessState state_of(const LabProcess& process);
/// Is it a process of this host at all, and not one that only waits to be buried? Buries it if it is a child of ours.
bool is_running(int pid);

struct Stopped {
  std::vector<std::string> stopped;    ///< names of those that ran
  std::vector<std::string> not_ours;   ///< left alone: the number is another process's now
  std::vector<std::string> would_not;  ///< alive although they were killed: they hang in the kernel
};

/// SIGTERM to all that run, SIGKILL to those that still do after `patience_ms`; 0: SIGKILL at once. Returns when they have
/// ended, at most 5 s after that.
Stopped stop_processes(const std::vector<LabProcess>& processes, int patience_ms);

/// The last lines of FOLDER/NAME.log, for an error message.
std::string tail_of_log(const std::string& folder, const std::string& name);
/// The folder that this program lies in, where its siblings lie too.
std::string program_folder();
/// Resident memory in bytes now, 0 if it is gone.
long long resident_bytes(int pid);
/// How long ago it started, in seconds; negative: it is gone.
double age_seconds(const LabProcess& process);

}  // namespace loom::cli
