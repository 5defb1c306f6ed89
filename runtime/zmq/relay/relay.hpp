// SPDX-License-Identifier: Apache-2.0
// Relay: stands between agents of many hosts and their controller, which then has one connection instead of one a host, and
// one handshake. To agents it is the controller, to the controller it is a host of all their nodes whose key may say for whom
// it speaks. It lets a key speak for the nodes that its keyring grants it, and decodes nothing. Loop's thread only (ADR 94).
#pragma once

#include <asio/io_context.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/zmq/agent_transport.hpp"
#include "runtime/zmq/controller_transport.hpp"

namespace loom {

struct RelayOptions {
  ControllerTransportOptions agents;  ///< who may come: of its keyring those keys that are agents'
  AgentTransportOptions controller;
  MessageSeam::Refuse turned_away{};  ///< what agents' keys, or strangers, are refused at its door, in sums
};

class Relay {
 public:
  /// Does not wait for the controller. Errors: as ControllerTransport::bind() and AgentTransport::connect().
  static Result<std::unique_ptr<Relay>> open(asio::io_context& io, RelayOptions options);
  ~Relay();

  /// Where agents find it, as bound.
  const std::vector<std::string>& endpoints() const;
  /// As ControllerTransport::replace_keyring().
  void replace_keyring(const Keyring& keyring);
  const ControllerTransportCounters& from_agents() const;
  const AgentTransportCounters& to_controller() const;

 private:
  class Core;
  explicit Relay(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace loom
