// SPDX-License-Identifier: Apache-2.0
// Every line has devices of one node that can take an edge; a device has one line.
#include "core/config/trigger_file.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/config/endpoints/endpoint_parts.hpp"
#include "core/config/yaml/yaml_words.hpp"
#include "core/fabric/device_profile.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::size_t kLines = 4'096;
constexpr std::size_t kDevicesPerLine = 1'024;
/// Of the key of a model's profile that says that its devices hold what comes next until an edge.
constexpr std::string_view kTriggerKey = "trigger";

Result<TriggerPlace> parse_gpio(const EndpointParts& parts) {
  const auto place = parse_gpio_place(parts, "gpio:///dev/gpiochip0/17?pulse=10us");
  if (!place) {
    return std::unexpected(place.error());
  }
  GpioOutput output{place->chip, place->line};
  LOOM_TRY(each_option(parts, [&](std::string_view key, std::string_view value) -> Result<void> {
    if (key == "active" && (value == "low" || value == "high")) {
      output.active_low = value == "low";
      return {};
    }
    if (key != "pulse") {
      return wrong_endpoint(parts.text, "expected active=low or high, or pulse=10us");
    }
    const auto pulse = endpoint_duration(parts.text, key, value, microseconds{1}, milliseconds{10}, "10us");
    output.pulse = pulse.value_or(output.pulse);
    return pulse ? Result<void>{} : std::unexpected(pulse.error());
  }));
  return output;
}

Result<TriggerPlace> parse_phc(const EndpointParts& parts) {
  if (!parts.place.starts_with("/dev/") || parts.place.size() < 6) {
    return wrong_endpoint(parts.text, "expected phc:///dev/ptpN, as in phc:///dev/ptp0?channel=0&pin=0");
  }
  PhcOutput output{std::string(parts.place)};
  LOOM_TRY(each_option(parts, [&](std::string_view key, std::string_view value) -> Result<void> {
    const auto number = endpoint_number(value, 255);
    if (!number || (key != "channel" && key != "pin")) {
      return wrong_endpoint(parts.text, "expected channel= or pin= with a number of 0..255");
    }
    if (key == "channel") {
      output.channel = *number;
    } else {
      output.pin = number;
    }
    return {};
  }));
  return output;
}

Result<TriggerPlace> parse_simulated(const EndpointParts& parts) {
  SimulatedEdge edge;
  LOOM_TRY(each_option(parts, [&](std::string_view key, std::string_view value) -> Result<void> {
    const auto skew = key == "skew" ? endpoint_duration(parts.text, key, value, Duration{0}, milliseconds{10}, "100ns")
                                    : Result<Duration>(wrong_endpoint(parts.text, "expected sim or sim?skew=100ns"));
    edge.skew = skew.value_or(edge.skew);
    return skew ? Result<void>{} : std::unexpected(skew.error());
  }));
  return edge;
}

/// Why the device takes no edge; empty: it does.
std::string refusal_of(DeviceModels models, const Device& device) {
  const auto model = std::ranges::find_if(models, [&](const DeviceModel* each) {
    return device.model.empty() ? each->role == device.role : each->name == device.model;
  });
  if (model == models.end()) {
    return {};  // which is an error of its own
  }
  const bool has_key = std::ranges::any_of((*model)->keys, [](const ProfileKey& key) {
    return key.name == kTriggerKey && std::holds_alternative<FlagKey>(key.type);
  });
  if (!has_key) {
    return format_text("'{}' is a {}, which takes no edge", device.name, (*model)->name);
  }
  return DeviceProfileView((*model)->keys, device.profile).flag(kTriggerKey)
             ? std::string()
             : format_text("'{}' is not said to have a trigger; expected profile: {{trigger: true}} of it", device.name);
}

class TriggerReader {
 public:
  explicit TriggerReader(const InventoryPlace& place)
      : place_(place), names_(names_of("device", place.fabric, &Fabric::devices, place.errors)) {}

  void read(const YamlNode& name, const YamlNode& node) {
    YamlMap map(node, "the trigger", place_.errors);
    TriggerLine line;
    line.name = name.text;
    line.endpoint = map.text("endpoint", Rule::required);
    if (const auto lawful = parse_trigger_endpoint(line.endpoint); !lawful && !line.endpoint.empty()) {
      map.error("endpoint", "endpoint: " + lawful.error().message);
    }
    const std::vector<std::string> devices = map.texts("devices", kDevicesPerLine);
    if (map.find("devices") == nullptr) {
      map.error("devices", "the trigger lacks the key 'devices'; expected the names of those that it is wired to");
    } else if (devices.empty()) {
      map.error("devices", format_text("devices: trigger '{}' fires no device; expected the names of those that it is wired to",
                                       line.name));
    }
    map.finish();
    if (place_.fabric == nullptr) {
      return;
    }
    for (const std::string& device : devices) {
      if (const auto number = names_.resolve(device, map.place_of("devices"), place_.errors)) {
        add(map, place_.fabric->devices[*number], line);
      }
    }
    place_.triggers.push_back(std::move(line));
  }

 private:
  void add(YamlMap& map, const Device& device, TriggerLine& line) {
    std::string why = refusal_of(place_.kinds.models, device);
    const auto other = std::ranges::find_if(place_.triggers, [&](const TriggerLine& each) {
      return std::ranges::find(each.devices, device.id) != each.devices.end();
    });
    if (other != place_.triggers.end() || std::ranges::find(line.devices, device.id) != line.devices.end()) {
      why = format_text("'{}' is fired by '{}' already; expected one trigger for it", device.name,
                        other == place_.triggers.end() ? line.name : other->name);
    } else if (!line.devices.empty() && device.agent != line.agent) {
      why = format_text("'{}' is of node {}, the devices before it are of node {}; expected a trigger for each node",
                        device.name, device.agent.value, line.agent.value);
    }
    if (!why.empty()) {
      return map.error("devices", "devices: " + why);
    }
    line.agent = device.agent;
    line.devices.push_back(device.id);
  }

  const InventoryPlace& place_;
  NameIndex names_;
};

}  // namespace

Result<TriggerPlace> parse_trigger_endpoint(std::string_view text) {
  EndpointParts parts = endpoint_parts(text);
  if (parts.scheme == "gpio") {
    return parse_gpio(parts);
  }
  if (parts.scheme == "phc") {
    return parse_phc(parts);
  }
  if (text == "sim" || text.starts_with("sim?")) {
    parts.options = text.substr(std::min<std::size_t>(text.size(), 4));
    return parse_simulated(parts);
  }
  return wrong_endpoint(text,
                        "expected gpio:///dev/gpiochip0/LINE?pulse=10us, phc:///dev/ptp0?channel=0&pin=0 or sim?skew=100ns");
}

void read_triggers(const YamlNode& node, const InventoryPlace& place) {
  if (node.kind != YamlNode::Kind::map || node.keys.size() > kLines) {
    place.errors.add(node, format_text("triggers: expected a map of at most {} names to endpoint and devices", kLines));
    return;
  }
  TriggerReader reader(place);
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    reader.read(node.keys[i], node.items[i]);
  }
}

void check_triggers(const std::vector<TriggerLine>& triggers, const Fabric& fabric, const YamlNode& where, ErrorList& errors) {
  for (const TriggerLine& line : triggers) {
    const bool is_simulated = line.endpoint.starts_with("sim");
    for (const DeviceId device : line.devices) {
      const Bus& bus = fabric.buses[fabric.device(device).bus.value];
      if ((bus.endpoint == "sim") != is_simulated) {
        errors.add(where,
                   format_text("triggers: '{}' is at {}, and '{}' at {}; simulated edges fire simulated devices, expected "
                               "both simulated or neither",
                               line.name, line.endpoint, fabric.device(device).name, bus.endpoint));
      }
    }
  }
}

}  // namespace loom
