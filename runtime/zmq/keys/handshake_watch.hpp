// SPDX-License-Identifier: Apache-2.0
// HandshakeWatch: what a connecting socket's library knows of its connections and CURVE handshakes, and tells nobody. Of many
// refusals it makes one. It never touches the socket's messages. Loop's thread only.
#pragma once

#include <asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <zmq.hpp>

#include "core/result.hpp"
#include "runtime/zmq/loop_socket.hpp"

namespace loom {

enum class HandshakeFailure : std::uint8_t {
  key_refused,  ///< the peer does not know our key
  other_key,    ///< it does not hold the secret half of the key that it is pinned to
};

struct HandshakeListener {
  std::function<void()> accepted;                ///< the peer and we believe each other's keys; again with each new connection
  std::function<void()> lost;                    ///< a connection is gone, with its handshake over or not
  std::function<void(HandshakeFailure)> failed;  ///< once until `accepted` and then again
  /// Each handshake that came to nothing, told or not: the library may give such a connection up for good.
  std::function<void()> stumbled{};
  /// Somebody listens there: a connection stands, and its handshake begins.
  std::function<void()> reached{};
};

class HandshakeWatch {
 public:
  /// Errors: internal, naming the endpoint.
  static Result<std::unique_ptr<HandshakeWatch>> open(asio::io_context& io, zmq::context_t& context, zmq::socket_t& socket,
                                                      const std::string& endpoint, HandshakeListener listener);
  /// Precondition: the socket is open still, or detach() was called. Whoever closes a watched socket ends its watch first:
  /// the library's thread waits for good for a reader of an event that nobody reads any more.
  ~HandshakeWatch();
  /// The socket is gone already.
  void detach() { monitored_ = nullptr; }
  HandshakeWatch(const HandshakeWatch&) = delete;
  HandshakeWatch& operator=(const HandshakeWatch&) = delete;

 private:
  explicit HandshakeWatch(HandshakeListener listener);
  bool take_event();
  void fail_once(HandshakeFailure failure);

  void* monitored_ = nullptr;
  HandshakeListener listener_;
  std::shared_ptr<LoopSocket> events_;
  std::uint32_t failures_ = 0;  ///< without a reason, since the last success
  bool was_reported_ = false;
};

}  // namespace loom
