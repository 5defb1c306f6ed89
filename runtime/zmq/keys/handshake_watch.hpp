// SPDX-License-Identifier: Apache-2.0
// HandshakeWatch: what a connecting socket's library knows of its CURVE handshakes and tells nobody. Turns refusals into one
// sentence that a person can act on, seldom. It never touches the socket's messages. Loop's thread only.
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

struct HandshakeListener {
  std::function<void()> accepted;     ///< the peer and we believe each other's keys; again with each new connection
  std::function<void()> lost;         ///< that connection is gone
  std::function<void(Error)> failed;  ///< refused; once until `accepted` and then again
  /// Each handshake that came to nothing, told or not: the library may give such a connection up for good.
  std::function<void()> stumbled{};
};

class HandshakeWatch {
 public:
  /// `endpoint` is what the sentences call the peer. Errors: internal.
  static Result<std::unique_ptr<HandshakeWatch>> open(asio::io_context& io, zmq::context_t& context, zmq::socket_t& socket,
                                                      std::string endpoint, HandshakeListener listener);
  /// Precondition: the socket is open still, or detach() was called. Whoever closes a watched socket ends its watch first:
  /// the library's thread waits for good for a reader of an event that nobody reads any more.
  ~HandshakeWatch();
  /// The socket is gone already.
  void detach() { monitored_ = nullptr; }
  HandshakeWatch(const HandshakeWatch&) = delete;
  HandshakeWatch& operator=(const HandshakeWatch&) = delete;

 private:
  HandshakeWatch(std::string endpoint, HandshakeListener listener);
  bool take_event();
  void fail_once(std::string sentence);

  void* monitored_ = nullptr;
  std::string endpoint_;
  HandshakeListener listener_;
  std::shared_ptr<LoopSocket> events_;
  std::uint32_t failures_ = 0;  ///< without a sentence, since the last success
  bool was_reported_ = false;
};

}  // namespace loom
