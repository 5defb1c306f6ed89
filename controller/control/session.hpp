// SPDX-License-Identifier: Apache-2.0
// Session: one agent as seen from the controller: is it there, since when silent, what did it last say of itself. A literal
// transition table; never sends anything itself, it only says which action the controller owes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/message.hpp"
#include "core/time.hpp"

namespace loom {

enum class AgentSessionState : std::uint8_t { absent, live, suspect, dead };
enum class AgentSessionTrigger : std::uint8_t { hello, word, short_silence, long_silence };
enum class AgentSessionAction : std::uint8_t {
  none,
  welcome,       ///< answer the hello
  demand_hello,  ///< somebody speaks whom this incarnation of the controller never greeted
  report_dead,   ///< alarm
};

std::string_view to_string(AgentSessionState state);

struct AgentSessionRow {
  AgentSessionState state;
  AgentSessionTrigger trigger;
  AgentSessionState next;
  AgentSessionAction action;
};

class AgentSession {
 public:
  /// Applies the table's row and returns the action that the controller owes.
  AgentSessionAction on(AgentSessionTrigger trigger, Instant now);
  /// The silence trigger whose time has come, if any.
  AgentSessionAction judge_silence(Instant now, Duration suspect_after, Duration dead_after);

  AgentSessionState state() const { return state_; }
  bool is_present() const { return state_ == AgentSessionState::live || state_ == AgentSessionState::suspect; }
  Instant last_received() const { return last_received_; }
  /// Nothing can be lit there now.
  bool is_latched_off() const { return lasers_latched_off || node_latched_off; }

  std::uint64_t boot_id = 0;
  bool is_told = false;              ///< that it follows this controller's term it has from this incarnation of it
  std::string principal;             ///< of the key that said hello; nobody else pulses for it
  std::optional<Instant> pulsed_at;  ///< when its process last said for it that it lives
  Revision applied;
  Revision confirmed;               ///< as its last heartbeat said
  bool lasers_latched_off = false;  ///< as its Heartbeat says: by an order to all, by itself, or a contact is not closed
  bool node_latched_off = false;    ///< by an order about this node alone
  std::uint64_t laser_order = 0;    ///< number of the newest order to all
  std::uint64_t node_order = 0;     ///< of the newest order that is about this node's lasers, alone or with all others
  OwnLatch own_latch;               ///< that the agent has closed by itself
  std::uint64_t rearmed_latch = 0;  ///< the own latch that an operator's last rearm knew of, and lifts
  std::string turned_away;          ///< why its last hello was refused; empty: it was not
  bool is_reported_dark = false;    ///< by an operator, since nobody can hear it
  Instant greeted_at{};             ///< first hello of this incarnation of the agent
  bool is_unknown = false;          ///< it holds a revision that the journal does not know
  bool lacks_plan = false;          ///< it started again: it shall have the confirmed plan once its devices have been read
  std::uint32_t restores = 0;       ///< attempts at that
  Instant restore_after{};

 private:
  AgentSessionState state_ = AgentSessionState::absent;
  Instant last_received_{};
};

}  // namespace loom
