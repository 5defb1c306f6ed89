// SPDX-License-Identifier: Apache-2.0
// ClockGuard: what becomes of the controller when its host's clock is lost, and when it is back. What is lit stays so, darkness
// can be ordered, and no commit begins meanwhile.
#pragma once

#include <optional>

#include "controller/control/commit/commit_runner.hpp"
#include "controller/control/facts.hpp"
#include "controller/control/watch/alarm_board.hpp"

namespace loom {

class ClockGuard {
 public:
  ClockGuard(ControllerFacts& facts, AlarmBoard& alarms, CommitRunner& commits)
      : facts_(facts), alarms_(alarms), commits_(commits) {}

  void on(const ClockJudged& judged, EffectSink& sink);

 private:
  ControllerFacts& facts_;
  AlarmBoard& alarms_;
  CommitRunner& commits_;
  std::optional<AlarmId> alarm_;
};

}  // namespace loom
