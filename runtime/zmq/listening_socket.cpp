// SPDX-License-Identifier: Apache-2.0
// socket(), bind(), listen(), and ZMQ_USE_FD with a duplicate, which the library closes as its own.
#include "runtime/zmq/listening_socket.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zmq.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "core/text/format_text.hpp"
#include "core/text/host_port.hpp"

namespace loom {
namespace {

constexpr int kBacklog = 4'096;  // 1024 agents dial a controller that comes back at once
constexpr std::string_view kScheme = "tcp://";

/// What a ROUTER may be told beside HOST:PORT: any interface, any port.
Result<HostPort> place_of(std::string_view endpoint) {
  const std::string_view place = endpoint.substr(endpoint.starts_with(kScheme) ? kScheme.size() : endpoint.size());
  const bool is_any_port = place.ends_with(":*");
  const bool is_any_host = place.starts_with("*:");
  const std::string_view host = is_any_host ? "localhost" : place.substr(0, place.rfind(':'));
  auto parsed =
      parse_host_port(format_text("{}:{}", host, is_any_port ? "0" : place.substr(place.rfind(':') + 1)), PortZero::taken);
  if (place.rfind(':') == std::string_view::npos || !parsed) {
    return fail(ErrorCode::malformed,
                format_text("found '{}'; expected tcp://HOST:PORT, where * is any{}", endpoint,
                            parsed || !endpoint.starts_with(kScheme) ? "" : "; " + parsed.error().message));
  }
  if (is_any_host || (!is_address(parsed->host) && parsed->host != "localhost")) {
    parsed->host = "*";
  }
  return parsed;
}

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

/// Of a numeric address; `*`: every interface of `family`.
Addresses numeric(const HostPort& place, int family) {
  addrinfo hints{};
  hints.ai_family = family;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  addrinfo* found = nullptr;
  const std::string host = place.host == "localhost" ? "127.0.0.1" : place.host;
  const int failure =
      getaddrinfo(place.host == "*" ? nullptr : host.c_str(), std::to_string(place.port).c_str(), &hints, &found);
  return {failure == 0 ? found : nullptr, freeaddrinfo};
}

/// -1, and errno says why.
int listen_at(const addrinfo& address) {
  const int descriptor = ::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, address.ai_protocol);
  if (descriptor < 0) {
    return -1;
  }
  const int on = 1;
  const int off = 0;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.ai_family == AF_INET6) {
    setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);  // :: is both families, whatever sysctl says
  }
  if (::bind(descriptor, address.ai_addr, address.ai_addrlen) == 0 && ::listen(descriptor, kBacklog) == 0) {
    return descriptor;
  }
  const int why = errno;
  ::close(descriptor);
  errno = why;
  return -1;
}

/// Every interface is one socket of IPv6 that takes IPv4 as well; a kernel without IPv6 has the other.
int listen_at(const HostPort& place) {
  const Addresses first = numeric(place, place.host == "*" ? AF_INET6 : AF_UNSPEC);
  errno = EADDRNOTAVAIL;
  int descriptor = first == nullptr ? -1 : listen_at(*first);
  if (descriptor < 0 && place.host == "*" && (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL)) {
    const Addresses second = numeric(place, AF_INET);
    descriptor = second == nullptr ? -1 : listen_at(*second);
  }
  return descriptor;
}

std::string name_of(int descriptor) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  auto* where = reinterpret_cast<sockaddr*>(&address);
  if (getsockname(descriptor, where, &size) != 0 ||
      getnameinfo(where, size, host.data(), host.size(), port.data(), port.size(), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return {};
  }
  return format_text("{}{}:{}", kScheme, bracketed(host.data()), port.data());
}

}  // namespace

Result<ListeningSocket> ListeningSocket::open(const std::string& endpoint) {
  const auto place = place_of(endpoint);
  if (!place) {
    return std::unexpected(place.error());
  }
  const int descriptor = listen_at(*place);
  if (descriptor < 0) {
    return fail(ErrorCode::unreachable, format_text("cannot listen at {}: {}", endpoint, std::strerror(errno)));
  }
  return ListeningSocket(descriptor, name_of(descriptor));
}

ListeningSocket::~ListeningSocket() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

Result<void> ListeningSocket::lend_to(zmq::socket_t& socket) const {
  const int lent = ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
  const bool is_lent = lent >= 0 && zmq_setsockopt(socket.handle(), ZMQ_USE_FD, &lent, sizeof lent) == 0;
  if (is_lent && zmq_bind(socket.handle(), endpoint_.c_str()) == 0) {
    return {};
  }
  const int why = lent < 0 ? errno : zmq_errno();
  if (lent >= 0) {
    ::close(lent);
  }
  return fail(ErrorCode::unreachable, format_text("cannot listen at {}: {}", endpoint_, zmq_strerror(why)));
}

}  // namespace loom
