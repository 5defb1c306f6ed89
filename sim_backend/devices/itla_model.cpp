// SPDX-License-Identifier: Apache-2.0
// Registers and light of a simulated tunable laser. Never helps the driver: it acknowledges first and moves afterwards.
#include "sim_backend/devices/itla_model.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/text/format_text.hpp"
#include "sim_backend/devices/wire.hpp"

namespace loom {

using itla::NopError;
using itla::Register;
using itla::Status;

namespace {

constexpr std::int64_t kTuneSteps = 4;           ///< how finely mid-tune light is told
constexpr std::int16_t kDarkReading = -5000;     ///< OOP without light, 0.01 dBm
constexpr FrequencyOffset kFatalError{5'000};    ///< StatusF FFREQ beyond [K]
constexpr FrequencyOffset kWarningError{2'500};  ///< StatusW WFREQ beyond [K]
constexpr Db kFatalDimming{300};
constexpr Db kWarningDimming{100};
constexpr Db kPowerBelow{500};  ///< OPSL under, OPSH over the launch power [K]
constexpr Db kPowerAbove{300};

std::uint16_t word_of(std::int64_t value) { return static_cast<std::uint16_t>(value & 0xFFFF); }

}  // namespace

ItlaModel::ItlaModel(const Device& device, const Transmitter& transmitter, const SimDeviceOptions& options)
    : SimulatedDevice(device.id, options),
      serial_(!options.laser_serial.empty() ? options.laser_serial
              : !device.serial.empty()      ? device.serial
                                            : format_text("SIM{}", 10'000 + device.id.value)),
      transmitter_(transmitter),
      lowest_(centre_of(transmitter.channels.slot(0))),
      highest_(centre_of(transmitter.channels.slot(std::max(transmitter.channels.count, 1) - 1))),
      live_(at_power_up()) {}

ItlaModel::Volatile ItlaModel::at_power_up() const {
  Volatile state;
  state.latched = itla::kStatusRestarted;
  state.power = static_cast<std::int16_t>((transmitter_.launch_power - kPowerBelow).centi);
  state.tune_from = lowest_;
  state.tune_to = lowest_;
  state.fcf1 = word_of(lowest_.mhz / 1'000'000);
  state.fcf2 = word_of(lowest_.mhz / 100 % 10'000);
  state.fcf3 = word_of(lowest_.mhz % 100);
  return state;
}

void ItlaModel::power_up(Instant) { live_ = at_power_up(); }

Frequency ItlaModel::frequency_of_registers(std::uint16_t channel) const {
  const std::int64_t first = live_.fcf1 * 1'000'000LL + live_.fcf2 * 100LL + live_.fcf3;
  return {first + (channel - 1LL) * (live_.grid * 100LL + live_.grid2)};
}

/// Mid-tune: the middle of the step that `at` falls into.
Frequency ItlaModel::frequency_at(Instant at) const {
  const FrequencyOffset trim{live_.trim};
  if (!is_tuning(at)) {
    return (at < live_.tune_begin ? live_.tune_from : live_.tune_to) + trim;
  }
  const std::int64_t step = std::min(
      (at - live_.tune_begin).count() * kTuneSteps / std::max<std::int64_t>((live_.tune_end - live_.tune_begin).count(), 1),
      kTuneSteps - 1);
  return live_.tune_from + trim + FrequencyOffset{(live_.tune_to - live_.tune_from).mhz * (2 * step + 1) / (2 * kTuneSteps)};
}

OpticalState ItlaModel::light(Instant at) const {
  if (!emits_at(at) || has_fault(DeviceFaultKind::fail, at)) {
    return LaserLight{};
  }
  return LaserLight{true, frequency_at(at) + detuning(at, 0, false), Dbm{live_.power} - dimming(at, false)};
}

void ItlaModel::append_breakpoints(Instant from, std::vector<Instant>& instants) const {
  instants.push_back(live_.emit_from);
  instants.push_back(live_.emit_until);
  if (from < live_.tune_end) {
    const Duration span = live_.tune_end - live_.tune_begin;
    for (std::int64_t step = 0; step < kTuneSteps; ++step) {
      instants.push_back(live_.tune_begin + Duration{(span.count() * step + kTuneSteps - 1) / kTuneSteps});
    }
    instants.push_back(live_.tune_end);
  }
}

ModelReply ItlaModel::respond(Instant now, const Transaction& transaction) {
  const auto* frame = std::get_if<Frame>(&transaction.order);
  const Duration request_time = wire_time(itla::FrameBytes{}.size(), options().serial_baud) + options().device_time;
  const Duration service = request_time + wire_time(itla::FrameBytes{}.size(), options().serial_baud);
  if (frame == nullptr || frame->request.size() != itla::FrameBytes{}.size()) {
    return {{BusStatus::timeout, 0, {}, {}}, transaction.deadline};
  }
  const auto request = itla::decode_request(frame->request);
  if (!request) {
    live_.last_response = itla::encode(itla::Response{Status::ok, true, static_cast<Register>(frame->request[1]), 0});
  } else if (!request->last_response) {
    live_.last_response = itla::encode(answer(now, now + request_time, *request));
  }
  return {{BusStatus::ok, 0, {}, {live_.last_response.begin(), live_.last_response.end()}}, service};
}

/// It says CE.
ModelReply ItlaModel::unread(Instant now, const Transaction& transaction) {
  Transaction damaged = transaction;
  if (auto* frame = std::get_if<Frame>(&damaged.order); frame != nullptr && !frame->request.empty()) {
    frame->request.back() ^= 0x01;  // one bit: no BIP-4 survives it
  }
  return respond(now, damaged);
}

/// It is tuned to the next channel, or from the last one to that before.
void ItlaModel::misroute(OpticalState& state) const { tune_beside(std::get<LaserLight>(state), transmitter_.channels); }

/// An ITLA has no NACK: it says that an operation is pending.
ModelReply ItlaModel::refuse(Instant now, const Transaction& transaction) {
  const auto* frame = std::get_if<Frame>(&transaction.order);
  const auto request = frame == nullptr ? std::nullopt : itla::decode_request(frame->request);
  if (!request || request->reg == Register::nop) {
    return respond(now, transaction);
  }
  const itla::FrameBytes bytes = itla::encode(refused(request->reg, NopError::pending));
  return {{BusStatus::ok, 0, {}, {bytes.begin(), bytes.end()}},
          2 * wire_time(bytes.size(), options().serial_baud) + options().device_time};
}

itla::Response ItlaModel::refused(Register reg, NopError error) {
  live_.error = error;
  live_.latched |= 1u << 7;  // XEL
  return {Status::execution_error, false, reg, 0};
}

itla::Response ItlaModel::answer(Instant now, Instant at, const itla::Request& request) {
  if (!live_.ready_at) {
    live_.ready_at = now + options().power_up;
  }
  if (at < *live_.ready_at && request.reg != Register::nop) {
    return refused(request.reg, NopError::initialising);
  }
  return request.write ? write(now, at, request) : read(at, request.reg);
}

std::uint16_t ItlaModel::status_at(Instant at, bool fatal) const {
  const bool off_frequency = is_tuning(at) || magnitude(detuning(at, 0, true)) > (fatal ? kFatalError : kWarningError);
  const bool off_power = emits_at(at) && dimming(at, true) > (fatal ? kFatalDimming : kWarningDimming);
  unsigned status = live_.latched;
  status |= off_frequency ? itla::kStatusFrequency | 1u << 2 : 0u;
  status |= off_power ? itla::kStatusPower | 1u : 0u;
  status |= has_fault(DeviceFaultKind::fail, at) ? itla::kStatusFatal : 0u;
  return word_of(status);
}

std::uint16_t ItlaModel::nop_at(Instant at) const {
  const unsigned pending = (is_tuning(at) ? 1u << 8 : 0u) | (at < live_.emit_from && live_.emit_from != kNever ? 1u << 9 : 0u);
  const bool ready = !live_.ready_at || at >= *live_.ready_at;
  return word_of(static_cast<std::int64_t>(pending | (ready ? itla::kNopReady : 0u) | static_cast<unsigned>(live_.error)));
}

itla::Response ItlaModel::read(Instant at, Register reg) {
  const auto value = [&](std::int64_t number) { return itla::Response{Status::ok, false, reg, word_of(number)}; };
  const bool has_frequency = transmitter_.tunes == Tunes::dark || emits_at(at);
  const Frequency frequency = has_frequency ? frequency_at(at) + detuning(at, 0, true) : Frequency{};
  switch (reg) {
    case Register::nop: {
      const auto response = value(nop_at(at));
      live_.error = NopError::none;
      return response;
    }
    case Register::status_fatal:
    case Register::status_warning: {
      const std::uint16_t status = status_at(at, reg == Register::status_fatal);
      live_.latched = word_of(status & 0x00FF);
      return value(status);
    }
    case Register::channel:
      return value(live_.channel);
    case Register::power:
      return value(live_.power);
    case Register::enable:
      return value(live_.enable);
    case Register::grid:
      return value(live_.grid);
    case Register::grid2:
      return value(live_.grid2);
    case Register::fcf1:
      return value(live_.fcf1);
    case Register::fcf2:
      return value(live_.fcf2);
    case Register::fcf3:
      return value(live_.fcf3);
    case Register::ftf:
      return value(live_.trim);
    case Register::lf1:
      return value(frequency.mhz / 1'000'000);
    case Register::lf2:
      return value(frequency.mhz / 100 % 10'000);
    case Register::lf3:
      return value(frequency.mhz % 100);
    case Register::oop:
      return value(emits_at(at) && !has_fault(DeviceFaultKind::fail, at) ? (Dbm{live_.power} - dimming(at, true)).centi
                                                                         : kDarkReading);
    case Register::device_type:
    case Register::maker:
    case Register::model:
    case Register::serial:
    case Register::release:
    case Register::extended:
      return options().laser_tells ? read_text(reg) : refused(reg, NopError::not_implemented);
    default:
      return options().laser_tells ? read_limit(reg) : refused(reg, NopError::not_implemented);
  }
}

/// A text is announced with its bytes' count, and read two bytes at a time until it ends.
itla::Response ItlaModel::read_text(Register reg) {
  if (reg == Register::extended) {
    if (live_.text.empty()) {
      return refused(reg, NopError::extended_range);
    }
    const auto byte = [this](std::size_t i) { return i < live_.text.size() ? static_cast<unsigned char>(live_.text[i]) : 0u; };
    const std::uint16_t word = word_of(static_cast<std::int64_t>(byte(0) << 8 | byte(1)));
    live_.text.erase(0, 2);
    return {Status::ok, false, reg, word};
  }
  live_.text = reg == Register::device_type ? "CW ITLA"
               : reg == Register::maker     ? "Lightloom"
               : reg == Register::model     ? "simulated"
               : reg == Register::serial    ? serial_
                                            : "01.3";
  return {Status::extended_address, false, reg, word_of(static_cast<std::int64_t>(live_.text.size()))};
}

itla::Response ItlaModel::read_limit(Register reg) {
  const auto value = [&](std::int64_t number) { return itla::Response{Status::ok, false, reg, word_of(number)}; };
  switch (reg) {
    case Register::opsl:
      return value((transmitter_.launch_power - kPowerBelow).centi);
    case Register::opsh:
      return value((transmitter_.launch_power + kPowerAbove).centi);
    case Register::trim_max:
      return value(options().laser_trim_max.mhz);
    case Register::first1:
      return value(lowest_.mhz / 1'000'000);
    case Register::first2:
      return value(lowest_.mhz / 100 % 10'000);
    case Register::first3:
      return value(lowest_.mhz % 100);
    case Register::last1:
      return value(highest_.mhz / 1'000'000);
    case Register::last2:
      return value(highest_.mhz / 100 % 10'000);
    case Register::last3:
      return value(highest_.mhz % 100);
    case Register::least_grid:
      return value(options().laser_grid.mhz / 100);
    case Register::least_grid2:
      return value(options().laser_grid.mhz % 100);
    default:
      return refused(reg, NopError::not_implemented);
  }
}

itla::Response ItlaModel::write(Instant now, Instant at, const itla::Request& request) {
  if (has_fault(DeviceFaultKind::stick, now)) {
    return {Status::ok, false, request.reg, request.data};
  }
  if (request.reg == Register::status_fatal || request.reg == Register::status_warning) {
    live_.latched &= static_cast<std::uint16_t>(~request.data);
    return {Status::ok, false, request.reg, request.data};
  }
  itla::Response response;
  if (request.reg == Register::enable) {
    response = write_enable(now, at, request.data);
  } else if (is_tuning(at)) {
    response = refused(request.reg, NopError::pending);
  } else if (request.reg == Register::channel) {
    response = write_channel(now, at, request.data);
  } else {
    response = write_setting(at, request);
    if (response.status == Status::ok && (request.reg == Register::power || request.reg == Register::ftf)) {
      light_changed(now, at);
    }
  }
  if (response.status != Status::execution_error) {
    record(at, static_cast<std::uint32_t>(request.reg), static_cast<std::int16_t>(request.data));
  }
  return response;
}

/// Settings that move nothing by themselves; the frequency follows when Channel is written.
itla::Response ItlaModel::write_setting(Instant at, const itla::Request& request) {
  const std::uint16_t data = request.data;
  const auto number = static_cast<std::int16_t>(data);
  if (request.reg == Register::power) {
    const Dbm power{number};
    if (power < transmitter_.launch_power - kPowerBelow || power > transmitter_.launch_power + kPowerAbove) {
      return refused(request.reg, NopError::out_of_range);
    }
    live_.power = number;
    return {Status::ok, false, request.reg, data};
  }
  if (request.reg == Register::ftf) {
    if (magnitude(FrequencyOffset{number}) > options().laser_trim_max) {
      return refused(request.reg, NopError::out_of_range);
    }
    live_.trim = number;
    return {Status::ok, false, request.reg, data};
  }
  if (live_.enable != 0 || emits_at(at)) {
    return refused(request.reg, NopError::output_enabled);
  }
  switch (request.reg) {
    case Register::grid:
      if (number * 100LL + 99 < options().laser_grid.mhz) {
        return refused(request.reg, NopError::out_of_range);
      }
      live_.grid = number;
      break;
    case Register::grid2:
      live_.grid2 = data;
      break;
    case Register::fcf1:
      if (data < lowest_.mhz / 1'000'000 || data > highest_.mhz / 1'000'000) {
        return refused(request.reg, NopError::out_of_range);
      }
      live_.fcf1 = data;
      break;
    case Register::fcf2:
      if (data > 9'999) {
        return refused(request.reg, NopError::out_of_range);
      }
      live_.fcf2 = data;
      break;
    case Register::fcf3:
      live_.fcf3 = data;
      break;
    default:
      return refused(request.reg, NopError::not_writable);
  }
  return {Status::ok, false, request.reg, data};
}

/// Emission off is always obeyed; on is refused while the laser tunes.
itla::Response ItlaModel::write_enable(Instant now, Instant at, std::uint16_t value) {
  if ((value & ~itla::kSoftwareEnable) != 0) {
    return refused(Register::enable, NopError::out_of_range);
  }
  const bool on = value != 0;
  if (on && has_fault(DeviceFaultKind::fail, now)) {
    return refused(Register::enable, NopError::general);
  }
  if (on && is_tuning(at)) {
    return refused(Register::enable, NopError::pending);
  }
  if ((live_.enable != 0) == on) {
    return {Status::ok, false, Register::enable, value};
  }
  live_.enable = value;
  if (!on) {
    const Duration blank = stretched(at, part_of(transmitter_.blank_max, draw(), 50, 100));
    live_.emit_from = at < live_.emit_from ? kNever : live_.emit_from;
    live_.emit_until = at + blank;
  } else {
    if (transmitter_.tunes != Tunes::dark && !emits_at(at)) {
      live_.tune_begin = at;
      live_.tune_end = at + stretched(at, part_of(transmitter_.enable_max, draw(), 50, 90));
    }
    const Instant lit = transmitter_.tunes == Tunes::blanked ? live_.tune_end : at + stretched(at, options().laser_enable);
    live_.emit_from = emits_at(at) ? live_.emit_from : lit;
    live_.emit_until = kNever;
  }
  light_changed(now, at);
  return {on ? Status::pending : Status::ok, false, Register::enable, value};
}

itla::Response ItlaModel::write_channel(Instant now, Instant at, std::uint16_t value) {
  const Frequency wanted = frequency_of_registers(value);
  if (value < 1 || wanted < lowest_ || wanted > highest_ || (!transmitter_.tunable && wanted != lowest_)) {
    return refused(Register::channel, NopError::out_of_range);
  }
  live_.channel = value;
  const Frequency present = frequency_at(at) - FrequencyOffset{live_.trim};
  if (transmitter_.tunes != Tunes::dark && live_.enable == 0) {  // when its output goes on
    live_.tune_from = present;
    live_.tune_to = wanted;
    live_.tune_begin = live_.tune_end = kNever;
    return {Status::ok, false, Register::channel, value};
  }
  if (wanted == present && !is_tuning(at)) {
    return {Status::ok, false, Register::channel, value};
  }
  live_.tune_from = present;
  live_.tune_to = wanted;
  live_.tune_begin = at;
  live_.tune_end = at + stretched(at, part_of(transmitter_.retune_max, draw(), 50, 100));
  if (emits_at(at)) {
    light_changed(now, at);
  }
  return {Status::pending, false, Register::channel, value};
}

constinit const SimulatedModel kSimulatedItla{
    "itla_laser",
    [](const Fabric& fabric, const Device& device, const SimDeviceOptions& options) -> std::unique_ptr<SimulatedDevice> {
      return std::make_unique<ItlaModel>(device, std::get<Transmitter>(fabric.element(device.elements.front()).kind), options);
    },
    "itla"};

}  // namespace loom
