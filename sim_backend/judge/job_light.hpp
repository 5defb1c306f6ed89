// SPDX-License-Identifier: Apache-2.0
// JobLight: when a job had the light that was decided for it, and when not, and why. Measured from ground truth against the
// plans, never from what a controller says of itself. Pure: the same history and the same light give the same account.
//
// Dark is a job whose plan wants light that is not there: a standing circuit that does not reach its receiver, timeslots
// without any light for longer than their cycle, a timeslot that no pass of the timeslots lit. Between its timeslots, and once
// they have been played, a job wants no light. Darkness is *planned* while a commit moves the job (and, once, while that commit
// is taken back), while lasers are ordered off, and before the first light for kFirstLightBound at most.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/fabric/light.hpp"
#include "sim_backend/judge/plan_history.hpp"

namespace loom {

/// A job that has waited so long for its first light is dark, and not by plan.
inline constexpr Duration kFirstLightBound = std::chrono::seconds{10};

/// A job, or what a scenario submitted of one: until something else changed its traffic.
struct JobHistory {
  JobId job;
  Instant from{};   ///< acknowledged
  Instant until{};  ///< cancelled, changed, or the end of the run
};

/// Something that was done to a device or a machine: what may be the reason of darkness, for people.
struct FaultNote {
  Instant from{};
  Instant to = kNever;
  std::string text;  ///< `wss-in-0: fail`
};

struct DarkTime {
  TimeSpan span;
  bool planned = false;
  std::string why;
  Duration due{};  ///< after `span.from`: light was not missed before
};

struct JobLight {
  TimeSpans lit;
  std::vector<DarkTime> dark;  ///< ascending
  Duration lit_time() const { return length_of(lit); }
  Duration dark_time() const;
};

/// Windows of light by link, for many questions about one timeline.
class LinkWindows {
 public:
  explicit LinkWindows(const LightTimeline& light);
  /// Null: it was never lit.
  const TimeSpans* of(const PlannedLink& link) const;

 private:
  std::map<std::pair<ElementId, ElementId>, TimeSpans> windows_;
};

JobLight job_light(const PlanHistory& history, const LinkWindows& windows, const JobHistory& job_history,
                   std::span<const FaultNote> faults);

/// What holds of the job as one plan after the other was decided: for whoever counts what its light carried.
struct PlanPhase {
  TimeSpan span;
  std::shared_ptr<const PlannedLight> base;  ///< of the last confirmed plan; null: none yet, or none any more
  Instant base_since{};                      ///< when the commit that brought it began
  const PlannedRevision* moving = nullptr;   ///< the commit that moves the job meanwhile
  bool is_return = false;                    ///< ... and failed, and what was there before is being brought back
};
std::vector<PlanPhase> plan_phases(const PlanHistory& history, JobId job, Instant end);

/// Where the timeslots of `base` were played: from their first light after `since` on, for all passes. Empty: no light came.
TimeSpans played_span(const PlannedLight& base, Instant since, const LinkWindows& windows, Instant end);

}  // namespace loom
