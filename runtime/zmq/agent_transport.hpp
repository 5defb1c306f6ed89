// SPDX-License-Identifier: Apache-2.0
// AgentTransport: the MessageSeam of every agent that one process hosts. One DEALER connection (or one an agent, for the
// benchmark) to the controller, whose key is pinned; it reconnects by itself. While there is no connection, what is sent is
// dropped and counted: a heartbeat that waited would lie. Loop's thread only.
#pragma once

#include <asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/limits.hpp"
#include "runtime/seams.hpp"
#include "runtime/zmq/keys/keys.hpp"

namespace loom {

enum class Connections : std::uint8_t { shared, one_per_agent };

/// Why a process is not heard.
enum class LinkTrouble : std::uint8_t {
  unreachable,  ///< nobody listens there, or whoever does is stuck
  key_refused,  ///< our key is not in its keyring
  other_key,    ///< it is not the one whose key we were given
  unanswered,   ///< it knows our key and answers none of our nodes
};

struct AgentTransportOptions {
  std::string endpoint{"tcp://127.0.0.1:7601"};
  std::string controller_key;  ///< public, Z85: nobody else is believed
  KeyPair keys;
  Connections connections = Connections::shared;
  /// Each trouble once until it is over, with a sentence that names endpoint and `called`. Empty: nobody wants to know.
  std::function<void(LinkTrouble, const std::string& sentence)> on_trouble{};
  /// Where the controller listens by now: asked for as long as there is no connection. Empty: at `endpoint`, always.
  std::function<Result<std::string>()> find{};
  std::string called{"the controller"};                          ///< in sentences; or "relay-0", which stands for it
  std::string key_file{"controller.pub"};                        ///< in sentences: where `controller_key` is from
  std::chrono::milliseconds patience = std::chrono::seconds{5};  ///< so long without a connection, or an answer, is trouble
};

struct AgentTransportCounters {
  std::uint64_t frames_in = 0;
  std::uint64_t frames_out = 0;
  std::uint64_t envelopes_in = 0;
  std::uint64_t envelopes_out = 0;
  std::uint64_t malformed = 0;   ///< frames that are no batch, envelopes without a head
  std::uint64_t over_quota = 0;  ///< envelopes beyond what a turn of ours could ever take
  std::uint64_t strangers = 0;   ///< envelopes to a node that is not hosted here
  std::uint64_t dropped = 0;     ///< envelopes that found no connection, or a full one
};

class AgentTransport {
 public:
  /// Does not wait for the controller. Errors: malformed (a key), unreachable (the endpoint cannot be understood), internal.
  static Result<std::unique_ptr<AgentTransport>> connect(asio::io_context& io, AgentTransportOptions options);
  ~AgentTransport();

  /// The seam of one hosted agent; the same one for the same node. Lives as long as the transport. What arrives is from
  /// controller_peer(), principal "controller". Errors: internal (a connection of its own could not be made).
  Result<MessageSeam*> port(NodeId node);
  /// Every connection is made anew with these keys, towards a controller of that public key; ports stay. The old connections
  /// stay when it fails. Errors: as connect().
  Result<void> replace_keys(KeyPair keys, std::string controller_key);
  const AgentTransportCounters& counters() const;

 private:
  class Core;
  class Port;
  explicit AgentTransport(std::shared_ptr<Core> core);
  std::shared_ptr<Core> core_;  ///< shared with tasks under way, which do nothing once the transport is gone
};

}  // namespace loom
