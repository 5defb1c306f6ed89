// SPDX-License-Identifier: Apache-2.0
// Bytes and light of a simulated tunable SFP+.
#include "sim_backend/devices/pluggable/sff_model.hpp"

#include <algorithm>
#include <utility>

#include "drivers/pluggable/cmis_pages.hpp"
#include "sim_backend/devices/wire.hpp"

namespace loom {
namespace {

constexpr std::uint32_t kBytes = 6 * kPageBytes;  ///< A0h, lower A2h, pages 00h to 02h
constexpr std::uint8_t kIllegalAddress = 2;
constexpr Duration kHoldOff = std::chrono::milliseconds{10};  ///< as CMIS has it; SFF-8472 allows up to 40 ms for pages of NV
constexpr FrequencyOffset kLockRange{5'000};                  ///< of the wavelength locker [K]

void put_word(std::vector<std::uint8_t>& bytes, std::uint32_t offset, std::int64_t value) {
  bytes[offset] = static_cast<std::uint8_t>(value >> 8 & 0xFF);
  bytes[offset + 1] = static_cast<std::uint8_t>(value & 0xFF);
}
void put_text(std::vector<std::uint8_t>& bytes, std::uint32_t offset, std::size_t count, std::string_view text) {
  for (std::size_t i = 0; i < count; ++i) {
    bytes[offset + i] = static_cast<std::uint8_t>(i < text.size() ? text[i] : ' ');
  }
}

}  // namespace

SffModule sff_module_for(const Transmitter& transmitter) {
  SffModule module;
  module.limits.by_channel = true;
  module.limits.has_dither = true;
  module.limits.first = centre_of(transmitter.channels.slot(0));
  module.limits.last = centre_of(transmitter.channels.slot(std::max(transmitter.channels.count, 1) - 1));
  // The register has signed units of 0.1 GHz: what does not fit is as no such module would have it.
  module.limits.grid = {std::min<std::int64_t>(transmitter.channels.step_n * kGridStep.mhz / 100 * 100, 3'276'700)};
  return module;
}

SffModel::SffModel(const Device& device, const Transmitter& transmitter, SffModule module, const SimDeviceOptions& options)
    : SimulatedDevice(device.id, options), transmitter_(transmitter), module_(std::move(module)), live_(at_power_up()) {}

SffModel::Volatile SffModel::at_power_up() const {
  Volatile state;
  state.tuned = module_.limits.first;
  return state;
}

void SffModel::power_up(Instant now) {
  live_ = at_power_up();
  busy_until_ = now;
}

LaserLight SffModel::nominal_light(Instant at) const {
  if (at < live_.before_until) {
    return live_.before;
  }
  return at < live_.emit_from ? LaserLight{} : LaserLight{true, live_.tuned, transmitter_.launch_power};
}

OpticalState SffModel::light(Instant at) const {
  LaserLight light = has_fault(DeviceFaultKind::fail, at) ? LaserLight{} : nominal_light(at);
  if (light.emitting) {
    light.frequency = light.frequency + detuning(at, 0, false);
    light.power = light.power - dimming(at, false);
  }
  return light;
}

void SffModel::misroute(OpticalState& state) const { tune_beside(std::get<LaserLight>(state), transmitter_.channels); }

void SffModel::append_breakpoints(Instant, std::vector<Instant>& instants) const {
  instants.push_back(live_.before_until);
  instants.push_back(live_.emit_from);
}

ModelReply SffModel::refuse(Instant, const Transaction&) {
  return {{BusStatus::nack, 0, {}, {}, "Remote I/O error (errno 121)"}, options().device_time};
}

ModelReply SffModel::respond(Instant now, const Transaction& transaction) {
  const auto* order = std::get_if<BytesAt>(&transaction.order);
  const auto place = order == nullptr ? std::nullopt : place_of(PageLayout::two_addresses, order->offset);
  const std::size_t count = order == nullptr ? 0 : order->count > 0 ? order->count : order->values.size();
  if (!place || !fits_page(PageLayout::two_addresses, *place, count)) {
    return {{BusStatus::exception, kIllegalAddress, {}, {}}, options().device_time};
  }
  if (now < busy_until_) {
    return refuse(now, transaction);
  }
  const Duration service = i2c_time(count + 3, options().i2c_hertz) + options().device_time;
  const Instant at = now + service;
  BusReply reply;
  if (order->count == 0) {
    busy_until_ = at + part_of(kHoldOff, draw(), 0, 100);
    if (!has_fault(DeviceFaultKind::stick, now)) {
      record(at, order->offset, order->values.size() == 2 ? order->values[0] << 8 | order->values[1] : order->values[0]);
      write(at, order->offset, order->values);
      light_changed(now, at);
    }
    return {reply, service};
  }
  const std::vector<std::uint8_t> bytes = memory(at);
  for (std::uint32_t i = 0; i < count; ++i) {
    reply.bytes.push_back(order->offset + i < bytes.size() ? bytes[order->offset + i] : std::uint8_t{0});
  }
  const std::uint32_t flags = sff::at_a2(sff::kFlags);
  if (order->offset <= flags && flags < order->offset + count) {
    live_.flags = 0;  // cleared on read
  }
  return {reply, service};
}

/// Its light goes out within blank_max.
void SffModel::darken(Instant at) {
  if (const LaserLight now = nominal_light(at); now.emitting && at >= live_.before_until) {
    live_.before = now;
    live_.before_until = at + stretched(at, part_of(transmitter_.blank_max, draw(), 50, 99));
  }
  live_.emit_from = kNever;
}

void SffModel::tune(Instant at, Frequency wanted) {
  darken(at);
  const Instant dark = std::max(at, live_.before_until);
  live_.tuned = wanted;
  live_.tuned_from = dark + stretched(at, part_of(transmitter_.retune_max, draw(), 50, 99));
  live_.flags |= sff::kNewChannel;
  live_.emit_from = live_.is_disabled ? kNever : live_.tuned_from;
}

/// Half of a two-byte field is taken for nothing.
void SffModel::write(Instant at, std::uint32_t offset, const std::vector<std::uint8_t>& values) {
  const auto word = static_cast<std::uint16_t>(values.size() == 2 ? values[0] << 8 | values[1] : 0);
  if (offset == sff::at_a2(sff::kStatus)) {
    const bool disables = (values[0] & sff::kSoftDisable) != 0;
    live_.control = values[0] & 0x08;
    if (disables && !live_.is_disabled) {
      darken(at);
    } else if (!disables && live_.is_disabled) {
      live_.emit_from = std::max({at, live_.before_until, live_.tuned_from}) +
                        stretched(at, part_of(transmitter_.enable_max, draw(), 50, 99));
    }
    live_.is_disabled = disables;
  } else if (offset == sff::at_a2(sff::kManners)) {
    live_.manners = values[0] & 0x07;
  } else if (offset == sff::at_a2(sff::kChannel) && values.size() == 2 && module_.limits.by_channel) {
    const Frequency wanted = module_.limits.first + FrequencyOffset{(word - 1) * module_.limits.grid.mhz};
    if (word == 0 || sff::channel_of(module_.limits, wanted) != word) {
      live_.flags |= sff::kBadChannel;
      return;
    }
    live_.channel = word;
    tune(at, wanted);
  } else if (offset == sff::at_a2(sff::kWavelength) && values.size() == 2 && module_.limits.by_wavelength) {
    live_.wavelength = word;
    tune(at, sff::frequency_of_wavelength(word));
  }
}

std::vector<std::uint8_t> SffModel::memory(Instant at) const {
  std::vector<std::uint8_t> bytes(kBytes);
  bytes[0] = 0x03;  // SFF-8024: SFP+
  put_text(bytes, 20, 16, module_.vendor);
  put_text(bytes, 40, 16, module_.part);
  put_text(bytes, 56, 4, "1");
  bytes[63] = sff::sum_of(std::span(bytes).first(63));
  bytes[64] = 0x14;  // cooled, with pages
  bytes[65] = static_cast<std::uint8_t>(0x10 | (module_.is_tunable ? 0x40 : 0));
  put_text(bytes, 68, 16, module_.serial);
  bytes[95] = sff::sum_of(std::span(bytes).subspan(64, 31));
  const bool is_broken = has_fault(DeviceFaultKind::fail, at);
  const LaserLight light = is_broken ? LaserLight{} : nominal_light(at);
  put_word(bytes, sff::at_a2(sff::kTxPower), light.emitting ? cmis::tenths_of(light.power - dimming(at, true)) : 0);
  bytes[sff::at_a2(sff::kStatus)] = static_cast<std::uint8_t>(
      live_.control | (live_.is_disabled ? sff::kDisabled | sff::kSoftDisable : 0) | (is_broken ? sff::kTxFault : 0));
  const sff::Limits& limits = module_.limits;
  const auto page = [](unsigned byte) { return sff::at_a2(byte); };
  bytes[page(128)] = static_cast<std::uint8_t>((limits.by_channel ? 2 : 0) | (limits.by_wavelength ? 1 : 0) |
                                               (limits.has_dither ? 4 : 0) | (limits.self_tunes ? 8 : 0));
  put_word(bytes, page(132), limits.first.mhz / 1'000'000);
  put_word(bytes, page(134), limits.first.mhz % 1'000'000 / 100);
  put_word(bytes, page(136), limits.last.mhz / 1'000'000);
  put_word(bytes, page(138), limits.last.mhz % 1'000'000 / 100);
  put_word(bytes, page(140), limits.grid.mhz / 100);
  put_word(bytes, page(sff::kChannel), live_.channel);
  put_word(bytes, page(sff::kWavelength), live_.wavelength);
  bytes[page(sff::kManners)] = live_.manners;
  const FrequencyOffset error = detuning(at, 0, true);
  put_word(bytes, page(sff::kFrequencyError), std::clamp<std::int64_t>(error.mhz / 100, -32'768, 32'767));
  const bool is_tuning = at < live_.tuned_from;
  bytes[page(sff::kTuningStatus)] = static_cast<std::uint8_t>(
      (is_tuning ? sff::kTuning : 0) | (is_tuning || magnitude(error) > kLockRange ? sff::kUnlocked : 0));
  bytes[page(sff::kFlags)] = live_.flags;
  return bytes;
}

constinit const SimulatedModel kSimulatedSff{
    "sff8690",
    [](const Fabric& fabric, const Device& device, const SimDeviceOptions& options) -> std::unique_ptr<SimulatedDevice> {
      const auto& transmitter = std::get<Transmitter>(fabric.element(device.elements.front()).kind);
      SffModule module = sff_module_for(transmitter);
      module.serial = device.serial.empty() ? module.serial : device.serial;
      return std::make_unique<SffModel>(device, transmitter, std::move(module), options);
    },
    "sff"};

}  // namespace loom
