// SPDX-License-Identifier: Apache-2.0
// ReadBackDriver: what every driver shares that reads before it writes, and is settled only when its device reads back as
// wanted. It walks the driver's table of states with one exchange outstanding at most, retries what failed, reads back a write
// whose answer was lost, and gives up in a sentence. It knows no protocol: what is said, what an answer means and what comes
// next is the driver's, in the functions that it overrides.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/result.hpp"
#include "core/text/format_text.hpp"
#include "drivers/driver.hpp"
#include "drivers/last_verified.hpp"
#include "drivers/operation_state.hpp"
#include "drivers/retry_state.hpp"

namespace loom {

/// Where a device is, and how long its driver waits for it.
struct DeviceProfile {
  DeviceId device;
  std::string name;
  std::uint16_t bus_address = 0;
  Duration settle_max{};                                     ///< of what moves in it, worst case
  Duration grace = std::chrono::milliseconds{200};           ///< beyond twice settle_max, then it is a failure [K]
  Duration reply_deadline = std::chrono::milliseconds{500};  ///< of one exchange [K]; libmodbus' default response time-out too
  Duration exchange{};                                       ///< of one healthy exchange, for lead()

  void take(const Device& row) {
    device = row.id;
    name = row.name;
    bus_address = row.bus_address;
  }
};

/// What a state does on the bus.
enum class Exchange : std::uint8_t {
  none,  ///< nothing: it waits until ready_at()
  asks,  ///< reads, or sets what moves nothing: may be repeated
  moves  ///< writes: what became of it is unknown until it is read back
};

/// One state of a driver's procedure. A table has a row a state, in the order of the enum.
template <class State>
struct ProcedureRow {
  State state;
  Exchange exchange;
  State then;       ///< it was answered, or its wait is over
  State uncertain;  ///< its exchange failed: a write is read back before it is repeated
};

enum class Answer : std::uint8_t {
  understood,
  none,  ///< no answer to what was asked: the exchange failed
  ended  ///< it settled the matter: give_up() was called
};

/// `Profile`: a DeviceProfile and what else the driver must know. `State`: has `rest`, the first (nothing is under way), and
/// `decide` (no exchange: resolve() says what comes next). `Held`: one thing that the device holds (a connection, a channel
/// with its port, a heater's voltage), equality comparable; a setpoint is a list of them.
template <class Profile, class State, class Held>
class ReadBackDriver : public Driver {
 public:
  void stage(const Setpoint& setpoint) final {
    staged_ = held_by(setpoint);
    has_staged_ = true;
  }
  void fire() final;
  void poll() final;
  Step step(Instant now, const BusReply* reply) final;
  DriverActivity activity() const final { return operation_.activity(state_ == State::rest); }
  Observation observe() const final { return operation_.observation(); }

 protected:
  using Row = ProcedureRow<State>;

  /// `table` is literal. Who derives reserves in `target_` what any setpoint needs: fire() copies without allocating.
  ReadBackDriver(Profile profile, std::span<const Row> table) : profile_(std::move(profile)), table_(table) {
    operation_.observation().device = profile_.device;
  }

  /// What the device holds when it has been set so, in the order of the setpoint.
  virtual std::vector<Held> held_by(const Setpoint& setpoint) const = 0;
  /// A fire or an audit begins: forget what it must find out anew.
  virtual void begin() = 0;
  /// Follows `state` to one that waits or has an exchange, or to rest: the procedure is over.
  virtual State resolve(State state, Instant now) = 0;
  /// The procedure came to rest: finish or give up.
  virtual void conclude() = 0;
  /// What the state's exchange asks, as it goes to the bus, and as a sentence names it.
  virtual decltype(Transaction::order) order() const = 0;
  virtual std::string question() const = 0;
  /// Keeps what an answer of status ok tells.
  virtual Answer absorb(Instant now, const BusReply& reply) = 0;
  /// Of an answer that is none: its kind (a wrong checksum, a "not now" in words of its own), and "\"OK\" for an answer". Empty
  /// words: there are none.
  virtual Complaint misread(const BusReply& reply) const = 0;
  /// The state's exchange failed: whatever rests on it is not known any more.
  virtual void mark_uncertain(Instant now, const BusReply& reply) = 0;
  /// The state's answer was understood, and nothing newer is asked for.
  virtual void proceed(Instant now) { enter(row().then, now); }
  /// The state does nothing before this.
  virtual Instant ready_at() const { return retry_.resume_at(); }
  /// It was given up: what is remembered of the device beside last_verified_ is believed no more.
  virtual void forget() {}

  const Row& row() const { return table_[static_cast<std::size_t>(state_)]; }
  void enter(State state, Instant now);
  /// `words` need not name the device.
  void give_up(Trouble trouble, std::string_view words);
  /// How long it may take a device to come to rest before that is a failure.
  Duration patience() const { return 2 * profile_.settle_max + profile_.grace; }
  /// It moves: ask again when a fair part of its time to settle has gone by.
  void ask_again_later(Instant now);
  /// A held thing that `target_` keeps and that is gone though nobody wrote.
  template <class IsThere>
  std::optional<Held> find_lost(IsThere is_there) const {
    return last_verified_.lost(target_, is_there);
  }

  Profile profile_;
  std::vector<Held> target_;
  std::vector<Held> staged_;           ///< what fire() will aim at
  std::uint32_t only_connection_ = 0;  ///< of the bus, on which alone the next exchange makes sense; 0: on any
  LastVerified<Held> last_verified_;
  OperationState operation_;
  RetryState retry_;
  State state_ = State::rest;

 private:
  /// An answer that comes late is taken for the next one's, and each of them is asked for again: not for ever. [K]
  static constexpr int kInVainMost = 2 * RetryState::kTries;
  static constexpr Duration kDeadlineUsual = std::chrono::milliseconds{500};

  void receive(Instant now, const BusReply& reply);
  void receive_failure(Instant now, const BusReply& reply);

  std::span<const Row> table_;
  bool has_staged_ = false;
  Instant asked_at_{};         ///< the exchange under way
  Duration waited_in_vain_{};  ///< of this operation, for answers
};

// For drivers whose exchanges are lines of text.

std::string_view characters_of(const BusReply& reply);
Frame line_order(std::string_view line, std::string_view terminator);
/// In quotes, its first `shown` characters at most.
std::string quoted(std::string_view text, std::size_t shown);
/// As quoted(), and says by "..." that it was cut.
std::string clipped(std::string_view text, std::size_t shown);

/// "Try later" of a device behind registers (Modbus application protocol V1.1b3 section 7: device busy); every other exception
/// is a refusal.
bool is_busy(const BusReply& reply);

template <class Profile, class State, class Held>
void ReadBackDriver<Profile, State, Held>::fire() {
  LOOM_ASSERT(has_staged_);
  target_.assign(staged_.begin(), staged_.end());
  operation_.ask_fire();
}

template <class Profile, class State, class Held>
void ReadBackDriver<Profile, State, Held>::poll() {
  if (state_ == State::rest) {
    operation_.ask_audit();
  }
}

template <class Profile, class State, class Held>
Step ReadBackDriver<Profile, State, Held>::step(Instant now, const BusReply* reply) {
  if (reply != nullptr && retry_.received()) {
    receive(now, *reply);
  }
  if (retry_.is_waiting()) {
    return {std::nullopt, kNever};
  }
  while (true) {
    if (operation_.is_overtaken() || (operation_.is_asked() && state_ == State::rest)) {
      retry_.start_over();
      operation_.begin();
      waited_in_vain_ = {};
      begin();
      state_ = State::rest;
      enter(State::decide, now);
    }
    if (state_ == State::rest && operation_.is_asked()) {
      continue;
    }
    if (state_ == State::rest) {
      return {std::nullopt, kNever};
    }
    if (const Instant ready = ready_at(); now < ready) {
      return {std::nullopt, ready};
    }
    if (row().exchange != Exchange::none) {
      retry_.sent();
      asked_at_ = now;
      return {Transaction{profile_.device, profile_.bus_address, order(), profile_.reply_deadline, only_connection_}, kNever};
    }
    enter(row().then, now);
  }
}

template <class Profile, class State, class Held>
void ReadBackDriver<Profile, State, Held>::enter(State state, Instant now) {
  state_ = resolve(state, now);
  if (state_ == State::rest) {
    conclude();
  }
}

template <class Profile, class State, class Held>
void ReadBackDriver<Profile, State, Held>::receive(Instant now, const BusReply& reply) {
  switch (reply.status == BusStatus::ok ? absorb(now, reply) : Answer::none) {
    case Answer::ended:
      return;
    case Answer::none:
      receive_failure(now, reply);
      return;
    case Answer::understood:
      retry_.understood();
      if (!operation_.is_overtaken()) {  // by a newer fire(): keep the knowledge, drop the procedure
        proceed(now);
      }
  }
}

template <class Profile, class State, class Held>
void ReadBackDriver<Profile, State, Held>::receive_failure(Instant now, const BusReply& reply) {
  mark_uncertain(now, reply);
  const std::string asked = question() + ": ";
  if (reply.status == BusStatus::exception && !is_busy(reply)) {
    give_up(trouble_of(reply), format_text("{}refused with {}", asked, describe(reply, profile_.reply_deadline)));
    return;
  }
  const Complaint misread_as =
      reply.status == BusStatus::ok ? misread(reply) : Complaint{trouble_of(reply), describe(reply, profile_.reply_deadline)};
  const Trouble trouble = misread_as.trouble == Trouble::none ? trouble_of(reply) : misread_as.trouble;
  const std::string what = asked + (misread_as.empty() ? describe(reply, profile_.reply_deadline) : misread_as.words);
  waited_in_vain_ += now - asked_at_;
  if (!retry_.may_retry(now)) {
    give_up(trouble, format_text("{} in {} tries", what, RetryState::kTries));
    return;
  }
  if (waited_in_vain_ > kInVainMost * std::max(profile_.reply_deadline, kDeadlineUsual)) {
    give_up(trouble, format_text("{}; its answers did not come for {} of one operation", what, describe(waited_in_vain_)));
    return;
  }
  if (operation_.is_silent() && reply.status != BusStatus::nack) {
    give_up(trouble, what);
    return;
  }
  operation_.struggle({trouble, format_text("{}: {}{}", profile_.name, what, retry_.attempt())});
  if (!operation_.is_overtaken()) {
    enter(row().uncertain, now);
  }
}

template <class Profile, class State, class Held>
void ReadBackDriver<Profile, State, Held>::give_up(Trouble trouble, std::string_view words) {
  operation_.give_up({trouble, format_text("{}: {}", profile_.name, words)});
  state_ = State::rest;
  last_verified_.forget();
  forget();
}

template <class Profile, class State, class Held>
void ReadBackDriver<Profile, State, Held>::ask_again_later(Instant now) {
  constexpr Duration kSoonest = std::chrono::milliseconds{1};
  constexpr Duration kLatest = std::chrono::milliseconds{20};
  retry_.pause_until(now + std::clamp<Duration>(profile_.settle_max / 16, kSoonest, kLatest));
}

}  // namespace loom
