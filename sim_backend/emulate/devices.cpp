// SPDX-License-Identifier: Apache-2.0
// A fabric of one's own, or a part of somebody's.
#include "sim_backend/emulate/devices.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "controller/architectures/registry.hpp"
#include "core/config/scenario/scenario_file.hpp"
#include "core/text/format_text.hpp"
#include "drivers/registry.hpp"

namespace loom {
namespace {

constexpr const char* kEmulated = "sim";
constexpr const char* kElsewhere = "elsewhere";

Result<Scenario> load(const std::string& path) {
  auto scenario = load_scenario(path, all_fabric_kinds());
  if (!scenario) {
    return fail(ErrorCode::invalid_config,
                scenario.errors.empty() ? path + " cannot be read" : to_string(scenario.errors.front()));
  }
  return std::move(*scenario.value);
}

std::string listed(std::initializer_list<std::string_view> words) {
  std::string list;
  for (const std::string_view word : words) {
    list += (list.empty() ? "" : ", ") + std::string(word);
  }
  return list;
}

Result<void> check_bus(const Fabric& fabric, const Bus& bus, std::initializer_list<std::string_view> models,
                       const std::vector<DeviceId>& others) {
  for (const Device& device : fabric.devices) {
    if (device.bus != bus.id) {
      continue;
    }
    const std::string_view model = driver_model_of(device).model.name;
    if (std::ranges::find(models, model) == models.end()) {
      return fail(ErrorCode::invalid_config, format_text("{} on {} is of the model {}; expected one of: {}", device.name,
                                                         bus.name, model, listed(models)));
    }
    for (const DeviceId other : others) {
      if (fabric.device(other).bus_address == device.bus_address) {
        return fail(ErrorCode::invalid_config,
                    format_text("{} and {} have one address, {}", fabric.device(other).name, device.name, device.bus_address));
      }
    }
  }
  return {};
}

}  // namespace

Element c_band_laser(std::string name, Transmitter transmitter) {
  transmitter.channels = {{-280, 4}, 8, 96};
  Element element;
  element.name = std::move(name);
  element.outputs = 1;
  element.kind = transmitter;
  return element;
}

EmulatedDevices lone_devices(std::vector<LoneDevice> devices, const EmulatorOptions& options) {
  auto fabric = std::make_shared<Fabric>();
  Node node;
  node.name = "host";
  fabric->nodes.push_back(std::move(node));
  fabric->buses.push_back({BusId{0}, "bus", NodeId{0}, kEmulated});
  EmulatedDevices emulated;
  for (LoneDevice& lone : devices) {
    Device device;
    device.id = DeviceId{static_cast<std::uint32_t>(fabric->devices.size())};
    device.name = format_text("device-{}", device.id.value);
    device.role = lone.role;
    device.model = lone.model;
    device.bus_address = lone.bus_address;
    device.profile = std::move(lone.profile);
    device.serial = options.serial;
    for (Element& element : lone.elements) {
      element.id = ElementId{static_cast<std::uint32_t>(fabric->elements.size())};
      device.elements.push_back(element.id);
      fabric->elements.push_back(std::move(element));
    }
    emulated.devices.push_back(device.id);
    fabric->devices.push_back(std::move(device));
  }
  build_index(*fabric);
  emulated.fabric = std::move(fabric);
  emulated.has_own_ids = false;
  return emulated;
}

Result<EmulatedDevices> devices_of_scenario(const EmulatorOptions& options, std::initializer_list<std::string_view> models) {
  auto scenario = load(options.scenario);
  if (!scenario) {
    return std::unexpected(scenario.error());
  }
  if (options.buses.empty()) {
    return fail(ErrorCode::invalid_argument, "--scenario needs a --bus, whose devices are emulated");
  }
  auto fabric = std::make_shared<Fabric>(*scenario->fabric);
  for (Bus& bus : fabric->buses) {
    bus.endpoint = kElsewhere;
  }
  EmulatedDevices emulated;
  for (const std::string& name : options.buses) {
    const auto bus = std::ranges::find(fabric->buses, name, &Bus::name);
    if (bus == fabric->buses.end()) {
      return fail(ErrorCode::invalid_config, format_text("{} has no bus '{}'", fabric->name, name));
    }
    LOOM_TRY(check_bus(*fabric, *bus, models, emulated.devices));
    bus->endpoint = kEmulated;
    for (Device& device : fabric->devices) {
      if (device.bus == bus->id) {
        device.serial = options.serial.empty() ? device.serial : options.serial;
        emulated.devices.push_back(device.id);
      }
    }
  }
  if (emulated.devices.empty()) {
    return fail(ErrorCode::invalid_config, format_text("no device of {} is on {}", fabric->name, options.buses.front()));
  }
  emulated.rings = scenario->rings;
  for (const ScenarioFault& fault : scenario->device_faults) {
    if (std::ranges::find(emulated.devices, fault.device) != emulated.devices.end()) {
      emulated.faults.push_back(fault);
    }
  }
  emulated.fabric = std::move(fabric);
  return emulated;
}

std::string_view model_of(const EmulatedDevices& devices) {
  return driver_model_of(devices.fabric->device(devices.devices.front())).model.name;
}

}  // namespace loom
