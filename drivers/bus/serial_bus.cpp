// SPDX-License-Identifier: Apache-2.0
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

SerialBus::SerialBus(SerialEndpoint endpoint) : endpoint_(std::move(endpoint)) {
  if (endpoint_.baud == SerialEndpoint::kAnyBaud) {
    baud_search_.emplace();
    endpoint_.baud = baud_search_->speed();
  }
}

/// And at the speed that this frame is to be said at.
Result<void> SerialBus::open(const Frame& frame) {
  const int baud = baud_search_ ? baud_search_->speed_for(frame.request) : endpoint_.baud;
  const bool is_other = baud != std::exchange(endpoint_.baud, baud);
  if (!port_) {
    Result<SerialPort> opened = SerialPort::open(endpoint_);
    if (!opened) {
      return std::unexpected(std::move(opened).error());
    }
    port_.emplace(std::move(*opened));
    ++connection_;
  } else if (is_other) {
    late_reply_until_ = Instant{};  // of another speed: nothing that comes now could be read
    if (const auto set = port_->set_baud(baud); !set) {
      port_.reset();
      return fail(ErrorCode::unreachable, format_text("{}: {}", endpoint_.device, set.error().message));
    }
  }
  return {};
}

BusReply SerialBus::execute(const Transaction& transaction) {
  const auto* frame = std::get_if<Frame>(&transaction.order);
  if (frame == nullptr) {
    return {BusStatus::exception, 1, {}, {}, endpoint_.device + ": a serial line carries frames only"};
  }
  if (transaction.connection != 0 && (!port_ || connection_ != transaction.connection)) {
    return connection_is_gone(endpoint_.device);
  }
  if (const auto opened = open(*frame); !opened) {
    return {BusStatus::lost, 0, {}, {}, opened.error().message};
  }
  if (late_reply_until_ != Instant{}) {
    listen_out(port_->descriptor(), std::exchange(late_reply_until_, Instant{}));
  }
  tcflush(port_->descriptor(), TCIFLUSH);
  const Duration deadline = transaction.deadline > Duration{0} ? transaction.deadline : kDefaultDeadline;
  BusReply reply = exchange_frame(port_->descriptor(), *frame, steady_now() + deadline);
  reply.connection = connection_;
  if (baud_search_) {
    baud_search_->ended(reply.status == BusStatus::ok);
  }
  return reply.status == BusStatus::ok ? reply : failure(std::move(reply), deadline);
}

BusReply SerialBus::failure(BusReply reply, Duration deadline) {
  if (reply.status == BusStatus::lost) {
    port_.reset();
  } else {
    late_reply_until_ = steady_now() + deadline;
  }
  if (baud_search_ && !baud_search_->is_found()) {
    reply.cause += format_text(" at {} baud, which is searched for", endpoint_.baud);
  }
  reply.cause = format_text("{}: {}", endpoint_.device, reply.cause);
  return reply;
}

}  // namespace loom
