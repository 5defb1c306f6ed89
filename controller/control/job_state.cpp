// Every state with every trigger.
#include "controller/control/job_state.hpp"

#include <array>
#include <cstddef>

#include "core/result.hpp"

namespace loom {
namespace {

using S = JobState;
using T = JobTrigger;

constexpr std::size_t kTriggers = 11;
constexpr std::array<JobRow, 6 * kTriggers> kTable{{
    {S::pending, T::planned, S::committing},
    {S::pending, T::confirmed, S::lit},
    {S::pending, T::light_kept, S::pending},
    {S::pending, T::stage_kept, S::lit},
    {S::pending, T::end_kept, S::played},
    {S::pending, T::interrupted, S::pending},
    {S::pending, T::next_stage, S::committing},
    {S::pending, T::played_to_end, S::played},
    {S::pending, T::changed, S::committing},
    {S::pending, T::refused, S::refused},
    {S::pending, T::ended, S::ended},

    {S::committing, T::planned, S::committing},
    {S::committing, T::confirmed, S::lit},
    {S::committing, T::light_kept, S::lit},  // committed again after a restart, and that failed
    {S::committing, T::stage_kept, S::lit},
    {S::committing, T::end_kept, S::played},
    {S::committing, T::interrupted, S::pending},
    {S::committing, T::next_stage, S::committing},
    {S::committing, T::played_to_end, S::played},
    {S::committing, T::changed, S::committing},
    {S::committing, T::refused, S::refused},
    {S::committing, T::ended, S::ended},

    {S::lit, T::planned, S::lit},  // other jobs changed
    {S::lit, T::confirmed, S::lit},
    {S::lit, T::light_kept, S::lit},
    {S::lit, T::stage_kept, S::lit},
    {S::lit, T::end_kept, S::played},
    {S::lit, T::interrupted, S::lit},
    {S::lit, T::next_stage, S::committing},
    {S::lit, T::played_to_end, S::played},
    {S::lit, T::changed, S::committing},
    {S::lit, T::refused, S::refused},
    {S::lit, T::ended, S::ended},

    {S::played, T::planned, S::played},
    {S::played, T::confirmed, S::played},
    {S::played, T::light_kept, S::played},
    {S::played, T::stage_kept, S::lit},
    {S::played, T::end_kept, S::played},
    {S::played, T::interrupted, S::played},
    {S::played, T::next_stage, S::committing},
    {S::played, T::played_to_end, S::played},
    {S::played, T::changed, S::committing},
    {S::played, T::refused, S::refused},
    {S::played, T::ended, S::ended},

    // A job that went while a commit with it was under way; only a rollback brings one back.
    {S::refused, T::planned, S::refused},
    {S::refused, T::confirmed, S::refused},
    {S::refused, T::light_kept, S::refused},
    {S::refused, T::stage_kept, S::lit},
    {S::refused, T::end_kept, S::played},
    {S::refused, T::interrupted, S::refused},
    {S::refused, T::next_stage, S::committing},
    {S::refused, T::played_to_end, S::played},
    {S::refused, T::changed, S::committing},
    {S::refused, T::refused, S::refused},
    {S::refused, T::ended, S::ended},

    {S::ended, T::planned, S::ended},
    {S::ended, T::confirmed, S::ended},
    {S::ended, T::light_kept, S::ended},
    {S::ended, T::stage_kept, S::lit},
    {S::ended, T::end_kept, S::played},
    {S::ended, T::interrupted, S::ended},
    {S::ended, T::next_stage, S::committing},
    {S::ended, T::played_to_end, S::played},
    {S::ended, T::changed, S::committing},
    {S::ended, T::refused, S::refused},
    {S::ended, T::ended, S::ended},
}};

}  // namespace

std::string_view to_string(JobState state) {
  static constexpr std::array<std::string_view, 6> kWords{"pending", "committing", "lit", "played", "refused", "ended"};
  return kWords[static_cast<std::size_t>(state)];
}

JobState next_state(JobState state, JobTrigger trigger) {
  const JobRow& row = kTable[static_cast<std::size_t>(state) * kTriggers + static_cast<std::size_t>(trigger)];
  LOOM_ASSERT(row.state == state && row.trigger == trigger);
  return row.next;
}

}  // namespace loom
