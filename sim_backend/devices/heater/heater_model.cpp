// SPDX-License-Identifier: Apache-2.0
// Registers and resonances of a simulated heater bank.
#include "sim_backend/devices/heater/heater_model.hpp"

#include "sim_backend/devices/wire.hpp"

namespace loom {
namespace {

constexpr std::uint8_t kIllegalFunction = 1;
constexpr std::uint8_t kIllegalAddress = 2;
constexpr std::uint8_t kIllegalValue = 3;
constexpr std::uint8_t kDeviceFailure = 4;
constexpr std::uint8_t kBusy = 6;

/// All of `count` registers from `address` on lie within `size` of them from `base` on.
bool lies_in(std::size_t address, std::size_t count, std::size_t base, std::size_t size) {
  return address >= base && address + count <= base + size;
}

}  // namespace

HeaterModel::HeaterModel(const Device& device, HeaterBoard board, std::vector<RingFilter> rings,
                         const SimDeviceOptions& options)
    : SimulatedDevice(device.id, options),
      board_(board),
      rings_(rings, options.rings, options.seed),
      counts_(rings.size(), 0) {}

OpticalState HeaterModel::light(Instant at) const {
  RingLight light;
  light.resonances.reserve(rings_.size());
  const bool dead = has_fault(DeviceFaultKind::fail, at);
  for (std::size_t i = 0; i < rings_.size(); ++i) {
    const bool is_cold = dead || faults().is_open(static_cast<std::uint16_t>(i), at);
    const Frequency resonance = is_cold ? rings_.unheated_at(i, at) : rings_.resonance_at(i, at);
    light.resonances.push_back(resonance + detuning(at, static_cast<std::uint16_t>(i), false));
  }
  return light;
}

/// Each ring is as warm as the one before it should be.
void HeaterModel::misroute(OpticalState& state) const { rings_.misroute(std::get<RingLight>(state)); }

void HeaterModel::append_breakpoints(Instant from, std::vector<Instant>& instants) const {
  rings_.append_breakpoints(from, instants);
}

/// Modbus RTU: 3.5 characters of silence around each telegram (Modbus over serial line V1.02 section 2.5.1.1).
Duration HeaterModel::service_time(std::size_t request_bytes, std::size_t reply_bytes) const {
  return wire_time(request_bytes + reply_bytes + 7, options().modbus_baud) + options().device_time;
}

ModelReply HeaterModel::respond(Instant now, const Transaction& transaction) {
  const auto* registers = std::get_if<Registers>(&transaction.order);
  if (registers == nullptr) {
    return {{BusStatus::timeout, 0, {}, {}}, transaction.deadline};
  }
  const bool reads = registers->count > 0;
  const std::size_t count = reads ? registers->count : registers->values.size();
  const std::size_t request_bytes = reads ? 8 : 9 + 2 * count;
  const Instant at = now + service_time(request_bytes, 0);
  BusReply reply;
  if (registers->is_input) {
    reply = {BusStatus::exception, kIllegalFunction, {}, {}};
  } else if (has_fault(DeviceFaultKind::fail, now) && !board_.status) {
    reply = {BusStatus::exception, kDeviceFailure, {}, {}};
  } else if (reads) {
    reply = read(now, *registers);
  } else {
    reply = write(now, at, *registers);
  }
  return {std::move(reply), service_time(request_bytes, reads ? 5 + 2 * count : 8)};
}

ModelReply HeaterModel::refuse(Instant, const Transaction&) { return {{BusStatus::nack, kBusy, {}, {}}, service_time(8, 5)}; }

void HeaterModel::power_up(Instant now) {
  for (std::size_t i = 0; i < rings_.size(); ++i) {
    rings_.heat(i, now, 0, options().heater_time_constant);
  }
  counts_.assign(counts_.size(), 0);
}

BusReply HeaterModel::read(Instant now, const Registers& registers) const {
  constexpr std::size_t kStatusWords = 2;
  BusReply reply;
  const auto is_of = [&](std::size_t base, std::size_t size) {
    return lies_in(registers.address, registers.count, base, size);
  };
  if (is_of(board_.base, rings_.size())) {
    for (std::size_t i = 0; i < registers.count; ++i) {
      reply.words.push_back(counts_[registers.address - board_.base + i]);
    }
  } else if (board_.identity && is_of(board_.identity->address, board_.identity->each_output ? rings_.size() : 1)) {
    reply.words.assign(registers.count, board_.identity->least);
  } else if (board_.status && is_of(*board_.status, kStatusWords * rings_.size())) {
    reply.words.assign(registers.count, 0);
    for (std::size_t i = registers.address % kStatusWords; i < registers.count && has_fault(DeviceFaultKind::fail, now);
         i += kStatusWords) {
      reply.words[i] = kStatusOpenCircuit;
    }
  } else {
    reply = {BusStatus::exception, kIllegalAddress, {}, {}};
  }
  return reply;
}

BusReply HeaterModel::write(Instant now, Instant at, const Registers& registers) {
  if (registers.values.empty() || !lies_in(registers.address, registers.values.size(), board_.base, rings_.size())) {
    return {BusStatus::exception, kIllegalAddress, {}, {}};
  }
  if (registers.values.size() > 1 && !board_.block_writes) {
    return {BusStatus::exception, kIllegalFunction, {}, {}};
  }
  const std::size_t first = registers.address - board_.base;
  for (std::size_t i = 0; i < registers.values.size(); ++i) {
    const RingFilter& filter = rings_.filter(first + i);
    if (registers.values[i] > board_.counts_of(filter.heater_volt_max, filter.heater_ohm)) {
      return {BusStatus::exception, kIllegalValue, {}, {}};
    }
  }
  if (has_fault(DeviceFaultKind::stick, now)) {
    return {};
  }
  bool changed = false;
  for (std::size_t i = 0; i < registers.values.size(); ++i) {
    const std::size_t ring = first + i;
    record(at, registers.address + static_cast<std::uint32_t>(i), registers.values[i]);
    if (counts_[ring] == registers.values[i]) {
      continue;
    }
    changed = true;
    counts_[ring] = registers.values[i];
    rings_.heat(ring, at, board_.volts_of(counts_[ring], rings_.filter(ring).heater_ohm),
                stretched(at, options().heater_time_constant));
  }
  if (changed) {
    light_changed(now, at);
  }
  return {};
}

constinit const SimulatedModel kSimulatedHeaterBank{
    "heater_bank",
    [](const Fabric& fabric, const Device& device, const SimDeviceOptions& options) -> std::unique_ptr<SimulatedDevice> {
      return std::make_unique<HeaterModel>(device, heater_board_of(device), rings_of(fabric, device), options);
    },
    "heater"};

}  // namespace loom
