// SPDX-License-Identifier: Apache-2.0
// SerialBus: one request frame, one reply frame of a fixed length or up to a terminator (ITLA, SCPI, ASCII dialects). What
// is left on the line from before is never taken for a reply.
#pragma once

#include <optional>

#include "core/time.hpp"
#include "drivers/bus/baud_search.hpp"
#include "drivers/bus/bus_device.hpp"
#include "drivers/bus/serial_port.hpp"

namespace loom {

class SerialBus : public BusDevice {
 public:
  explicit SerialBus(SerialEndpoint endpoint);

  /// Frame only, exchanged as drivers/bus/stream says.
  BusReply execute(const Transaction& transaction) override;

 private:
  Result<void> open(const Frame& frame);
  BusReply failure(BusReply reply, Duration deadline);

  SerialEndpoint endpoint_;                ///< its speed: as it is now
  std::optional<BaudSearch> baud_search_;  ///< nothing: the speed was given
  std::optional<SerialPort> port_;
  std::uint32_t connection_ = 0;  ///< counts how often it was opened
  Instant late_reply_until_{};    ///< the reply of a timed-out request may come until then; 0: none is expected
};

}  // namespace loom
