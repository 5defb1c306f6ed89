// SPDX-License-Identifier: Apache-2.0
// The configuration files that come with the programs: those of the tree one works in, else those that were installed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace loom::cli {

class CommandLine;

struct ShippedFile {
  std::string path;   ///< as a command takes it
  std::string kind;   ///< scenario, fabric, ...
  std::string modes;  ///< of a scenario: "soft, sim", its own first; else empty
  std::string about;  ///< the first sentence of the remark that it begins with
};

/// `configs` here, or share/lightloom beside the program's bin; empty: neither is there.
std::filesystem::path config_folder();
/// Ascending; what is no configuration file is left out.
std::vector<ShippedFile> shipped_files(const std::filesystem::path& folder);

/// Below the noun `config`.
void add_config_list(CLI::App& config, CommandLine& line);

}  // namespace loom::cli
