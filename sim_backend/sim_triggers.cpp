// SPDX-License-Identifier: Apache-2.0
// An order is a timer.
#include "sim_backend/sim_triggers.hpp"

#include <utility>

#include "core/config/trigger_file.hpp"

namespace loom {
namespace {

constexpr std::uint64_t kTriggerPart = 0x65646765;
constexpr std::uint8_t kIllegalFunction = 1;
constexpr std::uint8_t kDeviceFailure = 4;
constexpr Duration kAnswer = std::chrono::microseconds{5};  ///< of a card's registers [K]

}  // namespace

SimTriggers::SimTriggers(TimeSeam& time, SimBus& bus, const Fabric& fabric, const std::vector<TriggerLine>& lines,
                         std::uint64_t seed)
    : time_(time), bus_(bus), fabric_(fabric), random_(Random::of_part(seed, kTriggerPart)) {
  for (const TriggerLine& line : lines) {
    const auto place = parse_trigger_endpoint(line.endpoint);
    const auto* edge = place ? std::get_if<SimulatedEdge>(&*place) : nullptr;
    lines_.push_back({line.devices, edge == nullptr ? Duration{} : edge->skew, edge != nullptr});
  }
}

void SimTriggers::submit(BusId bus, const Transaction& transaction, Done done) {
  if (bus.value < fabric_.buses.size()) {
    return bus_.submit(bus, transaction, std::move(done));
  }
  const std::size_t index = bus.value - fabric_.buses.size();
  LOOM_ASSERT(index < lines_.size());
  Line& line = lines_[index];
  BusReply reply;
  const auto at = edge_instant(transaction);
  if (!line.is_simulated || !at) {
    reply.status = line.is_simulated ? BusStatus::exception : BusStatus::timeout;
    reply.exception = line.is_simulated ? kIllegalFunction : std::uint8_t{0};
  } else if (*at != Instant{} && *at <= time_.now()) {
    reply.status = BusStatus::exception;
    reply.exception = kDeviceFailure;
    reply.cause = "an edge was asked for in the past";
  } else {
    const std::uint64_t order = ++line.order;
    if (*at != Instant{}) {
      const Instant given = *at + random_.between(Duration{0}, line.skew);
      time_.call_at(given, Precision::exact, [this, index, order, given] { give(index, order, given); });
    }
  }
  const Duration service = reply.status == BusStatus::timeout ? transaction.deadline : kAnswer;
  time_.call_at(time_.now() + service, Precision::ordinary,
                [done = std::move(done), reply = std::move(reply)] { done(reply); });
}

void SimTriggers::give(std::size_t line, std::uint64_t order, Instant at) {
  if (lines_[line].order != order) {
    return;  // taken back, or put off
  }
  for (const DeviceId device : lines_[line].devices) {
    if (bus_.has_model(device)) {
      bus_.edge(device, at);
    }
  }
}

}  // namespace loom
