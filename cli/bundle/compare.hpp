// SPDX-License-Identifier: Apache-2.0
// Two runs of one command, number by number: what was recorded against what comes out now. Nothing is rounded; what is left out
// is left out by a rule (manifest.hpp) and counted.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "cli/bundle/manifest.hpp"

namespace loom::cli {

struct BundleDifference {
  std::string file;
  std::string place;  ///< "/rows/3/iteration_ms", "row 4, column dark_ms", "line 12"
  std::string recorded;
  std::string now;
  std::string by;  ///< of numbers: "0.25 (2 %)"; empty: it is no number
};

struct Comparison {
  std::size_t files = 0;
  std::size_t numbers = 0;                      ///< compared
  std::map<std::string, std::size_t> left_out;  ///< by a rule's key or suffix
  std::size_t differing = 0;                    ///< all of them
  std::vector<BundleDifference> differences;    ///< the first kDifferencesMax
};

inline constexpr std::size_t kDifferencesMax = 50;

/// Adds what of one file differs: JSON by key, CSV by row and column, other text by line.
void compare_file(const std::string& file, const std::string& recorded, const std::string& now,
                  const std::vector<BundleRule>& rules, Comparison& into);

/// Exit codes and every file of two runs, by path; inputs are not among them.
void compare_runs(const BundleManifest& manifest, int exit_code, const BundleContents& recorded, const BundleContents& now,
                  Comparison& into);

}  // namespace loom::cli
