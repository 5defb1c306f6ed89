// SPDX-License-Identifier: Apache-2.0
// loom reproduce: published figures beside ours.
#pragma once

#include <string>
#include <vector>

#include "cli/options.hpp"

namespace loom::cli {

struct ReproduceCommand {
  std::vector<std::string> targets;  ///< empty: all
  std::string data;                  ///< folder with traces/topoopt and measures; empty: ./data, if there is one
  std::string plot;                  ///< SVG or PDF of T10's sweep; empty: none
  bool no_caption = false;           ///< of pictures: it is a file beside them instead
  std::string sweep;                 ///< folder for the drawings of T13's and T14's sweeps; empty: none, and no tables
};

/// Their names, for --help.
std::string published_targets();

/// A figure beyond its tolerance is exit code 1; a target whose files are absent is told and is exit code 4.
int reproduce(const Globals& globals, const ReproduceCommand& order);

}  // namespace loom::cli
