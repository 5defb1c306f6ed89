// SPDX-License-Identifier: Apache-2.0
// The tree of commands: every noun, verb and option of `loom`, and what each one calls. Completion and --help are read off it.
#pragma once

#include "cli/command_line.hpp"

namespace loom::cli {

/// Fills `app`; its callbacks set line.command. Both must outlive the parse and the command.
void build_tree(CLI::App& app, CommandLine& line);

}  // namespace loom::cli
