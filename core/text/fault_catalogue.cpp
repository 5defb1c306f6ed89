// SPDX-License-Identifier: Apache-2.0
// The table.
#include "core/fault_catalogue.hpp"

#include <algorithm>
#include <array>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

using Kind = DeviceFaultKind;

constexpr std::uint8_t of(DeviceRole role) { return static_cast<std::uint8_t>(1U << static_cast<unsigned>(role)); }
constexpr std::uint8_t kLaser = of(DeviceRole::transmitter);
constexpr std::uint8_t kHeater = of(DeviceRole::filter);
constexpr std::uint8_t kWss = of(DeviceRole::wavelength_switch);
constexpr std::uint8_t kOcs = of(DeviceRole::circuit_switch);
constexpr std::uint8_t kGain = of(DeviceRole::gain_stage);
constexpr std::uint8_t kRouted = kLaser | kHeater | kWss | kOcs;
constexpr std::uint8_t kSet = kRouted | kGain;
constexpr std::uint8_t kAny = kSet | of(DeviceRole::monitor);

constexpr const char* kFails = "device_failed: what was written is not what is read";
constexpr const char* kDead = "device_failed: the device says that it is broken";
constexpr const char* kNobody = "drift, if a monitor sees the light; its own registers do not show it";

constexpr std::array kCatalogue{
    FaultName{"late", Kind::late, kAny, FaultValue::delay, true, "answers so much later",
              "device_failed once no answer of several is in time"},
    FaultName{"silent", Kind::silence, kAny, FaultValue::percent, false, "answers nothing, and does nothing",
              "device_failed: no answer"},
    FaultName{"damaged", Kind::garbage, kAny, FaultValue::percent, false, "its answers are damaged; what it is told it does",
              "device_failed: answers that are none"},
    FaultName{"bus-crc", Kind::bus_crc, kLaser | kHeater | kWss, FaultValue::percent, false,
              "frames are damaged both ways: it drops what it is told, and its answers fail their check",
              "device_failed: answers that are none"},
    FaultName{"refusing", Kind::nack, kAny, FaultValue::percent, false,
              "says 'not now'; over a line without such words, nothing", "device_failed: the device refuses"},
    FaultName{"reboot", Kind::reboot, kAny, FaultValue::none, false,
              "its power is cut: all is as at power-up, and nothing is answered while it lasts", "drift, and a repair"},
    FaultName{"reboot-mid-command", Kind::reboot_mid_command, kSet, FaultValue::delay, false,
              "carries out the next write, loses its power before the answer, and is away so long",
              "device_failed or drift, and a repair"},
    FaultName{"slow", Kind::slow_settle, kSet, FaultValue::factor, false, "all that settles takes so many times as long",
              "device_failed: not settled in time; of a WSS only a monitor shows it"},
    FaultName{"stuck-pending", Kind::stuck_pending, kLaser | kOcs, FaultValue::none, false,
              "takes commands, says that they are under way, and never ends one", "device_failed: not settled in time"},
    FaultName{"wrong-channel", Kind::misroute, kRouted, FaultValue::none, false,
              "obeys on the channel or port beside the one that it was told, and reads back the right one", kNobody},
    FaultName{"lying-readback", Kind::false_readback, kSet, FaultValue::none, false,
              "reads back what was written, and its light stays what it was", kNobody},
    FaultName{"drifting", Kind::drift, kLaser | kHeater, FaultValue::offset, true,
              "its light wanders so far while it lasts, and back at the end",
              "drift of a laser, whose locker sees it; of rings, if a monitor sees the light"},
    FaultName{"laser-detuned", Kind::detune, kLaser, FaultValue::offset, true, "light beside what its registers say", kNobody},
    FaultName{"laser-mode-hop", Kind::mode_hop, kLaser, FaultValue::offset, false,
              "its light jumps to another mode, and its locker sees it", "drift, then device_failed: no lock"},
    FaultName{"laser-dim", Kind::dim, kLaser, FaultValue::loss, true, "emits so much less", "drift"},
    FaultName{"laser-dead", Kind::fail, kLaser, FaultValue::none, false, "dark, and says so", kDead},
    FaultName{"laser-stuck", Kind::stick, kLaser, FaultValue::none, false, "says yes to every command and ignores it", kFails},
    FaultName{"heater-detuned", Kind::detune, kHeater, FaultValue::offset, true, "resonances beside what its registers say",
              kNobody},
    FaultName{"heater-warmed", Kind::warm, kHeater, FaultValue::offset, true,
              "all its rings wander so far while it lasts, and stay: the chip warms (-10.92 GHz a kelvin) or cools",
              "of rings that are `locked`, their trim (`loom ring list`); else drift, if a monitor sees the light"},
    FaultName{"heater-open", Kind::open, kHeater, FaultValue::channel, true, "one heater is not connected: its ring is cold",
              "device_failed where the electronics measure current; else drift, if a monitor sees the light"},
    FaultName{"heater-dead", Kind::fail, kHeater, FaultValue::none, false, "all rings are cold, and it says so", kDead},
    FaultName{"heater-stuck", Kind::stick, kHeater, FaultValue::none, false, "says yes to every command and ignores it",
              kFails},
    FaultName{"wss-dead", Kind::fail, kWss, FaultValue::none, false, "passes nothing, and says so", kDead},
    FaultName{"wss-stuck", Kind::stick, kWss, FaultValue::none, false, "says yes to every command and ignores it", kFails},
    FaultName{"ocs-dead", Kind::fail, kOcs, FaultValue::none, false, "passes nothing, and says so", kDead},
    FaultName{"gain-dim", Kind::dim, kGain, FaultValue::loss, true, "amplifies so much less, or attenuates so much more",
              "drift where it measures its light or a monitor sees it"},
    FaultName{"gain-dead", Kind::fail, kGain, FaultValue::none, false, "passes next to nothing, and says so", kDead},
    FaultName{"gain-stuck", Kind::stick, kGain, FaultValue::none, false, "says yes to every command and ignores it", kFails},
    FaultName{"ocs-stuck", Kind::stick, kOcs, FaultValue::none, false, "says yes to every command and ignores it", kFails},
};

constexpr std::array kFibres{
    FibreFaultName{"fibre-swap", FibreFaultKind::swap, 2, FaultValue::none, "the far ends of two fibres are exchanged",
                   "a circuit that is not lit, if a monitor sees the light; no device tells of it"},
    FibreFaultName{"fibre-cut", FibreFaultKind::cut, 1, FaultValue::none, "light that enters the fibre does not leave it",
                   "a circuit that is not lit, if a monitor sees the light; no device tells of it"},
    FibreFaultName{"fibre-dirty", FibreFaultKind::dirty, 1, FaultValue::loss, "its light is so much weaker",
                   "a circuit that is not lit once its power is out of range, if a monitor sees the light"},
};

}  // namespace

std::span<const FaultName> fault_catalogue() { return kCatalogue; }
std::span<const FibreFaultName> fibre_fault_catalogue() { return kFibres; }
std::string_view to_string(FibreFaultKind kind) { return std::ranges::find(kFibres, kind, &FibreFaultName::kind)->name; }

const FaultName* fault_named(std::string_view name) {
  const auto found = std::ranges::find(kCatalogue, name, &FaultName::name);
  return found == kCatalogue.end() ? nullptr : &*found;
}

const FaultName* fault_of(DeviceFaultKind kind, DeviceRole role) {
  const auto found =
      std::ranges::find_if(kCatalogue, [&](const FaultName& row) { return row.kind == kind && row.is_of(role); });
  return found == kCatalogue.end() ? nullptr : &*found;
}

std::string_view name_of(DeviceFaultKind kind, DeviceRole role) {
  const FaultName* row = fault_of(kind, role);
  return row == nullptr ? "?" : row->name;
}

std::string refusal_of(const FaultName& fault, DeviceRole role, std::string_view device) {
  std::string roles;
  for (const DeviceRole each : kDeviceRoles) {
    if (fault.is_of(each)) {
      roles += (roles.empty() ? "" : ", ") + std::string(to_string(each));
    }
  }
  return format_text("'{}' is a {}; expected a device that can have {}: {}", device, to_string(role), fault.name, roles);
}

std::string_view to_string(FaultValue value) {
  static constexpr std::array<std::string_view, 7> kWords{"", "delay", "offset", "loss", "factor", "percent", "channel"};
  return kWords.at(static_cast<std::size_t>(value));
}

}  // namespace loom
