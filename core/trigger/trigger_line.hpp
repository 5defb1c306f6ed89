// SPDX-License-Identifier: Apache-2.0
// TriggerLine: a line of an agent's host whose edge has devices take over what they hold ready, as a value; and the order by
// which an edge is asked for, which is a write to registers as any other. So lanes, tapes and simulation need not know of
// edges.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/ids.hpp"
#include "core/time.hpp"
#include "core/transaction.hpp"

namespace loom {

/// An output of a GPIO character device. The kernel gives its edge when it is told to: a thread waits for the instant.
struct GpioOutput {
  std::string chip;  ///< /dev/gpiochip0
  std::uint32_t line = 0;
  bool active_low = false;  ///< the edge falls
  Duration pulse = std::chrono::microseconds{10};
  bool operator==(const GpioOutput&) const = default;
};

/// A periodic output of a PTP hardware clock, which gives the edge by itself. Its time is TAI (IEEE 1588 clause 7.2.1).
struct PhcOutput {
  std::string clock;  ///< /dev/ptp0
  std::uint32_t channel = 0;
  std::optional<std::uint32_t> pin{};  ///< that the channel shall appear at; nothing: the card's wiring says it
  bool operator==(const PhcOutput&) const = default;
};

/// An edge of the simulation, up to `skew` late.
struct SimulatedEdge {
  Duration skew{};
  bool operator==(const SimulatedEdge&) const = default;
};

using TriggerPlace = std::variant<GpioOutput, PhcOutput, SimulatedEdge>;

/// One line of an installation. Its devices are of one node: they take an edge together.
struct TriggerLine {
  std::string name;
  std::string endpoint;  ///< gpio:///dev/gpiochip0/17?pulse=10us, phc:///dev/ptp0?channel=0&pin=1, sim
  NodeId agent;
  std::vector<DeviceId> devices;  ///< not empty
  bool operator==(const TriggerLine&) const = default;
};

/// What orders for the line number `index` of an installation are submitted to: no bus of its fabric.
inline BusId trigger_bus(const Fabric& fabric, std::size_t index) {
  return BusId{static_cast<std::uint32_t>(fabric.buses.size() + index)};
}

/// Registers of a line: the instant of its next edge in four words, most significant first, in ns of the host's clock; 0: none.
inline constexpr std::uint16_t kEdgeWords = 4;

/// Asks for one edge at `at`, in the place of one that was asked for and was not given yet; Instant{}: for none.
Transaction edge_order(DeviceId device, Instant at);
/// The instant of such an order. Nothing: it is none.
std::optional<Instant> edge_instant(const Transaction& transaction);

}  // namespace loom
