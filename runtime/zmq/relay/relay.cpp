// SPDX-License-Identifier: Apache-2.0
// Two transports back to back.
#include "runtime/zmq/relay/relay.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/text/format_text.hpp"
#include "proto/codec.hpp"

namespace loom {
namespace {

/// The nodes of both.
std::vector<NodeRange> common(const std::vector<NodeRange>& some, const std::vector<NodeRange>& others) {
  std::vector<NodeRange> both;
  for (const NodeRange& a : some) {
    for (const NodeRange& b : others) {
      if (const NodeRange range{std::max(a.first, b.first), std::min(a.last, b.last)}; range.first <= range.last) {
        both.push_back(range);
      }
    }
  }
  return both;
}

/// Who may come, for nodes that the relay's own key has too, as far as the keyring knows that. Operators speak to the
/// controller itself, and a relay behind a relay would hide who speaks.
Keyring agents_of(const Keyring& keyring, const std::string& own_key) {
  const Grant* own = keyring.find(own_key);
  Keyring agents;
  for (Grant grant : keyring.grants()) {
    if (grant.role == Role::agent && !grant.is_relay) {
      grant.nodes = own == nullptr ? grant.nodes : common(grant.nodes, own->nodes);
      LOOM_ASSERT(agents.add(std::move(grant)).has_value());
    }
  }
  return agents;
}

/// Of a key that agents_of() leaves out; empty: it is in no keyring of ours.
std::string why_left_out(const Keyring& keyring, const std::string& key) {
  const Grant* grant = keyring.find(key);
  if (grant == nullptr || (grant->role == Role::agent && !grant->is_relay)) {
    return {};
  }
  return grant->is_relay
             ? format_text("is the key of relay {}: a relay connects to the controller itself, not to another relay",
                           grant->principal)
             : format_text(
                   "is the key of {}, whose role is {}: operators connect to the controller itself, a relay "
                   "lets in agents alone",
                   grant->principal, role_word(*grant));
}

}  // namespace

class Relay::Core {
 public:
  Result<void> open(asio::io_context& io, RelayOptions options) {
    own_key_ = options.agents.keys.public_key;
    keyring_ = options.agents.keyring;
    options.agents.keyring = agents_of(keyring_, own_key_);
    options.agents.why_turned_away = [this](const std::string& key) { return why_left_out(keyring_, key); };
    trouble_ = options.controller.on_trouble;
    auto controller = AgentTransport::connect(io, std::move(options.controller));
    if (!controller) {
      return std::unexpected(std::move(controller).error());
    }
    auto agents = ControllerTransport::bind(io, std::move(options.agents));
    if (!agents) {
      return std::unexpected(std::move(agents).error());
    }
    controller_ = *std::move(controller);
    agents_ = *std::move(agents);
    agents_->on_receive([this](Peer from, std::string_view principal, Role, std::string_view envelope) {
      pass_on(NodeId{static_cast<std::uint32_t>(from.id)}, principal, envelope);
    });
    agents_->on_refuse(std::move(options.turned_away));
    return {};
  }

  const ControllerTransport& agents() const { return *agents_; }
  const AgentTransport& controller() const { return *controller_; }
  void replace_keyring(const Keyring& keyring) {
    keyring_ = keyring;
    agents_->replace_keyring(agents_of(keyring_, own_key_));
  }

 private:
  void pass_on(NodeId node, std::string_view principal, std::string_view envelope) {
    const auto port = controller_->port(node);
    if (!port) {
      if (trouble_) {
        trouble_(LinkTrouble::unreachable, port.error().message);
      }
      return;
    }
    if (passed_.insert(node).second) {
      (*port)->on_receive(
          [this, node](Peer, std::string_view, Role, std::string_view answer) { agents_->send(agent_peer(node), answer); });
    }
    (*port)->send(controller_peer(), with_principal(envelope, principal));
  }

  std::string own_key_;
  Keyring keyring_;  ///< all of it: operators' keys, which are not let in, are known by name
  std::function<void(LinkTrouble, const std::string&)> trouble_;
  std::unique_ptr<AgentTransport> controller_;
  std::set<NodeId> passed_;                      ///< whose answers are passed on
  std::unique_ptr<ControllerTransport> agents_;  ///< last: what it receives goes to all of the above
};

Relay::Relay(std::unique_ptr<Core> core) : core_(std::move(core)) {}
Relay::~Relay() = default;

Result<std::unique_ptr<Relay>> Relay::open(asio::io_context& io, RelayOptions options) {
  auto core = std::make_unique<Core>();
  LOOM_TRY(core->open(io, std::move(options)));
  return std::unique_ptr<Relay>(new Relay(std::move(core)));
}

const std::vector<std::string>& Relay::endpoints() const { return core_->agents().endpoints(); }
void Relay::replace_keyring(const Keyring& keyring) { core_->replace_keyring(keyring); }
const ControllerTransportCounters& Relay::from_agents() const { return core_->agents().counters(); }
const AgentTransportCounters& Relay::to_controller() const { return core_->controller().counters(); }

}  // namespace loom
