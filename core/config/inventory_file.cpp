// SPDX-License-Identifier: Apache-2.0
// Names are resolved against the fabric; endpoints by their grammar and by what the device's model speaks.
#include "core/config/inventory_file.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/config/cabling_file.hpp"
#include "core/config/device_keys.hpp"
#include "core/config/endpoints/bus_lines.hpp"
#include "core/config/fabric_file.hpp"
#include "core/config/trigger_file.hpp"
#include "core/config/yaml/yaml_words.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// Where to point for a fault of a bus: its line here, or the whole list.
const YamlNode& line_of(const YamlNode& node, const std::string& bus) {
  const auto key = std::ranges::find(node.keys, bus, &YamlNode::text);
  return key == node.keys.end() ? node : node.items[static_cast<std::size_t>(key - node.keys.begin())];
}

void read_keys(YamlMap& file, const std::filesystem::path& folder, const InventoryPlace& place) {
  file.name("name", std::string{});
  const YamlNode* buses = file.find("buses");
  if (buses != nullptr) {
    read_buses(*buses, place);
  }
  if (const YamlNode* devices = file.find("devices")) {
    read_devices(*devices, place);
  }
  if (const YamlNode* triggers = file.find("triggers")) {
    read_triggers(*triggers, place);
  }
  check_places(buses, file.node(), place);
  const std::string cabling = file.text("cabling", std::string{});
  if (!cabling.empty()) {
    apply_cabling(folder / cabling, place.fabric, place.errors);
  }
  file.finish();
}

}  // namespace

void read_buses(const YamlNode& node, const InventoryPlace& place) {
  if (node.kind != YamlNode::Kind::map) {
    place.errors.add(node, "buses: expected a map of bus names to endpoints");
    return;
  }
  const NameIndex names = names_of("bus", place.fabric, &Fabric::buses, place.errors);
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const YamlNode& endpoint = node.items[i];
    if (const auto lawful = check_endpoint(endpoint.text); !lawful) {
      place.errors.add(endpoint, "inventory: " + lawful.error().message);
    }
    const auto bus = place.fabric == nullptr ? std::nullopt : names.resolve(node.keys[i].text, node.keys[i], place.errors);
    if (bus) {
      place.buses.push_back({{*bus}, endpoint.text});
      place.fabric->buses[*bus].endpoint = endpoint.text;
    }
  }
}

void check_places(const YamlNode* buses, const YamlNode& elsewhere, const InventoryPlace& place) {
  if (place.fabric == nullptr) {
    return;
  }
  std::vector<LineFault> faults = check_lines(*place.fabric, place.kinds.models);
  std::ranges::move(check_protocols(*place.fabric, place.kinds.models), std::back_inserter(faults));
  for (const LineFault& fault : faults) {
    const std::string& bus = place.fabric->buses[fault.bus.value].name;
    place.errors.add(buses == nullptr ? elsewhere : line_of(*buses, bus), "inventory: " + fault.message);
  }
}

void read_devices(const YamlNode& node, const InventoryPlace& place) {
  if (node.kind != YamlNode::Kind::map) {
    place.errors.add(node, "devices: expected a map of device names to their keys");
    return;
  }
  const NameIndex names = names_of("device", place.fabric, &Fabric::devices, place.errors);
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const auto number = place.fabric == nullptr ? std::nullopt : names.resolve(node.keys[i].text, node.keys[i], place.errors);
    YamlMap map(node.items[i], "the device", place.errors);
    Device unknown;
    Device& device = number ? place.fabric->devices[*number] : unknown;
    const DeviceRole role = device.role;
    read_device_keys(map, place.kinds.models, place.errors, device);
    map.finish();
    if (number && device.role != role) {
      map.error("kind", format_text("kind: {} is a {}; '{}' is a {} of this fabric", device.model, to_string(device.role),
                                    device.name, to_string(role)));
    } else if (const std::string why = number ? refusal_of(place.kinds.models, *place.fabric, device) : ""; !why.empty()) {
      map.error("kind", why);
    }
  }
}

void load_inventory(const std::filesystem::path& path, const InventoryPlace& place) {
  const Loaded<YamlNode> document = read_yaml(path);
  if (!document) {
    place.errors.append(document.errors);
    return;
  }
  ErrorList errors(path.string());
  YamlMap file(*document.value, "the inventory file", errors);
  check_header(file, "inventory");
  read_keys(file, path.parent_path(), {place.fabric, place.kinds, errors, place.buses, place.triggers});
  place.errors.append(errors.sorted());
}

std::vector<ConfigError> check_inventory_file(const std::filesystem::path& path, const YamlNode& root,
                                              const FabricKinds& kinds) {
  ErrorList errors(path.string());
  YamlMap file(root, "the inventory file", errors);
  check_header(file, "inventory");
  std::vector<BusOverride> buses;
  std::vector<TriggerLine> triggers;
  read_keys(file, path.parent_path(), {nullptr, kinds, errors, buses, triggers});
  return errors.sorted();
}

}  // namespace loom
