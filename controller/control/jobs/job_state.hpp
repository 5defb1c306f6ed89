// SPDX-License-Identifier: Apache-2.0
// JobState: where a job stands, and the one literal table of what moves it on. Jobs (jobs.hpp) applies it; nobody else changes
// a job's state.
#pragma once

#include <cstdint>
#include <string_view>

namespace loom {

enum class JobState : std::uint8_t {
  pending,     ///< wanted, and no plan with it is on its way
  waiting,     ///< plans go on without it, for whom or what it needs is not there; see the reason
  committing,  ///< a plan with it is on its way into light
  lit,         ///< its light is confirmed, and every element of it was read as planned
  degraded,    ///< ... and some of it is weak, beside its place, or not known
  dark,        ///< ... and some of it is dark, or its lasers are latched off; see the reason
  refused,     ///< see the reason
  ended,
};

enum class JobTrigger : std::uint8_t {
  planned,            ///< a commit with it begins
  left_out,           ///< a plan was made without it
  confirmed,          ///< the light of its present stage is confirmed
  measured_lit,       ///< the worst of its circuits by the latest readings
  measured_degraded,  ///< likewise
  measured_dark,      ///< likewise
  light_kept,         ///< a plan or commit with it failed; its light is what it was
  stage_kept,         ///< its change failed: it is back in the stage that is in light
  interrupted,        ///< a commit with it failed through no fault of the job: planned again
  next_stage,         ///< another stage, or the present one again, is wanted
  changed,            ///< an operator, or its measured demand, made it another job
  refused,
  ended,
};

/// The words of reports: pending (being planned or committed), waiting, lit, degraded, dark, ended, refused.
std::string_view to_string(JobState state);

/// Its light was confirmed and is measured: lit, degraded or dark.
constexpr bool is_in_light(JobState state) {
  return state == JobState::lit || state == JobState::degraded || state == JobState::dark;
}

struct JobRow {
  JobState state;
  JobTrigger trigger;
  JobState next;
};

/// The table's row.
JobState next_state(JobState state, JobTrigger trigger);

}  // namespace loom
