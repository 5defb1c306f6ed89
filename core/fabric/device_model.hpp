// SPDX-License-Identifier: Apache-2.0
// A model of device: what a driver is written for, as its data sheet has it. Drivers list theirs (drivers/registry.hpp) and
// mains hand the list to whoever reads files. Plans, observations and proofs know roles only.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "core/fabric/fabric.hpp"

namespace loom {

struct DeviceModel {
  std::string_view name;  ///< as files have it: `kind: NAME`
  DeviceRole role;
  std::string_view summary;            ///< a line: protocol, and where it is written down
  std::span<const ProfileKey> keys{};  ///< of a device's `profile:`
  /// Why this device cannot be of the model, where more than its role decides; empty: it can.
  std::string (*refuse)(const Fabric& fabric, const Device& device) = nullptr;
  std::span<const std::string_view> schemes{};  ///< of endpoints that it speaks behind: "tcp", "modbus-rtu"; empty: any
  bool is_module = false;  ///< of a mainframe: its bus_address is its slot, where the line has no addresses
};

// Schemes of endpoints that carry the same exchange.
inline constexpr std::array<std::string_view, 2> kStreamSchemes{"tcp", "serial"};               ///< frames and lines
inline constexpr std::array<std::string_view, 2> kRegisterSchemes{"modbus-tcp", "modbus-rtu"};  ///< words
inline constexpr std::array<std::string_view, 1> kWebSchemes{"http"};                           ///< requests
inline constexpr std::array<std::string_view, 2> kMemorySchemes{"optoe", "i2c"};                ///< bytes of a module

/// The first of a role is what a template builds its fabrics of.
using DeviceModels = std::span<const DeviceModel* const>;

}  // namespace loom
