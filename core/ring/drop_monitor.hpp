// SPDX-License-Identifier: Apache-2.0
// Who sees what a ring drops: what its agent can hold the ring by.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/fabric/fabric.hpp"

namespace loom {

struct DropMonitor {
  DeviceId device;            ///< a monitor of the agent that drives the ring
  std::uint16_t channel = 0;  ///< place in Device::elements
  bool operator==(const DropMonitor&) const = default;
};

/// The nearest behind the drop of `ring`, through nothing that a plan sets. Precondition: the fabric has its index, a device
/// drives the ring.
std::optional<DropMonitor> drop_monitor_of(const Fabric& fabric, ElementId ring);

/// Rings that are said to be locked although nobody could hold them, a sentence each. Precondition: the fabric has its index.
std::vector<std::string> check_locked_rings(const Fabric& fabric);

}  // namespace loom
