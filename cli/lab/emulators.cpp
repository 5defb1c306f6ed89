// Who speaks for whom, and who shares a port.
#include "cli/lab/emulators.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/text/format_text.hpp"
#include "core/text/host_port.hpp"
#include "sim_backend/devices/registry.hpp"

namespace loom::cli {
namespace {

const std::string& endpoint_of(const Fabric& fabric, const Device& device) { return fabric.buses[device.bus.value].endpoint; }

/// Where on loopback its bus is; nothing: elsewhere, or no TCP.
std::optional<HostPort> place_of(const Fabric& fabric, const Device& device) {
  const std::string_view endpoint = endpoint_of(fabric, device);
  const std::size_t separator = endpoint.find("://");
  const auto place = separator == std::string_view::npos ? Result<HostPort>(fail(ErrorCode::malformed, {}))
                                                         : parse_host_port(endpoint.substr(separator + 3));
  return place && (place->host == "127.0.0.1" || place->host == "::1") ? std::optional(*place) : std::nullopt;
}

Result<std::string_view> program_of(const Fabric& fabric, const Device& device) {
  const std::string_view program = emulator_of(device);
  if (program.empty()) {
    return fail(ErrorCode::unsupported,
                format_text("{} is at {} of this host, where a lab emulates it, and no emulator speaks for "
                            "its model; give it another address, or none",
                            device.name, endpoint_of(fabric, device)));
  }
  return program;
}

Result<void> add(const Fabric& fabric, const Device& device, std::string_view program, EmulatedPlace& place) {
  const auto same = std::ranges::find_if(place.devices, [&](DeviceId other) {
    return fabric.device(other).bus_address == device.bus_address || place.program != program ||
           endpoint_of(fabric, fabric.device(other)) != endpoint_of(fabric, device);
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

std::string EmulatedPlace::name() const { return format_text("{}-{}{}", program, is_ipv6(host) ? "ipv6-" : "", port); }

bool is_emulated(const Fabric& fabric, const Device& device) { return place_of(fabric, device).has_value(); }

Result<std::vector<EmulatedPlace>> emulated_places(const Fabric& fabric) {
  std::map<std::pair<std::uint16_t, std::string>, EmulatedPlace> by_port;
  for (const Device& device : fabric.devices) {
    const auto at = place_of(fabric, device);
    if (!at) {
      continue;
    }
    const auto program = program_of(fabric, device);
    if (!program) {
      return std::unexpected(program.error());
    }
    EmulatedPlace fresh{*program, at->host, std::to_string(at->port), endpoint_of(fabric, device), {}, {}};
    EmulatedPlace& place = by_port.try_emplace({at->port, at->host}, std::move(fresh)).first->second;
    LOOM_TRY(add(fabric, device, *program, place));
  }
  std::vector<EmulatedPlace> places;
  for (auto& [port, place] : by_port) {
    places.push_back(std::move(place));
  }
  return places;
}

}  // namespace loom::cli
