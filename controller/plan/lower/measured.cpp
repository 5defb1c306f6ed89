// SPDX-License-Identifier: Apache-2.0
// Light to measure by is lowered as a circuit's is, after all of them.
#include "controller/plan/lower/measured.hpp"

#include <algorithm>

#include "core/ring/calibration.hpp"
#include "core/ring/ring.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

bool is_measured(const Intent& intent, ElementId ring) {
  return std::ranges::binary_search(intent.drives, ring, {}, &RingDrive::ring);
}

/// Its light comes to one ring that is being measured, the last of its way: another one before it may keep it.
Result<void> check_measured_alone(const Fabric& fabric, const Intent& intent, const Path& path) {
  for (const Hop& hop : path) {
    if (hop.output == 0 && is_measured(intent, hop.element)) {
      return fail(ErrorCode::conflict,
                  format_text("light to measure by passes {}, which is being measured itself: one after the other",
                              fabric.element(hop.element).name));
    }
  }
  return {};
}

}  // namespace

FilterSetpoint heater_of(const Fabric& fabric, const Positions& positions, const Device& bank) {
  FilterSetpoint heater;
  for (std::size_t i = 0; i < bank.elements.size(); ++i) {
    if (const auto slot = positions.resonances[bank.elements[i].value]) {
      const bool locked = std::get<RingFilter>(fabric.element(bank.elements[i]).kind).locked;
      heater.rings.push_back({static_cast<std::uint16_t>(i), centre_of(*slot), std::nullopt, locked});
    }
  }
  return heater;
}

Result<void> check_measured(const Fabric& fabric, const Intent& intent, const Path& path, JobId job) {
  for (const Hop& hop : path) {
    if (is_measured(intent, hop.element)) {
      return fail(ErrorCode::conflict,
                  format_text("light of job {} passes {}, which is being measured: it may stand anywhere", job.value,
                              fabric.element(hop.element).name),
                  "loom calibration list");
    }
  }
  return {};
}

Result<std::map<std::uint32_t, TransmitterSetpoint>> route_probes(const Fabric& fabric, const Intent& intent,
                                                                  PathFinder& finder, const ProbeRoutes& routes) {
  std::map<std::uint32_t, TransmitterSetpoint> lasers;
  for (const Probe& probe : intent.probes) {
    const std::string& name = fabric.element(probe.transmitter).name;
    if (const auto job = routes.job_of(probe.transmitter)) {
      return fail(ErrorCode::conflict, format_text("{} sends light to measure by, and job {} needs it", name, job->value),
                  "loom calibration list");
    }
    Circuit way;
    way.transmitter = probe.transmitter;
    way.receiver = probe.receiver;
    way.slot = probe.slot;
    const std::optional<Path> path = finder.route_light(way);
    if (!path) {
      return fail(ErrorCode::infeasible,
                  format_text("infeasible: no free path at {} from {} to {} for light to measure by",
                              to_string(centre_of(probe.slot)), name, fabric.element(probe.receiver).name));
    }
    LOOM_TRY(check_measured_alone(fabric, intent, *path));
    const NodeId agent = fabric.device(*fabric.device_of_element[probe.transmitter.value]).agent;
    const bool may_emit = !intent.lasers_off && !std::ranges::binary_search(intent.maintenance, agent);
    lasers[probe.transmitter.value] = {probe.slot, routes.power_of(probe.transmitter), probe.emit && may_emit};
  }
  return lasers;
}

Result<std::map<DeviceId, FilterSetpoint>> drive_banks(const Fabric& fabric, const Intent& intent, const Positions& positions) {
  std::map<DeviceId, FilterSetpoint> banks;
  const auto bank_of = [&](DeviceId id) -> FilterSetpoint& {
    return banks.try_emplace(id, heater_of(fabric, positions, fabric.device(id))).first->second;
  };
  for (const RingDrive& drive : intent.drives) {
    FilterSetpoint& bank = bank_of(*fabric.device_of_element[drive.ring.value]);
    const std::uint16_t channel = fabric.index_in_device[drive.ring.value];
    auto place = std::ranges::lower_bound(bank.rings, channel, {}, &RingResonance::channel);
    if (place == bank.rings.end() || place->channel != channel) {
      const auto& ring = std::get<RingFilter>(fabric.element(drive.ring).kind);
      place = bank.rings.insert(place, {channel, resonance_at(ring, drive.millivolts)});
    }
    place->drive = drive.millivolts;
    place->locked = false;
  }
  for (const DeviceCalibration& each : intent.calibrations) {
    if (calibration_of(intent, each.device) != &each || each.rings.empty()) {
      continue;  // an earlier one, or forgotten, or a laser's
    }
    const Device& device = fabric.device(each.device);
    if (const auto driven = drive_by(each, rings_of(fabric, device), bank_of(each.device)); !driven) {
      return fail(driven.error().code, format_text("{}: {}", device.name, driven.error().message),
                  format_text("loom calibration show {}", device.id.value));
    }
  }
  return banks;
}

}  // namespace loom
