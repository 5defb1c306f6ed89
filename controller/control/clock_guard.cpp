// SPDX-License-Identifier: Apache-2.0
// One alarm, and whoever waited goes on.
#include "controller/control/clock_guard.hpp"

#include <utility>

namespace loom {

void ClockGuard::on(const ClockJudged& judged, EffectSink& sink) {
  const bool was_good = !facts_.clock_problem;
  facts_.clock_problem = judged.problem;
  if (judged.problem) {
    Alarm alarm;
    alarm.code = AlarmCode::clock_unsynchronised;
    alarm.evidence = "no commit begins: the controller's " + judged.problem->message;
    alarm.next_command = judged.problem->next_command;
    alarm_ = alarms_.raise_apart(alarm_, std::move(alarm), facts_.now, sink);
    return;
  }
  if (alarm_) {
    alarms_.clear(*alarm_);
  }
  if (!was_good) {
    commits_.begin_if_ready(sink);
    commits_.consider_planning(sink);
  }
}

}  // namespace loom
