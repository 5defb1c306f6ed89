// loom sim replay: a recorded controller once more.
#pragma once

#include <string>

#include "cli/options.hpp"

namespace loom::cli {

struct ReplayOrder {
  std::string tape;
  std::string scenario;  ///< empty: the one that the tape names
};

/// Differences are exit code 1.
int replay_session(const Globals& globals, const ReplayOrder& order);

}  // namespace loom::cli
