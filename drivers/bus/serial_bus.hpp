// SerialBus: one request frame, one reply frame of a fixed length or up to a terminator (ITLA, SCPI, ASCII dialects). What
// is left on the line from before is never taken for a reply.
#pragma once

#include <optional>

#include "drivers/bus/bus_device.hpp"
#include "drivers/bus/serial_port.hpp"

namespace loom {

class SerialBus : public BusDevice {
 public:
  explicit SerialBus(SerialEndpoint endpoint) : endpoint_(std::move(endpoint)) {}

  /// Frame only. No reply_bytes and no terminator: the request is not answered. `malformed`: more than was asked for, or
  /// kReplyBytesMax without a terminator. The reply's bytes include the terminator.
  BusReply execute(const Transaction& transaction) override;

 private:
  BusReply exchange(const Frame& frame, Instant until);
  BusReply failure(BusStatus status, Duration deadline);

  SerialEndpoint endpoint_;
  std::optional<SerialPort> port_;
  Instant late_reply_until_{};  ///< the reply of a timed-out request may come until then; 0: none is expected
};

}  // namespace loom
