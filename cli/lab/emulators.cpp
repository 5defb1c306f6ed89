// SPDX-License-Identifier: Apache-2.0
// Who speaks for whom, and who shares a place.
#include "cli/lab/emulators.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "core/text/format_text.hpp"
#include "core/text/host_port.hpp"
#include "drivers/registry.hpp"
#include "sim_backend/devices/registry.hpp"

namespace loom::cli {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kModuleFile = "eeprom";

const std::string& endpoint_of(const Fabric& fabric, const Device& device) { return fabric.buses[device.bus.value].endpoint; }

/// Where an emulator would be; in this order they are started.
struct Place {
  std::uint16_t port = 0;
  std::string host;
  fs::path file;  ///< empty: a port
  auto operator<=>(const Place& other) const {
    return std::tie(file, port, host) <=> std::tie(other.file, other.port, other.host);
  }
};

/// Nothing: on another host, on a wire, or where a kernel driver is.
std::optional<Place> place_of(const Fabric& fabric, const Device& device) {
  const std::string_view endpoint = endpoint_of(fabric, device);
  const std::size_t separator = endpoint.find("://");
  if (separator == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view place = endpoint.substr(separator + 3);
  if (endpoint.starts_with("optoe:")) {
    return place.starts_with("/sys/") ? std::nullopt : std::optional(Place{0, {}, fs::path(place)});
  }
  const auto at = parse_host_port(place);
  return at && (at->host == "127.0.0.1" || at->host == "::1") ? std::optional(Place{at->port, at->host, {}}) : std::nullopt;
}

Result<std::string_view> program_of(const Fabric& fabric, const Device& device, const Place& place) {
  const std::string_view program = emulator_of(device);
  if (program.empty()) {
    return fail(ErrorCode::unsupported,
                format_text("{} is at {} of this host, where a lab emulates it, and no emulator speaks for "
                            "its model; give it another address, or none",
                            device.name, endpoint_of(fabric, device)));
  }
  if (!place.file.empty() && place.file.filename() != kModuleFile) {
    return fail(ErrorCode::unsupported,
                format_text("{} is at {}, where a lab emulates it, and an emulated module's file is always "
                            "called {}; the modules of a kernel driver are below /sys",
                            device.name, endpoint_of(fabric, device), kModuleFile));
  }
  return program;
}

EmulatedPlace fresh_place(const Fabric& fabric, const Device& device, std::string_view program, const Place& place) {
  EmulatedPlace fresh{{}, program, {}, {}, {}, endpoint_of(fabric, device), {}, {}};
  if (place.file.empty()) {
    fresh.host = place.host;
    fresh.port = std::to_string(place.port);
    fresh.name = format_text("{}-{}{}", program, is_ipv6(place.host) ? "ipv6-" : "", fresh.port);
  } else {
    fresh.folder = place.file.parent_path().string();
    fresh.name = format_text("{}-{}", program, device.name);
  }
  return fresh;
}

/// Registers behind one port are told apart by their numbers, if all are of one protocol; a module is alone in its file.
Result<void> add(const Fabric& fabric, const Device& device, std::string_view program, EmulatedPlace& place) {
  const auto same = std::ranges::find_if(place.devices, [&](DeviceId other) {
    const Device& earlier = fabric.device(other);
    return place.is_file() || earlier.bus_address == device.bus_address || place.program != program ||
           driver_model_of(earlier).model.name != driver_model_of(device).model.name ||
           endpoint_of(fabric, earlier) != endpoint_of(fabric, device);
  });
  if (same != place.devices.end()) {
    return fail(ErrorCode::invalid_config, format_text("{} and {} are both at {}; a port has one device, or units of "
                                                       "different numbers",
                                                       fabric.device(*same).name, device.name, endpoint_of(fabric, device)));
  }
  place.devices.push_back(device.id);
  if (std::ranges::find(place.buses, device.bus) == place.buses.end()) {
    place.buses.push_back(device.bus);
  }
  return {};
}

}  // namespace

std::string EmulatedPlace::announcement() const {
  return is_file() ? format_text("file {}/{}", folder, kModuleFile) : "port " + port;
}

bool is_emulated(const Fabric& fabric, const Device& device) { return place_of(fabric, device).has_value(); }

Result<std::vector<EmulatedPlace>> emulated_places(const Fabric& fabric) {
  std::map<Place, EmulatedPlace> by_place;
  for (const Device& device : fabric.devices) {
    const auto at = place_of(fabric, device);
    if (!at) {
      continue;
    }
    const auto program = program_of(fabric, device, *at);
    if (!program) {
      return std::unexpected(program.error());
    }
    EmulatedPlace& place = by_place.try_emplace(*at, fresh_place(fabric, device, *program, *at)).first->second;
    LOOM_TRY(add(fabric, device, *program, place));
  }
  std::vector<EmulatedPlace> places;
  for (auto& [at, place] : by_place) {
    places.push_back(std::move(place));
  }
  return places;
}

}  // namespace loom::cli
