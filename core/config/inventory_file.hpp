// SPDX-License-Identifier: Apache-2.0
// What stands in an installation: where each bus is, what each device is, which cable lies where. Written in a scenario, or in
// a file of its own (`kind: inventory`), so that one inventory serves all scenarios of a lab. Applied to a fabric; a value
// that contradicts it is an error with its place.
#pragma once

#include <filesystem>
#include <vector>

#include "core/config/fabric_template.hpp"
#include "core/config/scenario/scenario.hpp"
#include "core/config/yaml/yaml_reader.hpp"

namespace loom {

/// What an inventory is applied to.
struct InventoryPlace {
  Fabric* fabric = nullptr;  ///< null: it could not be read, and names are not judged
  FabricKinds kinds;
  ErrorList& errors;
  std::vector<BusOverride>& buses;
  std::vector<TriggerLine>& triggers;
};

/// `bus name -> endpoint`.
void read_buses(const YamlNode& node, const InventoryPlace& place);

/// `device name -> {kind, bus_address, serial, profile}`.
void read_devices(const YamlNode& node, const InventoryPlace& place);

/// Two buses of one line, two devices at one place, a model that does not speak what its bus says. `buses`: where a fault of a
/// bus is pointed at, if it is named there; else `elsewhere`.
void check_places(const YamlNode* buses, const YamlNode& elsewhere, const InventoryPlace& place);

/// A file: `buses`, `devices`, `triggers`, `cabling` (a CSV beside it). Paths in it are relative to it.
void load_inventory(const std::filesystem::path& path, const InventoryPlace& place);

/// For `loom config check`, without a fabric to judge names by: keys, endpoints, and that the cabling can be read.
std::vector<ConfigError> check_inventory_file(const std::filesystem::path& path, const YamlNode& root,
                                              const FabricKinds& kinds);

}  // namespace loom
