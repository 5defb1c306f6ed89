// SPDX-License-Identifier: Apache-2.0
// Every state with every trigger.
#include "controller/control/jobs/job_state.hpp"

#include <array>
#include <cstddef>

#include "core/result.hpp"

namespace loom {
namespace {

using S = JobState;
using T = JobTrigger;

constexpr std::size_t kTriggers = 13;
constexpr std::array<JobRow, 8 * kTriggers> kTable{{
    {S::pending, T::planned, S::committing},
    {S::pending, T::left_out, S::waiting},
    {S::pending, T::confirmed, S::lit},
    {S::pending, T::measured_lit, S::pending},
    {S::pending, T::measured_degraded, S::pending},
    {S::pending, T::measured_dark, S::pending},
    {S::pending, T::light_kept, S::lit},  // what is confirmed stays, whatever could not be planned
    {S::pending, T::stage_kept, S::lit},
    {S::pending, T::interrupted, S::pending},
    {S::pending, T::next_stage, S::committing},
    {S::pending, T::changed, S::committing},
    {S::pending, T::refused, S::refused},
    {S::pending, T::ended, S::ended},

    // What it needs may be there with any plan that is made.
    {S::waiting, T::planned, S::committing},
    {S::waiting, T::left_out, S::waiting},
    {S::waiting, T::confirmed, S::lit},
    {S::waiting, T::measured_lit, S::waiting},
    {S::waiting, T::measured_degraded, S::waiting},
    {S::waiting, T::measured_dark, S::waiting},
    {S::waiting, T::light_kept, S::waiting},
    {S::waiting, T::stage_kept, S::lit},
    {S::waiting, T::interrupted, S::waiting},
    {S::waiting, T::next_stage, S::committing},
    {S::waiting, T::changed, S::committing},
    {S::waiting, T::refused, S::refused},
    {S::waiting, T::ended, S::ended},

    {S::committing, T::planned, S::committing},
    {S::committing, T::left_out, S::waiting},
    {S::committing, T::confirmed, S::lit},
    {S::committing, T::measured_lit, S::committing},  // its light is not confirmed yet, whatever its devices read
    {S::committing, T::measured_degraded, S::committing},
    {S::committing, T::measured_dark, S::committing},
    {S::committing, T::light_kept, S::lit},  // committed again after a restart, and that failed
    {S::committing, T::stage_kept, S::lit},
    {S::committing, T::interrupted, S::pending},
    {S::committing, T::next_stage, S::committing},
    {S::committing, T::changed, S::committing},
    {S::committing, T::refused, S::refused},
    {S::committing, T::ended, S::ended},

    {S::lit, T::planned, S::lit},       // other jobs changed
    {S::lit, T::left_out, S::waiting},  // its lasers were off, and light that it had cannot come back yet
    {S::lit, T::confirmed, S::lit},
    {S::lit, T::measured_lit, S::lit},
    {S::lit, T::measured_degraded, S::degraded},
    {S::lit, T::measured_dark, S::dark},
    {S::lit, T::light_kept, S::lit},
    {S::lit, T::stage_kept, S::lit},
    {S::lit, T::interrupted, S::lit},
    {S::lit, T::next_stage, S::committing},
    {S::lit, T::changed, S::committing},
    {S::lit, T::refused, S::refused},
    {S::lit, T::ended, S::ended},

    // As lit: only what is measured tells the three apart.
    {S::degraded, T::planned, S::degraded},
    {S::degraded, T::left_out, S::waiting},
    {S::degraded, T::confirmed, S::degraded},
    {S::degraded, T::measured_lit, S::lit},
    {S::degraded, T::measured_degraded, S::degraded},
    {S::degraded, T::measured_dark, S::dark},
    {S::degraded, T::light_kept, S::degraded},
    {S::degraded, T::stage_kept, S::lit},
    {S::degraded, T::interrupted, S::degraded},
    {S::degraded, T::next_stage, S::committing},
    {S::degraded, T::changed, S::committing},
    {S::degraded, T::refused, S::refused},
    {S::degraded, T::ended, S::ended},

    {S::dark, T::planned, S::dark},
    {S::dark, T::left_out, S::waiting},
    {S::dark, T::confirmed, S::dark},
    {S::dark, T::measured_lit, S::lit},
    {S::dark, T::measured_degraded, S::degraded},
    {S::dark, T::measured_dark, S::dark},
    {S::dark, T::light_kept, S::dark},
    {S::dark, T::stage_kept, S::lit},
    {S::dark, T::interrupted, S::dark},
    {S::dark, T::next_stage, S::committing},
    {S::dark, T::changed, S::committing},
    {S::dark, T::refused, S::refused},
    {S::dark, T::ended, S::ended},

    // A job that went while a commit with it was under way; only a rollback brings one back.
    {S::refused, T::planned, S::refused},
    {S::refused, T::left_out, S::refused},
    {S::refused, T::confirmed, S::refused},
    {S::refused, T::measured_lit, S::refused},
    {S::refused, T::measured_degraded, S::refused},
    {S::refused, T::measured_dark, S::refused},
    {S::refused, T::light_kept, S::refused},
    {S::refused, T::stage_kept, S::lit},
    {S::refused, T::interrupted, S::refused},
    {S::refused, T::next_stage, S::committing},
    {S::refused, T::changed, S::committing},
    {S::refused, T::refused, S::refused},
    {S::refused, T::ended, S::ended},

    {S::ended, T::planned, S::ended},
    {S::ended, T::left_out, S::ended},
    {S::ended, T::confirmed, S::ended},
    {S::ended, T::measured_lit, S::ended},
    {S::ended, T::measured_degraded, S::ended},
    {S::ended, T::measured_dark, S::ended},
    {S::ended, T::light_kept, S::ended},
    {S::ended, T::stage_kept, S::lit},
    {S::ended, T::interrupted, S::ended},
    {S::ended, T::next_stage, S::committing},
    {S::ended, T::changed, S::committing},
    {S::ended, T::refused, S::refused},
    {S::ended, T::ended, S::ended},
}};

}  // namespace

std::string_view to_string(JobState state) {
  static constexpr std::array<std::string_view, 8> kWords{"pending",  "waiting", "pending", "lit",
                                                          "degraded", "dark",    "refused", "ended"};
  return kWords[static_cast<std::size_t>(state)];
}

JobState next_state(JobState state, JobTrigger trigger) {
  const JobRow& row = kTable[static_cast<std::size_t>(state) * kTriggers + static_cast<std::size_t>(trigger)];
  LOOM_ASSERT(row.state == state && row.trigger == trigger);
  return row.next;
}

}  // namespace loom
