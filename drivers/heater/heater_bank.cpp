// The state table of HeaterBankDriver and the machine that walks it.
#include "drivers/heater/heater_bank.hpp"

#include <algorithm>
#include <cmath>

namespace loom {
namespace {

constexpr unsigned kRounds = 2;  ///< writes repeated because read-back disagreed
constexpr std::uint8_t kModbusBusy = 6;

std::string volts(std::int32_t millivolts) { return std::to_string(millivolts) + " mV"; }

}  // namespace

struct HeaterBankDriver::Row {
  State state;
  bool writes;      ///< else it reads the whole bank
  bool talks;       ///< else it waits
  State uncertain;  ///< where to go on when the exchange failed: a write is read back before it is repeated
};

const HeaterBankDriver::Row& HeaterBankDriver::row_of(State state) {
  static constexpr Row kTable[] = {
      // state       writes  talks  uncertain
      {State::rest, false, false, State::rest},
      {State::reading_levels, false, true, State::reading_levels},  // -> compare(): write what differs, or soak
      {State::write, true, true, State::prove},                     // -> prove
      {State::prove, false, true, State::prove},                    // -> compare(): write again (bounded), or soak
      {State::soak, false, false, State::soak},                     // -> settled
  };
  return kTable[static_cast<std::size_t>(state)];
}

Result<std::int32_t> heater_millivolts(const RingFilter& ring, Frequency resonance) {
  std::int64_t shift = (ring.cold_resonance - resonance).mhz;
  if (ring.free_spectral_range.mhz > 0) {  // some resonance of the comb will do: the nearest above
    shift = ((shift % ring.free_spectral_range.mhz) + ring.free_spectral_range.mhz) % ring.free_spectral_range.mhz;
  }
  if (shift < 0) {
    return fail(ErrorCode::out_of_range, "resonance " + to_string(resonance) + " lies above the cold resonance " +
                                             to_string(ring.cold_resonance) + "; a heater only moves it down");
  }
  const double watt = static_cast<double>(shift) / ring.mhz_per_milliwatt * 1e-3;
  const double millivolts = std::sqrt(watt * ring.heater_ohm) * 1e3;
  if (!(millivolts <= ring.heater_volt_max * 1e3)) {
    return fail(ErrorCode::out_of_range,
                "resonance " + to_string(resonance) + " needs " + volts(static_cast<std::int32_t>(std::min(millivolts, 1e9))) +
                    " of heating, limit " + volts(static_cast<std::int32_t>(ring.heater_volt_max * 1e3)));
  }
  return static_cast<std::int32_t>(std::lround(millivolts));
}

HeaterBankDriver::HeaterBankDriver(HeaterProfile profile)
    : profile_(std::move(profile)),
      staged_(profile_.rings.size()),
      target_(profile_.rings.size()),
      read_(profile_.rings.size(), -1) {
  operation_.observation().device = profile_.device;
}

Result<void> HeaterBankDriver::check(const Setpoint& setpoint) const {
  const auto* heater = std::get_if<FilterSetpoint>(&setpoint);
  if (heater == nullptr) {
    return fail(ErrorCode::unsupported, profile_.name + ": a heater bank takes ring resonances only");
  }
  std::int32_t previous = -1;
  for (const RingResonance& ring : heater->rings) {
    const std::string where = profile_.name + " channel " + std::to_string(ring.channel) + ": ";
    if (ring.channel >= profile_.rings.size()) {
      return fail(ErrorCode::not_found, where + "the bank has channels 0 to " + std::to_string(profile_.rings.size() - 1));
    }
    if (ring.channel <= previous) {
      return fail(ErrorCode::invalid_argument, where + "channels must ascend and come once");
    }
    previous = ring.channel;
    if (const auto millivolts = heater_millivolts(profile_.rings[ring.channel], ring.resonance); !millivolts) {
      return fail(millivolts.error().code, where + millivolts.error().message);
    }
  }
  return {};
}

Duration HeaterBankDriver::lead(const Setpoint&) const { return 3 * profile_.exchange + profile_.thermal_settle; }

void HeaterBankDriver::stage(const Setpoint& setpoint) {
  LOOM_ASSERT(std::holds_alternative<FilterSetpoint>(setpoint));
  std::fill(staged_.begin(), staged_.end(), 0);  // rings not named are parked
  for (const RingResonance& ring : std::get<FilterSetpoint>(setpoint).rings) {
    LOOM_ASSERT(ring.channel < profile_.rings.size());
    const auto millivolts = heater_millivolts(profile_.rings[ring.channel], ring.resonance);
    LOOM_ASSERT(millivolts.has_value());
    staged_[ring.channel] = *millivolts;
  }
  has_staged_ = true;
}

void HeaterBankDriver::fire() {
  LOOM_ASSERT(has_staged_);
  std::copy(staged_.begin(), staged_.end(), target_.begin());
  operation_.ask_fire();
}

void HeaterBankDriver::poll() {
  if (state_ == State::rest) {
    operation_.ask_audit();
  }
}

DriverActivity HeaterBankDriver::activity() const { return operation_.activity(state_ == State::rest); }

Step HeaterBankDriver::step(Instant now, const BusReply* reply) {
  if (reply != nullptr && retry_.received()) {
    receive(now, *reply);
  }
  if (retry_.is_waiting()) {
    return {std::nullopt, kNever};
  }
  begin(now);
  if (state_ == State::soak) {
    if (now < soaked_at_) {
      return {std::nullopt, soaked_at_};
    }
    warm_ = true;
    state_ = State::rest;
    last_verified_.see(by_channel(read_));
    operation_.finish(true);
  }
  if (state_ == State::rest) {
    return {std::nullopt, kNever};
  }
  if (now < retry_.resume_at()) {
    return {std::nullopt, retry_.resume_at()};
  }
  retry_.sent();
  return {command(), kNever};
}

void HeaterBankDriver::begin(Instant now) {
  if (!operation_.is_asked()) {
    return;
  }
  retry_.start_over();
  rounds_ = 0;
  operation_.begin();
  enter(State::reading_levels, now);
}

void HeaterBankDriver::enter(State state, Instant now) {
  state_ = state;
  if (state == State::soak) {
    soaked_at_ = warm_ ? now : now + profile_.thermal_settle;
  }
}

/// Reads cover the bank; a write covers the block from the first to the last register that differs.
Transaction HeaterBankDriver::command() const {
  Registers registers;
  if (row_of(state_).writes) {
    std::size_t first = 0;
    std::size_t last = target_.size();
    while (first < last && read_[first] == target_[first]) {
      ++first;
    }
    while (last > first && read_[last - 1] == target_[last - 1]) {
      --last;
    }
    registers.address = static_cast<std::uint16_t>(first);
    for (std::size_t i = first; i < last; ++i) {
      registers.values.push_back(static_cast<std::uint16_t>(target_[i]));
    }
  } else {
    registers.count = static_cast<std::uint16_t>(target_.size());
  }
  return {profile_.device, profile_.bus_address, std::move(registers), profile_.reply_deadline};
}

void HeaterBankDriver::receive(Instant now, const BusReply& reply) {
  const bool wrote = row_of(state_).writes;
  if (wrote) {
    warm_ = false;  // even where the answer is lost the voltage may have changed
  }
  if (reply.status != BusStatus::ok || (!wrote && reply.words.size() != target_.size())) {
    receive_failure(now, reply);
    return;
  }
  retry_.understood();
  if (wrote) {
    enter(State::prove, now);
  } else {
    receive_reading(now, reply);
  }
}

void HeaterBankDriver::receive_failure(Instant now, const BusReply& reply) {
  const bool wrote = row_of(state_).writes;
  const std::string what = wrote ? "write of the bank" : "read of registers 0 to " + std::to_string(target_.size() - 1);
  if (reply.status == BusStatus::exception && reply.exception != kModbusBusy) {
    give_up(what + ": refused with " + describe(reply, profile_.reply_deadline));
    return;
  }
  const std::string why = reply.status == BusStatus::ok ? std::to_string(reply.words.size()) + " words where " +
                                                              std::to_string(target_.size()) + " were asked"
                                                        : describe(reply, profile_.reply_deadline);
  if (!retry_.may_retry(now)) {
    give_up(what + ": " + why + " in " + std::to_string(RetryState::kTries) + " tries");
  } else {
    operation_.struggle(profile_.name + ": " + what + ": " + why + retry_.attempt());
    state_ = row_of(state_).uncertain;
  }
}

void HeaterBankDriver::receive_reading(Instant now, const BusReply& reply) {
  auto* reading = std::get_if<FilterObservation>(&operation_.observation().reading);
  if (reading == nullptr) {
    reading = &operation_.observation().reading.emplace<FilterObservation>();
  }
  std::copy(reply.words.begin(), reply.words.end(), read_.begin());
  reading->millivolts.assign(read_.begin(), read_.end());
  operation_.observation().read_at = now;
  if (!operation_.is_overtaken()) {
    compare(now);
  }
}

/// What a reading means for the procedure under way.
void HeaterBankDriver::compare(Instant now) {
  const auto differing = std::mismatch(read_.begin(), read_.end(), target_.begin());
  const bool agrees = differing.first == read_.end();
  const auto gone =
      last_verified_.lost(by_channel(target_), [this](const Voltage& held) { return read_[held.channel] == held.millivolts; });
  if (operation_.is_audit()) {
    state_ = State::rest;
    last_verified_.see(by_channel(read_));
    operation_.finish(agrees);
  } else if (state_ == State::reading_levels && gone) {
    give_up("channel " + std::to_string(gone->channel) + " reads " + volts(read_[gone->channel]) + ", held " +
            volts(gone->millivolts) + " before (did its power go?); nothing was written: light may pass it still");
  } else if (agrees) {
    enter(State::soak, now);
  } else if (state_ == State::reading_levels || ++rounds_ <= kRounds) {
    enter(State::write, now);
  } else {
    const auto channel = static_cast<std::size_t>(differing.first - read_.begin());
    give_up("channel " + std::to_string(channel) + " reads " + volts(read_[channel]) + " after " + volts(target_[channel]) +
            " was written " + std::to_string(kRounds + 1) + " times");
  }
}

std::vector<HeaterBankDriver::Voltage> HeaterBankDriver::by_channel(const std::vector<std::int32_t>& millivolts) {
  std::vector<Voltage> voltages;
  for (std::size_t channel = 0; channel < millivolts.size(); ++channel) {
    voltages.push_back({channel, millivolts[channel]});
  }
  return voltages;
}

void HeaterBankDriver::give_up(std::string sentence) {
  operation_.give_up(profile_.name + ": " + std::move(sentence));
  state_ = State::rest;
  last_verified_.forget();
}

HeaterProfile heater_profile(const Fabric& fabric, const Device& device) {
  HeaterProfile profile;
  profile.device = device.id;
  profile.name = device.name;
  profile.bus_address = device.bus_address;
  for (const ElementId element : device.elements) {
    const auto* ring = std::get_if<RingFilter>(&fabric.element(element).kind);
    LOOM_ASSERT(ring != nullptr);
    profile.rings.push_back(*ring);
  }
  return profile;
}

constinit const DriverModel kHeaterBank{
    {"heater_bank", DeviceRole::filter, "bank of micro-ring heaters, voltages in Modbus registers over TCP or RTU"},
    [](const Fabric& fabric, const Device& device) -> std::unique_ptr<Driver> {
      return std::make_unique<HeaterBankDriver>(heater_profile(fabric, device));
    }};

}  // namespace loom
