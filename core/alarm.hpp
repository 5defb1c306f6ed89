// SPDX-License-Identifier: Apache-2.0
// Alarm: a code that a program can act on, the evidence, and what to type next.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/ids.hpp"

namespace loom {

enum class AlarmCode : std::uint8_t {
  agent_dead,
  agent_duplicate,  ///< a second claimant of a node's name
  stale_term,
  device_failed,
  commit_returned,
  fire_underflow,  ///< a setpoint came too late for its instant
  lasers_off,
  journal_damaged,
  malformed_message,
  clock_unsynchronised,
  drift,
  plan_refused,
  confirm_overdue,    ///< a schedule on trial was not confirmed in time and has been taken back
  job_not_quiet,      ///< an attended job was not quiet in time before its light went dark
  demand_unsteady,    ///< a job's demand changes faster than its light may follow
  receiver_withheld,  ///< a receiver is granted to nobody, because a laser that was granted it may still be lit
};

std::string_view to_string(AlarmCode code);

struct Alarm {
  AlarmCode code = AlarmCode::device_failed;
  std::optional<NodeId> node;
  std::optional<DeviceId> device;
  std::string evidence;      ///< one sentence: what, where, value and limit
  std::string next_command;  ///< what to type, e.g. "loom device show 17"
  /// The commit that caused it: what all of its agents say of it is one alarm, whichever node says it.
  std::optional<Revision> revision{};
  bool operator==(const Alarm&) const = default;
};

/// What to type next about an alarm that does not say it itself; never empty.
std::string next_command_for(const Alarm& alarm);

}  // namespace loom
