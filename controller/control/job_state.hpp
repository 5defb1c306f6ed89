// JobState: where a job stands, and the one literal table of what moves it on. Jobs (jobs.hpp) applies it; nobody else changes
// a job's state.
#pragma once

#include <cstdint>
#include <string_view>

namespace loom {

enum class JobState : std::uint8_t {
  pending,     ///< wanted, and no plan with it is on its way
  committing,  ///< a plan with it is on its way into light
  lit,
  played,   ///< all cycles of its last stage have been played; its light stands
  refused,  ///< see the reason
  ended,
};

enum class JobTrigger : std::uint8_t {
  planned,        ///< a commit with it begins
  confirmed,      ///< the light of its present stage is confirmed
  light_kept,     ///< a commit with it failed; its light is what it was
  stage_kept,     ///< its change failed: it is back in an earlier stage than its last, which is in light
  end_kept,       ///< its change failed: it is back in its last stage, which is in light
  interrupted,    ///< a commit with it failed through no fault of the job: planned again
  next_stage,     ///< another stage, or the present one again, is wanted
  played_to_end,  ///< its last stage has been played
  changed,        ///< an operator, or its measured demand, made it another job
  refused,
  ended,
};

/// The words of reports.
std::string_view to_string(JobState state);

struct JobRow {
  JobState state;
  JobTrigger trigger;
  JobState next;
};

/// The table's row.
JobState next_state(JobState state, JobTrigger trigger);

}  // namespace loom
