// SPDX-License-Identifier: Apache-2.0
// TcpPeer: a listening socket whose connections a test plays by hand: it receives and says bytes, blocking.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "drivers/bus/endpoint.hpp"

namespace loom {

class TcpPeer {
 public:
  class Connection {
   public:
    explicit Connection(int socket) : socket_(socket) {}
    Connection(Connection&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
    ~Connection() { close(socket_); }
    /// Fewer bytes than asked for: the other end has hung up.
    std::string receive(std::size_t count) const {
      std::string received;
      char byte = 0;
      while (received.size() < count && recv(socket_, &byte, 1, 0) == 1) {
        received += byte;
      }
      return received;
    }
    bool try_deliver(std::string_view text) const {
      return send(socket_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
    }
    /// Whether the other end still listens is its own affair.
    void deliver(std::string_view text) const { static_cast<void>(try_deliver(text)); }

   private:
    int socket_;
  };

  TcpPeer() : listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    REQUIRE(bind(listener_, reinterpret_cast<sockaddr*>(&address), length) == 0);
    REQUIRE(listen(listener_, 8) == 0);
    REQUIRE(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) == 0);
    port_ = ntohs(address.sin_port);
  }
  TcpPeer(const TcpPeer&) = delete;
  TcpPeer& operator=(const TcpPeer&) = delete;
  ~TcpPeer() { close(listener_); }

  TcpEndpoint endpoint() const { return {"127.0.0.1", port_}; }
  Connection accept() const { return Connection{::accept(listener_, nullptr, nullptr)}; }

 private:
  int listener_;
  std::uint16_t port_ = 0;
};

}  // namespace loom
