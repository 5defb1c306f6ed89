// SPDX-License-Identifier: Apache-2.0
// Resolve, connect, close.
#include "drivers/bus/tcp_connection.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include "core/text/format_text.hpp"
#include "drivers/bus/stream.hpp"

namespace loom {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

struct Resolved {
  Addresses addresses;
  std::string fault;  ///< where there are none
};

Resolved resolve(const TcpEndpoint& endpoint) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failure = getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(), &hints, &found);
  if (failure != 0) {
    found = nullptr;
  }
  return {{found, freeaddrinfo},
          failure == 0            ? std::string{}
          : failure == EAI_SYSTEM ? describe_errno(errno)
                                  : std::string(gai_strerror(failure))};
}

/// Waits for a connection under way. Ok, timeout or lost, and then errno says why.
BusStatus finish_connecting(int socket, Instant until) {
  while (true) {
    if (const auto ready = wait_for(socket, POLLOUT, until); !ready) {
      return ready.error().code == ErrorCode::timed_out ? BusStatus::timeout : BusStatus::lost;
    }
    pollfd state{socket, POLLOUT, 0};
    if (poll(&state, 1, 0) > 0) {
      int error = 0;
      socklen_t length = sizeof error;
      getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length);
      errno = error;
      return error == 0 ? BusStatus::ok : BusStatus::lost;
    }
  }
}

}  // namespace

std::string TcpConnection::where() const { return format_text("{} port {}", endpoint_.host, endpoint_.port); }

BusReply TcpConnection::open(Instant until) {
  BusReply reply{BusStatus::lost, 0, {}, {}, {}};
  const Resolved resolved = resolve(endpoint_);
  std::string why = resolved.fault;
  for (const addrinfo* address = resolved.addresses.get(); address != nullptr; address = address->ai_next) {
    socket_ = ::socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, address->ai_protocol);
    if (socket_ < 0) {
      why = describe_errno(errno);
      continue;
    }
    const bool connected = ::connect(socket_, address->ai_addr, address->ai_addrlen) == 0;
    reply.status = connected ? BusStatus::ok : errno == EINPROGRESS ? finish_connecting(socket_, until) : BusStatus::lost;
    if (reply.status == BusStatus::ok) {
      ++number_;
      const int at_once = 1;  // a line is a packet; waiting for more only delays it
      setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
      return reply;
    }
    why = reply.status == BusStatus::timeout ? std::string("it takes no connection") : describe_errno(errno);
    close();
  }
  reply.cause = format_text("{}: {}", where(), why);
  return reply;
}

bool TcpConnection::is_fresh() const {
  char byte = 0;
  return recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

void TcpConnection::drop_pending() const {
  std::array<char, 4096> dropped{};
  for (std::size_t taken = 0; taken < kReplyBytesMax;) {
    const ssize_t count = recv(socket_, dropped.data(), dropped.size(), MSG_DONTWAIT);
    if (count <= 0) {
      return;
    }
    taken += static_cast<std::size_t>(count);
  }
}

void TcpConnection::close() {
  if (socket_ >= 0) {
    ::close(std::exchange(socket_, -1));
  }
}

}  // namespace loom
