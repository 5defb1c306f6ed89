// SPDX-License-Identifier: Apache-2.0
// Shrink: of a run that found something, the smallest that still finds it: fewer jobs, fewer and shorter faults, a smaller
// fabric, a shorter run. What is left is written as files that `loom sim run S --faults F` runs.
#pragma once

#include <cstdint>
#include <string>

#include "sim_backend/experiments/swarm.hpp"

namespace loom {

struct ShrinkOptions {
  std::uint32_t runs_max = 400;
  std::string configs = "configs";  ///< as SwarmOptions
};

struct Shrunk {
  SwarmDraw draw;
  SafetyRule rule = SafetyRule::unsettled;  ///< that it breaks, as the run it came from does
  std::string evidence;
  std::uint32_t runs = 0;
};

/// Precondition: run_draw(draw) found a violation; its first one's rule is kept. A function of its arguments. Errors: as
/// run_draw.
Result<Shrunk> shrink(const SwarmDraw& draw, const ShrinkOptions& options);

struct DrawFiles {
  std::string scenario;  ///< paths
  std::string faults;
  std::string fabric;
};
/// Writes NAME.yaml, NAME_faults.yaml and NAME_fabric.yaml, NAME being the scenario's. Errors: storage; as text_of.
Result<DrawFiles> write_draw(const SwarmDraw& draw, const std::string& configs, const std::string& folder);

}  // namespace loom
