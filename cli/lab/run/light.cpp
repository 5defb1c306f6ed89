// SPDX-License-Identifier: Apache-2.0
// Reading light logs and banks of heaters.
#include "cli/lab/run/light.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "cli/lab/emulators.hpp"
#include "cli/render/term.hpp"
#include "core/text/format_text.hpp"
#include "drivers/bus/bus_device.hpp"
#include "drivers/heater/heater_board.hpp"
#include "runtime/clock.hpp"
#include "sim_backend/judge/light_log.hpp"
#include "sim_backend/light/light_model.hpp"

namespace loom::cli {
namespace {

constexpr auto kPollInterval = std::chrono::milliseconds{20};
/// Light logs are written out every 50 ms; a busy host takes longer.
constexpr auto kLogPatience = std::chrono::seconds{20};

Result<RingLight> read_bank(const Fabric& fabric, const Device& device, const std::string& endpoint) {
  auto bus = make_bus(endpoint);
  if (!bus) {
    return std::unexpected(bus.error());
  }
  const HeaterBoard board = heater_board_of(device);
  const auto channels = static_cast<std::uint16_t>(device.elements.size());
  const BusReply reply =
      (*bus)->execute({device.id, device.bus_address, Registers{board.base, channels, {}}, std::chrono::seconds{1}});
  if (reply.status != BusStatus::ok || reply.words.size() != channels) {
    return fail(ErrorCode::device_silent, format_text("{} at {} did not report its voltages", device.name, endpoint));
  }
  RingLight light;
  for (std::size_t channel = 0; channel < device.elements.size(); ++channel) {
    const auto& ring = std::get<RingFilter>(fabric.element(device.elements[channel]).kind);
    light.resonances.push_back(resonance_of_volts(ring, board.volts_of(reply.words[channel], ring.heater_ohm)));
  }
  return light;
}

}  // namespace

Result<void> LabLight::read_banks(Instant since) {
  const Fabric& fabric = *lab_.scenario.fabric;
  for (const Device& device : fabric.devices) {
    const std::string& endpoint = fabric.buses[device.bus.value].endpoint;
    if (device.role != DeviceRole::filter || endpoint == "sim" || is_emulated(fabric, device)) {
      continue;
    }
    auto light = read_bank(fabric, device, endpoint);
    if (!light) {
      return std::unexpected(light.error());
    }
    noted_.push_back({since, device.id, 0, std::move(*light)});
  }
  return {};
}

void LabLight::note_death(std::uint32_t process, Instant at) {
  const std::vector<NodeId> nodes = nodes_of_process(lab_.scenario, process);
  for (const Device& device : lab_.scenario.fabric->devices) {
    const bool is_gone = std::ranges::binary_search(nodes, device.agent);
    const bool is_simulated = lab_.scenario.fabric->buses[device.bus.value].endpoint == "sim";
    if (is_gone && is_simulated && device.role == DeviceRole::transmitter) {  // without light, what the others do is no matter
      noted_.push_back({at, device.id, 0, LaserLight{}});
    }
  }
}

/// Returns up to when all logs are whole. A process that is down has said its last.
Result<Instant> LabLight::await_logs() const {
  const Instant now = monotonic_now();  // the agents' clock, on this host
  for (std::uint32_t process = 0; process < lab_.scenario.agents.processes; ++process) {
    const std::string path = lab_.files.light_log(process);
    while (lab_.agent_pids[process] != 0 && light_log_whole_through(path) < now) {
      if (lab_.is_interrupted()) {
        return fail(ErrorCode::timed_out, "interrupted");
      }
      if (monotonic_now() - now > kLogPatience) {
        return fail(ErrorCode::timed_out, format_text("{} has not been written for {}", path, text_of(Duration{kLogPatience})),
                    "loom status");
      }
      std::this_thread::sleep_for(kPollInterval);
    }
  }
  return now;
}

Result<std::vector<OpticalChange>> LabLight::changes() const {
  const auto whole_until = await_logs();
  if (!whole_until) {
    return std::unexpected(whole_until.error());
  }
  std::vector<std::string> paths;
  for (std::uint32_t process = 0; process < lab_.scenario.agents.processes; ++process) {
    paths.push_back(lab_.files.light_log(process));
  }
  const Fabric& fabric = *lab_.scenario.fabric;
  const auto places = emulated_places(fabric);
  if (!places) {
    return std::unexpected(places.error());
  }
  for (const EmulatedPlace& place : *places) {  // their logs are on the clock of this host as the agents' are
    paths.push_back(lab_.files.light_log(fabric.device(place.devices.front())));
  }
  std::vector<OpticalChange> changes = noted_;
  for (const std::string& path : paths) {
    auto part = read_light_log(path);
    if (!part) {
      return std::unexpected(part.error());
    }
    changes.insert(changes.end(), part->begin(), part->end());
  }
  // Logs are read one after the other: what one says of later is told without the lasers that another had not darkened yet.
  std::erase_if(changes, [&](const OpticalChange& change) { return change.at > *whole_until; });
  std::ranges::stable_sort(changes, {}, &OpticalChange::at);
  return changes;
}

LightTimeline windows_of(std::shared_ptr<const Fabric> fabric, std::vector<OpticalChange> changes, Instant zero) {
  for (OpticalChange& change : changes) {
    change.at -= zero.time_since_epoch();
  }
  return timeline_of(std::move(fabric), changes);
}

}  // namespace loom::cli
