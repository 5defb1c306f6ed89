// SPDX-License-Identifier: Apache-2.0
// loom arena --cluster: many jobs on one cluster, fabric by fabric, as a table, JSON and CSV.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/offline/arena.hpp"

namespace loom::cli {

/// `--cluster` of `verb`, and what cannot be said beside it.
void add_cluster_option(CLI::App& verb, ArenaCommand& options);

/// A fabric that cannot carry one of the jobs is a row that says why; the exit code is 4 then.
int study_cluster_file(const Globals& globals, const ArenaCommand& order);

}  // namespace loom::cli
