// SPDX-License-Identifier: Apache-2.0
// TrainingPace: how far the training process of a node is, by its own count: which iteration it wants light for, and which one
// has it. What it says again, or of the wrong iteration, changes nothing.
#pragma once

#include <cstdint>
#include <utility>

#include "agents/commit/deadline.hpp"
#include "core/messages/iteration.hpp"
#include "core/step.hpp"

namespace loom {

class TrainingPace {
 public:
  enum class Heard : std::uint8_t {
    next,      ///< it is ready for an iteration of which there was no light yet
    unsent,    ///< it has bytes left of the present one
    repeated,  ///< what was heard before
    untimely,  ///< of an iteration that it may not speak of now
  };
  Heard hear(const TrainingReady& ready) {
    if (ready.is_unsent ? ready.iteration == lit_ : ready.iteration > lit_ && !wants_light()) {
      asked_ = ready.is_unsent ? asked_ : ready.iteration;
      return ready.is_unsent ? Heard::unsent : Heard::next;
    }
    return ready.iteration == asked_ ? Heard::repeated : Heard::untimely;
  }
  bool wants_light() const { return asked_ > lit_; }
  /// The light that it wants begins, or the present one once more.
  void light(bool is_again) {
    lit_ = is_again ? lit_ : asked_;
    is_again_ = is_again;
  }
  /// Whoever is not asked, since a model paces the job, is told nothing.
  void tell(StepContext context, const IterationPlan& plan, TrainingWord::What what, Instant at) const {
    if (plan.paced_by == PacedBy::training) {
      context.sink->emit(TellTraining{{what, plan.job, plan.routed_by, lit_, is_again_, at, plan.compute}});
    }
  }

 private:
  std::uint64_t asked_ = 0;
  std::uint64_t lit_ = 0;  ///< 0: only light that nobody had asked for
  bool is_again_ = false;
};

}  // namespace loom
