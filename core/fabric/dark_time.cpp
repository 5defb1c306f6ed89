// SPDX-License-Identifier: Apache-2.0
// The slowest switch and laser, and the messages.
#include "core/fabric/dark_time.hpp"

#include <algorithm>
#include <variant>

namespace loom {

Duration dark_time_of(const Fabric& fabric, const ControllerTimings& timings) {
  Duration settle{};
  Duration blank{};
  for (const Element& element : fabric.elements) {
    if (const auto* wss = std::get_if<WavelengthSelectiveSwitch>(&element.kind)) {
      settle = std::max(settle, wss->settle_max);
    } else if (const auto* ocs = std::get_if<OpticalCircuitSwitch>(&element.kind)) {
      settle = std::max(settle, ocs->settle_max);
    } else if (const auto* transmitter = std::get_if<Transmitter>(&element.kind)) {
      blank = std::max(blank, transmitter->blank_max);
    }
  }
  // Twice the wait that lets every agent hear an instant (T, and the timeline's start), and the devices' own times.
  const Duration everybody_receives =
      timings.retry_interval * timings.arm_repeats + timings.lead_margin + 2 * timings.clock_error;
  return 2 * everybody_receives + settle + blank;
}

}  // namespace loom
