// SPDX-License-Identifier: Apache-2.0
// loom sim replay: a recorded controller once more.
#pragma once

#include <string>

#include "cli/options.hpp"

namespace loom::cli {

struct ReplayCommand {
  std::string tape;
  std::string scenario;  ///< empty: the one that the tape names
};

/// Differences are exit code 1.
int replay_recording(const Globals& globals, const ReplayCommand& order);

}  // namespace loom::cli
