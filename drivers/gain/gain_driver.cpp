// SPDX-License-Identifier: Apache-2.0
// The state table of gain stages, and what they lack of their target.
#include "drivers/gain/gain_driver.hpp"

#include <algorithm>
#include <utility>

#include "core/fabric/gain_stage.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr unsigned kWrites = 6;       ///< of gain and of being on, a fire: three times each
constexpr unsigned kComplaints = 32;  ///< read of a queue, which holds what others brought about as well [K]

constexpr ProcedureRow<GainState> kTable[] = {
    // state                exchange         then               uncertain
    {GainState::rest, Exchange::none, GainState::rest, GainState::rest},
    {GainState::decide, Exchange::none, GainState::decide, GainState::decide},
    {GainState::identify, Exchange::asks, GainState::decide, GainState::decide},
    {GainState::read, Exchange::asks, GainState::decide, GainState::decide},
    {GainState::set_gain, Exchange::moves, GainState::decide, GainState::decide},
    {GainState::turn, Exchange::moves, GainState::decide, GainState::decide},
    {GainState::receive_errors, Exchange::asks, GainState::decide, GainState::decide},
};

}  // namespace

GainDriver::GainDriver(GainProfile profile) : ReadBackDriver(std::move(profile), kTable) {
  target_.reserve(1);  // fire() copies without allocating
}

Result<void> GainDriver::check(const Setpoint& setpoint) const {
  const auto* stage = std::get_if<GainSetpoint>(&setpoint);
  if (stage == nullptr) {
    return fail(ErrorCode::unsupported, profile_.name + ": an amplifier or attenuator takes a gain only");
  }
  if (stage->gain == kGainOff ? profile_.may_turn_off
                              : stage->gain >= profile_.range.least && stage->gain <= profile_.range.most) {
    return {};
  }
  return fail(ErrorCode::out_of_range,
              format_text("{}: a gain of {} is outside {} to {}{}", profile_.name, gain_text(stage->gain),
                          to_string(profile_.range.least), to_string(profile_.range.most),
                          profile_.may_turn_off ? "" : "; it cannot be turned off"));
}

/// A reading, two writes, and readings until it stands.
Duration GainDriver::lead(const Setpoint&) const {
  return profile_.settle_max + static_cast<std::int64_t>(2 * questions() + 2) * profile_.exchange;
}

std::vector<HeldGain> GainDriver::held_by(const Setpoint& setpoint) const {
  LOOM_ASSERT(std::holds_alternative<GainSetpoint>(setpoint));
  return {{std::get<GainSetpoint>(setpoint).gain}};
}

void GainDriver::begin() {
  writes_ = 0;
  written_for_ = Lack::nothing;
  is_read_ = false;
  answers_ = 0;
  has_complained_ = true;
  complaint_.clear();
}

GainState GainDriver::resolve(GainState state, Instant now) { return state == GainState::decide ? decide(now) : state; }

Db GainDriver::wanted_magnitude() const {
  const Db gain = wants_on() ? target_.front().gain : profile_.range.least;
  return profile_.is_amplifier ? gain : -gain;
}

Db GainDriver::told_gain() const {
  return !words_.is_on ? kGainOff : profile_.is_amplifier ? words_.magnitude : -words_.magnitude;
}

/// What the target needs next, from what is known.
GainState GainDriver::decide(Instant now) {
  if (must_identify()) {
    return GainState::identify;
  }
  if (!is_read_) {
    return GainState::read;
  }
  const Lack lack = operation_.is_audit() ? Lack::nothing : this->lack();
  if (lack == Lack::nothing || lack == Lack::health) {
    return GainState::rest;
  }
  if (lack == Lack::gain || lack == Lack::turn) {
    patience_since_ = now;
    return next_write(lack);
  }
  if (writes_ == 0) {
    writes_ = 1;  // it was told before, and is on its way
    patience_since_ = now;
  }
  if (now >= patience_since_ + patience()) {
    return GainState::rest;
  }
  ask_again_later(now);
  is_read_ = false;
  answers_ = 0;
  return GainState::read;
}

/// Light is let through with the new gain, never with the old one.
GainState GainDriver::next_write(Lack lack) {
  if (lack == written_for_ && has_errors() && !has_complained_) {
    return GainState::receive_errors;
  }
  if (++writes_ > kWrites) {
    return GainState::rest;
  }
  written_for_ = lack;
  has_complained_ = false;
  complaints_ = 0;
  return lack == Lack::gain ? GainState::set_gain : GainState::turn;
}

void GainDriver::conclude() {
  const Lack lack = operation_.is_audit() || target_.empty() ? Lack::nothing : this->lack();
  if (lack == Lack::nothing) {
    operation_.finish(!target_.empty() && this->lack() == Lack::nothing,
                      words_.is_broken ? DeviceHealth::failed : DeviceHealth::ready);
  } else {
    const bool is_unheeded = lack == Lack::gain || lack == Lack::turn;
    give_up(is_unheeded && !complaint_.empty() ? Trouble::refusing
            : is_unheeded                      ? Trouble::unheeded
            : lack == Lack::health             ? Trouble::broken
                                               : Trouble::unsettled,
            sentence_of(lack));
  }
}

void GainDriver::take_answer(Instant now, const GainWords& words) {
  if (++answers_ < questions()) {
    return;
  }
  answers_ = 0;
  is_read_ = true;
  words_ = words;
  auto& reading = operation_.reading<GainObservation>();
  reading = {told_gain(), !words_.is_moving, words_.input, words_.output};
  Observation& observation = operation_.observation();
  observation.read_at = now;
  observation.proof = is_seen(profile_.element, reading, reading.gain) ? Proof::device : Proof::assumed;
}

/// A queue of errors is read until it is empty: what is left in it would explain the next failure wrongly.
void GainDriver::take_complaint(std::string complaint) {
  has_complained_ = complaint.empty() || ++complaints_ >= kComplaints;
  if (!complaint.empty()) {
    complaint_ = std::move(complaint);
  }
}

/// Even where the answer of a write is lost it may have been obeyed; a reading begins anew.
void GainDriver::mark_uncertain(Instant, const BusReply&) {
  is_read_ = false;
  answers_ = 0;
}

GainDriver::Lack GainDriver::lack() const {
  const Db wanted = target_.front().gain;
  if (words_.is_broken) {
    return Lack::health;
  }
  const bool is_on = words_.is_on || !profile_.may_turn_off;
  if (wanted == kGainOff) {
    return is_on ? Lack::turn : words_.is_moving ? Lack::rest : Lack::nothing;
  }
  const Db error = words_.magnitude - wanted_magnitude();
  if (error > kGainTolerance || -error > kGainTolerance) {
    return words_.is_moving && writes_ > 0 ? Lack::rest : Lack::gain;
  }
  if (!is_on) {
    return Lack::turn;
  }
  if (words_.is_moving) {
    return Lack::rest;
  }
  const GainObservation seen{told_gain(), true, words_.input, words_.output};
  return is_gain(profile_.element, seen, wanted) ? Lack::nothing : Lack::light;
}

std::string GainDriver::sentence_of(Lack lack) const {
  const Db wanted = target_.front().gain;
  const std::string because = complaint_.empty() ? std::string{} : "; it says " + complaint_;
  switch (lack) {
    case Lack::nothing:
      return {};
    case Lack::gain:
      return format_text("reads a gain of {} after {} was set several times{}", gain_text(told_gain()), gain_text(wanted),
                         because);
    case Lack::turn:
      return format_text("is {} after it was turned {} several times{}", words_.is_on ? "on" : "off", wants_on() ? "on" : "off",
                         because);
    case Lack::health:
      return "says that it is broken";
    case Lack::rest:
      return format_text("does not stand at {} within {}", gain_text(wanted), describe(patience()));
    case Lack::light: {
      const GainObservation seen{told_gain(), true, words_.input, words_.output};
      return format_text("its light shows a gain of {}, wanted {}, within {}",
                         to_string(wanted + gain_error(profile_.element, seen, wanted)), gain_text(wanted),
                         describe(patience()));
    }
  }
  return {};
}

GainProfile gain_profile(const Fabric& fabric, const Device& device) {
  LOOM_ASSERT(device.elements.size() == 1);
  GainProfile profile;
  profile.take(device);
  profile.element = fabric.element(device.elements.front());
  profile.range = gain_range(profile.element.kind);
  if (const auto* amplifier = std::get_if<Amplifier>(&profile.element.kind)) {
    profile.is_amplifier = true;
    profile.settle_max = amplifier->settle_max;
  } else if (const auto* attenuator = std::get_if<Attenuator>(&profile.element.kind)) {
    profile.settle_max = attenuator->settle_max;
  }
  return profile;
}

std::string refuse_gain(const Fabric& fabric, const Device& device, bool is_amplifier) {
  const bool drives_amplifier = std::holds_alternative<Amplifier>(fabric.element(device.elements.front()).kind);
  return drives_amplifier == is_amplifier
             ? std::string{}
             : format_text("{} is {}; a device of this kind drives {}", fabric.element(device.elements.front()).name,
                           drives_amplifier ? "an amplifier" : "an attenuator",
                           is_amplifier ? "an amplifier" : "an attenuator");
}

}  // namespace loom
