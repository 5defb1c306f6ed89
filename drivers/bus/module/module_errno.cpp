// SPDX-License-Identifier: Apache-2.0
// The list.
#include "drivers/bus/module/module_errno.hpp"

#include <cerrno>
#include <utility>

#include "core/text/format_text.hpp"
#include "drivers/bus/stream.hpp"

namespace loom {

BusReply failed_open(std::string_view place, int number) {
  return {BusStatus::lost, 0, {}, {}, format_text("{}: {}", place, describe_errno(number))};
}

BusReply failed_transfer(std::string_view place, int number) {
  BusReply reply = failed_open(place, number);
  switch (number) {
    case ENXIO:
    case EREMOTEIO:
    case EIO:
    case ETIMEDOUT:
    case EAGAIN:
      reply.status = BusStatus::nack;
      break;
    default:
      break;
  }
  return reply;
}

BusReply unlawful(std::uint8_t exception, std::string cause) {
  return {BusStatus::exception, exception, {}, {}, std::move(cause)};
}

}  // namespace loom
