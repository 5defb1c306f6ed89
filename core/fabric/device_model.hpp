// A model of device: what a driver is written for, as its data sheet has it. Drivers list theirs (drivers/registry.hpp) and
// mains hand the list to whoever reads files. Plans, observations and proofs know roles only.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/fabric/fabric.hpp"

namespace loom {

struct DeviceModel {
  std::string_view name;  ///< as files have it: `kind: NAME`
  DeviceRole role;
  std::string_view summary;  ///< a line: protocol, and where it is written down
  std::span<const ProfileKey> keys{};  ///< of a device's `profile:`
  /// Why this device cannot be of the model, where more than its role decides; empty: it can.
  std::string (*refuse)(const Fabric& fabric, const Device& device) = nullptr;
};

/// The first of a role is what a template builds its fabrics of.
using DeviceModels = std::span<const DeviceModel* const>;

}  // namespace loom
