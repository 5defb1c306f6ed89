// SPDX-License-Identifier: Apache-2.0
// A frame out, a frame in.
#include "drivers/bus/tcp_bus.hpp"

#include "core/text/format_text.hpp"
#include "drivers/bus/stream.hpp"

namespace loom {

BusReply TcpBus::execute(const Transaction& transaction) {
  const auto* frame = std::get_if<Frame>(&transaction.order);
  if (frame == nullptr) {
    return {BusStatus::exception, 1, {}, {}, connection_.where() + ": a connection carries frames only"};
  }
  const Instant until = steady_now() + (transaction.deadline > Duration{0} ? transaction.deadline : kUsualDeadline);
  if (connection_.is_open() && !frame->answers.empty()) {
    connection_.drop_pending();
  }
  if (connection_.is_open() && !connection_.is_fresh()) {
    connection_.close();
  }
  if (transaction.connection != 0 && (!connection_.is_open() || connection_.number() != transaction.connection)) {
    return connection_is_gone(connection_.where());
  }
  if (!connection_.is_open()) {
    if (BusReply failure = connection_.open(until); failure.status != BusStatus::ok) {
      return failure;
    }
  }
  BusReply reply = exchange_frame(connection_.descriptor(), *frame, until);
  if (reply.status != BusStatus::ok) {
    reply.cause = format_text("{}: {}", connection_.where(), reply.cause);
    connection_.close();
  }
  reply.connection = connection_.number();
  return reply;
}

}  // namespace loom
