// SPDX-License-Identifier: Apache-2.0
// What ItlaDriver knows from answers, and what it makes of it: readings, and whether they bear out what was ordered.
#include <algorithm>
#include <cstdlib>

#include "core/text/format_text.hpp"
#include "drivers/operation_state.hpp"
#include "drivers/transceiver/itla.hpp"
#include "drivers/transceiver/itla_table.hpp"

namespace loom {

using namespace itla;

namespace {

FrequencyOffset trim_limit(const ItlaProfile& profile, const Facts& facts) {
  return facts.trim_max.value_or(profile.frequency_tolerance);
}

/// Do its registers read as a laser that is set so?
bool agrees(const ItlaProfile& profile, const RegisterCopy& known, const TransmitterSetpoint& target,
            const RegisterCopy::Words& wanted) {
  const auto frequency = known.frequency();
  const bool on_target = frequency && magnitude(*frequency - centre_of(target.slot)) <= profile.frequency_tolerance;
  const int power_error = std::abs(to_signed(known.value(Register::oop)) - target.power.centi);
  const bool lit = known.is_enabled();
  if (lit && (known.value(Register::status_fatal) & kStatusFrequency) != 0) {
    return false;
  }
  const bool holds_frequency = on_target || (!lit && profile.tunes != Tunes::dark);  // it has none in the dark
  return holds_frequency && !known.next_differing(wanted, profile.trims) && lit == target.emit &&
         (lit ? power_error <= profile.power_tolerance.centi : to_signed(known.value(Register::oop)) <= kDark.centi);
}

/// "emits at 193.12000 THz, 20.000 GHz off 193.10000 THz, and says FFREQ"; empty: it does not, or shall not.
std::string astray(const ItlaProfile& profile, const RegisterCopy& known, Frequency wanted, FrequencyOffset limit) {
  const auto frequency = known.frequency();
  if (!known.is_lit() || !frequency) {
    return {};
  }
  const bool unlocked = (known.value(Register::status_fatal) & kStatusFrequency) != 0;
  const FrequencyOffset off = magnitude(*frequency - wanted);
  const std::string distance = format_text("{}.{:03d} GHz off {}", off.mhz / 1'000, off.mhz % 1'000, to_string(wanted));
  if (unlocked || off > profile.frequency_tolerance) {
    return format_text("emits at {}, {}{}", to_string(*frequency), distance, unlocked ? ", and says FFREQ" : "");
  }
  if (profile.trims && off > profile.trim.threshold) {
    return format_text("{}, and its fine tuning (FTF) ended at {} MHz, limit {} MHz", distance,
                       to_signed(known.value(Register::ftf)), limit.mhz);
  }
  return {};
}

}  // namespace

/// Keeps what an answer tells, whatever the procedure makes of it.
void ItlaDriver::absorb(Instant now, const Response& response) {
  if (index_of(asked_.reg) >= kRegisters) {
    return;
  }
  if (asked_.write) {
    absorb_write(response);
    return;
  }
  known_.read(asked_.reg, response.data);
  auto* reading = std::get_if<TransmitterObservation>(&observation_.reading);
  if (reading == nullptr) {
    reading = &observation_.reading.emplace<TransmitterObservation>();
  }
  observation_.read_at = now;
  if (asked_.reg == Register::lf3) {  // read last: a frequency is never put together from two readings
    reading->frequency = known_.frequency().value_or(reading->frequency);
  }
  reading->power = Dbm{known_.knows(Register::oop) ? to_signed(known_.value(Register::oop)) : reading->power.centi};
  reading->emitting = known_.is_enabled() || reading->power > kDark;
  // Latched bits stay after what they tell of is over: a reading says what is.
  const auto present = [this](Register reg, std::uint16_t before) {
    return known_.knows(reg) ? static_cast<std::uint16_t>(known_.value(reg) & kStatusPresent) : before;
  };
  reading->status_fatal = present(Register::status_fatal, reading->status_fatal);
  reading->status_warning = present(Register::status_warning, reading->status_warning);
  reading->locked = known_.knows(Register::status_fatal) && (reading->status_fatal & kStatusFrequency) == 0;
  if (asked_.reg == Register::status_fatal && purpose_ == Purpose::audit) {
    const bool restarted = (response.data & kStatusRestarted) != 0;
    if (restarted && !restart_seen_) {
      facts_.forget();
      fact_group_ = 0;
    }
    restart_seen_ = restarted;
  }
}

void ItlaDriver::absorb_write(const Response& response) {
  const Register reg = asked_.reg;
  if (reg == Register::ftf && purpose_ == Purpose::audit) {  // in service: what it did is read again
    ++trims_;
    for (const Register each : {Register::ftf, Register::status_fatal, Register::lf1, Register::lf2, Register::lf3}) {
      known_.forget(each);
    }
    return;
  }
  known_.written(reg, asked_.data);
  dark_proven_ = dark_proven_ && reg != Register::enable;
  lock_proven_ = lock_proven_ && !kTable[index_of(reg)].tunes;
  if (response.data != asked_.data && reg != Register::enable) {
    known_.forget(reg);  // it took another value, or damage passed for a frame: it is read before it is believed
  }
}

/// A refusal: it has no such register, or a text has ended.
void ItlaDriver::absorb_fact(const Response& response) {
  if (facts_.next() != asked_ && response.status != Status::execution_error) {
    return;  // it was asked of a module that may be another now
  }
  if (response.status == Status::execution_error) {
    facts_.absorb_refusal();
  } else {
    facts_.absorb(response);
  }
  if (facts_.has_serial()) {
    observation_.identity = identity_of(facts_.facts());
  }
  if (facts_.facts().grid && purpose_ != Purpose::audit) {
    target_ = target_of(target_.setpoint);
  }
}

/// What FTF is to be set to in service; nothing: it is near enough, or is no business of this audit.
std::optional<std::int16_t> ItlaDriver::next_trim() const {
  const bool is_mine = profile_.trims && purpose_ == Purpose::audit && outcome_ == DriverActivity::settled && trims_ < kTrims;
  const bool restarted = (known_.value(Register::status_fatal) & kStatusRestarted) != 0;
  if (!is_mine || restarted || !known_.knows(Register::ftf) || !known_.is_lit() ||
      !agrees(profile_, known_, target_.setpoint, target_.wanted)) {
    return std::nullopt;
  }
  const FrequencyOffset error = centre_of(target_.setpoint.slot) - known_.frequency().value_or(Frequency{});
  return trim_step(profile_.trim, trim_limit(profile_, facts_.facts()), error, to_signed(known_.value(Register::ftf)),
                   trims_ > 0);
}

/// What was proven stays settled only while read-back agrees with it.
void ItlaDriver::finish_audit() {
  if (fire_failed_) {
    return;
  }
  const std::string stranger = facts_.stranger();
  const std::string place =
      has_target_ ? astray(profile_, known_, centre_of(target_.setpoint.slot), trim_limit(profile_, facts_.facts()))
                  : std::string{};
  if (const std::string& sentence = stranger.empty() ? place : stranger; !sentence.empty()) {
    tell(observation_,
         {stranger.empty() ? Trouble::unlocked : Trouble::misfit, format_text("{}: {}", profile_.name, sentence)});
  }
  const bool is_broken = !stranger.empty() || (known_.value(Register::status_fatal) & kStatusFatal) != 0;
  observation_.health = is_broken ? DeviceHealth::failed : DeviceHealth::ready;
  const bool restarted = (known_.value(Register::status_fatal) & kStatusRestarted) != 0;
  const bool still_settled = outcome_ == DriverActivity::settled && !restarted && stranger.empty() &&
                             agrees(profile_, known_, target_.setpoint, target_.wanted);
  lock_proven_ = lock_proven_ && still_settled;
  if (outcome_ == DriverActivity::settled && !still_settled) {
    forget();  // somebody else was here: no remembered setting is believed, the next fire() reads all before it writes
  }
  outcome_ = still_settled ? DriverActivity::settled : DriverActivity::idle;
}

}  // namespace loom
