// SPDX-License-Identifier: Apache-2.0
// Every period and deadline of the controller, in one place: scenarios say them, the controller obeys them. Defaults suit a
// loaded host with 1024 agents on loopback.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/time.hpp"

namespace loom {

/// An agent is spoken to once in so many beats while it is owed nothing; one whose process pulses for it speaks as seldom.
inline constexpr std::int64_t kBeatsAtRest = 20;

/// All positive; suspect_after < dead_after.
struct ControllerTimings {
  Duration debounce = std::chrono::milliseconds{5};         ///< changes of intent within it become one plan
  Duration retry_interval = std::chrono::milliseconds{50};  ///< an unanswered request is repeated this often
  Duration stage_deadline = std::chrono::seconds{5};       ///< a stage that lasts longer (beyond the devices' leads) has failed
  Duration lead_margin = std::chrono::milliseconds{8};     ///< added to the lead that is measured for T
  Duration clock_error = std::chrono::microseconds{0};     ///< between controller and agents, worst case
  Duration beat_interval = std::chrono::milliseconds{50};  ///< heartbeats, both ways
  Duration suspect_after = std::chrono::milliseconds{150};     ///< silence until an agent is suspected
  Duration dead_after = std::chrono::milliseconds{300};        ///< silence until an agent is declared dead
  Duration report_interval = std::chrono::milliseconds{1000};  ///< an agent's periodic observations
  Duration reconcile_interval = std::chrono::seconds{1};       ///< how often desired and observed are compared
  Duration stale_after = std::chrono::seconds{10};             ///< an observation older than this is stale
  Duration return_backoff = std::chrono::seconds{1};           ///< before a return that failed is tried again
  std::uint32_t return_attempts = 20;
  std::uint32_t late_attempts = 3;  ///< of a commit for which an agent was too late, then its new jobs are refused
  Duration attend_lease = std::chrono::seconds{3};       ///< a launcher that is silent for longer does not attend its job
  Duration quiesce_deadline = std::chrono::seconds{30};  ///< an attended job that is not quiet by then goes dark as it is
  Duration probe_lease = std::chrono::seconds{30};       ///< light that is sent to be measured goes out when nobody asks again
  Duration audit_round = std::chrono::seconds{2};        ///< in it an agent reads each of its devices once, evenly spread
  Duration repair_backoff = std::chrono::seconds{2};     ///< between the repairs of one device; doubled by each
  Duration repair_quiet = std::chrono::seconds{30};      ///< a device that was sound for so long may be repaired anew
  std::uint32_t repair_attempts = 3;                     ///< of one device, then it is left to people, aloud
  std::uint64_t plan_steps = 1'000'000'000;              ///< of a scheduler in one plan: a demand that takes more is refused
  Duration plan_deadline = std::chrono::minutes{1};      ///< a plan that takes longer is given up
  bool common_start =
      false;  ///< light that stands begins at one instant, told ahead, as light in timeslots does: edges need it
  std::uint32_t arm_repeats = 3;  ///< how many losses in a row the lead before T leaves room for at most
  bool operator==(const ControllerTimings&) const = default;
};

/// How often an agent with `devices` of them reads the next one.
constexpr Duration audit_interval(const ControllerTimings& timings, std::size_t devices) {
  const Duration even = timings.audit_round / static_cast<std::int64_t>(devices == 0 ? 1 : devices);
  return even < Duration{std::chrono::milliseconds{1}} ? Duration{std::chrono::milliseconds{1}} : even;
}

/// One poll: what an outsider does to a device in rest is known to the controller within it. A round of audits reads the
/// device, its agent reports the news at once, and once more with the periodic report if that message was lost.
constexpr Duration poll_bound(const ControllerTimings& timings) { return timings.audit_round + timings.report_interval; }

}  // namespace loom
