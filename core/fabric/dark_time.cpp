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

Duration own_time_of(const Fabric& fabric, const Device& device, const Setpoint* before, const Setpoint& after) {
  const Element& element = fabric.element(device.elements.front());
  const auto* laser = std::get_if<TransmitterSetpoint>(&after);
  if (laser == nullptr) {
    return before != nullptr && *before == after ? Duration{} : settle_time_of(element);
  }
  const auto& promised = std::get<Transmitter>(element.kind);
  const auto* held = before == nullptr ? nullptr : std::get_if<TransmitterSetpoint>(before);
  const bool tunes = held == nullptr || held->slot != laser->slot;
  return (tunes ? promised.retune_max : Duration{}) + (laser->emit ? promised.enable_max : Duration{});
}

std::optional<SlowestDevice> slowest_of(const Fabric& fabric, const Plan& plan,
                                        const std::function<const Setpoint*(DeviceId)>& before) {
  std::optional<SlowestDevice> slowest;
  for (const NodePlan& node : plan.nodes) {
    for (const DevicePlan& moved : node.devices) {
      const Duration time = moved.touched ? own_time_of(fabric, fabric.device(moved.device), before(moved.device),
                                                        moved.timeline.front().setpoint)
                                          : Duration{};
      if (time > (slowest ? slowest->time : Duration{})) {
        slowest = {moved.device, time};
      }
    }
  }
  return slowest;
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
