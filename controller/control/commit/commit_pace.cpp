// SPDX-License-Identifier: Apache-2.0
// Answers in, instants out.
#include "controller/control/commit/commit_pace.hpp"

#include <algorithm>

namespace loom {

void CommitPace::end_prepare(std::size_t asked, std::size_t repeated) {
  options_.answers.count(asked, repeated);
  const Duration prepared = std::max(kAnswerFloor, repeated < asked ? slowest_ : timings_.retry_interval);
  answer_ = std::min(options_.answers.bound(asked).value_or(prepared), prepared);
}

void CommitPace::end_arming(std::size_t asked, std::size_t repeated) {
  options_.answers.count(asked, repeated);
  if (repeated < asked) {
    options_.answers.add(asked, slowest_);
  }
}

Duration CommitPace::everybody_receives(std::size_t asked) const {
  const std::uint32_t tries = 1 + options_.answers.repeats(asked, timings_.arm_repeats);
  return (answer_ * tries + options_.fire_lateness + timings_.lead_margin) * options_.growth + 2 * timings_.clock_error;
}

Duration CommitPace::patience() const { return std::min(answer_ * options_.growth, timings_.retry_interval); }

}  // namespace loom
