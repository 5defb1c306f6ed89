// SPDX-License-Identifier: Apache-2.0
// loom bundle create, loom bundle verify: a run with all that it read and all that came out, for another machine to repeat.
#pragma once

#include <string>
#include <vector>

#include "cli/bundle/compare.hpp"
#include "cli/options.hpp"

namespace CLI {
class App;
}

namespace loom::cli {

class CommandLine;

struct BundleMade {
  BundleManifest manifest;
  std::string manifest_sha256;
};

/// Runs `program` with `command` over copies of its inputs alone, and writes what came out to `path`. Errors: those of
/// bundled(), Stage and write_bundle; refused (the command failed, or a file cannot be told from the bundle's own).
Result<BundleMade> create_bundle(const std::string& path, const std::string& program, const std::vector<std::string>& command,
                                 const std::vector<std::string>& included);

struct BundleVerified {
  BundleManifest manifest;
  std::string manifest_sha256;
  bool was_run = false;
  int exit_code = 0;
  Comparison comparison;
};

/// `program` empty: digests alone. Errors: those of read_bundle, manifest_of, check_digests, check_bundled_command and Stage.
Result<BundleVerified> verify_bundle(const std::string& path, const std::string& program);

void add_bundle(CLI::App& app, CommandLine& line);

}  // namespace loom::cli
