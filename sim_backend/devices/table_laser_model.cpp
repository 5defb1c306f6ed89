// SPDX-License-Identifier: Apache-2.0
// Words and light of a simulated laser with a table.
#include "sim_backend/devices/table_laser_model.hpp"

#include <algorithm>
#include <array>

#include "drivers/transceiver/table_laser.hpp"
#include "sim_backend/devices/wire.hpp"

namespace loom {

using table_laser::Register;

namespace {

constexpr std::uint8_t kIllegalAddress = 2;
constexpr std::uint8_t kIllegalValue = 3;
constexpr std::uint8_t kBusy = 6;
constexpr std::int16_t kDarkReading = -5000;  ///< output power without light, 0.01 dBm
constexpr FrequencyOffset kLockRange{5'000};  ///< of the wavelength locker [K]
constexpr Db kPowerBelow{500};                ///< the launch power, adjustable [K]
constexpr Db kPowerAbove{300};

std::uint16_t word_of(std::int64_t value) { return static_cast<std::uint16_t>(value & 0xFFFF); }

}  // namespace

TableLaserModel::TableLaserModel(const Device& device, const Transmitter& transmitter, const SimDeviceOptions& options)
    : SimulatedDevice(device.id, options),
      transmitter_(transmitter),
      has_trigger_(DeviceProfileView(kTableLaser.model.keys, device.profile).flag("trigger")) {}

void TableLaserModel::power_up(Instant) { live_ = Volatile{}; }

LaserLight TableLaserModel::nominal_light(Instant at) const {
  if (at < live_.before_until) {
    return live_.before;
  }
  if (at < live_.emit_from) {
    return {};
  }
  return {true, centre_of(transmitter_.channels.slot(live_.channel - 1)), Dbm{live_.power}};
}

OpticalState TableLaserModel::light(Instant at) const {
  LaserLight light = has_fault(DeviceFaultKind::fail, at) ? LaserLight{} : nominal_light(at);
  if (light.emitting) {
    light.frequency = light.frequency + detuning(at, 0, false);
    light.power = light.power - dimming(at, false);
  }
  return light;
}

/// It emits the channel after, or of the last one that before.
void TableLaserModel::misroute(OpticalState& state) const { tune_beside(std::get<LaserLight>(state), transmitter_.channels); }

void TableLaserModel::append_breakpoints(Instant, std::vector<Instant>& instants) const {
  instants.push_back(live_.before_until);
  instants.push_back(live_.emit_from);
}

ModelReply TableLaserModel::respond(Instant now, const Transaction& transaction) {
  const auto* registers = std::get_if<Registers>(&transaction.order);
  if (registers == nullptr) {
    return {{BusStatus::timeout, 0, {}, {}}, transaction.deadline};
  }
  const Duration service = options().register_access;
  return {registers->count > 0 ? read(now + service, *registers) : write(now, now + service, *registers), service};
}

ModelReply TableLaserModel::refuse(Instant, const Transaction&) {
  return {{BusStatus::nack, kBusy, {}, {}}, options().register_access};
}

std::uint16_t TableLaserModel::word_at(Instant at, Register address) const {
  const bool is_broken = has_fault(DeviceFaultKind::fail, at);
  const bool emits = !is_broken && nominal_light(at).emitting;
  const FrequencyOffset error = detuning(at, 0, true);
  const bool stands = at >= live_.before_until && (!live_.gate || at >= live_.emit_from);
  const bool is_tuned = stands && at >= live_.tuned_from && magnitude(error) <= kLockRange;
  switch (address) {
    case Register::gate:
      return live_.gate ? 1 : 0;
    case Register::channel:
      return live_.channel;
    case Register::power:
      return word_of(live_.power);
    case Register::status:
      return word_of((is_tuned ? table_laser::kTuned : 0) | (emits ? table_laser::kEmitting : 0) |
                     (is_broken ? table_laser::kBroken : 0));
    case Register::frequency_error:
      return word_of(std::clamp<std::int64_t>(error.mhz, -32'768, 32'767));
    case Register::output_power:
      return word_of(emits ? (nominal_light(at).power - dimming(at, true)).centi : kDarkReading);
    case Register::next_gate:
      return live_.next[0];
    case Register::next_channel:
      return live_.next[1];
    case Register::next_power:
      return live_.next[2];
    case Register::trigger:
      break;
  }
  return 0;
}

BusReply TableLaserModel::read(Instant at, const Registers& registers) const {
  if (registers.address + registers.count > (has_trigger_ ? table_laser::kWordsWithTrigger : table_laser::kWords)) {
    return {BusStatus::exception, kIllegalAddress, {}, {}};
  }
  BusReply reply;
  for (std::uint16_t i = 0; i < registers.count; ++i) {
    reply.words.push_back(word_at(at, static_cast<Register>(registers.address + i)));
  }
  return reply;
}

bool TableLaserModel::is_lawful(std::span<const std::uint16_t> words) const {
  const Dbm power{static_cast<std::int16_t>(words[2])};
  const std::int32_t channels = transmitter_.tunable ? transmitter_.channels.count : 1;
  return words[0] <= 1 && words[1] <= channels && power >= transmitter_.launch_power - kPowerBelow &&
         power <= transmitter_.launch_power + kPowerAbove;
}

/// A block is taken as a whole, the gate first; or waits; or what waits is taken.
BusReply TableLaserModel::write(Instant now, Instant at, const Registers& registers) {
  const std::size_t end = registers.address + registers.values.size();
  const bool waits = registers.address >= static_cast<std::uint16_t>(Register::next_gate);
  const bool is_trigger = registers.address == static_cast<std::uint16_t>(Register::trigger);
  const std::size_t begin = !waits ? 0 : is_trigger ? end - 1 : static_cast<std::size_t>(Register::next_gate);
  if (registers.values.empty() || (waits && !has_trigger_) || end > begin + (is_trigger ? 1 : table_laser::kWritable)) {
    return {BusStatus::exception, kIllegalAddress, {}, {}};
  }
  std::array<std::uint16_t, table_laser::kWritable> words{word_of(live_.gate ? 1 : 0), live_.channel, word_of(live_.power)};
  if (waits) {
    words = live_.next;
  }
  if (!is_trigger) {
    std::ranges::copy(registers.values, words.begin() + static_cast<std::ptrdiff_t>(registers.address - begin));
  }
  const bool empties = waits && words[1] == 0;
  if (is_trigger ? registers.values.front() > 1 : !empties && !is_lawful(words)) {
    return {BusStatus::exception, kIllegalValue, {}, {}};
  }
  if (has_fault(DeviceFaultKind::stick, now)) {
    return {};
  }
  for (std::size_t i = 0; i < registers.values.size(); ++i) {
    record(at, registers.address + static_cast<std::uint32_t>(i), static_cast<std::int16_t>(registers.values[i]));
  }
  if (waits && !is_trigger) {
    live_.next = words;
  } else if (!is_trigger || (registers.values.front() == 1 && live_.next[1] != 0)) {
    take(now, at, words);
  }
  return {};
}

/// As the word at Register::trigger, without the wire.
void TableLaserModel::edge(Instant at) {
  if (has_trigger_ && live_.next[1] != 0 && !has_fault(DeviceFaultKind::stick, at) && !has_fault(DeviceFaultKind::reboot, at)) {
    take(at, at, std::array(live_.next));
  }
}

/// What waited is dropped when it is taken, and when the gate is ordered shut.
void TableLaserModel::take(Instant now, Instant at, std::span<const std::uint16_t> words) {
  go(at, words[0] == 1, words[1]);
  live_.power = static_cast<std::int16_t>(words[2]);
  if (words[0] == 0 || std::ranges::equal(words, live_.next)) {
    live_.next = {};
  }
  light_changed(now, at);
}

/// The gate is shut before the currents move, and opens once they stand.
void TableLaserModel::go(Instant at, bool gate, std::uint16_t channel) {
  const bool retunes = channel != live_.channel;
  const bool stays_lit = live_.gate && gate && !retunes;
  if (stays_lit) {
    return;
  }
  Instant dark_from = std::max(at, live_.before_until);
  if (const LaserLight now = nominal_light(at); now.emitting && at >= live_.emit_from) {
    live_.before = now;
    live_.before_until = at + stretched(at, part_of(transmitter_.blank_max, draw(), 50, 100));
    dark_from = live_.before_until;
  }
  if (retunes) {
    live_.tuned_from = channel == 0 ? kNever : dark_from + stretched(at, part_of(transmitter_.retune_max, draw(), 50, 100));
  }
  // The gate opens with the last of the currents; by itself it takes its own time.
  const Duration opening = retunes ? Duration{} : stretched(at, part_of(transmitter_.blank_max, draw(), 50, 100));
  const Instant opens = std::max(dark_from, live_.tuned_from);
  live_.emit_from = !gate || opens == kNever ? kNever : opens + opening;
  live_.gate = gate;
  live_.channel = channel;
}

constinit const SimulatedModel kSimulatedTableLaser{
    "table_laser",
    [](const Fabric& fabric, const Device& device, const SimDeviceOptions& options) -> std::unique_ptr<SimulatedDevice> {
      const auto& transmitter = std::get<Transmitter>(fabric.element(device.elements.front()).kind);
      return std::make_unique<TableLaserModel>(device, transmitter, options);
    },
    "table-laser"};

}  // namespace loom
