// The machine that walks ItlaDriver's procedure table (itla_table.hpp).
#include "drivers/transceiver/itla.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/text/format_text.hpp"
#include "drivers/transceiver/itla_table.hpp"

namespace loom {

using namespace itla;

namespace {

constexpr unsigned kRounds = 2;     ///< ways back from a proof that did not hold, a fire
constexpr unsigned kRefusals = 8;   ///< "pending" and "initialising" answers, a fire
constexpr unsigned kMeetings = 16;  ///< failed exchanges and restarts of the module, a fire

std::uint16_t to_word(std::int64_t number) { return static_cast<std::uint16_t>(number & 0xFFFF); }

}  // namespace

ItlaDriver::ItlaDriver(ItlaProfile profile) : profile_(std::move(profile)) {
  observation_.device = profile_.device;
  observation_.proof = Proof::device;  // its locker and its power tap
}

Result<void> ItlaDriver::check(const Setpoint& setpoint) const {
  const auto* laser = std::get_if<TransmitterSetpoint>(&setpoint);
  if (laser == nullptr) {
    return fail(ErrorCode::unsupported, profile_.name + ": a laser takes laser setpoints only");
  }
  const Frequency wanted = centre_of(laser->slot);
  const Frequency lowest = centre_of(profile_.channels.slot(0));
  const Frequency highest = centre_of(profile_.channels.slot(std::max(profile_.channels.count, 1) - 1));
  if (wanted < lowest || wanted > highest) {
    return fail(ErrorCode::out_of_range, format_text("{}: frequency {} is outside its band, {} to {}", profile_.name,
                                                     to_string(wanted), to_string(lowest), to_string(highest)));
  }
  if (!profile_.tunable && wanted != lowest) {
    return fail(ErrorCode::out_of_range, format_text("{}: frequency {} asked of a fixed laser at {}", profile_.name,
                                                     to_string(wanted), to_string(lowest)));
  }
  if (laser->power < profile_.power_min || laser->power > profile_.power_max) {
    return fail(ErrorCode::out_of_range, format_text("{}: power {} is outside {} to {}", profile_.name, to_string(laser->power),
                                                     to_string(profile_.power_min), to_string(profile_.power_max)));
  }
  return {};
}

Duration ItlaDriver::lead(const Setpoint& setpoint) const {
  constexpr int kDarkExchanges = 3 + 9 + 3 + 9 + 5;  // meet, survey, blank, write, prove lock
  constexpr int kLitExchanges = 8;
  const Duration dark = profile_.blank_max + profile_.retune_max + kDarkExchanges * profile_.exchange;
  return emits(setpoint) ? dark + profile_.enable_max + kLitExchanges * profile_.exchange : dark;
}

/// On the plan: the module's own grid, first frequency and step set up once, then only Channel. Else: FCF alone, Channel 1.
ItlaDriver::Target ItlaDriver::target_of(const TransmitterSetpoint& setpoint) const {
  Target target{setpoint, {}};
  const std::int32_t channel = profile_.channels.channel_of(setpoint.slot);
  const std::int64_t first = (channel >= 0 ? centre_of(profile_.channels.first) : centre_of(setpoint.slot)).mhz;
  const std::int64_t step = profile_.channels.step_n * kGridStep.mhz;
  auto& wanted = target.wanted;
  wanted[index_of(Register::enable)] = setpoint.emit ? kSoftwareEnable : 0;
  wanted[index_of(Register::grid)] = to_word(step / 100);
  wanted[index_of(Register::grid2)] = to_word(step % 100);
  wanted[index_of(Register::fcf1)] = to_word(first / 1'000'000);
  wanted[index_of(Register::fcf2)] = to_word(first / 100 % 10'000);
  wanted[index_of(Register::fcf3)] = to_word(first % 100);
  wanted[index_of(Register::power)] = to_word(setpoint.power.centi);
  wanted[index_of(Register::channel)] = to_word(channel >= 0 ? channel + 1 : 1);
  return target;
}

void ItlaDriver::stage(const Setpoint& setpoint) {
  LOOM_ASSERT(std::holds_alternative<TransmitterSetpoint>(setpoint));
  staged_ = target_of(std::get<TransmitterSetpoint>(setpoint));
  has_staged_ = true;
}

void ItlaDriver::fire() {
  LOOM_ASSERT(has_staged_);
  fired_ = true;
  has_target_ = true;
  target_ = staged_;
}

void ItlaDriver::poll() { polled_ = purpose_ == Purpose::none; }

DriverActivity ItlaDriver::activity() const {
  return purpose_ != Purpose::none || fired_ || polled_ ? DriverActivity::busy : outcome_;
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
  if (!fired_ && !(polled_ && purpose_ == Purpose::none)) {
    return;
  }
  retry_.start_over();
  rounds_ = 0;
  refusals_ = 0;
  meetings_ = 0;
  met_ = false;
  dark_proven_ = false;
  verdict_.clear();
  if (fired_) {
    fire_failed_ = false;
    purpose_ = Purpose::fire;
    observation_.health = DeviceHealth::moving;
  } else {
    purpose_ = Purpose::audit;
    known_[index_of(Register::enable)].reset();
    for (std::size_t i = index_of(Register::status_fatal); i < kRegisters; ++i) {
      known_[i].reset();
    }
    audit_cursor_ = audit_cursor_ % index_of(Register::channel) + 1;  // one setting an audit, in turn
    known_[audit_cursor_].reset();
  }
  if (!fire_failed_) {
    observation_.fault.clear();
  }
  fired_ = false;
  polled_ = false;
  state_ = State::rest;
  enter(State::decide, now);
}

std::uint16_t ItlaDriver::value(Register reg) const { return known_[index_of(reg)].value_or(0); }

std::optional<std::size_t> ItlaDriver::next_unknown() const {
  for (std::size_t i = 0; i < kRegisters; ++i) {
    const bool needed = purpose_ == Purpose::audit || kTable[i].setting || kTable[i].reg == Register::enable;
    if (needed && !known_[i]) {
      return i;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> ItlaDriver::next_differing() const {
  for (std::size_t i = 0; i < kRegisters; ++i) {
    if (kTable[i].setting && known_[i] != target_.wanted[i]) {
      return i;
    }
  }
  return std::nullopt;
}

/// What the target needs next, from what is known. Emission is cut before anything else is asked or written.
State ItlaDriver::decide() const {
  if (purpose_ == Purpose::audit) {
    return next_unknown() ? State::survey : State::proven;
  }
  const bool enabled = (value(Register::enable) & kSoftwareEnable) != 0;
  if (!verdict_.empty()) {
    return enabled ? State::cut : dark_proven_ ? State::proven : State::prove_dark;
  }
  if (enabled && !target_.setpoint.emit) {
    return State::cut;
  }
  if (!met_) {
    return State::meet;
  }
  if (next_unknown()) {
    return State::survey;
  }
  if (next_differing()) {
    return enabled ? State::cut : dark_proven_ ? State::write : State::prove_dark;
  }
  if (!target_.setpoint.emit && !dark_proven_) {
    return State::prove_dark;
  }
  return !target_.setpoint.emit && lock_proven_ ? State::proven : State::settle;
}

/// Follows states without an order of their own to one that has, or to rest.
State ItlaDriver::resolve(State state, Instant now) {
  if (state == State::decide) {
    state = decide();
  }
  if (state == State::prove_locked && profile_.tunes == Tunes::lit) {
    state = State::relight_or_rest;  // it locks in its own light: that is proven when it is lit
  }
  if (state == State::relight_or_rest) {
    lock_proven_ = true;
    const bool enabled = (value(Register::enable) & kSoftwareEnable) != 0;
    state = !target_.setpoint.emit ? State::proven : enabled ? State::prove_lit : State::relight;
  }
  if (state == State::proven && !verdict_.empty()) {
    give_up({});
    return State::rest;
  }
  if (state == State::proven) {
    if (!fire_failed_) {
      observation_.fault.clear();
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
  if (next != state_ &&
      (next == State::prove_dark || next == State::settle || next == State::prove_power || next == State::prove_still_locked)) {
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
      return Request{false, kTable[next_unknown().value_or(0)].reg, 0, false};
    case Ask::write_differing: {
      const std::size_t index = next_differing().value_or(index_of(Register::channel));
      return Request{true, kTable[index].reg, target_.wanted[index], false};
    }
    case Ask::write_dark:
      return Request{true, Register::enable, 0, false};
    case Ask::write_lit:
      return Request{true, Register::enable, kSoftwareEnable, false};
    case Ask::clear_latches:
      return Request{true, row.reg, kStatusLatches, false};
  }
  return std::nullopt;
}

void ItlaDriver::receive(Instant now, const BusReply& reply) {
  const auto response = reply.status == BusStatus::ok ? decode_response(reply.bytes) : std::nullopt;
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
  } else if (response->status == Status::extended_address) {
    give_up(to_string(asked_.reg) + ": answered with a text where a number was asked");
  } else {
    receive_answer(now, *response);
  }
}

/// Silence, damage, NACK, another register's answer. What became of a write is then unknown: it is read before it is repeated.
/// And the module may have started again meanwhile: unless darkness is being made, it is met anew.
void ItlaDriver::receive_failure(Instant now, const BusReply& reply) {
  const std::size_t index = index_of(asked_.reg);
  if (asked_.write && index < kRegisters) {
    known_[index].reset();
    dark_proven_ = dark_proven_ && asked_.reg != Register::enable;
    lock_proven_ = lock_proven_ && !kTable[index].tunes;
  }
  const std::string what =
      format_text("{}{}{}: {}", asked_.write ? "write of " : "read of ", to_string(asked_.reg),
                  asked_.write ? format_text(" <- {}", asked_.data) : "",
                  reply.status == BusStatus::ok ? fault_of(reply.bytes, asked_.reg) : describe(reply, profile_.reply_deadline));
  if (!retry_.may_retry(now)) {
    give_up(format_text("{} in {} tries", what, RetryState::kTries));
    return;
  }
  if (!fire_failed_) {
    observation_.fault = format_text("{}: {}{}", profile_.name, what, retry_.attempt());
  }
  met_ = false;
  if (fired_ || purpose_ != Purpose::fire || state_ == State::prove_cut || state_ == State::prove_dark) {
    return;  // the same again
  }
  if (state_ == State::cut) {
    state_ = State::prove_cut;
  } else if (++meetings_ <= kMeetings) {
    enter(State::decide, now);
  } else {
    give_up(format_text("{} exchanges failed on the way, the last was {}", kMeetings, what));
  }
}

void ItlaDriver::receive_refusal(Instant now) {
  const std::size_t index = index_of(asked_.reg);
  if (fired_) {
    if (index < kRegisters) {
      known_[index].reset();
    }
    return;
  }
  refused_in_ = state_;
  enter(State::name_error, now);
}

/// The NOP error field, read after an execution error of the request before.
void ItlaDriver::receive_error_name(Instant now, std::uint16_t nop) {
  const Row& row = row_of(refused_in_);
  const bool write = row.ask != Ask::read && row.ask != Ask::read_unknown;
  const std::size_t index = row.ask == Ask::read              ? index_of(row.reg)
                            : row.ask == Ask::read_unknown    ? next_unknown().value_or(0)
                            : row.ask == Ask::write_differing ? next_differing().value_or(0)
                                                              : index_of(Register::enable);
  const auto error = static_cast<NopError>(nop & kNopError);
  const bool absent = error == NopError::not_implemented && index < kRegisters && kTable[index].optional;
  if (absent && !write) {
    asked_ = Request{false, kTable[index].reg, 0, false};
    state_ = refused_in_;
    receive_answer(now, Response{Status::ok, false, asked_.reg, 0});
    return;
  }
  const bool busy = error == NopError::pending || error == NopError::initialising || error == NopError::none;
  if (busy && ++refusals_ <= kRefusals) {
    retry_.pause_until(now + std::max(profile_.retune_max / 4, RetryState::kPause));
    met_ = met_ && error != NopError::initialising;
    enter(met_ || purpose_ != Purpose::fire ? refused_in_ : State::decide, now);
    return;
  }
  if (error == NopError::output_enabled && ++rounds_ <= kRounds) {
    known_[index_of(Register::enable)].reset();
    dark_proven_ = false;
    enter(State::cut, now);
    return;
  }
  const std::string what = index < kRegisters ? to_string(kTable[index].reg) : to_string(row.reg);
  const std::uint16_t data = row.ask == Ask::write_differing ? target_.wanted[index]
                             : row.ask == Ask::write_lit     ? kSoftwareEnable
                                                             : 0;
  give_up(format_text("{}: refused with {}{}",
                      write ? format_text("write of {} <- {}", what, to_signed(data)) : "read of " + what, to_string(error),
                      busy ? format_text(", {} times", kRefusals) : ""));
}

void ItlaDriver::receive_answer(Instant now, const Response& response) {
  absorb(now, response);
  const Row& row = row_of(state_);
  const bool reports_restart = asked_.reg == Register::status_fatal && !asked_.write && purpose_ == Purpose::fire;
  if (reports_restart && (response.data & kStatusRestarted) != 0) {
    meet_newcomer(now);
    return;
  }
  if (holds(row, response)) {
    met_ = met_ || state_ == State::meet;
    dark_proven_ = dark_proven_ || state_ == State::prove_dark;
    enter(row.then, now);
  } else {
    go_otherwise(now, row, response);
  }
}

void ItlaDriver::meet_newcomer(Instant now) {
  forget();
  met_ = false;
  if (++meetings_ <= kMeetings) {
    enter(State::acknowledge, now);
  } else {
    give_up(format_text("the module started again {} times while it was being set", kMeetings));
  }
}

void ItlaDriver::go_otherwise(Instant now, const Row& row, const Response& response) {
  if (row.patient && now - patience_since_ <= limit_of(state_)) {
    const Duration expected = state_ == State::prove_dark    ? profile_.blank_max
                              : state_ == State::prove_power ? profile_.enable_max
                                                             : profile_.retune_max;
    retry_.pause_until(now + std::clamp<Duration>(expected / 8, std::chrono::microseconds{200}, std::chrono::milliseconds{10}));
    state_ = row.otherwise;  // patience goes on counting
    return;
  }
  const bool lit = (value(Register::enable) & kSoftwareEnable) != 0;
  const bool off_frequency = row.otherwise == State::settle || row.otherwise == State::prove_still_locked;
  if ((!row.patient || off_frequency) && ++rounds_ <= kRounds) {
    if (off_frequency) {  // not where it should be: dark first where it is lit, then tune from the start
      known_[index_of(Register::channel)] = 0;
      lock_proven_ = false;
    }
    enter(!off_frequency ? row.otherwise : lit ? State::cut : State::decide, now);
    return;
  }
  if (off_frequency && lit && verdict_.empty()) {
    verdict_ = expectation(row, response);  // it does not stay lit beside its place
    enter(State::decide, now);
    return;
  }
  give_up(expectation(row, response));
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
      const auto frequency = laser_frequency();
      return frequency && magnitude(*frequency - centre_of(target_.setpoint.slot)) <= profile_.frequency_tolerance;
    }
    case Must::be_in_power:
      return std::abs(to_signed(response.data) - target_.setpoint.power.centi) <= profile_.power_tolerance.centi;
  }
  return false;
}

Duration ItlaDriver::limit_of(State state) const {
  switch (state) {
    case State::prove_dark:
      return profile_.blank_max + profile_.grace;
    case State::prove_power:
      return profile_.enable_limit;
    case State::prove_still_locked:
    case State::prove_lit_thz:
    case State::prove_lit_ghz:
    case State::prove_lit_mhz:
      return profile_.tunes == Tunes::lit ? profile_.enable_limit : 2 * profile_.enable_max + profile_.grace;
    default:
      return 2 * profile_.retune_max + profile_.grace;
  }
}

/// The sentence of a proof that did not come: register, value, limit.
std::string ItlaDriver::expectation(const Row& row, const Response& response) const {
  const std::string reads = to_string(row.reg) + " reads ";
  const std::string within = " within " + describe(limit_of(state_));
  switch (row.must) {
    case Must::be_dark:
      return format_text("{}{} after emission was cut, wanted no light{}", reads, to_string(Dbm{to_signed(response.data)}),
                         within);
    case Must::be_in_power:
      return format_text("{}{}, wanted {} +- {} cdB{}", reads, to_string(Dbm{to_signed(response.data)}),
                         to_string(target_.setpoint.power), profile_.power_tolerance.centi, within);
    case Must::be_on_target:
      return format_text("LF1/LF2/LF3 read {}, wanted {} +- {} MHz{}", to_string(laser_frequency().value_or(Frequency{})),
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
  known_.fill(std::nullopt);
  dark_proven_ = false;
  lock_proven_ = false;
}

void ItlaDriver::give_up(std::string sentence) {
  const std::string verdict = std::exchange(verdict_, {});
  observation_.fault =
      format_text("{}: {}{}{}", profile_.name, verdict, verdict.empty() || sentence.empty() ? "" : "; then ", sentence);
  observation_.health = DeviceHealth::failed;
  outcome_ = DriverActivity::failed;
  fire_failed_ = fire_failed_ || purpose_ == Purpose::fire;
  purpose_ = Purpose::none;
  state_ = State::rest;
  forget();
}

ItlaProfile itla_profile(const Fabric& fabric, const Device& device) {
  LOOM_ASSERT(device.elements.size() == 1);
  const auto* transmitter = std::get_if<Transmitter>(&fabric.element(device.elements.front()).kind);
  LOOM_ASSERT(transmitter != nullptr);
  ItlaProfile profile;
  profile.device = device.id;
  profile.name = device.name;
  profile.bus_address = device.bus_address;
  profile.channels = transmitter->channels;
  profile.tunable = transmitter->tunable;
  profile.power_min = transmitter->launch_power - Db{500};  // adjustment range of the module [K]
  profile.power_max = transmitter->launch_power + Db{300};
  profile.retune_max = transmitter->retune_max;
  profile.blank_max = transmitter->blank_max;
  profile.tunes = transmitter->tunes;
  profile.enable_max = transmitter->enable_max;
  profile.enable_limit = std::max(profile.enable_limit, 2 * transmitter->enable_max + profile.grace);
  profile.reply_deadline = transmitter->reply_max;
  profile.exchange = transmitter->reply_max / 50;  // a healthy one
  return profile;
}

constinit const DriverModel kItlaLaser{{"itla_laser",
                                        DeviceRole::transmitter,
                                        "tunable laser of OIF-ITLA-MSA-01.3, frames of four bytes over a serial line",
                                        {},
                                        nullptr,
                                        kStreamSchemes},
                                       [](const Fabric& fabric, const Device& device) -> std::unique_ptr<Driver> {
                                         return std::make_unique<ItlaDriver>(itla_profile(fabric, device));
                                       }};

}  // namespace loom
