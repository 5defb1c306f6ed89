// SPDX-License-Identifier: Apache-2.0
// LoopSocket: a ZeroMQ socket on an asio loop. ZMQ_FD is edge-triggered and speaks of commands, not of messages: after a
// wake-up, after every send and once after arming, ZMQ_EVENTS must be asked until it shows nothing more. This is the one place
// that knows. Used on the loop's thread only.
#pragma once

#include <array>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <zmq.hpp>

#include "core/result.hpp"
#include "core/time.hpp"

namespace loom {

enum class SendOutcome : std::uint8_t {
  sent,
  full,  ///< the high-water mark of the peer's queue, or no peer yet
  gone,  ///< ROUTER: nobody has this routing id
};

class LoopSocket : public std::enable_shared_from_this<LoopSocket> {
 public:
  /// Takes one whole message, all parts of it, off the socket, or says that there is none.
  using Receive = std::function<bool()>;

  LoopSocket(asio::io_context& io, zmq::socket_t socket);

  /// From here on `receive` is called whenever there may be a message. Errors: internal (no descriptor).
  Result<void> arm(Receive receive);
  /// From inside `receive`: enough was taken for this turn; what is left comes with the next.
  void end_round() { is_round_over_ = true; }
  /// Nothing is called any more; the socket is closed.
  void close();

  /// Never blocks; copies. A message is sent whole or not at all.
  SendOutcome send(std::span<const std::string_view> parts);
  /// One part, never blocks; false: there is none.
  bool receive_part(zmq::message_t& part);
  zmq::socket_t& socket() { return socket_; }

 private:
  void wait();
  void pump();
  void pump_soon();
  bool has_message();

  asio::io_context& io_;
  zmq::socket_t socket_;
  asio::posix::stream_descriptor descriptor_;
  Receive receive_;
  bool is_open_ = false;
  bool is_pump_posted_ = false;
  bool is_round_over_ = false;
};

/// The time of quotas and sums, where nobody hands it in.
inline Instant steady_now() { return Instant{std::chrono::steady_clock::now().time_since_epoch()}; }

/// "tcp://..., what: why" of the library's last error.
std::unexpected<Error> zmq_failure(ErrorCode code, const std::string& what, int error);

}  // namespace loom
