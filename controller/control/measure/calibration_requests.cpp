// SPDX-License-Identifier: Apache-2.0
// What may be asked for, and what of a calibration can be wrong.
#include "controller/control/measure/calibration_requests.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

template <class Kind>
const Kind* kind_of(const Fabric& fabric, ElementId element) {
  return element.value < fabric.elements.size() ? std::get_if<Kind>(&fabric.element(element).kind) : nullptr;
}

Error no_such(std::string_view what, ElementId element, const Fabric& fabric) {
  const std::string name =
      element.value < fabric.elements.size() ? fabric.element(element).name : format_text("element {}", element.value);
  return {ErrorCode::invalid_argument, format_text("{} is no {} that a device drives", name, what), "loom device list"};
}

template <class Row, class Key>
bool ascends(const std::vector<Row>& rows, Key key) {
  return std::ranges::adjacent_find(rows, [&](const Row& a, const Row& b) { return !(a.*key < b.*key); }) == rows.end();
}

/// The last versions of each device, with `banks` added as the next ones.
Intent with_calibrations(Intent changed, const std::vector<DeviceCalibration>& banks, WallTime now) {
  auto& all = changed.calibrations;
  for (const DeviceCalibration& bank : banks) {
    const auto first = std::ranges::lower_bound(all, bank.device, {}, &DeviceCalibration::device);
    auto last = std::ranges::upper_bound(all, bank.device, {}, &DeviceCalibration::device);
    DeviceCalibration next = bank;
    next.version = last == first ? 1 : std::prev(last)->version + 1;
    next.measured_at = now;
    last = all.insert(last, std::move(next)) + 1;
    const auto begin = std::ranges::lower_bound(all, bank.device, {}, &DeviceCalibration::device);
    if (const auto count = static_cast<std::size_t>(last - begin); count > limits::kCalibrationsKept) {
      all.erase(begin, begin + static_cast<std::ptrdiff_t>(count - limits::kCalibrationsKept));
    }
  }
  return changed;
}

/// More is no laser's or fibre's mood but another fabric [K].
constexpr Db kOffsetMost{2'000};

/// As calibrations of the lasers, ascending device.
Result<std::vector<DeviceCalibration>> lasers_of(const Fabric& fabric, const std::vector<MeasuredChannel>& channels) {
  std::map<DeviceId, DeviceCalibration> lasers;
  for (const MeasuredChannel& light : channels) {
    const auto* transmitter = kind_of<Transmitter>(fabric, light.transmitter);
    const auto device = transmitter == nullptr ? std::nullopt : fabric.device_of_element[light.transmitter.value];
    if (!device) {
      return std::unexpected(no_such("transmitter", light.transmitter, fabric));
    }
    DeviceCalibration& laser = lasers[*device];
    laser.device = *device;
    if (!laser.lights.empty() && !(laser.lights.back().slot < light.slot)) {
      return fail(ErrorCode::invalid_argument, "channels must ascend by transmitter and slot, and come once");
    }
    laser.lights.push_back({light.slot, light.offset, light.receiver, light.detuning});
  }
  std::vector<DeviceCalibration> rows;
  for (auto& [device, laser] : lasers) {
    rows.push_back(std::move(laser));
  }
  return rows;
}

}  // namespace

Result<void> CalibrationRequests::check(const Probe& probe) const {
  const Fabric& fabric = *facts_.fabric;
  const auto* transmitter = kind_of<Transmitter>(fabric, probe.transmitter);
  if (transmitter == nullptr || !fabric.device_of_element[probe.transmitter.value]) {
    return std::unexpected(no_such("transmitter", probe.transmitter, fabric));
  }
  if (kind_of<Receiver>(fabric, probe.receiver) == nullptr) {
    return fail(ErrorCode::invalid_argument, format_text("element {} is no receiver", probe.receiver.value));
  }
  if (transmitter->channels.channel_of(probe.slot) < 0) {
    return fail(ErrorCode::out_of_range,
                format_text("{}: {} is none of its {} channels", fabric.element(probe.transmitter).name,
                            to_string(centre_of(probe.slot)), transmitter->channels.count));
  }
  const NodeId agent = fabric.device(*fabric.device_of_element[probe.transmitter.value]).agent;
  if (probe.emit && (desired_.intent().lasers_off || desired_.in_maintenance(agent))) {
    return fail(ErrorCode::refused, fabric.element(probe.transmitter).name + " may not emit: its lasers are latched off",
                desired_.intent().lasers_off ? std::string("loom lasers rearm")
                                             : format_text("loom node maintenance {} off", agent.value));
  }
  return {};
}

Result<void> CalibrationRequests::check(const RingDrive& drive) const {
  const Fabric& fabric = *facts_.fabric;
  const auto* ring = kind_of<RingFilter>(fabric, drive.ring);
  if (ring == nullptr || !fabric.device_of_element[drive.ring.value]) {
    return std::unexpected(no_such("ring filter", drive.ring, fabric));
  }
  if (drive.millivolts < 0 || drive.millivolts > ring->heater_volt_max * 1000) {
    return fail(ErrorCode::out_of_range,
                format_text("{}: {} mV, allowed 0 to {} mV (heater_voltage_max)", fabric.element(drive.ring).name,
                            drive.millivolts, std::llround(ring->heater_volt_max * 1000)));
  }
  return {};
}

bool CalibrationRequests::is_lit() const { return !desired_.intent().probes.empty() || !desired_.intent().drives.empty(); }

bool CalibrationRequests::measures(const Requester& requester) const {
  return is_lit() && facts_.now < until_ && requester.principal == asker_ && requester.peer == asker_peer_;
}

void CalibrationRequests::begin(const Requester& requester, const ProbeLight& request, EffectSink& sink) {
  if (!ascends(request.probes, &Probe::transmitter) || !ascends(request.drives, &RingDrive::ring)) {
    return answers_.refuse(
        requester, {ErrorCode::invalid_argument, "lights must ascend by transmitter, heaters by ring, and come once"}, sink);
  }
  for (const Probe& probe : request.probes) {
    if (auto lawful = check(probe); !lawful) {
      return answers_.refuse(requester, std::move(lawful).error(), sink);
    }
  }
  for (const RingDrive& drive : request.drives) {
    if (auto lawful = check(drive); !lawful) {
      return answers_.refuse(requester, std::move(lawful).error(), sink);
    }
  }
  const bool is_end = request.probes.empty() && request.drives.empty();
  const bool is_own_end = is_end && requester.principal == asker_;  // of a client that is gone, or was killed
  if (is_lit() && facts_.now < until_ && !measures(requester) && !is_own_end) {
    const Duration left = until_ - facts_.now;
    return answers_.refuse(
        requester,
        {ErrorCode::conflict,
         format_text("{} measures{}: two who set the same heaters would both be wrong; its light goes out in {} s "
                     "unless it asks again",
                     asker_, requester.principal == asker_ ? " over another connection" : "",
                     std::chrono::ceil<std::chrono::seconds>(left).count()),
         "loom audit list"},
        sink);
  }
  until_ = facts_.now + facts_.timings.probe_lease;
  asker_ = requester.principal;
  asker_peer_ = requester.peer;
  changes_.begin(
      change_for(requester, {[request](const Intent& intent) -> Result<Intent> {
                   Intent changed = intent;
                   changed.probes = request.probes;
                   changed.drives = request.drives;
                   return changed;
                 }},
                 is_end ? "nothing is measured any more"
                        : format_text("{} lights and {} heaters to measure by", request.probes.size(), request.drives.size()),
                 false),
      sink);
}

Result<void> CalibrationRequests::check(const DeviceCalibration& bank) const {
  const Fabric& fabric = *facts_.fabric;
  const auto role = bank.device.value < fabric.devices.size() ? std::optional(fabric.device(bank.device).role) : std::nullopt;
  const bool is_laser = role == DeviceRole::transmitter;
  if (!is_laser && role != DeviceRole::filter) {
    return fail(ErrorCode::invalid_argument, format_text("device {} is neither a bank of rings nor a laser", bank.device.value),
                "loom device list");
  }
  if (is_laser ? !bank.rings.empty() : !bank.lights.empty()) {
    return fail(ErrorCode::invalid_argument,
                format_text("{} is a {}", fabric.device(bank.device).name,
                            is_laser ? "laser: it has no rings" : "bank of rings: it sends no light"),
                "loom device list");
  }
  const Device& device = fabric.device(bank.device);
  const auto* transmitter = std::get_if<Transmitter>(&fabric.element(device.elements.front()).kind);
  for (const ChannelLight& light : bank.lights) {
    if (transmitter->channels.channel_of(light.slot) < 0 || light.offset > kOffsetMost || -light.offset > kOffsetMost) {
      return fail(ErrorCode::out_of_range,
                  format_text("{} at {}: {} beside its figures; it has {} channels, and no light is more than {} beside",
                              device.name, to_string(centre_of(light.slot)), to_string(light.offset),
                              transmitter->channels.count, to_string(kOffsetMost)));
    }
    if (light.detuning && 2 * magnitude(*light.detuning).mhz > width_of(light.slot).mhz) {
      return fail(
          ErrorCode::out_of_range,
          format_text("{} at {}: {} MHz beside the middle of its channel, which is {} MHz wide: that is another's light",
                      device.name, to_string(centre_of(light.slot)), light.detuning->mhz, width_of(light.slot).mhz));
    }
  }
  for (const RingLaw& law : bank.rings) {
    const std::string name = format_text("{} ring {}", device.name, law.channel);
    if (law.channel >= device.elements.size() || law.shift.size() != device.elements.size()) {
      return fail(ErrorCode::invalid_argument, format_text("{}: its law is of a bank of {} rings, this one has {}", name,
                                                           law.shift.size(), device.elements.size()));
    }
    const auto& ring = std::get<RingFilter>(fabric.element(device.elements[law.channel]).kind);
    const auto nominal = static_cast<double>(nominal_law(ring, law.channel, device.elements.size()).shift[law.channel]);
    const auto own = static_cast<double>(law.shift[law.channel]);
    if (own < nominal / 10 || own > nominal * 10) {
      return fail(ErrorCode::out_of_range,
                  format_text("{}: {} MHz a V^2, its kind has {}: no ring is ten times beside its kind", name,
                              std::llround(own / 1e3), std::llround(nominal / 1e3)));
    }
  }
  const Observation* seen = sessions_.observed(bank.device);
  if (seen != nullptr && !bank.serial.empty() && !seen->identity.serial.empty() && seen->identity.serial != bank.serial) {
    return fail(ErrorCode::conflict,
                format_text("{} says that it is number {}, this calibration is of number {}: of another device", device.name,
                            seen->identity.serial, bank.serial),
                format_text("loom device calibrate {}", device.id.value));
  }
  return {};
}

void CalibrationRequests::begin(const Requester& requester, const Calibrate& request,
                                const std::function<std::string(const Device&)>& carries, EffectSink& sink) {
  std::vector<DeviceCalibration> banks = request.banks;
  auto lasers = lasers_of(*facts_.fabric, request.channels);
  if (!lasers) {
    return answers_.refuse(requester, std::move(lasers).error(), sink);
  }
  banks.insert(banks.end(), lasers->begin(), lasers->end());
  std::ranges::stable_sort(banks, {}, &DeviceCalibration::device);
  if (banks.empty() || !ascends(request.banks, &DeviceCalibration::device) || !ascends(banks, &DeviceCalibration::device)) {
    return answers_.refuse(requester, {ErrorCode::invalid_argument, "devices must ascend and come once"}, sink);
  }
  for (const DeviceCalibration& bank : banks) {
    if (auto lawful = check(bank); !lawful) {
      return answers_.refuse(requester, std::move(lawful).error(), sink);
    }
    const Device& device = facts_.fabric->device(bank.device);
    if (const std::string users = carries(device); !users.empty()) {
      return answers_.refuse(requester,
                             {ErrorCode::refused, format_text("{} (device {}) carries {}", device.name, device.id.value, users),
                              format_text("loom node drain {}", device.agent.value)},
                             sink);
    }
  }
  const std::string reason = banks.size() == 1 ? facts_.fabric->device(banks.front().device).name + " calibrated"
                                               : format_text("{} devices calibrated", banks.size());
  for (DeviceCalibration& bank : banks) {
    const Observation* seen = sessions_.observed(bank.device);
    bank.serial = bank.serial.empty() && seen != nullptr ? seen->identity.serial : bank.serial;
  }
  changes_.begin(change_for(requester, {[banks, wall = facts_.wall(facts_.now)](const Intent& intent) -> Result<Intent> {
                              return with_calibrations(intent, banks, wall);
                            }},
                            reason, request.dry_run),
                 sink);
}

/// A calibration is of the electronics that it was made with.
void CalibrationRequests::forget_others(EffectSink& sink) {
  std::vector<DeviceCalibration> forgotten;
  for (const DeviceCalibration& bank : desired_.intent().calibrations) {
    const Observation* seen = sessions_.observed(bank.device);
    const bool is_other =
        seen != nullptr && !bank.serial.empty() && !seen->identity.serial.empty() && seen->identity.serial != bank.serial;
    if (is_other && calibration_of(desired_.intent(), bank.device) == &bank) {
      forgotten.push_back({bank.device, 0, {}, seen->identity.serial, {}, {}});
      audit_.note_own(
          format_text("the calibration of {} (device {}) is of number {}, and it says that it is {}: forgotten",
                      facts_.fabric->device(bank.device).name, bank.device.value, bank.serial, seen->identity.serial),
          sink);
    }
  }
  if (!forgotten.empty()) {
    desired_.replace(with_calibrations(desired_.intent(), forgotten, facts_.wall(facts_.now)));
    journal_.append(desired_.record(), PlanAct{}, sink);
    commits_.want_plan("a bank is another one than was calibrated", sink);
  }
}

void CalibrationRequests::watch(EffectSink& sink) {
  if (journal_.failure()) {
    return;
  }
  forget_others(sink);
  const Intent& intent = desired_.intent();
  if (!is_lit() || facts_.now < until_) {
    return;
  }
  Intent dark = intent;
  dark.probes.clear();
  dark.drives.clear();
  desired_.replace(std::move(dark));
  audit_.note_own("light to measure by went out: nobody asked for it any more", sink);
  journal_.append(desired_.record(), PlanAct{}, sink);
  commits_.want_plan("nobody measures any more", sink);
}

}  // namespace loom
