// SPDX-License-Identifier: Apache-2.0
// The keys of a device that a fabric file and a scenario's inventory share: of which model it is, where it is on its bus, who
// it must say that it is, and the profile that its model asks for.
#pragma once

#include "core/config/yaml/yaml_reader.hpp"
#include "core/fabric/device_model.hpp"
#include "core/fabric/fabric.hpp"

namespace loom {

/// `kind`, `bus_address`, `serial` and `profile` of `map` into `device`; what is absent stays as it is. Another
/// `kind` forgets the profile of the one before.
void read_device_keys(YamlMap& map, DeviceModels models, ErrorList& errors, Device& device);

/// Why the device cannot be of its model, by what it drives; empty: it can. Its elements are known.
std::string refusal_of(DeviceModels models, const Fabric& fabric, const Device& device);

}  // namespace loom
