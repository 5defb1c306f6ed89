// SPDX-License-Identifier: Apache-2.0
// The best that parallel circuit switches, and a ring without re-use of wavelengths, can do for the worst-served pair, as the
// authors' integer programmes say it (docs/systems/sipml.md#circuits-over-switches, #mordia) and CBC solves it. For tests and
// benchmarks only.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "controller/schedule/permutations.hpp"

namespace loom {

/// Most circuits over demand of the worst-served pair, demands relative to the largest: one permutation a switch, a binary a
/// switch and pair. 0: somebody gets none. Nothing: neither reached nor ruled out within `seconds` a level.
std::optional<double> switch_optimum(std::uint32_t nodes, std::uint32_t switches, const std::vector<SwitchPair>& pairs,
                                     double seconds = 60);

/// The same where each of `wavelengths` serves one pair in the whole network (Mordia): a binary a wavelength and pair.
std::optional<double> shared_wavelength_optimum(std::uint32_t wavelengths, const std::vector<SwitchPair>& pairs,
                                                double seconds = 60);

}  // namespace loom
