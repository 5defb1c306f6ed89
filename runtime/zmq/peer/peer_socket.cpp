// SPDX-License-Identifier: Apache-2.0
// ZMQ_SRCFD, and who is at its other end.
#include "runtime/zmq/peer/peer_socket.hpp"

#include <sys/socket.h>
#include <zmq.h>

namespace loom {
namespace {

/// Empty: not connected, or no socket.
std::string peer_address(int descriptor) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (descriptor < 0 || ::getpeername(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return {};
  }
  return {reinterpret_cast<const char*>(&address), size};
}

}  // namespace

PeerSocket::PeerSocket(zmq::message_t& message)
    : descriptor_(zmq_msg_get(message.handle(), ZMQ_SRCFD)), address_(peer_address(descriptor_)) {}

bool PeerSocket::hang_up() const {
  return !address_.empty() && peer_address(descriptor_) == address_ && ::shutdown(descriptor_, SHUT_RDWR) == 0;
}

}  // namespace loom
