// SPDX-License-Identifier: Apache-2.0
// DriftPolicy: what the controller does about each way in which a device may differ from what is desired of it. Said by a
// scenario, obeyed by controller/control. A stale device has no choice: it is asked again, and there is an alarm.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/observation.hpp"

namespace loom {

enum class DriftAnswer : std::uint8_t {
  repair,  ///< a commit brings the device back to what is desired
  report,  ///< named and alarmed, left to people
  adopt,   ///< what is observed becomes desired; where that would be no lawful plan, reported
};

constexpr std::string_view to_string(DriftAnswer answer) {
  constexpr std::array<std::string_view, 3> kWords{"repair", "report", "adopt"};
  return kWords[static_cast<std::size_t>(answer)];
}

/// Only what is there can be adopted, and only where a plan can say it: light, heat or rows that nobody asked for, and a weaker
/// launch power. A missing thing is nothing to adopt; a frequency beside its slot is on no channel plan.
constexpr bool may_be_adopted(Drift drift) { return drift == Drift::foreign || drift == Drift::dim; }

struct DriftPolicy {
  DriftAnswer missing = DriftAnswer::repair;
  DriftAnswer foreign = DriftAnswer::repair;
  DriftAnswer detuned = DriftAnswer::repair;
  DriftAnswer dim = DriftAnswer::repair;

  constexpr DriftAnswer answer_to(Drift drift) const {
    switch (drift) {
      case Drift::missing:
        return missing;
      case Drift::foreign:
        return foreign;
      case Drift::detuned:
        return detuned;
      case Drift::dim:
        return dim;
      case Drift::none:
      case Drift::stale:
        break;
    }
    return DriftAnswer::report;
  }
  bool operator==(const DriftPolicy&) const = default;
};

}  // namespace loom
