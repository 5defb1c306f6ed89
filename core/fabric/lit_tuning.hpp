// SPDX-License-Identifier: Apache-2.0
// Lasers that tune in their own light (Tunes::lit): while they do, their light is anywhere between two channels, and nobody may
// share glass with it before something blocks it.
#pragma once

#include <string>
#include <vector>

#include "core/fabric/fabric.hpp"

namespace loom {

/// A sentence for every such laser whose light reaches an element of several inputs (a coupler, an added ring, a grating)
/// before a switch that blocks it. Needs no index.
std::vector<std::string> check_lit_tuning(const Fabric& fabric);

}  // namespace loom
