// SPDX-License-Identifier: Apache-2.0
// Which output an endpoint means, and its answers as a bus gives them.
#include "drivers/bus/trigger/trigger_output.hpp"

#include <utility>

#include "core/text/format_text.hpp"
#include "drivers/bus/trigger/gpio_trigger.hpp"
#include "drivers/bus/trigger/phc_trigger.hpp"

namespace loom {
namespace {

constexpr std::uint8_t kIllegalFunction = 1;  // Modbus application protocol V1.1b3, section 7
constexpr std::uint8_t kDeviceFailure = 4;

}  // namespace

Result<std::unique_ptr<TriggerOutput>> make_trigger_output(const TriggerPlace& place, TriggerClock clock) {
  if (const auto* line = std::get_if<GpioOutput>(&place)) {
    return std::make_unique<GpioTrigger>(*line, make_gpio_output_port(), std::move(clock.now));
  }
  if (const auto* output = std::get_if<PhcOutput>(&place)) {
    if (!clock.is_tai) {
      return fail(
          ErrorCode::unsupported,
          format_text("{} gives edges at instants of TAI, and this process reads the monotonic clock; start all daemons "
                      "with --clock tai",
                      output->clock));
    }
    return std::make_unique<PhcTrigger>(*output, make_phc_port(), std::move(clock.now));
  }
  return fail(ErrorCode::unsupported, "a simulated edge is no line of a host");
}

BusReply execute(TriggerOutput& output, const Transaction& transaction) {
  BusReply reply;
  const auto at = edge_instant(transaction);
  if (!at) {
    reply.status = BusStatus::exception;
    reply.exception = kIllegalFunction;
    reply.cause = "a trigger takes the instant of an edge and nothing else";
    return reply;
  }
  if (const auto done = *at == Instant{} ? output.disarm() : output.arm(*at); !done) {
    reply.status = BusStatus::exception;
    reply.exception = kDeviceFailure;
    reply.cause = done.error().message;
  }
  return reply;
}

}  // namespace loom
