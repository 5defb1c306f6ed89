// SPDX-License-Identifier: Apache-2.0
// Answers in, instants out.
#include "controller/control/commit/commit_pace.hpp"

#include <algorithm>

namespace loom {
namespace {

/// Agents, from which on a stage that had most of them repeated was late: of fewer, losses may have done it [K].
constexpr std::size_t kMany = 8;

}  // namespace

/// Where most were asked more than once, what the others took says too little, and the whole stage bounds an answer.
void CommitPace::end_prepare(std::size_t asked, std::size_t repeated, Duration spent) {
  options_.answers.count(asked, asked >= kMany && 2 * repeated > asked ? 0 : repeated);
  const Duration prepared = std::max(kAnswerFloor, 2 * repeated < asked ? slowest_ : spent);
  answer_ = std::min(options_.answers.bound(asked).value_or(prepared), prepared);
}

void CommitPace::end_arming(std::size_t asked, std::size_t repeated) {
  options_.answers.count(asked, repeated);
  loses_ = repeated > 0;
  heard_ = answer_;
  if (repeated < asked) {
    options_.answers.add(asked, slowest_);
    heard_ = std::max(kAnswerFloor, slowest_);
  }
}

void CommitPace::keep_lateness(Duration lateness) { lateness_ = std::max(lateness_.value_or(Duration{}), lateness); }

std::uint32_t CommitPace::hear_tries(std::size_t asked) const {
  return loses_ ? 1 + options_.answers.repeats(asked, timings_.arm_repeats) : 1;
}

Duration CommitPace::everybody_hears(std::size_t asked) const {
  return hearing() * hear_tries(asked) + 2 * timings_.clock_error;
}

Duration CommitPace::everybody_receives(std::size_t asked) const {
  const std::uint32_t tries = 1 + options_.answers.repeats(asked, timings_.arm_repeats);
  return (answer_ * tries + lateness_.value_or(options_.fire_lateness) + timings_.lead_margin) * options_.growth +
         2 * timings_.clock_error;
}

Duration CommitPace::patience() const { return answer_ * options_.growth; }

}  // namespace loom
