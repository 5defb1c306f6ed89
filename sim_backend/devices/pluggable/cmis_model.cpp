// SPDX-License-Identifier: Apache-2.0
// States and light of a simulated CMIS module. Every write is followed by a hold-off in which it answers nothing.
#include "sim_backend/devices/pluggable/cmis_model.hpp"

#include <algorithm>
#include <utility>

#include "sim_backend/devices/wire.hpp"

namespace loom {

using cmis::ModuleState;
using cmis::Page;
using cmis::PathState;

namespace {

constexpr std::uint8_t kAllLanes = 0xFF;  ///< one data path of eight host lanes
constexpr std::uint8_t kOurLane = 0x01;
constexpr std::uint8_t kDefaultConfig = 0x10;  ///< AppSel 1, data path 0
constexpr std::uint8_t kIllegalAddress = 2;
constexpr Duration kHoldOff = std::chrono::milliseconds{10};     ///< CMIS 5.4 section 10: tNACK, volatile
constexpr Duration kPageChange = std::chrono::milliseconds{1};   ///< at most 10 ms; 01h:169 tells
constexpr Duration kFineTuning = std::chrono::milliseconds{20};  ///< [K]
constexpr std::size_t kWriteBytesMax = 8;                        ///< CMIS 5.4 section 5.2.4 [K]

bool is_steady(PathState state) {
  return state == PathState::deactivated || state == PathState::initialised || state == PathState::activated;
}

std::int16_t to_signed(const std::vector<std::uint8_t>& values) {
  return static_cast<std::int16_t>(values[0] << 8 | values[1]);
}

}  // namespace

CmisModel::CmisModel(const Device& device, const Transmitter& transmitter, CmisModule module, const SimDeviceOptions& options)
    : SimulatedDevice(device.id, options), transmitter_(transmitter), module_(std::move(module)), live_(at_power_up()) {}

CmisModel::Volatile CmisModel::at_power_up() {
  Volatile state;
  state.staged.fill(kDefaultConfig);
  state.active.fill(kDefaultConfig);
  state.power =
      module_.limits.has_power ? module_.limits.power.low : static_cast<std::int16_t>(transmitter_.launch_power.centi);
  state.current = commanded(state);
  draw_times(state);
  if (!module_.starts_low) {
    state.module = ModuleState::powering_up;
    state.module_until = Instant{} + state.power_up_takes;
  }
  return state;
}

void CmisModel::power_up(Instant now) {
  live_ = at_power_up();
  live_.module_until = live_.module_until == kNever ? kNever : now + live_.power_up_takes;
  busy_until_ = now;
}

void CmisModel::draw_times(Volatile& state) {
  const auto within = [this](unsigned code) { return part_of(cmis::longest(code), draw(), 50, 99); };
  state.deinit_takes = within(module_.deinit);
  state.init_takes = within(module_.init);
  state.off_takes = within(module_.turn_off);
  state.on_takes = within(module_.turn_on);
  state.power_up_takes = within(module_.power_up);
}

Frequency CmisModel::commanded(const Volatile& state) const {
  const unsigned grid = state.grid >> 4;
  const auto centre = grid < cmis::kGrids ? cmis::frequency_of(static_cast<cmis::Grid>(grid), state.channel) : std::nullopt;
  const bool is_fine = (state.grid & cmis::kFineEnable) != 0;
  return centre.value_or(Frequency{}) + FrequencyOffset{is_fine ? state.fine : 0};
}

/// From a steady state, or from the end of a moving one, to whatever is wanted next.
void CmisModel::leave(Volatile& state, Instant at) const {
  const bool wants_down = state.deinit != 0 || state.module != ModuleState::ready;
  const bool wants_dark = wants_down || (state.disable & kOurLane) != 0;
  const auto go = [&](PathState next, Duration takes) {
    state.path = next;
    state.path_until = at + stretched(at, takes);
  };
  state.path_until = kNever;
  if (state.path == PathState::deactivated && !wants_down) {
    state.flags |= cmis::kFlagUnlocked;
    go(PathState::initialising, state.init_takes);
  } else if (state.path == PathState::initialised && wants_down) {
    go(PathState::deinitialising, state.deinit_takes);
  } else if (state.path == PathState::initialised && !wants_dark) {
    go(PathState::turning_on, state.on_takes);
  } else if (state.path == PathState::activated && wants_dark) {
    go(PathState::turning_off, state.off_takes);
  }
}

void CmisModel::advance(Volatile& state, Instant at) const {
  while (next_change(state) <= at) {
    const Instant now = next_change(state);
    if (state.module_until == now) {
      state.module_until = kNever;
      state.module = state.module == ModuleState::powering_up ? ModuleState::ready : ModuleState::low_power;
    }
    if (state.path_until == now) {
      state.path_until = kNever;
      state.path = state.path == PathState::initialising     ? PathState::initialised
                   : state.path == PathState::turning_on     ? PathState::activated
                   : state.path == PathState::turning_off    ? PathState::initialised
                   : state.path == PathState::deinitialising ? PathState::deactivated
                                                             : state.path;
      if (state.path == PathState::initialised) {
        state.current = commanded(state);
        state.flags |= cmis::kFlagComplete;
      }
    }
    if (is_steady(state.path)) {
      leave(state, now);
    }
  }
}

LaserLight CmisModel::nominal_light(const Volatile& state) const {
  const bool emits = state.path == PathState::activated || state.path == PathState::turning_off;
  return emits ? LaserLight{true, state.current, Dbm{state.power}} : LaserLight{};
}

OpticalState CmisModel::light(Instant at) const {
  Volatile state = live_;
  advance(state, at);
  LaserLight light = has_fault(DeviceFaultKind::fail, at) ? LaserLight{} : nominal_light(state);
  if (light.emitting) {
    light.frequency = light.frequency + detuning(at, 0, false);
    light.power = light.power - dimming(at, false);
  }
  return light;
}

void CmisModel::misroute(OpticalState& state) const { tune_beside(std::get<LaserLight>(state), transmitter_.channels); }

void CmisModel::append_breakpoints(Instant, std::vector<Instant>& instants) const {
  Volatile state = live_;
  for (Instant next = next_change(state); next != kNever; next = next_change(state)) {
    instants.push_back(next);
    advance(state, next);
  }
}

bool CmisModel::only_darkens(const Actuation& write) const {
  return (write.address == cmis::at(Page::control, cmis::kOutputDisable) && (write.value & kOurLane) != 0) ||
         (write.address == cmis::at(Page::control, cmis::kDeinit) && write.value == kAllLanes);
}

ModelReply CmisModel::refuse(Instant, const Transaction&) {
  return {{BusStatus::nack, 0, {}, {}, "Remote I/O error (errno 121)"}, options().device_time};
}

ModelReply CmisModel::respond(Instant now, const Transaction& transaction) {
  const auto* order = std::get_if<BytesAt>(&transaction.order);
  const auto place = order == nullptr ? std::nullopt : place_of(PageLayout::one_address, order->offset);
  if (!place) {
    return {{BusStatus::exception, kIllegalAddress, {}, {}}, options().device_time};
  }
  const std::size_t count = order->count > 0 ? order->count : order->values.size();
  const bool changes_page = place->byte >= kPageBytes && std::exchange(page_, place->page) != place->page;
  const Duration service = i2c_time(count + 3, options().i2c_hertz) + options().device_time +
                           (changes_page ? kPageChange + i2c_time(3, options().i2c_hertz) : Duration{});
  advance(live_, now);
  if (now < busy_until_) {
    return refuse(now, transaction);
  }
  if (!fits_page(PageLayout::one_address, *place, count)) {
    return {{BusStatus::exception, kIllegalAddress, {}, {}}, service};
  }
  return {order->count > 0 ? read(now + service, *order) : write(now, now + service, *order), service};
}

BusReply CmisModel::read(Instant at, const BytesAt& order) {
  advance(live_, at);
  const PagedByte place = *place_of(PageLayout::one_address, order.offset);
  const auto page = place.byte < kPageBytes ? lower_at() : page_at(at, place.page);
  const auto* first = page.data() + place.byte % kPageBytes;
  BusReply reply;
  reply.bytes.assign(first, first + order.count);
  const std::uint32_t flags = cmis::at(Page::tuning, cmis::kTuningFlags);
  if (!module_.is_flat && order.offset <= flags && flags < order.offset + order.count) {
    live_.flags = 0;  // cleared on read
  }
  return reply;
}

BusReply CmisModel::write(Instant now, Instant at, const BytesAt& order) {
  const PagedByte place = *place_of(PageLayout::one_address, order.offset);
  busy_until_ = at + part_of(kHoldOff, draw(), 0, 100);
  if (order.values.size() > kWriteBytesMax) {
    return {BusStatus::nack, 0, {}, {}, "Remote I/O error (errno 121)"};
  }
  if (has_fault(DeviceFaultKind::stick, now) || (module_.is_flat && place.byte >= kPageBytes)) {
    return {};
  }
  advance(live_, at);
  std::int32_t value = order.values[0];
  if (order.values.size() == 2) {
    value = to_signed(order.values);
  }
  record(at, order.offset, value);
  draw_times(live_);
  for (std::size_t i = 0; i < order.values.size(); ++i) {
    const auto byte = static_cast<unsigned>(place.byte + i);
    if (place.byte < kPageBytes && byte == cmis::kGlobalControl) {
      write_global(at, order.values[i]);
    } else if (place.byte >= kPageBytes && place.page == static_cast<std::uint8_t>(Page::control)) {
      write_control(at, byte, order.values[i], order.values.size() == 1);
    }
  }
  if (place.byte >= kPageBytes && place.page == static_cast<std::uint8_t>(Page::tuning)) {
    write_tuning(at, place.byte, order.values);
  }
  if (is_steady(live_.path)) {
    leave(live_, at);
  }
  light_changed(now, at);
  return {};
}

void CmisModel::write_global(Instant at, std::uint8_t value) {
  live_.global = value & (cmis::kLowPowerAllowHw | cmis::kLowPowerRequest);
  // The host board holds LPMode for as long as the module is plugged.
  const bool keeps_low = live_.global != 0;
  const bool is_up = live_.module == ModuleState::ready || live_.module == ModuleState::powering_up;
  if (keeps_low != is_up) {
    return;
  }
  live_.module = keeps_low ? ModuleState::powering_down : ModuleState::powering_up;
  live_.module_until = at + stretched(at, live_.power_up_takes);
}

void CmisModel::write_control(Instant at, unsigned byte, std::uint8_t value, bool alone) {
  if (byte == cmis::kDeinit) {
    live_.deinit = value;
  } else if (byte == cmis::kOutputDisable) {
    live_.disable = value;
  } else if (byte >= cmis::kStagedConfig && byte < cmis::kStagedConfig + cmis::kLanes) {
    live_.staged[byte - cmis::kStagedConfig] = value;
  } else if (byte == cmis::kApplyInit && alone) {
    for (unsigned lane = 0; lane < cmis::kLanes; ++lane) {
      const bool is_known = live_.staged[lane] >> 4 <= 1;  // it has one application
      live_.status[lane] = (value >> lane & 1) == 0 ? live_.status[lane] : is_known ? 1 : 3;
      live_.active[lane] = (value >> lane & 1) != 0 && is_known ? live_.staged[lane] : live_.active[lane];
    }
    live_.applied_at = at;
  }
}

/// Grid and channel outside DPDeactivated are flagged and left as they are.
void CmisModel::write_tuning(Instant at, unsigned first, const Bytes& values) {
  const bool may_retune = live_.path == PathState::deactivated;
  const bool is_word = values.size() == 2;
  const auto& limits = module_.limits;
  const auto lawful_channel = [&](unsigned grid, std::int16_t channel) {
    const auto& range = grid < cmis::kGrids ? limits.channels[grid] : std::nullopt;
    return range && channel >= range->low && channel <= range->high &&
           cmis::frequency_of(static_cast<cmis::Grid>(grid), channel).has_value();
  };
  const auto within = [](const cmis::Range16& range, std::int16_t value) { return value >= range.low && value <= range.high; };
  if (first == cmis::kGridByte && values.size() == 1) {
    if ((values[0] ^ live_.grid) >> 4 != 0 && !may_retune) {
      live_.flags |= cmis::kFlagNotAccepted;
      return;
    }
    live_.grid = values[0];
    live_.flags |= lawful_channel(live_.grid >> 4, live_.channel) ? std::uint8_t{0} : cmis::kFlagChannel;
  } else if (first == cmis::kChannel && is_word) {
    const std::int16_t channel = to_signed(values);
    live_.flags |= !may_retune ? cmis::kFlagNotAccepted : std::uint8_t{0};
    live_.flags |= !lawful_channel(live_.grid >> 4, channel) ? cmis::kFlagChannel : std::uint8_t{0};
    live_.channel = may_retune ? channel : live_.channel;
  } else if (first == cmis::kFineOffset && is_word) {
    const bool is_lawful = limits.has_fine && within(limits.fine, to_signed(values));
    live_.flags |= is_lawful ? std::uint8_t{0} : cmis::kFlagFine;
    live_.fine = is_lawful ? to_signed(values) : live_.fine;
    live_.fine_until = at + stretched(at, kFineTuning);
    live_.current = is_steady(live_.path) && live_.path != PathState::deactivated ? commanded(live_) : live_.current;
  } else if (first == cmis::kTargetPower && is_word) {
    const bool is_lawful = limits.has_power && within(limits.power, to_signed(values));
    live_.flags |= is_lawful ? std::uint8_t{0} : cmis::kFlagPower;
    live_.power = is_lawful ? to_signed(values) : live_.power;
  }
}

constinit const SimulatedModel kSimulatedCmis{
    "cmis",
    [](const Fabric& fabric, const Device& device, const SimDeviceOptions& options) -> std::unique_ptr<SimulatedDevice> {
      const auto& transmitter = std::get<Transmitter>(fabric.element(device.elements.front()).kind);
      CmisModule module = module_for(transmitter);
      module.serial = device.serial.empty() ? module.serial : device.serial;
      module.received = options.signal.received;
      module.osnr = options.signal.osnr;
      module.pre_fec_ber = options.signal.pre_fec_ber;
      return std::make_unique<CmisModel>(device, transmitter, std::move(module), options);
    },
    "cmis"};

}  // namespace loom
