// SPDX-License-Identifier: Apache-2.0
// Every model of device that this program drives. Adding one: its files, its sources in CMakeLists.txt and its line in
// registry.cpp; its simulated device is listed in sim_backend/devices/registry.cpp.
#pragma once

#include <memory>
#include <span>

#include "core/fabric/device_model.hpp"
#include "drivers/driver.hpp"

namespace loom {

/// A driver as the registry knows it; each driver's header declares its own.
struct DriverModel {
  DeviceModel model;
  /// Its profile is taken from the elements that the device drives. Never null.
  std::unique_ptr<Driver> (*make)(const Fabric& fabric, const Device& device);
};

/// In the order of DeviceRole; the first of a role is its usual one.
DeviceModels all_device_models();

std::span<const DriverModel* const> all_driver_models();

/// The usual model of the role where the device names none.
const DriverModel& driver_model_of(const Device& device);

/// The driver for a device of the fabric. Never null.
std::unique_ptr<Driver> make_driver(const Fabric& fabric, DeviceId device);

}  // namespace loom
