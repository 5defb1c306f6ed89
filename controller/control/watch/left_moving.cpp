// SPDX-License-Identifier: Apache-2.0
// What was touched when a repair failed, until a later reading.
#include "controller/control/watch/left_moving.hpp"

namespace loom {

void LeftMoving::note(const FabricCommit& failed, const Fabric& fabric, Instant now) {
  for (const NodeId node : failed.may_have_moved() ? failed.plan().plan.changed : std::vector<NodeId>{}) {
    for (const DevicePlan& device : failed.plan().plan.nodes[node.value].devices) {
      if (device.touched && fabric.steers_others[device.device.value]) {
        rows_[device.device] = {now};
      }
    }
  }
}

std::vector<DeviceId> LeftMoving::unread(const AgentSessions& sessions) {
  std::erase_if(rows_, [&](const auto& row) {
    const Observation* seen = sessions.observed(row.first);
    return seen != nullptr && seen->read_at > row.second.since;
  });
  std::vector<DeviceId> devices;
  for (const auto& [device, row] : rows_) {
    devices.push_back(device);
  }
  return devices;
}

std::optional<DeviceId> LeftMoving::take_unusable(const UnusableWatch& unusable) {
  for (auto& [device, row] : rows_) {
    if (!row.is_taken && unusable.is_unusable(device)) {
      row.is_taken = true;
      return device;
    }
  }
  return std::nullopt;
}

}  // namespace loom
