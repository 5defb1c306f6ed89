// SPDX-License-Identifier: Apache-2.0
// ListeningSocket: the port of a ROUTER, held by us and lent to the library. A library's socket gives its own port back some
// time after it was closed, so whoever listens anew would have to take another one; this one stays, and so does what was told
// of it.
#pragma once

#include <string>
#include <utility>
#include <zmq.hpp>

#include "core/result.hpp"

namespace loom {

class ListeningSocket {
 public:
  /// `endpoint`: tcp://HOST:PORT. A HOST that is an IPv4 or IPv6 address is listened at, `localhost` is 127.0.0.1, `*` or a
  /// name is every interface, of both families where the kernel has both. A PORT of `*` is any free one. Errors: malformed (the
  /// endpoint), unreachable (the kernel refuses it).
  static Result<ListeningSocket> open(const std::string& endpoint);
  ListeningSocket(ListeningSocket&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), endpoint_(std::move(other.endpoint_)) {}
  ListeningSocket& operator=(ListeningSocket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(endpoint_, other.endpoint_);
    return *this;
  }
  ~ListeningSocket();

  /// The library's socket accepts what connects here until it is closed. One at a time: two share who connects between them.
  /// Errors: unreachable.
  Result<void> lend_to(zmq::socket_t& socket) const;
  /// Where it listens: "tcp://127.0.0.1:41234", "tcp://[::]:7601".
  const std::string& endpoint() const { return endpoint_; }

 private:
  ListeningSocket(int descriptor, std::string endpoint) : descriptor_(descriptor), endpoint_(std::move(endpoint)) {}

  int descriptor_ = -1;
  std::string endpoint_;
};

}  // namespace loom
