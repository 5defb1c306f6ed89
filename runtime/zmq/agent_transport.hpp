// AgentTransport: the agents' MessageSeam over ZeroMQ. One DEALER speaks for every agent that a process hosts (or one each, for
// measuring); each agent has a port of its own, and envelopes find it by their node id. It reconnects by itself, never
// blocks, never decodes an envelope. Loop's thread only.
#pragma once

#include <asio/io_context.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/seams.hpp"
#include "runtime/zmq/keys.hpp"

namespace loom {

struct AgentTransportOptions {
  std::string endpoint;
  KeyPair keys;
  std::string controller_key;           ///< public, Z85
  bool connection_each_agent = false;   ///< a DEALER for every port instead of one for all
};

struct AgentTransportCounters {
  std::uint64_t frames_in = 0;
  std::uint64_t frames_out = 0;
  std::uint64_t envelopes_in = 0;
  std::uint64_t envelopes_out = 0;
  std::uint64_t malformed = 0;    ///< frames that are no batch, envelopes without a head
  std::uint64_t misdirected = 0;  ///< for a node that has no port here
  std::uint64_t dropped = 0;      ///< the queue towards the controller is full
};

class AgentTransport {
 public:
  /// Connects in the background. Errors: unreachable (the endpoint is no address), malformed (a key).
  static Result<std::unique_ptr<AgentTransport>> connect(asio::io_context& io, AgentTransportOptions options);
  ~AgentTransport();

  /// The seam of one hosted agent; lives as long as the transport. What it sends leaves at the end of this turn of the loop,
  /// in one frame with what the connection's other agents say.
  MessageSeam& port(NodeId node);
  const AgentTransportCounters& counters() const;

 private:
  class Core;
  explicit AgentTransport(std::shared_ptr<Core> core);
  std::shared_ptr<Core> core_;  ///< shared with tasks under way, which do nothing once the transport is gone
};

}  // namespace loom
