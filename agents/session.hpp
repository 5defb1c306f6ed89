// SPDX-License-Identifier: Apache-2.0
// Session: the agent's side of knowing the controller. Hello until welcomed, then heartbeats; a silent controller sends it
// back to hello. It never touches light: silence keeps the last good plan (fail-static). Where the process pulses for its
// agents, heartbeats that say nothing new become seldom.
#pragma once

#include <cstdint>
#include <optional>

#include "agents/commit/deadline.hpp"
#include "core/time.hpp"

namespace loom {

enum class SessionState : std::uint8_t {
  greeting,     ///< hello, again and again
  turned_away,  ///< unwelcome: hello again, but later
  joined,
};
enum class SessionEvent : std::uint8_t { welcome, unwelcome, silence, newer_term };

struct SessionRow {
  SessionState from;
  SessionEvent event;
  SessionState to;
};

/// Every state with every event.
inline constexpr SessionRow kSessionTable[] = {
    {SessionState::greeting, SessionEvent::welcome, SessionState::joined},
    {SessionState::greeting, SessionEvent::unwelcome, SessionState::turned_away},
    {SessionState::greeting, SessionEvent::silence, SessionState::greeting},
    {SessionState::greeting, SessionEvent::newer_term, SessionState::greeting},
    {SessionState::turned_away, SessionEvent::welcome, SessionState::joined},
    {SessionState::turned_away, SessionEvent::unwelcome, SessionState::turned_away},
    {SessionState::turned_away, SessionEvent::silence, SessionState::turned_away},
    {SessionState::turned_away, SessionEvent::newer_term, SessionState::greeting},
    {SessionState::joined, SessionEvent::welcome, SessionState::joined},
    {SessionState::joined, SessionEvent::unwelcome, SessionState::turned_away},
    {SessionState::joined, SessionEvent::silence, SessionState::greeting},
    {SessionState::joined, SessionEvent::newer_term, SessionState::greeting},
};

struct SessionOptions {
  Duration hello_interval{};
  Duration heartbeat_interval{};         ///< until a Welcome says otherwise
  std::int64_t turned_away_factor = 10;  ///< hello intervals to wait after Unwelcome
  std::int64_t silence_factor = 5;       ///< heartbeat intervals without a word that are silence
  bool is_pulsed = false;                ///< the process says for this agent that it lives (core/timings.hpp: kBeatsAtRest)
};

class Session {
 public:
  explicit Session(const SessionOptions& options) : options_(options) {}

  enum class Due : std::uint8_t { nothing, hello, heartbeat };

  /// The first hello no later than one hello interval from now.
  void start(StepContext context);
  /// The first hello now: everything that it reports is known.
  void hurry(StepContext context);
  void welcome(StepContext context, Duration heartbeat_interval);
  void unwelcome(StepContext context);
  /// Any lawful message of the controller.
  void received(Instant now) { received_at_ = now; }
  /// The controller is another one than before: it has to be greeted.
  void newer_term(StepContext context);
  /// What has to be said now; call again until nothing. `has_news`: the next heartbeat would not be the last one again.
  Due advance(StepContext context, bool has_news = true);
  /// A heartbeat went out of turn. If it is lost, others follow soon.
  void stir(StepContext context);

  SessionState state() const { return state_; }
  Duration heartbeat_interval() const { return options_.heartbeat_interval; }

 private:
  void enter(SessionEvent event);
  bool is_resting() const;
  Duration quiet_interval() const;

  SessionOptions options_;
  SessionState state_ = SessionState::greeting;
  Instant received_at_{};
  std::uint32_t quiet_beats_ = 0;  ///< heartbeats in a row that said nothing new
  Deadline next_{kSessionTimer, Precision::relaxed};
};

}  // namespace loom
