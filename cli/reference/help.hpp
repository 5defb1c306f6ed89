// SPDX-License-Identifier: Apache-2.0
// loom help: commands and their help, and the tables that hold for all commands. What --help and the pages of docs/reference
// say is made here from the tree of commands.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace CLI {
class App;
}

namespace loom::cli {

class CommandLine;

/// A variable of the environment that somebody may set, or finds set.
struct EnvironmentWords {
  std::string_view name;
  std::string_view who;  ///< reads it; of job run: who finds it
  std::string_view meaning;
};
/// All that begin with LIGHTLOOM_, and the foreign ones that are respected.
std::span<const EnvironmentWords> environment_words();

/// What a command takes everywhere, in two lines for its help.
std::string global_options_text();

/// Every command's footer says what it takes everywhere. To be called before there are commands.
void format_help(CLI::App& app);
/// Sorts the commands of the root into groups, and writes the root's footer.
void arrange_help(CLI::App& app);

/// The text of `loom help TOPIC`, or of a command's --help. `markdown`: a page of docs/reference, for TOPIC alone.
/// Errors: not_found, with the nearest; invalid_argument (no page of that).
Result<std::string> help_text(const CLI::App& app, const std::vector<std::string>& words, bool markdown);

void add_help(CLI::App& app, CommandLine& line);

}  // namespace loom::cli
