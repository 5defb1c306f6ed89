// SPDX-License-Identifier: Apache-2.0
// What an agent and the training process of its node tell each other about the beginning of iterations.
#pragma once

#include <cstdint>

#include "core/ids.hpp"
#include "core/time.hpp"

namespace loom {

/// Who says that a node is ready for the next iteration.
enum class PacedBy : std::uint8_t {
  model,     ///< the compute time of the job's model, from the end of the light on
  training,  ///< its training process
};

/// From the training process. Iterations are counted by the process, ascending; the agent counts passes.
struct TrainingReady {
  std::uint64_t iteration = 0;  ///< > 0
  bool is_unsent = false;       ///< not ready: bytes of this iteration, whose light is over, are still to be sent
  bool operator==(const TrainingReady&) const = default;
};

/// To the training process.
struct TrainingWord {
  enum class What : std::uint8_t {
    lit,   ///< the light of `iteration` begins at `at`
    over,  ///< it is over; ready for the next one?
    none,  ///< no light repeats here any more
  };
  What what = What::none;
  JobId job;
  Revision laid_by;             ///< the revision that laid this light
  std::uint64_t iteration = 0;  ///< of the process; 0: light that came before it was asked for, with the commit
  bool is_again = false;        ///< lit once more, for some of it had stayed dark
  Instant at{};                 ///< of the host's clock
  Duration compute{};           ///< what the job's model says that comes next
  bool operator==(const TrainingWord&) const = default;
};

}  // namespace loom
