// Who speaks for whom, and who shares a port.
#include "cli/lab/emulators.hpp"

#include <algorithm>
#include <map>

#include "core/text/format_text.hpp"
#include "sim_backend/devices/registry.hpp"

namespace loom::cli {
namespace {

constexpr std::string_view kThisHost = "://127.0.0.1:";

const std::string& endpoint_of(const Fabric& fabric, const Device& device) { return fabric.buses[device.bus.value].endpoint; }

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

bool is_emulated(const Fabric& fabric, const Device& device) { return endpoint_of(fabric, device).contains(kThisHost); }

Result<std::vector<EmulatedPlace>> emulated_places(const Fabric& fabric) {
  std::map<std::string, EmulatedPlace> by_port;
  for (const Device& device : fabric.devices) {
    if (!is_emulated(fabric, device)) {
      continue;
    }
    const auto program = program_of(fabric, device);
    if (!program) {
      return std::unexpected(program.error());
    }
    const std::string& endpoint = endpoint_of(fabric, device);
    const std::size_t begin = endpoint.find(kThisHost) + kThisHost.size();
    const std::string port = endpoint.substr(begin, endpoint.find_first_not_of("0123456789", begin) - begin);
    EmulatedPlace& place = by_port.try_emplace(port, EmulatedPlace{*program, port, endpoint, {}, {}}).first->second;
    LOOM_TRY(add(fabric, device, *program, place));
  }
  std::vector<EmulatedPlace> places;
  for (auto& [port, place] : by_port) {
    places.push_back(std::move(place));
  }
  return places;
}

}  // namespace loom::cli
