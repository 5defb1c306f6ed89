// A job's launcher and its light: `loom job env` tells a launcher which rank is where, `loom job run` starts one when the
// circuits are ready, and makes it quiet around dark time by two hooks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/nouns/remote.hpp"
#include "cli/options.hpp"

namespace loom::cli {

struct EnvOrder {
  std::uint64_t job = 0;
  bool hostfile = false;  ///< a node's name a line, in rank order, as MPI launchers read it
};

/// LOOM_* of a job, as lines for a shell's `eval`, as a host file, or as JSON.
int print_job_env(const Globals& globals, const EnvOrder& order);

struct LaunchOrder {
  JobOrder job;
  std::string on_quiesce;  ///< run by /bin/sh when light of the job is about to go dark; the change waits for its end
  std::string on_resume;   ///< when all of it is back
  bool keep = false;       ///< the job's light stays when the command has ended
  std::vector<std::string> command;
};

/// Submits the job, waits for its light, runs the command with LOOM_* in its environment, and cancels the job when it ends.
/// Returns the command's exit code; 128 + n where signal n ended it.
int run_with_job(const Globals& globals, const LaunchOrder& order);

}  // namespace loom::cli
