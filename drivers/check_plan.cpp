// SPDX-License-Identifier: Apache-2.0
// A driver a device, asked and forgotten.
#include "drivers/check_plan.hpp"

#include <string>

#include "core/text/format_text.hpp"
#include "drivers/registry.hpp"

namespace loom {

Result<void> check_with_drivers(const Fabric& fabric, const Plan& plan) {
  for (const NodePlan& node : plan.nodes) {
    for (const DevicePlan& device : node.devices) {
      if (!device.touched || fabric.device(device.device).role == DeviceRole::monitor) {
        continue;
      }
      const std::unique_ptr<Driver> driver = make_driver(fabric, device.device);
      for (const TimedSetpoint& entry : device.timeline) {
        if (const auto lawful = driver->check(entry.setpoint); !lawful) {
          Error error = lawful.error();
          error.message = format_text("device {} of node {} would refuse it: {}", device.device.value,
                                      fabric.nodes[node.node.value].name, error.message);
          error.device = device.device;
          return std::unexpected(std::move(error));
        }
      }
    }
  }
  return {};
}

}  // namespace loom
