// SPDX-License-Identifier: Apache-2.0
// Four words are one instant.
#include "core/trigger/trigger_line.hpp"

namespace loom {
namespace {

/// An order is obeyed by a thread of the lane's, which opens nothing and waits for nobody.
constexpr Duration kDeadline = std::chrono::milliseconds{100};

}  // namespace

Transaction edge_order(DeviceId device, Instant at) {
  const auto ns = static_cast<std::uint64_t>(at.time_since_epoch().count());
  Registers registers;
  for (int shift = 48; shift >= 0; shift -= 16) {
    registers.values.push_back(static_cast<std::uint16_t>(ns >> static_cast<unsigned>(shift) & 0xFFFFU));
  }
  return {device, 0, std::move(registers), kDeadline};
}

std::optional<Instant> edge_instant(const Transaction& transaction) {
  const auto* registers = std::get_if<Registers>(&transaction.order);
  if (registers == nullptr || registers->address != 0 || registers->count != 0 || registers->values.size() != kEdgeWords) {
    return std::nullopt;
  }
  std::uint64_t ns = 0;
  for (const std::uint16_t word : registers->values) {
    ns = ns << 16U | word;
  }
  return Instant{Duration{static_cast<std::int64_t>(ns)}};
}

}  // namespace loom
