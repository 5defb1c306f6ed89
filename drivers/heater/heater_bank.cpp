// The state table of HeaterBankDriver and the machine that walks it.
#include "drivers/heater/heater_bank.hpp"

#include <algorithm>
#include <cmath>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr unsigned kRounds = 3;  ///< of writing that read-back did not confirm, a fire

std::string volts(std::int32_t millivolts) { return format_text("{} mV", millivolts); }

constexpr ProcedureRow<HeaterState> kTable[] = {
    // state                      exchange         then                 uncertain
    {HeaterState::rest, Exchange::none, HeaterState::rest, HeaterState::rest},
    {HeaterState::decide, Exchange::none, HeaterState::decide, HeaterState::decide},
    {HeaterState::reading_levels, Exchange::asks, HeaterState::decide, HeaterState::reading_levels},
    {HeaterState::write, Exchange::moves, HeaterState::decide, HeaterState::decide},
    {HeaterState::soak, Exchange::none, HeaterState::rest, HeaterState::rest},
};

}  // namespace

Result<std::int32_t> heater_millivolts(const RingFilter& ring, Frequency resonance) {
  std::int64_t shift = (ring.cold_resonance - resonance).mhz;
  if (ring.free_spectral_range.mhz > 0) {  // some resonance of the comb will do: the nearest above
    shift = ((shift % ring.free_spectral_range.mhz) + ring.free_spectral_range.mhz) % ring.free_spectral_range.mhz;
  }
  if (shift < 0) {
    return fail(ErrorCode::out_of_range,
                format_text("resonance {} lies above the cold resonance {}; a heater only moves it down", to_string(resonance),
                            to_string(ring.cold_resonance)));
  }
  const double watt = static_cast<double>(shift) / ring.mhz_per_milliwatt * 1e-3;
  const double millivolts = std::sqrt(watt * ring.heater_ohm) * 1e3;
  if (!(millivolts <= ring.heater_volt_max * 1e3)) {
    return fail(ErrorCode::out_of_range, format_text("resonance {} needs {} of heating, limit {}", to_string(resonance),
                                                     volts(static_cast<std::int32_t>(std::min(millivolts, 1e9))),
                                                     volts(static_cast<std::int32_t>(ring.heater_volt_max * 1e3))));
  }
  return static_cast<std::int32_t>(std::lround(millivolts));
}

HeaterBankDriver::HeaterBankDriver(HeaterProfile profile) : ReadBackDriver(std::move(profile), kTable) {
  target_.reserve(profile_.rings.size());  // fire() copies without allocating
}

Result<void> HeaterBankDriver::check(const Setpoint& setpoint) const {
  const auto* heater = std::get_if<FilterSetpoint>(&setpoint);
  if (heater == nullptr) {
    return fail(ErrorCode::unsupported, profile_.name + ": a heater bank takes ring resonances only");
  }
  std::int32_t previous = -1;
  for (const RingResonance& ring : heater->rings) {
    const std::string where = format_text("{} channel {}: ", profile_.name, ring.channel);
    if (ring.channel >= profile_.rings.size()) {
      return fail(ErrorCode::not_found, format_text("{}the bank has channels 0 to {}", where, profile_.rings.size() - 1));
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

Duration HeaterBankDriver::lead(const Setpoint&) const { return 3 * profile_.exchange + profile_.settle_max; }

/// Rings that the setpoint does not name are parked.
std::vector<HeaterVoltage> HeaterBankDriver::held_by(const Setpoint& setpoint) const {
  LOOM_ASSERT(std::holds_alternative<FilterSetpoint>(setpoint));
  std::vector<HeaterVoltage> voltages;
  for (std::size_t channel = 0; channel < profile_.rings.size(); ++channel) {
    voltages.push_back({channel, 0});
  }
  for (const RingResonance& ring : std::get<FilterSetpoint>(setpoint).rings) {
    LOOM_ASSERT(ring.channel < voltages.size());
    const auto millivolts = heater_millivolts(profile_.rings[ring.channel], ring.resonance);
    LOOM_ASSERT(millivolts.has_value());
    voltages[ring.channel].millivolts = *millivolts;
  }
  return voltages;
}

void HeaterBankDriver::begin() {
  rounds_ = 0;
  read_known_ = false;
}

Instant HeaterBankDriver::ready_at() const { return state_ == HeaterState::soak ? soaked_at_ : retry_.resume_at(); }

HeaterState HeaterBankDriver::resolve(HeaterState state, Instant now) {
  const HeaterState next = state == HeaterState::decide ? decide() : state;
  if (next == HeaterState::soak) {
    soaked_at_ = warm_ ? now : now + profile_.settle_max;
  }
  return next;
}

/// What the target needs next, from what is known.
HeaterState HeaterBankDriver::decide() {
  if (!read_known_) {
    return HeaterState::reading_levels;
  }
  if (operation_.is_audit() || lost()) {
    return HeaterState::rest;
  }
  if (read_ == target_) {
    return HeaterState::soak;
  }
  return ++rounds_ <= kRounds ? HeaterState::write : HeaterState::rest;
}

/// What is gone after a write is what the write is for.
std::optional<HeaterVoltage> HeaterBankDriver::lost() const {
  return rounds_ > 0 ? std::nullopt : find_lost([this](const HeaterVoltage& held) { return read_[held.channel] == held; });
}

void HeaterBankDriver::conclude() {
  const auto gone = operation_.is_audit() ? std::nullopt : lost();
  if (gone) {
    give_up(format_text("channel {} reads {}, held {} before (did its power go?); nothing was written: light may pass it still",
                        gone->channel, volts(read_[gone->channel].millivolts), volts(gone->millivolts)));
  } else if (operation_.is_audit() || read_ == target_) {
    warm_ = warm_ || !operation_.is_audit();
    last_verified_.see(read_);
    operation_.finish(read_ == target_);
  } else {
    const auto [read, wanted] = std::mismatch(read_.begin(), read_.end(), target_.begin());
    give_up(format_text("channel {} reads {} after {} was written {} times", read->channel, volts(read->millivolts),
                        volts(wanted->millivolts), kRounds));
  }
}

/// Reads cover the bank; a write covers the block from the first to the last register that differs.
decltype(Transaction::order) HeaterBankDriver::order() const {
  Registers registers;
  if (state_ != HeaterState::write) {
    registers.count = static_cast<std::uint16_t>(profile_.rings.size());
    return registers;
  }
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
    registers.values.push_back(static_cast<std::uint16_t>(target_[i].millivolts));
  }
  return registers;
}

std::string HeaterBankDriver::question() const {
  return state_ == HeaterState::write ? "write of the bank"
                                      : format_text("read of registers 0 to {}", profile_.rings.size() - 1);
}

Answer HeaterBankDriver::absorb(Instant now, const BusReply& reply) {
  if (state_ == HeaterState::write) {
    mark_uncertain(now, reply);
    return Answer::understood;
  }
  if (reply.words.size() != profile_.rings.size()) {
    return Answer::none;
  }
  read_.clear();
  auto& millivolts = operation_.reading<FilterObservation>().millivolts;
  millivolts.assign(reply.words.begin(), reply.words.end());
  for (const std::int32_t each : millivolts) {
    read_.push_back({read_.size(), each});
  }
  read_known_ = true;
  operation_.observation().read_at = now;
  return Answer::understood;
}

std::string HeaterBankDriver::misread(const BusReply& reply) const {
  return format_text("{} words where {} were asked", reply.words.size(), profile_.rings.size());
}

/// Even where the answer of a write is lost the voltage may have changed.
void HeaterBankDriver::mark_uncertain(Instant, const BusReply&) {
  if (state_ == HeaterState::write) {
    read_known_ = false;
    warm_ = false;
  }
}

HeaterProfile heater_profile(const Fabric& fabric, const Device& device) {
  HeaterProfile profile;
  profile.take(device);
  for (const ElementId element : device.elements) {
    const auto* ring = std::get_if<RingFilter>(&fabric.element(element).kind);
    LOOM_ASSERT(ring != nullptr);
    profile.rings.push_back(*ring);
  }
  return profile;
}

constinit const DriverModel kHeaterBank{{"heater_bank",
                                         DeviceRole::filter,
                                         "bank of micro-ring heaters, voltages in Modbus registers over TCP or RTU",
                                         {},
                                         nullptr,
                                         kRegisterSchemes},
                                        [](const Fabric& fabric, const Device& device) -> std::unique_ptr<Driver> {
                                          return std::make_unique<HeaterBankDriver>(heater_profile(fabric, device));
                                        }};

}  // namespace loom
