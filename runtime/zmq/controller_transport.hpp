// SPDX-License-Identifier: Apache-2.0
// ControllerTransport: the controller's MessageSeam over ZeroMQ. One ROUTER, CURVE on every connection, ZAP at the door; a key
// speaks for the nodes that the keyring grants it, and a node belongs to one connection at a time. What comes waits by key
// (Intake): agents before operators, each turn of the loop takes a bounded part of it, and what is beyond a key's quota is
// refused. It never decodes an envelope (it peeks at the node), and never blocks. Loop's thread only.
#pragma once

#include <asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/messages/intake_limits.hpp"
#include "core/time.hpp"
#include "runtime/seams.hpp"
#include "runtime/zmq/keys/keyring.hpp"
#include "runtime/zmq/keys/keys.hpp"
#include "runtime/zmq/quota.hpp"

namespace loom {

struct ControllerTransportOptions {
  std::vector<std::string> endpoints{"tcp://127.0.0.1:7601"};  ///< "tcp://127.0.0.1:*": a free port, see endpoints()
  KeyPair keys;
  Keyring keyring;
  std::function<Instant()> now;                       ///< the loop's clock
  Duration claim_timeout = std::chrono::seconds{2};   ///< a holder silent for so long may lose its nodes to a claimant: twice
                                                      ///< as long as an agent at rest says nothing
  std::size_t frame_bytes_max = limits::kBatchBytes;  ///< whoever sends more is disconnected
  std::function<IntakeQuota(const Grant&)> quota = quota_of;
  /// Why a key that is not in the keyring is turned away, behind "a peer at ADDRESS has key KEY, which "; empty, or an empty
  /// answer: it is not in the keyring.
  std::function<std::string(const std::string& key)> why_turned_away{};
};

/// Nothing is lost without a number here.
struct ControllerTransportCounters {
  std::uint64_t frames_in = 0;
  std::uint64_t frames_out = 0;
  std::uint64_t envelopes_in = 0;
  std::uint64_t envelopes_out = 0;
  std::uint64_t malformed = 0;     ///< frames that are no batch, envelopes without a head
  std::uint64_t unauthorised = 0;  ///< keys that are not in the keyring, nodes that are not the key's
  std::uint64_t conflicts = 0;     ///< envelopes of second claimants
  std::uint64_t over_quota = 0;    ///< envelopes beyond what their key may send, frames of connections beyond
  std::uint64_t dropped = 0;       ///< envelopes to peers that are unknown, gone or too slow; or of peers that went meanwhile
};

class ControllerTransport : public MessageSeam {
 public:
  /// Errors: unreachable (names the endpoint and why), internal.
  static Result<std::unique_ptr<ControllerTransport>> bind(asio::io_context& io, ControllerTransportOptions options);
  ~ControllerTransport() override;

  void on_receive(Receive receive) override;
  /// A key that goes on being refused is reported once a second and kind, with how many there were; the counters see each time.
  void on_refuse(Refuse refuse) override;
  /// Coalesced: leaves at the end of this turn of the loop, in one frame with whatever else goes to that connection.
  void send(Peer to, std::string_view bytes) override;

  /// As bound, with the real ports.
  const std::vector<std::string>& endpoints() const;
  /// Keys that are gone from it lose their connections and nodes at once: what waited to be sent to them is dropped, and what
  /// they had sent is not received any more. A key whose role or nodes changed goes by the new ones from its next message on.
  void replace_keyring(Keyring keyring);
  const ControllerTransportCounters& counters() const;

 private:
  class Core;
  explicit ControllerTransport(std::shared_ptr<Core> core);
  std::shared_ptr<Core> core_;  ///< shared with tasks under way, which do nothing once the transport is gone
};

}  // namespace loom
