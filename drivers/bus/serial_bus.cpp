// A frame out, a frame in.
#include "drivers/bus/serial_bus.hpp"

#include <termios.h>

#include <algorithm>
#include <utility>

namespace loom {
namespace {

constexpr Duration kDefaultDeadline = std::chrono::milliseconds{500};
constexpr std::size_t kReplyBytesMax = 4096;

BusStatus status_of(const Error& error) { return error.code == ErrorCode::timed_out ? BusStatus::timeout : BusStatus::lost; }

bool ends_with(const std::vector<std::uint8_t>& bytes, std::string_view terminator) {
  return bytes.size() >= terminator.size() &&
         std::equal(terminator.rbegin(), terminator.rend(), bytes.rbegin(),
                    [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; });
}

}  // namespace

BusReply SerialBus::execute(const Transaction& transaction) {
  const auto* frame = std::get_if<Frame>(&transaction.order);
  if (frame == nullptr) {
    return {BusStatus::exception, 1, {}, {}};
  }
  if (!port_) {
    Result<SerialPort> opened = SerialPort::open(endpoint_);
    if (!opened) {
      return {BusStatus::lost, 0, {}, {}};
    }
    port_.emplace(std::move(*opened));
  }
  if (late_reply_until_ != Instant{}) {
    listen_out(port_->descriptor(), std::exchange(late_reply_until_, Instant{}));
  }
  tcflush(port_->descriptor(), TCIFLUSH);
  const Duration deadline = transaction.deadline > Duration{0} ? transaction.deadline : kDefaultDeadline;
  const BusReply reply = exchange(*frame, steady_now() + deadline);
  return reply.status == BusStatus::ok ? reply : failure(reply.status, deadline);
}

BusReply SerialBus::exchange(const Frame& frame, Instant until) {
  if (const Result<void> sent = port_->write(frame.request, until); !sent) {
    return {status_of(sent.error()), 0, {}, {}};
  }
  const bool fixed = frame.reply_bytes > 0;
  BusReply reply;
  while (fixed ? reply.bytes.size() < frame.reply_bytes : !ends_with(reply.bytes, frame.terminator)) {
    if (reply.bytes.size() >= kReplyBytesMax) {
      return {BusStatus::malformed, 0, {}, {}};
    }
    const Result<std::vector<std::uint8_t>> part = port_->read_some(kReplyBytesMax - reply.bytes.size(), until);
    if (!part) {
      return {status_of(part.error()), 0, {}, {}};
    }
    reply.bytes.insert(reply.bytes.end(), part->begin(), part->end());
  }
  return fixed && reply.bytes.size() > frame.reply_bytes ? BusReply{BusStatus::malformed, 0, {}, {}} : reply;
}

BusReply SerialBus::failure(BusStatus status, Duration deadline) {
  if (status == BusStatus::lost) {
    port_.reset();
  } else {
    late_reply_until_ = steady_now() + deadline;
  }
  return {status, 0, {}, {}};
}

}  // namespace loom
