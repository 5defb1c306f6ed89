// SPDX-License-Identifier: Apache-2.0
// Which files a command line reads: those that it names, and those that these name in turn.
#pragma once

#include <string>
#include <vector>

#include "cli/bundle/manifest.hpp"

namespace loom::cli {

/// A command as a bundle holds it: every path relative to the folder it runs in, which lies below the folder that all its
/// files have in common.
struct BundledCommand {
  std::vector<std::string> command;
  std::string folder;                ///< where it runs, below the common one
  std::vector<std::string> folders;  ///< that its outputs go to
  std::vector<BundleFile> inputs;    ///< path, named_by, bytes, sha256
  BundleContents contents;           ///< of the inputs, by the path below the common folder
  std::optional<std::string> seed;
};

/// `included`: files to take along that nothing names. Errors: not_found (an included file), invalid_argument (a folder as
/// input), refused (a command that a bundle does not run, limits), storage.
Result<BundledCommand> bundled(const std::vector<std::string>& command, const std::vector<std::string>& included);

/// Only commands that need no controller, no keys and no network; no argument leads out of the bundle. Errors: refused.
Result<void> check_bundled_command(const std::vector<std::string>& command, const std::string& folder);

}  // namespace loom::cli
