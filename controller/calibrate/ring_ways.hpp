// SPDX-License-Identifier: Apache-2.0
// Which light could measure a ring: walked back from its input to transmitters, through whatever a plan could set. Whether a
// light can really be sent beside all others is the plan's to say.
#pragma once

#include <optional>
#include <set>

#include "core/fabric/fabric.hpp"
#include "core/ids.hpp"
#include "core/messages/report.hpp"

namespace loom {

/// Transmitters that are named of one ring or receiver, at most.
inline constexpr std::size_t kWaysToRing = 4;

/// `busy`: transmitters that send a job's light. Precondition: a device of the fabric drives `ring`.
RingReport ring_ways(const Fabric& fabric, ElementId ring, const std::set<ElementId>& busy = {});

/// The same of a receiver, whatever light comes to it then. Precondition: `monitor` measures there.
WayReport receiver_ways(const Fabric& fabric, ElementId receiver, DeviceId monitor, const std::set<ElementId>& busy = {});

/// Which a pluggable module would measure beside its own laser: of a node that has one of each. Its readings say whether it
/// does.
std::optional<ElementId> receiver_of_module(const Fabric& fabric, const Device& laser);

}  // namespace loom
