// SPDX-License-Identifier: Apache-2.0
// TrainingProcess: stands in for the training process of a node where there is none. It computes for as long as its model says,
// with the habits that a scenario gives it, and says so to its agent until it is answered with light. What it says may be lost
// or come twice.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "core/config/scenario/scenario.hpp"
#include "core/messages/training.hpp"
#include "runtime/seams.hpp"
#include "sim_backend/random.hpp"

namespace loom {

class TrainingProcess {
 public:
  /// `time` lives longer; `say` is called by its tasks.
  TrainingProcess(TimeSeam& time, const TrainingHabits& habits, Random random, std::function<void(TrainingReady ready)> say);

  void hear(const TrainingWord& word);

 private:
  struct Core;
  std::shared_ptr<Core> core_;  ///< shared with its tasks, which do nothing once it is gone
};

}  // namespace loom
