// SPDX-License-Identifier: Apache-2.0
// The channel grid of a wavelength-selective switch that must have its channels defined before it routes them (LCoS): which
// channels it gets for its routes. A new grid disturbs every circuit of the switch, so whoever plans a change and whoever
// drives the switch must agree on when there is one; both ask here.
#pragma once

#include <span>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/plan.hpp"

namespace loom {

/// The channel plan of the fabric's first transmitter; empty where its channels overlap or there is none.
std::vector<FrequencySlot> comb_of(const Fabric& fabric);

/// The slots of the routes, and of the comb what overlaps none of them, so that later routes on the comb need no new grid.
/// Ascending, each once. Depends on the routes' slots alone, not on what was before.
std::vector<FrequencySlot> channel_grid(std::span<const FrequencySlot> comb, std::span<const WssRoute> routes);

/// Does the way from one set of routes to another define a new grid?
bool needs_new_grid(std::span<const FrequencySlot> comb, std::span<const WssRoute> before, std::span<const WssRoute> after);

}  // namespace loom
