// SPDX-License-Identifier: Apache-2.0
// Endpoints taken apart into protocol and line.
#include "core/config/endpoints/bus_lines.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "core/text/format_text.hpp"
#include "core/text/host_port.hpp"

namespace loom {
namespace {

struct Line {
  std::string_view protocol;  ///< "modbus-tcp", "tcp", "http", "modbus-rtu", "serial", "optoe", "i2c"
  std::string place;          ///< HOST:PORT, or the agent and its device file
  bool is_file = false;

  bool is_i2c() const { return protocol == "i2c"; }
  bool has_addresses() const { return is_i2c() || protocol.starts_with("modbus-"); }
  /// What the line is, and what a device's address on it is, in sentences.
  std::string_view kind() const { return is_i2c() ? "an I2C adapter" : protocol == "optoe" ? "a module" : "a serial line"; }
  std::string_view address() const { return is_i2c() ? "I2C address" : "Modbus unit"; }
};

std::optional<Line> line_of(const Bus& bus) {
  const std::string_view endpoint = bus.endpoint;
  const auto scheme = endpoint.find("://");
  if (scheme == std::string_view::npos) {
    return std::nullopt;  // sim, or a fault that was named already
  }
  const std::string_view place = endpoint.substr(scheme + 3, endpoint.find('?') - scheme - 3);
  if (place.starts_with("/")) {
    return Line{endpoint.substr(0, scheme), format_text("agent {} {}", bus.agent.value, place), true};
  }
  auto port = parse_host_port(place, std::uint16_t{80});  // only http may leave it out
  if (!port) {
    return std::nullopt;
  }
  port->host = port->host == "localhost" ? "127.0.0.1" : port->host;
  return Line{endpoint.substr(0, scheme), to_string(*port), false};
}

std::string named(const Bus& bus) { return format_text("bus '{}' at {}", bus.name, bus.endpoint); }

/// Why two buses cannot both be what they say; empty: they can.
std::string conflict(const Line& line, const Bus& bus, const Bus& other, const Line& its) {
  if (line.protocol != its.protocol) {
    return format_text("{} is the line of {}; a line speaks one protocol, expected {} or {} for both", named(bus), named(other),
                       line.protocol, its.protocol);
  }
  if (!line.is_file) {
    return {};  // a port may serve several buses
  }
  return bus.endpoint != other.endpoint
             ? format_text("{} is the line of {}; expected the same parameters for both, and one bus for all devices",
                           named(bus), named(other))
             : format_text("{} is the line of bus '{}'; expected one bus for all devices of {}", named(bus), other.name,
                           line.kind());
}

/// A fabric file that says nothing of the address has 1, which no module answers to.
constexpr std::uint32_t kLowestI2cAddress = 0x03;
constexpr std::uint32_t kHighestI2cAddress = 0x77;

const DeviceModel* model_of(const Device& device, DeviceModels models) {
  const auto model = std::ranges::find_if(models, [&](const DeviceModel* each) {
    return device.model.empty() ? each->role == device.role : each->name == device.model;
  });
  return model == models.end() ? nullptr : *model;
}

std::string i2c_fault(const Device& device, const Bus& bus) {
  if (device.bus_address >= kLowestI2cAddress && device.bus_address <= kHighestI2cAddress) {
    return {};
  }
  return format_text("'{}' has bus_address {} at {}; expected its I2C address, {} to {}, and 80 (50h) is every module's",
                     device.name, device.bus_address, bus.endpoint, kLowestI2cAddress, kHighestI2cAddress);
}

}  // namespace

std::vector<LineFault> check_lines(const Fabric& fabric, DeviceModels models) {
  std::vector<LineFault> faults;
  std::map<std::string, const Bus*> bus_of_place;
  for (const Bus& bus : fabric.buses) {
    const auto line = line_of(bus);
    if (!line) {
      continue;
    }
    const auto [at, is_new] = bus_of_place.emplace(line->place, &bus);
    std::string why = is_new ? std::string() : conflict(*line, bus, *at->second, *line_of(*at->second));
    if (!why.empty()) {
      faults.push_back({bus.id, std::nullopt, std::move(why)});
    }
  }
  struct First {
    const Device* device;
    bool is_addressed;
  };
  std::map<std::string, First> first_at;
  std::map<std::pair<std::string, std::uint32_t>, const Device*> device_at;
  for (const Device& device : fabric.devices) {
    if (device.bus.value >= fabric.buses.size()) {
      continue;
    }
    const Bus& bus = fabric.buses[device.bus.value];
    const auto line = line_of(bus);
    if (!line) {
      continue;
    }
    if (std::string fault = line->is_i2c() ? i2c_fault(device, bus) : std::string(); !fault.empty()) {
      faults.push_back({bus.id, device.id, std::move(fault)});
      continue;
    }
    const DeviceModel* model = model_of(device, models);
    const bool is_addressed = line->has_addresses() || (model != nullptr && model->is_module);
    const First& first = first_at.emplace(line->place, First{&device, is_addressed}).first->second;
    if (first.device != &device && !(is_addressed && first.is_addressed)) {
      faults.push_back({bus.id, device.id,
                        format_text("'{}' is at {}, as '{}' is; the line has no addresses, expected one device on it",
                                    device.name, bus.endpoint, first.device->name)});
      continue;
    }
    const auto [at, is_new] = device_at.emplace(std::pair{line->place, device.bus_address}, &device);
    if (!is_new) {
      faults.push_back({bus.id, device.id,
                        format_text("'{}' has bus_address {} at {}, as '{}' has; expected {} {} for each", device.name,
                                    device.bus_address, bus.endpoint, at->second->name, line->is_i2c() ? "an" : "a",
                                    line->has_addresses() ? line->address() : "slot")});
    }
  }
  return faults;
}

std::vector<LineFault> check_protocols(const Fabric& fabric, DeviceModels models) {
  std::vector<LineFault> faults;
  for (const Device& device : fabric.devices) {
    const DeviceModel* model = model_of(device, models);
    if (device.bus.value >= fabric.buses.size() || model == nullptr || model->schemes.empty()) {
      continue;
    }
    const Bus& bus = fabric.buses[device.bus.value];
    const std::string_view scheme = std::string_view(bus.endpoint).substr(0, bus.endpoint.find("://"));
    if (bus.endpoint == "sim" || std::ranges::find(model->schemes, scheme) != model->schemes.end()) {
      continue;
    }
    std::string known;
    for (const std::string_view each : model->schemes) {
      known += format_text("{}{}://", known.empty() ? "" : ", ", each);
    }
    faults.push_back({bus.id, device.id,
                      format_text("'{}' is a {}, which does not speak {}://; expected {} for {}", device.name, model->name,
                                  scheme, known, named(bus))});
  }
  return faults;
}

}  // namespace loom
