// SPDX-License-Identifier: Apache-2.0
// The machine that walks ItlaDriver's procedure table (itla_table.hpp).
#include "drivers/transceiver/itla.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/text/format_text.hpp"
#include "drivers/operation_state.hpp"
#include "drivers/transceiver/itla_table.hpp"

namespace loom {

using namespace itla;

ItlaDriver::ItlaDriver(ItlaProfile profile) : profile_(std::move(profile)), facts_(profile_.serial) {
  observation_.device = profile_.device;
  observation_.proof = Proof::device;  // its locker and its power tap
}

void ItlaDriver::stage(const Setpoint& setpoint) {
  LOOM_ASSERT(std::holds_alternative<TransmitterSetpoint>(setpoint));
  staged_ = target_of(std::get<TransmitterSetpoint>(setpoint));
  has_staged_ = true;
}

void ItlaDriver::prepare() {
  LOOM_ASSERT(has_staged_);
  prepares_ = !fired_ && !fire_failed_ && !(has_target_ && target_.setpoint.emit);
}

void ItlaDriver::fire() {
  LOOM_ASSERT(has_staged_);
  prepares_ = false;
  fired_ = true;
  has_target_ = true;
  target_ = staged_;
}

void ItlaDriver::poll() { polled_ = purpose_ == Purpose::none; }

DriverActivity ItlaDriver::activity() const {
  return purpose_ != Purpose::none || fired_ || prepares_ || polled_ ? DriverActivity::busy : outcome_;
}

Observation ItlaDriver::observe() const { return observation_; }

Step ItlaDriver::step(Instant now, const BusReply* reply) {
  if (reply != nullptr && retry_.received()) {
    receive(now, *reply);
  }
  if (retry_.is_waiting()) {
    return {std::nullopt, kNever};
  }
  begin(now);
  if (state_ == State::rest) {
    return {std::nullopt, kNever};
  }
  if (now < retry_.resume_at()) {
    return {std::nullopt, retry_.resume_at()};
  }
  const auto request = command();
  LOOM_ASSERT(request.has_value());
  asked_ = *request;
  retry_.sent();
  const FrameBytes bytes = encode(asked_);
  Frame frame{{bytes.begin(), bytes.end()}, static_cast<std::uint16_t>(bytes.size()), {}};
  return {Transaction{profile_.device, profile_.bus_address, std::move(frame), profile_.reply_deadline}, kNever};
}

/// Starts what was asked for since the last step; a fire() overtakes whatever is under way.
void ItlaDriver::begin(Instant now) {
  if (!fired_ && !((prepares_ || polled_) && purpose_ == Purpose::none)) {
    return;
  }
  retry_.start_over();
  rounds_ = 0;
  refusals_ = 0;
  meetings_ = 0;
  met_ = false;
  dark_proven_ = false;
  trims_ = 0;
  facts_failed_ = false;
  facts_.absorb_loss(Loss::overtaken);
  verdict_ = {};
  if (!facts_.stranger().empty()) {
    facts_.recheck();
  }
  fact_group_ = facts_.group();
  if (fired_) {
    fire_failed_ = false;
    purpose_ = Purpose::fire;
    observation_.health = DeviceHealth::moving;
  } else if (prepares_) {
    purpose_ = Purpose::preparation;
    target_ = staged_;
    target_.setpoint.emit = false;
  } else {
    purpose_ = Purpose::audit;
    known_.forget(Register::enable);
    known_.forget_readings();
    audit_cursor_ = audit_cursor_ % index_of(Register::channel) + 1;  // one setting an audit, in turn
    known_.forget(kTable[audit_cursor_].reg);
  }
  if (!fire_failed_ && purpose_ != Purpose::preparation) {
    tell(observation_, {});
  }
  polled_ = polled_ && purpose_ == Purpose::preparation;
  fired_ = false;
  prepares_ = false;
  state_ = State::rest;
  enter(State::decide, now);
}

/// An audit reads one group of facts; a fire reads only who the module is, and only where somebody in particular is expected.
bool ItlaDriver::wants_fact() const {
  if (purpose_ == Purpose::audit) {
    return !facts_failed_ && facts_.next() && facts_.group() == fact_group_;
  }
  return !profile_.serial.empty() && !facts_.has_serial() && facts_.next();
}

/// What the target needs next, from what is known. Emission is cut before anything else is asked or written.
State ItlaDriver::decide() {
  if (purpose_ == Purpose::audit) {
    return known_.next_unknown(true) ? State::survey
           : wants_fact()            ? State::introduce
           : next_trim()             ? State::trim
                                     : State::proven;
  }
  const bool enabled = known_.is_enabled();
  const bool prepares = purpose_ == Purpose::preparation;
  if (prepares && (enabled || !known_.knows(Register::enable))) {
    return enabled ? State::proven : State::survey;  // one that emits is left alone
  }
  if (!verdict_.empty()) {
    return enabled ? State::cut : dark_proven_ ? State::proven : State::prove_dark;
  }
  if (enabled && !target_.setpoint.emit) {
    return State::cut;
  }
  if (!met_) {
    return State::meet;
  }
  if (known_.next_unknown(false)) {
    return State::survey;
  }
  if (wants_fact()) {
    return State::introduce;
  }
  const auto lawful = check(prepares ? staged_.setpoint : target_.setpoint);
  if (!lawful && prepares) {
    return State::proven;  // the fire says so
  }
  if (!lawful) {  // by what the module says of itself, heard since it was asked
    verdict_ = {Trouble::misfit, lawful.error().message.substr(profile_.name.size() + 2)};
    return decide();
  }
  if (known_.next_differing(target_.wanted, profile_.trims)) {
    return enabled ? State::cut : dark_proven_ ? State::write : State::prove_dark;
  }
  if (!target_.setpoint.emit && !dark_proven_) {
    return State::prove_dark;
  }
  const bool stands = lock_proven_ && (!target_.setpoint.emit || known_.says_locked());
  return !stands ? State::settle : target_.setpoint.emit ? State::relight_or_rest : State::proven;
}

/// Follows states without an order of their own to one that has, or to rest.
State ItlaDriver::resolve(State state, Instant now) {
  if (state == State::decide) {
    state = decide();
  }
  if (state == State::prove_locked && profile_.tunes != Tunes::dark) {
    state = State::relight_or_rest;  // it locks in its own light: that is proven when it is lit
  }
  if (state == State::relight_or_rest) {
    lock_proven_ = true;
    const bool enabled = known_.is_enabled();
    state = !target_.setpoint.emit ? State::proven : enabled ? State::prove_lit : State::relight;
  }
  if (state == State::proven && !verdict_.empty()) {
    give_up(Trouble::none, {});
    return State::rest;
  }
  if (state == State::proven && purpose_ == Purpose::preparation) {
    purpose_ = Purpose::none;
    state = State::rest;
  }
  if (state == State::proven) {
    if (!fire_failed_) {
      tell(observation_, {});
    }
    if (purpose_ == Purpose::audit) {
      finish_audit();
    } else {
      outcome_ = DriverActivity::settled;
      observation_.health = DeviceHealth::ready;
    }
    observation_.read_at = now;
    purpose_ = Purpose::none;
    state = State::rest;
  }
  return state;
}

void ItlaDriver::enter(State state, Instant now) {
  const State next = resolve(state, now);
  if (next != state_ && (next == State::prove_dark || next == State::settle || next == State::prove_power ||
                         next == State::prove_still_locked || next == State::trim_settle)) {
    patience_since_ = now;
  }
  state_ = next;
}

std::optional<Request> ItlaDriver::command() const {
  const Row& row = row_of(state_);
  switch (row.ask) {
    case Ask::read:
      return Request{false, row.reg, 0, false};
    case Ask::read_unknown:
      return Request{false, kTable[known_.next_unknown(purpose_ == Purpose::audit).value_or(0)].reg, 0, false};
    case Ask::read_fact:
      return facts_.next();
    case Ask::write_differing: {
      const std::size_t index = known_.next_differing(target_.wanted, profile_.trims).value_or(index_of(Register::channel));
      return Request{true, kTable[index].reg, target_.wanted[index].value_or(0), false};
    }
    case Ask::write_dark:
      return Request{true, Register::enable, 0, false};
    case Ask::write_lit:
      return Request{true, Register::enable, kSoftwareEnable, false};
    case Ask::write_trim:
      return Request{true, Register::ftf, static_cast<std::uint16_t>(next_trim().value_or(0)), false};
    case Ask::clear_latches:
      return Request{true, row.reg, kStatusLatches, false};
  }
  return std::nullopt;
}

}  // namespace loom
