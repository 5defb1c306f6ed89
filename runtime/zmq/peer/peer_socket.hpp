// SPDX-License-Identifier: Apache-2.0
// PeerSocket: the TCP connection that a message came over. ZeroMQ cannot be told to end one connection of a ROUTER, so a peer
// whose key was revoked has its connection shut down below the library, which then sees it end as if the peer had left.
#pragma once

#include <string>
#include <zmq.hpp>

namespace loom {

class PeerSocket {
 public:
  PeerSocket() = default;
  /// Of any message that was received; one that came over no TCP connection gives one that cannot be hung up.
  explicit PeerSocket(zmq::message_t& message);

  /// False: that connection is gone already. The descriptor is the library's, which may have closed it and be using its number
  /// for another connection by now: only one whose other end is still the same is shut down.
  bool hang_up() const;

 private:
  int descriptor_ = -1;
  std::string address_;  ///< of the other end, as getpeername() wrote it
};

}  // namespace loom
