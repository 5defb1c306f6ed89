// SPDX-License-Identifier: Apache-2.0
// The slowest switch and laser, and the messages.
#include "core/fabric/dark_time.hpp"

#include <algorithm>
#include <variant>

namespace loom {

Duration settle_time_of(const Element& element) {
  return std::visit(
      [](const auto& kind) {
        if constexpr (requires { kind.settle_max; }) {
          return kind.settle_max;
        } else {
          return Duration{};
        }
      },
      element.kind);
}

Duration dark_time_of(const Fabric& fabric, const ControllerTimings& timings) {
  Duration settle{};
  Duration blank{};
  for (const Element& element : fabric.elements) {
    settle = std::max(settle, settle_time_of(element));
    if (const auto* transmitter = std::get_if<Transmitter>(&element.kind)) {
      blank = std::max(blank, transmitter->blank_max);
    }
  }
  // Twice the wait that lets every agent hear an instant (T, and the timeline's start), and the devices' own times.
  const Duration everybody_receives =
      timings.retry_interval * timings.arm_repeats + timings.lead_margin + 2 * timings.clock_error;
  return 2 * everybody_receives + settle + blank;
}

}  // namespace loom
