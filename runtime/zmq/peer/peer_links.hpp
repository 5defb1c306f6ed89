// SPDX-License-Identifier: Apache-2.0
// PeerLinks: how agents speak to agents. One link a pair of host processes over ZeroMQ with CURVE and ZAP: every process
// listens, and the one with the higher number dials the other, whose key is pinned. Two processes of one host that have found
// each other so speak through shared memory from then on (ADR 41). Agents of one process speak in memory, through the same
// seam. What finds no link is dropped and counted: the words of the fast plane are repeated by whoever needs them. Operators
// may connect as well, to ask an agent itself for darkness while no controller answers. Loop's thread only.
#pragma once

#include <asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/ids.hpp"
#include "core/result.hpp"
#include "runtime/seams.hpp"
#include "runtime/zmq/keys/keyring.hpp"
#include "runtime/zmq/keys/keys.hpp"

namespace loom {

/// One host process of the lab.
struct PeerProcess {
  std::vector<NodeRange> nodes;  ///< that it hosts; not empty
  std::string public_key;        ///< Z85
  /// Where it listens now; asked again and again, since a process that starts anew listens elsewhere.
  std::function<Result<std::string>()> address;
};

struct PeerLinksOptions {
  std::uint32_t process = 0;           ///< which of them we are
  std::vector<PeerProcess> processes;  ///< ours included
  KeyPair keys;
  /// Whose keys of role agent, operator and admin may connect, and for which nodes each may speak; empty: nobody may connect.
  Keyring keyring;
  std::string endpoint{"tcp://127.0.0.1:*"};
  /// Boot clock, which names the host: processes with the same one share memory. Nothing: all links stay with ZeroMQ.
  std::optional<ClockId> kernel{};
  /// Which way a link goes from now on, or why not through shared memory; a sentence. May be empty.
  std::function<void(const std::string& sentence)> reported{};
};

enum class PeerTransport : std::uint8_t {
  none,  ///< the other process is not there, or its key does not count
  zeromq,
  shared_memory,
};

/// The link to one other process.
struct PeerLinkState {
  std::uint32_t process = 0;
  PeerTransport transport = PeerTransport::none;
};

struct PeerLinksCounters {
  std::uint64_t frames_in = 0;
  std::uint64_t frames_out = 0;
  std::uint64_t words_in = 0;      ///< over links
  std::uint64_t operators_in = 0;  ///< requests of operators
  std::uint64_t words_out = 0;     ///< over links
  std::uint64_t local = 0;         ///< words between agents of this process
  std::uint64_t malformed = 0;
  std::uint64_t unauthorised = 0;  ///< keys that are not in the keyring, words of nodes that a key may not speak for
  std::uint64_t over_quota = 0;    ///< words beyond what one process may send
  std::uint64_t strangers = 0;     ///< words for a node that is not hosted here
  std::uint64_t dropped = 0;       ///< words that found no link, or a full one
  std::uint64_t shared_in = 0;     ///< of words_in, through shared memory
  std::uint64_t shared_out = 0;    ///< of words_out, through shared memory
  std::uint64_t shared_full = 0;   ///< words that found a full ring, and went over ZeroMQ
  std::uint64_t shared_ended = 0;  ///< times that a link in shared memory ended by itself or by the other process
};

class PeerLinks {
 public:
  /// Listens; dials as soon as an address is known. Errors: malformed (a key), unreachable (the endpoint), internal.
  static Result<std::unique_ptr<PeerLinks>> open(asio::io_context& io, PeerLinksOptions options);
  ~PeerLinks();

  /// Where we listen.
  const std::string& endpoint() const;
  /// Keys that are gone from it are not received from any more, whoever dialled.
  void replace_keyring(Keyring keyring);
  /// Our own keys from now on: we listen anew, at the same port, and dial anew. The old keys stay when that fails. Errors: as
  /// open().
  Result<void> replace_keys(KeyPair keys);
  /// Another process has another key from now on, and is dialled anew.
  void replace_peer_key(std::uint32_t process, std::string public_key);
  /// The seam of one hosted agent: words to agents go over the links, everything else through `controller`, which outlives it.
  /// What arrives of an agent is from agent_peer(node), with the role and the principal that its key proves; of an operator
  /// from a peer of that kind, to which the agent may answer.
  MessageSeam& port(NodeId node, MessageSeam& controller);
  const PeerLinksCounters& counters() const;
  /// To every other process.
  std::vector<PeerLinkState> links() const;

 private:
  class Core;
  class Port;
  explicit PeerLinks(std::shared_ptr<Core> core);
  std::shared_ptr<Core> core_;  ///< shared with tasks under way, which do nothing once the links are gone
};

}  // namespace loom
