// SPDX-License-Identifier: Apache-2.0
// socket(2), unix(7), cmsg(3).
#include "runtime/shm/unix_socket.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

struct Place {
  sockaddr_un address{};
  socklen_t bytes = 0;
};

Place place_of(std::string_view name) {
  Place place;
  place.address.sun_family = AF_UNIX;
  LOOM_ASSERT(name.size() <= sizeof place.address.sun_path);
  std::memcpy(place.address.sun_path, name.data(), name.size());
  place.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  return place;
}

UniqueDescriptor unix_socket() { return UniqueDescriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

/// A sender may add as many as it likes; so many fit, and the kernel drops the rest.
constexpr std::size_t kDescriptorsMax = 2;

std::vector<UniqueDescriptor> descriptors_of(msghdr& message) {
  std::vector<UniqueDescriptor> descriptors;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(part) + i * sizeof(int), sizeof descriptor);
      descriptors.emplace_back(descriptor);
    }
  }
  return descriptors;
}

}  // namespace

Result<UniqueDescriptor> listen_at(std::string_view name, int backlog) {
  UniqueDescriptor listener = unix_socket();
  const Place place = place_of(name);
  if (!listener.is_open() || ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&place.address), place.bytes) != 0 ||
      ::listen(listener.get(), backlog) != 0) {
    return fail(errno == EADDRINUSE ? ErrorCode::conflict : ErrorCode::internal,
                format_text("no Unix socket for other processes of this host: {}", std::strerror(errno)));
  }
  return listener;
}

Result<UniqueDescriptor> connect_to(std::string_view name) {
  UniqueDescriptor socket = unix_socket();
  if (!socket.is_open()) {
    return fail(ErrorCode::internal, format_text("no Unix socket: {}", std::strerror(errno)));
  }
  const Place place = place_of(name);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&place.address), place.bytes) != 0) {
    return fail(ErrorCode::unreachable,
                format_text("cannot connect to the Unix socket {}: {}", name.substr(1), std::strerror(errno)));
  }
  return socket;
}

Result<std::optional<UniqueDescriptor>> accept_from(int listener) {
  UniqueDescriptor socket(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket.is_open()) {
    return std::optional(std::move(socket));
  }
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ECONNABORTED || errno == EINTR) {
    return std::optional<UniqueDescriptor>{};
  }
  return fail(ErrorCode::internal, format_text("accept4: {}", std::strerror(errno)));
}

bool is_our_user(int socket) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 && credentials.uid == ::geteuid();
}

bool send_bytes(int socket, std::string_view bytes, std::optional<int> descriptor) {
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  if (descriptor) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &*descriptor, sizeof(int));
  }
  return ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

ReceivedBytes receive_bytes(int socket, std::size_t bytes_max) {
  ReceivedBytes received;
  received.bytes.resize(bytes_max);
  iovec part{received.bytes.data(), received.bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kDescriptorsMax * sizeof(int))> control{};
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t count = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  received.bytes.resize(static_cast<std::size_t>(count < 0 ? 0 : count));
  if (count > 0) {
    received.state = ReceivedBytes::State::received;
    auto descriptors = descriptors_of(message);
    if (descriptors.size() == 1 && (message.msg_flags & MSG_CTRUNC) == 0) {
      received.descriptor = std::move(descriptors.front());
    }
  } else if (count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
    received.state = ReceivedBytes::State::gone;
  }
  return received;
}

}  // namespace loom
