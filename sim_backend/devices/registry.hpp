// SPDX-License-Identifier: Apache-2.0
// Who answers on a device's bus where there is no hardware: a simulated device of each model that drivers/registry.hpp lists.
// Adding one: its files, its source in CMakeLists.txt and its line in registry.cpp.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "sim_backend/devices/simulated_device.hpp"

namespace loom {

/// Each simulated device's header declares its own.
struct SimulatedModel {
  std::string_view model;  ///< as the driver's DeviceModel has it
  std::unique_ptr<SimulatedDevice> (*make)(const Fabric& fabric, const Device& device, const SimDeviceOptions& options);
  std::string_view emulator{};  ///< subcommand of lightloom-emulate that speaks for it; empty: none does
};

/// Their models' names, in no order that matters.
std::vector<std::string_view> simulated_models();

/// The subcommand of lightloom-emulate that speaks for this device; empty: none does.
std::string_view emulator_of(const Device& device);

/// A monitor, or a switch with taps at its ports, which its audits read.
bool measures_light(const Device& device);

/// The simulated device for a device of the fabric. Never null.
std::unique_ptr<SimulatedDevice> make_simulated_device(const Fabric& fabric, DeviceId device, const SimDeviceOptions& options);

}  // namespace loom
