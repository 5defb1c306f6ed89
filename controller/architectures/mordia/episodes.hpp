// SPDX-License-Identifier: Apache-2.0
// Mordia as SiP-ML's authors simulated it (docs/systems/sipml.md#mordia): one ring on which every wavelength serves one pair at
// a time in the whole network. What SiP-Ring's re-use of wavelengths is measured against. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "controller/predict/engine/reconfiguration.hpp"
#include "controller/schedule/permutations.hpp"

namespace loom {

/// Wavelengths by pair, max-min of wavelengths over demand: whoever is worst served gets the next one, which is exact because
/// any pair can take any wavelength. Nothing: more pairs than wavelengths, so somebody would get none. O((W + pairs) log
/// pairs).
std::optional<std::vector<std::uint32_t>> share_wavelengths(std::uint32_t wavelengths, const std::vector<SwitchPair>& pairs);

/// One interval of as many pairs as there may be: shared as above where all can be served, else one wavelength each for the
/// pairs with most to send, ties by place. `terms.rate`: one wavelength's. Errors of the policy: those of the network.
TopologyPolicy mordia_policy(const NetworkTerms& terms, std::uint32_t wavelengths);

}  // namespace loom
