// Registers and light of a simulated tunable laser. Never helps the driver: it acknowledges first and moves afterwards.
#include <algorithm>
#include <cstdlib>

#include "sim_backend/devices/models.hpp"
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
    : DeviceModel(device.id, options),
      transmitter_(transmitter),
      power_(static_cast<std::int16_t>((transmitter.launch_power - kPowerBelow).centi)),
      lowest_(centre_of(transmitter.channels.slot(0))),
      highest_(centre_of(transmitter.channels.slot(std::max(transmitter.channels.count, 1) - 1))),
      tune_from_(lowest_),
      tune_to_(lowest_) {
  fcf1_ = word_of(lowest_.mhz / 1'000'000);
  fcf2_ = word_of(lowest_.mhz / 100 % 10'000);
  fcf3_ = word_of(lowest_.mhz % 100);
}

Frequency ItlaModel::frequency_of_registers(std::uint16_t channel) const {
  const std::int64_t first = fcf1_ * 1'000'000LL + fcf2_ * 100LL + fcf3_;
  return {first + (channel - 1LL) * (grid_ * 100LL + grid2_)};
}

/// Mid-tune: the middle of the step that `at` falls into.
Frequency ItlaModel::frequency_at(Instant at) const {
  if (!is_tuning(at)) {
    return at < tune_begin_ ? tune_from_ : tune_to_;
  }
  const std::int64_t step = std::min(
      (at - tune_begin_).count() * kTuneSteps / std::max<std::int64_t>((tune_end_ - tune_begin_).count(), 1), kTuneSteps - 1);
  return {tune_from_.mhz + (tune_to_ - tune_from_).mhz * (2 * step + 1) / (2 * kTuneSteps)};
}

OpticalState ItlaModel::light(Instant at) const {
  if (!emits_at(at) || has_fault(DeviceFaultKind::fail, at)) {
    return LaserLight{};
  }
  return LaserLight{true, frequency_at(at) + detuning(at, 0, false), Dbm{power_} - dimming(at, false)};
}

void ItlaModel::append_breakpoints(Instant from, std::vector<Instant>& instants) const {
  instants.push_back(emit_from_);
  instants.push_back(emit_until_);
  if (from < tune_end_) {
    const Duration span = tune_end_ - tune_begin_;
    for (std::int64_t step = 0; step < kTuneSteps; ++step) {
      instants.push_back(tune_begin_ + Duration{(span.count() * step + kTuneSteps - 1) / kTuneSteps});
    }
    instants.push_back(tune_end_);
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
    last_response_ = itla::encode(itla::Response{Status::ok, true, static_cast<Register>(frame->request[1]), 0});
  } else if (!request->last_response) {
    last_response_ = itla::encode(answer(now, now + request_time, *request));
  }
  return {{BusStatus::ok, 0, {}, {last_response_.begin(), last_response_.end()}}, service};
}

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
  error_ = error;
  latched_ |= 1u << 7;  // XEL
  return {Status::execution_error, false, reg, 0};
}

itla::Response ItlaModel::answer(Instant now, Instant at, const itla::Request& request) {
  if (!ready_at_) {
    ready_at_ = now + options().power_up;
  }
  if (at < *ready_at_ && request.reg != Register::nop) {
    return refused(request.reg, NopError::initialising);
  }
  return request.write ? write(now, at, request) : read(at, request.reg);
}

std::uint16_t ItlaModel::status_at(Instant at, bool fatal) const {
  const bool off_frequency = is_tuning(at) || magnitude(detuning(at, 0, true)) > (fatal ? kFatalError : kWarningError);
  const bool off_power = emits_at(at) && dimming(at, true) > (fatal ? kFatalDimming : kWarningDimming);
  unsigned status = latched_;
  status |= off_frequency ? itla::kStatusFrequency | 1u << 2 : 0u;
  status |= off_power ? itla::kStatusPower | 1u : 0u;
  status |= has_fault(DeviceFaultKind::fail, at) ? itla::kStatusFatal : 0u;
  return word_of(status);
}

std::uint16_t ItlaModel::nop_at(Instant at) const {
  const unsigned pending = (is_tuning(at) ? 1u << 8 : 0u) | (at < emit_from_ && emit_from_ != kNever ? 1u << 9 : 0u);
  const bool ready = !ready_at_ || at >= *ready_at_;
  return word_of(static_cast<std::int64_t>(pending | (ready ? itla::kNopReady : 0u) | static_cast<unsigned>(error_)));
}

itla::Response ItlaModel::read(Instant at, Register reg) {
  const auto value = [&](std::int64_t number) { return itla::Response{Status::ok, false, reg, word_of(number)}; };
  const Frequency frequency = frequency_at(at) + detuning(at, 0, true);
  switch (reg) {
    case Register::nop: {
      const auto response = value(nop_at(at));
      error_ = NopError::none;
      return response;
    }
    case Register::status_fatal:
    case Register::status_warning: {
      const std::uint16_t status = status_at(at, reg == Register::status_fatal);
      latched_ = word_of(status & 0x00FF);
      return value(status);
    }
    case Register::channel:
      return value(channel_);
    case Register::power:
      return value(power_);
    case Register::enable:
      return value(enable_);
    case Register::grid:
      return value(grid_);
    case Register::grid2:
      return value(grid2_);
    case Register::fcf1:
      return value(fcf1_);
    case Register::fcf2:
      return value(fcf2_);
    case Register::fcf3:
      return value(fcf3_);
    case Register::ftf:
      return value(0);
    case Register::lf1:
      return value(frequency.mhz / 1'000'000);
    case Register::lf2:
      return value(frequency.mhz / 100 % 10'000);
    case Register::lf3:
      return value(frequency.mhz % 100);
    case Register::oop:
      return value(emits_at(at) && !has_fault(DeviceFaultKind::fail, at) ? (Dbm{power_} - dimming(at, true)).centi
                                                                         : kDarkReading);
    case Register::opsl:
      return value((transmitter_.launch_power - kPowerBelow).centi);
    case Register::opsh:
      return value((transmitter_.launch_power + kPowerAbove).centi);
  }
  return refused(reg, NopError::not_implemented);
}

itla::Response ItlaModel::write(Instant now, Instant at, const itla::Request& request) {
  if (has_fault(DeviceFaultKind::stick, now)) {
    return {Status::ok, false, request.reg, request.data};
  }
  if (request.reg == Register::status_fatal || request.reg == Register::status_warning) {
    latched_ &= static_cast<std::uint16_t>(~request.data);
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
    if (response.status == Status::ok && request.reg == Register::power) {
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
    power_ = number;
    return {Status::ok, false, request.reg, data};
  }
  if (request.reg == Register::ftf) {
    return number == 0 ? itla::Response{Status::ok, false, request.reg, data} : refused(request.reg, NopError::out_of_range);
  }
  if (enable_ != 0 || emits_at(at)) {
    return refused(request.reg, NopError::output_enabled);
  }
  switch (request.reg) {
    case Register::grid:
      grid_ = number;
      break;
    case Register::grid2:
      grid2_ = data;
      break;
    case Register::fcf1:
      if (data < lowest_.mhz / 1'000'000 || data > highest_.mhz / 1'000'000) {
        return refused(request.reg, NopError::out_of_range);
      }
      fcf1_ = data;
      break;
    case Register::fcf2:
      if (data > 9'999) {
        return refused(request.reg, NopError::out_of_range);
      }
      fcf2_ = data;
      break;
    case Register::fcf3:
      fcf3_ = data;
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
  if ((enable_ != 0) == on) {
    return {Status::ok, false, Register::enable, value};
  }
  enable_ = value;
  if (!on) {
    const Duration blank = stretched(at, part_of(transmitter_.blank_max, draw(), 50, 100));
    emit_from_ = at < emit_from_ ? kNever : emit_from_;
    emit_until_ = at + blank;
  } else {
    emit_from_ = emits_at(at) ? emit_from_ : at + stretched(at, options().laser_enable);
    emit_until_ = kNever;
  }
  light_changed(now, at);
  return {on ? Status::pending : Status::ok, false, Register::enable, value};
}

itla::Response ItlaModel::write_channel(Instant now, Instant at, std::uint16_t value) {
  const Frequency wanted = frequency_of_registers(value);
  if (value < 1 || wanted < lowest_ || wanted > highest_ || (!transmitter_.tunable && wanted != lowest_)) {
    return refused(Register::channel, NopError::out_of_range);
  }
  channel_ = value;
  if (wanted == frequency_at(at)) {
    return {Status::ok, false, Register::channel, value};
  }
  tune_from_ = frequency_at(at);
  tune_to_ = wanted;
  tune_begin_ = at;
  tune_end_ = at + stretched(at, part_of(transmitter_.retune_max, draw(), 50, 100));
  if (emits_at(at)) {
    light_changed(now, at);
  }
  return {Status::pending, false, Register::channel, value};
}

}  // namespace loom
