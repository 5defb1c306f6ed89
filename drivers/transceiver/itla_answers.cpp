// SPDX-License-Identifier: Apache-2.0
// What ItlaDriver makes of an answer: whether it is one, what it tells, where the procedure goes on, and the sentences of
// failure.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/text/format_text.hpp"
#include "drivers/operation_state.hpp"
#include "drivers/transceiver/itla.hpp"
#include "drivers/transceiver/itla_table.hpp"

namespace loom {

using namespace itla;

namespace {

constexpr unsigned kRounds = 2;          ///< ways back from a proof that did not hold, a fire
constexpr unsigned kRefusals = 8;        ///< "pending" and "initialising" answers, a fire
constexpr unsigned kMeetings = 48;       ///< failed exchanges and restarts of the module, a fire
constexpr unsigned kTriesOfDamaged = 8;  ///< of one exchange whose answers are damaged: somebody is there

/// A proof begins again with StatusF, which tells of a restart too; whatever else was under way meets the module first.
State after_failure(State state) {
  switch (state) {
    case State::prove_locked:
    case State::prove_thz:
    case State::prove_ghz:
    case State::prove_mhz:
      return State::prove_locked;
    case State::prove_lit:
    case State::prove_still_locked:
    case State::prove_lit_thz:
    case State::prove_lit_ghz:
    case State::prove_lit_mhz:
    case State::prove_power:
      return state == State::prove_lit ? state : State::prove_still_locked;
    default:
      return State::decide;
  }
}

/// How long a state may wait for what must hold.
Duration limit_of(const ItlaProfile& profile, State state) {
  switch (state) {
    case State::prove_dark:
      return profile.blank_max + profile.grace;
    case State::prove_power:
      return profile.enable_limit;
    case State::prove_still_locked:
    case State::prove_lit_thz:
    case State::prove_lit_ghz:
    case State::prove_lit_mhz:
      return profile.tunes != Tunes::dark ? profile.enable_limit : 2 * profile.enable_max + profile.grace;
    default:
      return 2 * profile.retune_max + profile.grace;
  }
}

/// Of a proof that did not come.
Trouble trouble_of(const Row& row) {
  switch (row.must) {
    case Must::be_locked:
    case Must::be_on_target:
      return Trouble::unlocked;
    case Must::be_dark:
    case Must::be_in_power:
    case Must::be_idle:
      return Trouble::unsettled;
    default:
      return Trouble::unheeded;
  }
}

}  // namespace

void ItlaDriver::receive(Instant now, const BusReply& reply) {
  const auto response = reply.status == BusStatus::ok ? decode_response(reply.bytes) : std::nullopt;
  if (reply.status == BusStatus::ok && reply.connection != std::exchange(connection_, reply.connection)) {
    facts_.recheck();  // whoever answers now
  }
  if (!response || response->reg != asked_.reg || response->communication_error) {
    receive_failure(now, reply);
    return;
  }
  retry_.understood();
  if (fired_ && response->status != Status::execution_error) {
    absorb(now, *response);  // overtaken by a newer fire(): keep the knowledge, drop the procedure
  } else if (state_ == State::name_error) {
    receive_error_name(now, response->data);
  } else if (response->status == Status::execution_error) {
    receive_refusal(now);
  } else if (state_ == State::introduce) {
    absorb_fact(*response);
    enter(State::decide, now);
  } else if (response->status == Status::extended_address) {
    give_up(Trouble::garbage, to_string(asked_.reg) + ": answered with a text where a number was asked");
  } else {
    receive_answer(now, *response);
  }
}

/// Silence, damage, NACK, another register's answer. What became of a write is then unknown: it is read before it is repeated.
/// And the module may have started again meanwhile: unless darkness is being made, it is met anew.
void ItlaDriver::receive_failure(Instant now, const BusReply& reply) {
  if (asked_.write && index_of(asked_.reg) < kRegisters) {
    known_.forget(asked_.reg);
    dark_proven_ = dark_proven_ && asked_.reg != Register::enable;
    lock_proven_ = lock_proven_ && !kTable[index_of(asked_.reg)].tunes;
  }
  const std::string what =
      format_text("{}{}{}: {}", asked_.write ? "write of " : "read of ", to_string(asked_.reg),
                  asked_.write ? format_text(" <- {}", asked_.data) : "",
                  reply.status == BusStatus::ok ? fault_of(reply.bytes, asked_.reg) : describe(reply, profile_.reply_deadline));
  const auto answer = reply.status == BusStatus::ok ? decode_response(reply.bytes) : std::nullopt;
  const bool is_damaged =
      reply.status == BusStatus::ok || reply.status == BusStatus::malformed || reply.status == BusStatus::bad_check;
  if (state_ == State::introduce) {
    facts_.absorb_loss(answer && answer->communication_error      ? Loss::unread_request
                       : reply.status == BusStatus::ok && !answer ? Loss::damaged_answer
                                                                  : Loss::silence);
  }
  if (purpose_ == Purpose::preparation) {
    give_up(Trouble::none, {});
    return;
  }
  const bool fails_check = reply.status == BusStatus::ok && reply.bytes.size() == 4 && (!answer || answer->communication_error);
  const Trouble trouble = fails_check ? Trouble::bad_check : loom::trouble_of(reply);
  const unsigned tries = is_damaged ? kTriesOfDamaged : RetryState::kTries;
  if (!retry_.may_retry(now, tries)) {
    if (state_ == State::introduce && purpose_ == Purpose::audit) {
      facts_failed_ = true;  // what it is good for does not rest on its maker's name
      enter(State::decide, now);
    } else {
      give_up(trouble, format_text("{} in {} tries", what, retry_.allowed()));
    }
    return;
  }
  struggle(trouble, what + retry_.attempt());
  met_ = false;
  if (state_ == State::trim && !fired_) {
    enter(State::decide, now);  // from where FTF is now, which is read: the light does not jump
    return;
  }
  if (state_ == State::introduce && !facts_.next()) {
    enter(State::decide, now);  // its last fact was lost too often to be asked for again
    return;
  }
  if (fired_ || purpose_ != Purpose::fire || state_ == State::prove_cut || state_ == State::prove_dark ||
      state_ == State::introduce) {
    return;  // the same again
  }
  if (state_ == State::cut) {
    state_ = State::prove_cut;
  } else if (++meetings_ > kMeetings) {
    give_up(trouble, format_text("{} exchanges failed on the way, the last was {}", kMeetings, what));
  } else {
    enter(after_failure(state_), now);
  }
}

void ItlaDriver::receive_refusal(Instant now) {
  if (fired_) {
    if (index_of(asked_.reg) < kRegisters) {
      known_.forget(asked_.reg);
    }
    return;
  }
  refused_in_ = state_;
  refused_ = asked_;
  enter(State::name_error, now);
}

/// The NOP error field, read after an execution error of the request before.
void ItlaDriver::receive_error_name(Instant now, std::uint16_t nop) {
  const std::size_t index = index_of(refused_.reg);
  const auto error = static_cast<NopError>(nop & kNopError);
  const bool absent = error == NopError::not_implemented && index < kRegisters && kTable[index].optional;
  const std::string what = refused_.write ? format_text("write of {} <- {}", to_string(refused_.reg), to_signed(refused_.data))
                                          : "read of " + to_string(refused_.reg);
  if (absent && !refused_.write) {
    asked_ = refused_;
    state_ = refused_in_;
    receive_answer(now, Response{Status::ok, false, asked_.reg, 0});
    return;
  }
  const bool busy = error == NopError::pending || error == NopError::initialising || error == NopError::none;
  if (busy && purpose_ != Purpose::preparation && ++refusals_ <= kRefusals) {
    const Duration patience =
        error == NopError::initialising ? std::max(profile_.retune_max * 2, profile_.start_max) : profile_.retune_max * 2;
    retry_.pause_until(now + std::max(patience / kRefusals, RetryState::kPause));
    met_ = met_ && error != NopError::initialising;
    struggle(Trouble::refusing,
             format_text("{}: refused with {}, {} of {} times", what, to_string(error), refusals_, kRefusals));
    enter(met_ || purpose_ != Purpose::fire ? refused_in_ : State::decide, now);
    return;
  }
  if (refused_in_ == State::introduce || refused_in_ == State::trim) {
    if (refused_in_ == State::trim) {
      trims_ = kTrims;
    } else if (facts_.next() == refused_) {
      absorb_fact({Status::execution_error, false, refused_.reg, 0});
    }
    enter(State::decide, now);
    return;
  }
  if (error == NopError::output_enabled && purpose_ != Purpose::preparation && ++rounds_ <= kRounds) {
    known_.forget(Register::enable);
    dark_proven_ = false;
    enter(State::cut, now);
    return;
  }
  const bool is_grid = refused_.reg == Register::grid || refused_.reg == Register::grid2;
  if (refused_.write && is_grid && !std::exchange(grid_refused_, true)) {  // a step that it does not do
    target_ = target_of(target_.setpoint);
    enter(State::decide, now);
    return;
  }
  give_up(Trouble::refusing,
          format_text("{}: refused with {}{}", what, to_string(error), busy ? format_text(", {} times", kRefusals) : ""));
}

void ItlaDriver::receive_answer(Instant now, const Response& response) {
  absorb(now, response);
  const Row& row = row_of(state_);
  const bool reports_restart = asked_.reg == Register::status_fatal && !asked_.write && purpose_ != Purpose::audit;
  if (reports_restart && (response.data & kStatusRestarted) != 0) {
    meet_newcomer(now);
    return;
  }
  restart_seen_ = restart_seen_ && state_ != State::meet;
  met_ = met_ || reports_restart;  // it could have said so
  if (holds(row, response)) {
    dark_proven_ = dark_proven_ || state_ == State::prove_dark;
    enter(row.then, now);
  } else {
    go_otherwise(now, row, response);
  }
}

void ItlaDriver::meet_newcomer(Instant now) {
  forget();
  if (std::exchange(restart_seen_, true)) {
    facts_.recheck();  // an audit saw it, and what it has read since is this one's
  } else {
    facts_.forget();
    grid_refused_ = false;
  }
  met_ = false;
  if (++meetings_ <= kMeetings) {
    enter(State::acknowledge, now);
  } else {
    give_up(Trouble::unheeded, format_text("the module started again {} times while it was being set", kMeetings));
  }
}

void ItlaDriver::go_otherwise(Instant now, const Row& row, const Response& response) {
  const bool is_lit_unasked = purpose_ == Purpose::preparation && state_ == State::prove_dark;
  if (row.patient && !is_lit_unasked && now - patience_since_ <= limit_of(profile_, state_)) {
    const bool is_lighting =
        state_ == State::prove_power || (row.otherwise == State::prove_still_locked && profile_.tunes != Tunes::dark);
    const Duration expected = state_ == State::prove_dark ? profile_.blank_max
                              : is_lighting               ? profile_.enable_max
                                                          : profile_.retune_max;
    retry_.pause_until(now + std::clamp<Duration>(expected / 8, std::chrono::microseconds{200}, std::chrono::milliseconds{10}));
    if (const Duration waited = now - patience_since_; waited > expected) {  // later than its worst case
      struggle(trouble_of(row), expectation(row, response, format_text("after {} of", describe(waited))));
    }
    state_ = row.otherwise;  // patience goes on counting
    return;
  }
  if (purpose_ == Purpose::preparation) {
    give_up(Trouble::none, {});
    return;
  }
  const bool lit = known_.is_enabled();
  const bool off_frequency = row.otherwise == State::settle || row.otherwise == State::prove_still_locked;
  if ((!row.patient || off_frequency) && ++rounds_ <= kRounds) {
    if (off_frequency) {  // not where it should be: dark first where it is lit, then tune from the start
      known_.must_tune_again();
      lock_proven_ = false;
    }
    enter(!off_frequency ? row.otherwise : lit ? State::cut : State::decide, now);
    return;
  }
  if (off_frequency && lit && verdict_.empty()) {
    verdict_ = {trouble_of(row), expectation(row, response, "within")};  // it does not stay lit beside its place
    enter(State::decide, now);
    return;
  }
  give_up(trouble_of(row), expectation(row, response, "within"));
}

bool ItlaDriver::holds(const Row& row, const Response& response) const {
  switch (row.must) {
    case Must::be_answered:
      return true;
    case Must::be_no_newcomer:
      return (response.data & kStatusRestarted) == 0;
    case Must::be_off:
      return (response.data & kSoftwareEnable) == 0;
    case Must::be_on:
      return (response.data & kSoftwareEnable) != 0;
    case Must::be_dark:
      return to_signed(response.data) <= kDark.centi;
    case Must::be_idle:
      return response.status != Status::pending && (response.data & kNopPending) == 0;
    case Must::be_locked:
      return (response.data & (kStatusFrequency | kStatusFatal)) == 0;
    case Must::be_on_target: {
      const auto frequency = known_.frequency();
      return frequency && magnitude(*frequency - centre_of(target_.setpoint.slot)) <= profile_.frequency_tolerance;
    }
    case Must::be_in_power:
      return std::abs(to_signed(response.data) - target_.setpoint.power.centi) <= profile_.power_tolerance.centi;
  }
  return false;
}

/// The sentence of a proof that did not come: register, value, limit.
std::string ItlaDriver::expectation(const Row& row, const Response& response, const std::string& waited) const {
  const std::string reads = to_string(row.reg) + " reads ";
  const std::string within = format_text(" {} {}", waited, describe(limit_of(profile_, state_)));
  switch (row.must) {
    case Must::be_dark:
      return format_text("{}{} after emission was cut, wanted no light{}", reads, to_string(Dbm{to_signed(response.data)}),
                         within);
    case Must::be_in_power:
      return format_text("{}{}, wanted {} +- {} cdB{}", reads, to_string(Dbm{to_signed(response.data)}),
                         to_string(target_.setpoint.power), profile_.power_tolerance.centi, within);
    case Must::be_on_target:
      return format_text("LF1/LF2/LF3 read {}, wanted {} +- {} MHz{}", to_string(known_.frequency().value_or(Frequency{})),
                         to_string(centre_of(target_.setpoint.slot)), profile_.frequency_tolerance.mhz, within);
    case Must::be_idle:
    case Must::be_locked:
      return format_text("{}{}: not locked at {}{}", reads, response.data, to_string(centre_of(target_.setpoint.slot)), within);
    default:
      return format_text("{}{}, wanted SENA {}, {} rounds", reads, response.data, row.must == Must::be_on ? "on" : "off",
                         kRounds);
  }
}

void ItlaDriver::forget() {
  known_.forget_all();
  dark_proven_ = false;
  lock_proven_ = false;
}

/// It goes on trying: whoever loses patience before it can say what it was waiting for.
void ItlaDriver::struggle(Trouble trouble, std::string_view words) {
  if (!fire_failed_ && purpose_ != Purpose::preparation) {
    tell(observation_, {trouble, format_text("{}: {}", profile_.name, words)});
  }
}

void ItlaDriver::give_up(Trouble trouble, std::string_view words) {
  if (purpose_ == Purpose::preparation) {  // nobody's news: the fire meets the module anew, and reads all before it writes
    purpose_ = Purpose::none;
    state_ = State::rest;
    forget();
    return;
  }
  const Complaint verdict = std::exchange(verdict_, {});
  tell(observation_,
       {verdict.empty() ? trouble : verdict.trouble,
        format_text("{}: {}{}{}", profile_.name, verdict.words, verdict.empty() || words.empty() ? "" : "; then ", words)});
  observation_.health = DeviceHealth::failed;
  outcome_ = DriverActivity::failed;
  fire_failed_ = fire_failed_ || purpose_ == Purpose::fire;
  purpose_ = Purpose::none;
  state_ = State::rest;
  forget();
}

}  // namespace loom
