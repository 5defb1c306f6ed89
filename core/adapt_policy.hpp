// SPDX-License-Identifier: Apache-2.0
// AdaptPolicy: when the light of a job that asked for it (JobSpec::adapt) follows its measured demand, and when it is held.
// Said by a scenario, obeyed by controller/control. docs/live_demand.md tells why.
#pragma once

#include <cstdint>

#include "core/time.hpp"

namespace loom {

struct AdaptPolicy {
  /// Two demands are the same if the bytes of an iteration that are in one and not in the other are at most this part of the
  /// larger one.
  double tolerance = 0.1;
  double margin = 0.05;          ///< a new plan must be predicted faster than the present light by this part
  std::int64_t hold_times = 10;  ///< light is held for so many dark times of a change, and demand must be as steady
  /// So many changes of demand within hold_times holds are restless: from the second on, each makes a hold longer by one.
  std::uint32_t restless = 3;
  Duration fresh = std::chrono::seconds{3};  ///< a node that has said nothing of its traffic for longer is not believed
  bool operator==(const AdaptPolicy&) const = default;
};

}  // namespace loom
