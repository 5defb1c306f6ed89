// SPDX-License-Identifier: Apache-2.0
// What every program says of itself besides --help: --version, and its manual page, which is made from the same options and
// commands as the help, so that it cannot name one that is not there.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace loom {

/// A heading of a manual page: sentences, then entries (a file, an exit code) with their meanings.
struct ManSection {
  std::string title;  ///< "EXIT STATUS"
  std::vector<std::string> paragraphs;
  std::vector<std::pair<std::string, std::string>> entries;
};

/// What of a program's manual page its options do not say.
struct ProgramPage {
  std::string name;     ///< "lightloomd"
  int section = 1;      ///< 1: commands; 8: daemons
  std::string summary;  ///< one line, as `apropos` shows it
  std::vector<std::string> description;
  std::vector<ManSection> sections;   ///< behind the options
  std::vector<std::string> see_also;  ///< "loom(1)"
};

/// "loom 0.1.0", and below it which wire, which configuration files and which further formats (`more`: "answers (--json) of
/// version 1") this build knows.
std::string version_text(std::string_view program, std::string_view more = {});

/// Adds --version and --man-page, which print and end the program. Before the commands, which inherit nothing of it.
void add_program_page(CLI::App& app, ProgramPage page, std::string_view more_versions = {});

/// In troff's man macros, as `man -l` reads it.
std::string man_page(const CLI::App& app, const ProgramPage& page);

/// "--nodes UINT", "NODE", "--json".
std::string shape_of(const CLI::Option& option);

}  // namespace loom
