// SPDX-License-Identifier: Apache-2.0
// Every row of the table of a job's states, written out once more.
#include <catch2/catch.hpp>
#include <utility>
#include <vector>

#include "controller/control/jobs/job_state.hpp"

namespace loom {
namespace {

using S = JobState;
using T = JobTrigger;

TEST_CASE("job: every state answers every trigger") {
  const std::vector<S> states{S::pending, S::waiting, S::committing, S::lit, S::degraded, S::dark, S::refused, S::ended};
  // What each trigger leads to from each of them.
  const std::vector<std::pair<T, std::vector<S>>> rows{
      {T::planned, {S::committing, S::committing, S::committing, S::lit, S::degraded, S::dark, S::refused, S::ended}},
      {T::left_out, {S::waiting, S::waiting, S::waiting, S::waiting, S::waiting, S::waiting, S::refused, S::ended}},
      {T::confirmed, {S::lit, S::lit, S::lit, S::lit, S::degraded, S::dark, S::refused, S::ended}},
      {T::measured_lit, {S::pending, S::waiting, S::committing, S::lit, S::lit, S::lit, S::refused, S::ended}},
      {T::measured_degraded,
       {S::pending, S::waiting, S::committing, S::degraded, S::degraded, S::degraded, S::refused, S::ended}},
      {T::measured_dark, {S::pending, S::waiting, S::committing, S::dark, S::dark, S::dark, S::refused, S::ended}},
      {T::light_kept, {S::lit, S::waiting, S::lit, S::lit, S::degraded, S::dark, S::refused, S::ended}},
      {T::stage_kept, {S::lit, S::lit, S::lit, S::lit, S::lit, S::lit, S::lit, S::lit}},
      {T::interrupted, {S::pending, S::waiting, S::pending, S::lit, S::degraded, S::dark, S::refused, S::ended}},
      {T::next_stage,
       {S::committing, S::committing, S::committing, S::committing, S::committing, S::committing, S::committing,
        S::committing}},
      {T::changed,
       {S::committing, S::committing, S::committing, S::committing, S::committing, S::committing, S::committing,
        S::committing}},
      {T::refused, {S::refused, S::refused, S::refused, S::refused, S::refused, S::refused, S::refused, S::refused}},
      {T::ended, {S::ended, S::ended, S::ended, S::ended, S::ended, S::ended, S::ended, S::ended}},
  };
  for (const auto& [trigger, next] : rows) {
    REQUIRE(next.size() == states.size());
    for (std::size_t i = 0; i < states.size(); ++i) {
      INFO(to_string(states[i]) << " and trigger " << static_cast<int>(trigger));
      CHECK(next_state(states[i], trigger) == next[i]);
    }
  }
}

}  // namespace
}  // namespace loom
