// SPDX-License-Identifier: Apache-2.0
// A job's launcher and its light: `loom job env` tells a launcher which rank is where, `loom job run` starts one when the
// circuits are ready, and makes it quiet around dark time by two hooks.
#pragma once

#include "cli/nouns/job.hpp"

namespace loom::cli {

/// `env` and `run` of `loom job`.
void add_launcher(CLI::App& job, CommandLine& line);

}  // namespace loom::cli
