// SPDX-License-Identifier: Apache-2.0
// loom arena: one job on many fabrics, as a table, JSON and a drawing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/options.hpp"

namespace loom::cli {

struct ArenaCommand {
  std::string workload;
  std::string demand;  ///< file, instead of a workload
  std::string model;   ///< file, instead of either
  std::uint32_t nodes = 0;
  std::string bandwidth = "100G";
  std::vector<std::string> fabrics;  ///< empty: all
  std::vector<std::string> settings;
  std::string calibration;  ///< file; its figures come after the uncalibrated ones
  bool is_exact = false;    ///< every round is played, however long it takes
  std::uint32_t seeds = 1;  ///< of whatever a fabric leaves to chance
  std::string plot;         ///< SVG or PDF file
  std::string csv;          ///< the figures behind it; empty: beside it
  std::string cluster;      ///< file (`kind: cluster`), instead of a workload: see cluster.hpp
  std::string prices;       ///< file (`kind: prices`): what each fabric costs
  std::string equal_cost;   ///< fabric whose cost buys the electrical ones' rate; empty: all have the same rate
  std::string gantt;        ///< SVG or PDF file: a lane a fabric
  bool no_caption = false;  ///< of pictures: it is a file beside them instead
};

/// Names, for help.
std::string arena_fabrics();

/// A fabric that cannot carry the job is a row that says why; the exit code is 4 then.
int arena(const Globals& globals, const ArenaCommand& order);

}  // namespace loom::cli
