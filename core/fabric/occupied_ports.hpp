// SPDX-License-Identifier: Apache-2.0
// Ports of a circuit switch that somebody else uses: what is there that is not ours, and what it stands in the way of. A
// connection that a plan names and that is there is ours, whoever made it; every other one of somebody else stays. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/observation.hpp"

namespace loom {

/// In CircuitSwitchObservation::occupied: the end that is none of our ports. It is on the switch, and not in the fabric.
inline constexpr std::uint16_t kPortElsewhere = 0xFFFF;

/// By input, then output.
bool ascends(CrossConnect a, CrossConnect b);

/// Is it one of them? Precondition: they ascend by input, then output, as everybody has them.
bool contains(const std::vector<CrossConnect>& connects, CrossConnect wanted);

/// Is it there, whoever made it?
bool is_connected(const CircuitSwitchObservation& seen, CrossConnect wanted);

/// The connection of somebody else that holds a port of `wanted`; nothing if `wanted` itself is there.
std::optional<CrossConnect> occupant_of(const std::vector<CrossConnect>& occupied, CrossConnect wanted);

/// All connections between ports of ours, whoever made them, ascending input.
std::vector<CrossConnect> connects_between_ours(const CircuitSwitchObservation& seen);

/// `connects`, which ascend, and those of `more` that they lack, each once, ascending.
std::vector<CrossConnect> with_ours(std::vector<CrossConnect> connects, std::vector<CrossConnect> more);

/// Those of somebody else that `ours` has none of.
std::vector<CrossConnect> others_beside(const CircuitSwitchObservation& seen, const std::vector<CrossConnect>& ours);

/// "input 3 is connected to output 7 by somebody else; disconnect it there, or set foreign: remove in its profile".
std::string describe_occupant(CrossConnect occupant);

}  // namespace loom
