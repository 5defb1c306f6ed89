// SPDX-License-Identifier: Apache-2.0
// The commands that need no controller: pure functions on files and numbers. (loom plan: cli/plan/plan.hpp)
#pragma once

namespace CLI {
class App;
}

namespace loom::cli {

class CommandLine;

void add_predict(CLI::App& app, CommandLine& line);
void add_arena(CLI::App& app, CommandLine& line);
void add_reproduce(CLI::App& app, CommandLine& line);
void add_import(CLI::App& app, CommandLine& line);
void add_sim(CLI::App& app, CommandLine& line);
void add_config(CLI::App& app, CommandLine& line);

}  // namespace loom::cli
