// SPDX-License-Identifier: Apache-2.0
// One fabric under several seeds of what it leaves to chance (hashes of flows, random graphs, ties): mean, confidence interval
// and the run in the middle. Pure.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "controller/arena/arena.hpp"

namespace loom {

/// Of `values`, in their unit.
struct SeedSpread {
  double mean = 0;
  double half_width = 0;  ///< of the 95 % confidence interval of the mean (Student's t); 0 for one value
  double least = 0;
  double most = 0;
};

/// `values` not empty.
SeedSpread spread_of(std::span<const double> values);

struct SeededRow {
  ArenaRow row;                      ///< the median run; of an even number, the faster of the two in the middle
  std::uint32_t seed = 0;            ///< of that run
  std::vector<double> runs_ms;       ///< by seed, ascending; one where nothing is left to chance
  std::optional<SeedSpread> spread;  ///< of runs_ms; none: one run
};

/// Whether `fabric` has a seed.
bool has_seed(std::string_view fabric);

struct SeededJob {
  std::function<Result<ArenaEntry>(const Settings&)> make;  ///< make_entry() of one fabric and job
  Duration compute{};                                       ///< compute_alone() of the graph
  std::uint32_t seeds = 1;                                  ///< from the one in the settings on, or 1
};

/// `settings`: settings_for(fabric, ...). Fabrics without a seed are made and played once. Errors: those of make() and play();
/// invalid_argument (a seed that is no number).
Result<SeededRow> play_seeds(std::string_view fabric, const SeededJob& job, const Settings& settings, const PlayTerms& terms);

}  // namespace loom
