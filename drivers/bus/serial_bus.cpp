// A frame out, a frame in.
#include "drivers/bus/serial_bus.hpp"

#include <termios.h>

#include <utility>

#include "core/text/format_text.hpp"
#include "drivers/bus/stream.hpp"

namespace loom {
namespace {

constexpr Duration kDefaultDeadline = std::chrono::milliseconds{500};

}  // namespace

BusReply SerialBus::execute(const Transaction& transaction) {
  const auto* frame = std::get_if<Frame>(&transaction.order);
  if (frame == nullptr) {
    return {BusStatus::exception, 1, {}, {}};
  }
  if (transaction.connection != 0 && (!port_ || connection_ != transaction.connection)) {
    return connection_is_gone(endpoint_.device);
  }
  if (!port_) {
    Result<SerialPort> opened = SerialPort::open(endpoint_);
    if (!opened) {
      return {BusStatus::lost, 0, {}, {}, opened.error().message};
    }
    port_.emplace(std::move(*opened));
    ++connection_;
  }
  if (late_reply_until_ != Instant{}) {
    listen_out(port_->descriptor(), std::exchange(late_reply_until_, Instant{}));
  }
  tcflush(port_->descriptor(), TCIFLUSH);
  const Duration deadline = transaction.deadline > Duration{0} ? transaction.deadline : kDefaultDeadline;
  BusReply reply = exchange_frame(port_->descriptor(), *frame, steady_now() + deadline);
  reply.connection = connection_;
  return reply.status == BusStatus::ok ? reply : failure(std::move(reply), deadline);
}

BusReply SerialBus::failure(BusReply reply, Duration deadline) {
  if (reply.status == BusStatus::lost) {
    port_.reset();
  } else {
    late_reply_until_ = steady_now() + deadline;
  }
  reply.cause = reply.cause.empty() ? reply.cause : format_text("{}: {}", endpoint_.device, reply.cause);
  return reply;
}

}  // namespace loom
