// SPDX-License-Identifier: Apache-2.0
// Framing: how the bytes of one client fall into requests to a device, and how its replies become bytes again. It never decides
// what a device does: that is the model's. One object a connection.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/time.hpp"
#include "core/transaction.hpp"

namespace loom {

struct EmulatedRequest {
  std::optional<std::uint16_t> bus_address{};  ///< nothing: the only device, of a protocol without addresses
  std::variant<Registers, BytesAt, Frame> order;
  std::vector<std::uint8_t> frame;  ///< as it came, where the answer repeats some of it
  /// Not 0: the protocol itself refuses the request so. The device is asked all the same, for whether it answers at all.
  std::uint8_t exception = 0;
};

class Framing {
 public:
  virtual ~Framing() = default;
  /// `now` tells how long the line was quiet before.
  virtual void take(std::span<const std::uint8_t> bytes, Instant now) = 0;
  /// The next whole request of what was taken.
  virtual std::optional<EmulatedRequest> next() = 0;
  /// Empty: nothing is said.
  virtual std::vector<std::uint8_t> answer(const EmulatedRequest& request, const BusReply& reply) = 0;
  /// No request can follow: a connection is dropped, what a serial line holds is forgotten.
  virtual bool is_lost() const { return false; }
  /// The connection ends with the answer (HTTP/1.0).
  virtual bool ends_after_answer() const { return false; }
};

/// Lines that end in a line feed, and replies as the model gives them.
std::unique_ptr<Framing> make_line_framing();

/// TL1: commands end in a semicolon. A connection begins logged out, as with the real device.
std::unique_ptr<Framing> make_tl1_framing();

/// Four bytes each way. A frame that is not whole after `kItlaGap` of silence is forgotten.
std::unique_ptr<Framing> make_itla_framing();
inline constexpr Duration kItlaGap = std::chrono::milliseconds{20};  ///< [K]

}  // namespace loom
