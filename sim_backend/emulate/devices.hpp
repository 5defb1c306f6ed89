// SPDX-License-Identifier: Apache-2.0
// EmulatedDevices: whom an emulator stands for, as a fabric whose buses are simulated here: one device that options describe,
// or all devices of some buses of a scenario.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/scenario/scenario.hpp"
#include "core/fabric/fabric.hpp"
#include "core/result.hpp"
#include "sim_backend/devices/simulated_device.hpp"
#include "sim_backend/emulate/options.hpp"

namespace loom {

struct EmulatedDevices {
  std::shared_ptr<const Fabric> fabric;  ///< "sim" is the endpoint of the buses that are emulated, and of no other
  std::vector<DeviceId> devices;
  std::vector<ScenarioFault> faults{};  ///< of the scenario, on these devices
  RingHabits rings{};                   ///< of the scenario
  bool has_own_ids = true;              ///< ids are the scenario's; else the light log has EmulatorOptions::light_id
};

/// A device of `elements`, in this order. `bus_address` is its Modbus unit.
struct LoneDevice {
  DeviceRole role = DeviceRole::transmitter;
  std::string_view model{};  ///< empty: the usual one of its role
  std::vector<Element> elements{};
  std::uint16_t bus_address = 1;
  std::vector<DeviceSetting> profile{};
};
/// A laser of 96 channels of 50 GHz in the C band; power and times are `transmitter`'s.
Element c_band_laser(std::string name, Transmitter transmitter);

/// One bus with these devices, and nothing else in the world.
EmulatedDevices lone_devices(std::vector<LoneDevice> devices, const EmulatorOptions& options);

/// Those that options.scenario has on options.buses. Errors: invalid_config (the file's errors, no such bus, a device there is
/// none of `models`, two have one address).
Result<EmulatedDevices> devices_of_scenario(const EmulatorOptions& options, std::initializer_list<std::string_view> models);

/// Of the first device, by which the dialect goes: those at one place speak one.
std::string_view model_of(const EmulatedDevices& devices);

}  // namespace loom
