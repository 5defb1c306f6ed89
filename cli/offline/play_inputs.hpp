// SPDX-License-Identifier: Apache-2.0
// What predict and arena are told on the command line, read: the job's task graph, a rate, and settings of fabrics.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/workloads.hpp"
#include "core/result.hpp"
#include "core/units.hpp"

namespace loom::cli {

struct PlayWords {
  std::string workload;
  std::string demand;  ///< file, instead of a workload
  std::string model;   ///< file, instead of either
  std::uint32_t nodes = 0;
  std::string bandwidth;
  std::vector<std::string> settings;  ///< go before the calibration's
};

struct PlayInputs {
  TaskGraph graph;
  BitRate rate{};
  Settings fabric;  ///< without the prefix
};

/// `calibration` may be null. Errors: those of the settings, the rate and the workload; not_found and invalid_argument (a
/// fabric or a fabric's key that nobody knows, with the nearest).
Result<PlayInputs> read_inputs(const PlayWords& words, const Calibration* calibration, std::span<const std::string> fabrics);

}  // namespace loom::cli
