// SPDX-License-Identifier: Apache-2.0
// Where a bundled command runs: a folder of its own, with the bundled inputs and nothing else, so that a run which comes out is
// one that the bundle is enough for.
#pragma once

#include <string>
#include <vector>

#include "cli/bundle/archive.hpp"

namespace loom::cli {

/// What a run leaves behind.
struct StageRun {
  int exit_code = 0;
  std::string answer;      ///< stdout
  BundleContents outputs;  ///< every file that was not there before, by its path in the stage
};

/// A folder below the system's temporary one; goes with all that is in it.
class Stage {
 public:
  /// Errors: storage.
  static Result<Stage> make(const BundleContents& inputs, const std::vector<std::string>& folders);
  Stage(Stage&& other) noexcept;
  Stage& operator=(Stage&&) = delete;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  ~Stage();

  /// Runs `program` with `command` in `folder` of the stage; its words on stderr go to ours. Errors: storage, unreachable (it
  /// cannot be started), refused (outputs beyond a bundle's limits, or that are no regular files).
  Result<StageRun> run(const std::string& program, const std::vector<std::string>& command, const std::string& folder) const;

 private:
  Stage(std::string root, BundleContents inputs) : root_(std::move(root)), inputs_(std::move(inputs)) {}
  std::string root_;
  BundleContents inputs_;
};

/// This very program.
std::string own_program();

/// Of a file on disk, at most a bundle's. Errors: storage, refused (the limit).
Result<std::string> read_whole(const std::string& path);

}  // namespace loom::cli
