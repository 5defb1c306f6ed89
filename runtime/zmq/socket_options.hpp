// What every socket of ours has in common: queues for a thousand peers, no lingering, heartbeats that notice a dead peer.
#pragma once

#include <zmq.hpp>

namespace loom {


/// Before the first socket of a context: libzmq's default is 1023.
inline void allow_many_sockets(zmq::context_t& context) { context.set(zmq::ctxopt::max_sockets, 16'384); }

inline void set_common_options(zmq::socket_t& socket) {
  socket.set(zmq::sockopt::linger, 0);
  socket.set(zmq::sockopt::sndhwm, 100'000);
  socket.set(zmq::sockopt::rcvhwm, 100'000);
  socket.set(zmq::sockopt::heartbeat_ivl, 1'000);
  socket.set(zmq::sockopt::heartbeat_timeout, 5'000);
  socket.set(zmq::sockopt::heartbeat_ttl, 10'000);
}

}  // namespace loom
