// SPDX-License-Identifier: Apache-2.0
// One duration a stage, and the spread of what agents measured.
#include "controller/control/commit/commit_measures.hpp"

#include <algorithm>

namespace loom {

void CommitMeasures::keep(const Body& answer, Duration taken) {
  if (std::holds_alternative<Prepared>(answer)) {
    prepare_acks_.push_back(taken);
  } else if (const auto* armed = std::get_if<Armed>(&answer)) {
    slacks_.push_back(armed->slack);
    arm_acks_.push_back(taken);
  } else if (const auto* darkened = std::get_if<Darkened>(&answer)) {
    latenesses_.push_back(darkened->lateness);
  } else if (const auto* applied = std::get_if<Applied>(&answer); applied != nullptr && applied->fire.dark > Duration{0}) {
    dark_.push_back(applied->fire.dark);
  }
}

void CommitMeasures::end_stage(CommitState stage, Instant began, Instant now, Instant fire_at) {
  const Duration spent = now - began;
  switch (stage) {
    case CommitState::preparing:
      report_.prepare = spent;
      break;
    case CommitState::arming:
      report_.arm = spent;
      armed_at_ = now;
      break;
    case CommitState::darkening:
      report_.wait = report_.agents == 0 ? Duration{0} : std::max(Duration{0}, fire_at - armed_at_);  // nobody is to act at T
      report_.darken = std::max(Duration{0}, now - fire_at);
      break;
    case CommitState::moving:
      report_.move = spent;
      break;
    case CommitState::relighting:
      report_.relight = spent;
      break;
    default:
      break;
  }
}

CommitReport CommitMeasures::report(Instant now) const {
  const auto spread = [](std::vector<Duration> values) { return spread_of(values); };  // which sorts them
  CommitReport report = report_;
  report.total = now - report.started;
  report.prepare_ack = spread(prepare_acks_);
  report.arm_ack = spread(arm_acks_);
  report.slack = spread(slacks_);
  report.lateness = spread(latenesses_);
  report.dark = spread(dark_);
  return report;
}

}  // namespace loom
