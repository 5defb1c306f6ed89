// SPDX-License-Identifier: Apache-2.0
// What every ZeroMQ socket of Lightloom is set to, and why. No keys here.
#pragma once

#include <string>
#include <string_view>
#include <zmq.hpp>

#include "core/text/host_port.hpp"

namespace loom {

/// Before the context's first socket: the library's limit of 1023 sockets is below one agent process of the benchmarks.
inline void allow_many_sockets(zmq::context_t& context) { context.set(zmq::ctxopt::max_sockets, 16'384); }

/// Frames that a listener holds of one connection before they are looked at, and for one connection before they leave.
inline constexpr int kListenerFramesIn = 64;
inline constexpr int kListenerFramesOut = 4'096;
/// ms; a peer that takes nothing off its socket for so long is cut off, and what waited for it goes with it.
inline constexpr int kReadWithin = 5'000;

/// What many may connect to. Throws zmq::error_t.
inline void set_listener_options(zmq::socket_t& socket) {
  socket.set(zmq::sockopt::router_mandatory, true);
  socket.set(zmq::sockopt::rcvhwm, kListenerFramesIn);
  socket.set(zmq::sockopt::sndhwm, kListenerFramesOut);
  socket.set(zmq::sockopt::tcp_maxrt, kReadWithin);
}

/// Throws zmq::error_t.
inline void set_common_options(zmq::socket_t& socket) {
  socket.set(zmq::sockopt::linger, 0);       // nothing that is said late is worth a slow exit
  socket.set(zmq::sockopt::sndhwm, 65'536);  // frames, each a turn's worth; what is beyond is dropped and counted
  socket.set(zmq::sockopt::rcvhwm, 65'536);
  socket.set(zmq::sockopt::handshake_ivl, 10'000);  // 1024 CURVE handshakes at once take about a second
  socket.set(zmq::sockopt::tcp_keepalive, 1);       // the kernel finds a host that went without a word: within 4 s
  socket.set(zmq::sockopt::tcp_keepalive_idle, 1);
  socket.set(zmq::sockopt::tcp_keepalive_intvl, 1);
  socket.set(zmq::sockopt::tcp_keepalive_cnt, 3);
}

/// Whoever dials also asks whether the other end still answers. A listener does not: the library looks for each of its timers
/// among those of all its connections (docs/adr/0089). Throws zmq::error_t.
inline void set_dialler_options(zmq::socket_t& socket) {
  socket.set(zmq::sockopt::heartbeat_ivl, 500);  // ms
  socket.set(zmq::sockopt::heartbeat_timeout, 1'000);
}

/// Over IPv6 unless the endpoint says an IPv4 address or `localhost`. A name is resolved each time that it is dialled: to its
/// IPv6 address if it has one, else to its IPv4 address. Throws zmq::error_t.
inline void connect_to(zmq::socket_t& socket, const std::string& endpoint) {
  constexpr std::string_view kScheme = "tcp://";
  const std::string_view place = std::string_view(endpoint).substr(endpoint.starts_with(kScheme) ? kScheme.size() : 0);
  const std::string_view host = place.substr(0, place.rfind(':'));
  socket.set(zmq::sockopt::ipv6, !is_ipv4(host) && host != "localhost");
  socket.connect(endpoint);
}

}  // namespace loom
