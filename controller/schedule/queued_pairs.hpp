// SPDX-License-Identifier: Apache-2.0
// What policies of episodes share: bytes still queued, by pair. Pure.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "controller/predict/engine/transfers.hpp"
#include "controller/predict/networks/graph_routes.hpp"
#include "controller/schedule/permutations.hpp"

namespace loom {

/// At least a byte each: what has been cut at its very end still needs light to be gone.
std::map<NodePair, double> queued(std::span<const Transfers::Left> residual);
/// Rounded up, within what permutations.hpp takes.
std::vector<SwitchPair> whole_bytes(const std::map<NodePair, double>& bytes);

}  // namespace loom
