// SPDX-License-Identifier: Apache-2.0
// What stands behind PeerLinks: its sockets and links (peer_links.cpp), and what comes in over them (peer_links_intake.cpp).
#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include <zmq.hpp>

#include "runtime/zmq/batch.hpp"
#include "runtime/zmq/intake.hpp"
#include "runtime/zmq/keys/authenticator.hpp"
#include "runtime/zmq/keys/handshake_watch.hpp"
#include "runtime/zmq/listening_socket.hpp"
#include "runtime/zmq/loop_socket.hpp"
#include "runtime/zmq/peer/peer_links.hpp"
#include "runtime/zmq/peer/shared_peers.hpp"
#include "runtime/zmq/refusal_sums.hpp"

namespace loom {

/// Of the node that a word is for, in front of its envelope.
inline constexpr std::size_t kAddressBytes = 4;
/// In place of a node's number: what follows is for the link itself, an offer of shared memory.
inline constexpr NodeId kLinkAddress{0xFFFF'FFFFU};

/// May a key of this role ask an agent itself? It may order darkness, and ask how it is.
constexpr bool may_darken(Role role) { return role == Role::operator_ || role == Role::admin; }

/// Whose messages they are: of a process that we dial, or of a key that has dialled us.
struct PeerSpeaker {
  std::optional<std::size_t> process{};
  std::string public_key{};
  bool operator==(const PeerSpeaker&) const = default;
};

/// Without a keyring whoever we dial is known by its pinned key alone.
inline bool may_speak(const PeerLinksOptions& options, const std::string& key) {
  return options.keyring.is_empty() || options.keyring.find(key) != nullptr;
}
/// What it may speak for now: a key may have been revoked while its messages waited. Nothing: for nobody.
std::optional<Grant> grant_of(const PeerLinksOptions& options, const PeerSpeaker& speaker);
/// Which process hosts it; nothing: none.
std::optional<std::size_t> process_of(const PeerLinksOptions& options, NodeId node);

class PeerLinks::Core : public std::enable_shared_from_this<PeerLinks::Core> {
 public:
  Core(asio::io_context& io, PeerLinksOptions options)
      : io_(io),
        options_(std::move(options)),
        shared_(io, options_.processes.size(), options_.kernel,
                {[this](std::size_t process, RingMessages messages) { take_shared(process, std::move(messages)); },
                 [this](std::size_t process) { report_shared(process, nullptr); },
                 [this](std::size_t process, const Error& why) { report_shared(process, &why); }}),
        greeting_(io),
        sums_(io, [this](const MessageRefused& refused) { report(refused); }) {
    links_.resize(options_.processes.size());
  }

  Result<void> open();
  void close();
  MessageSeam& port(NodeId node, MessageSeam& controller);
  void send(NodeId from, NodeId to, std::string_view bytes);
  void replace_keyring(Keyring keyring);
  Result<void> replace_keys(KeyPair keys);
  void replace_peer_key(std::uint32_t process, std::string public_key);
  void answer(std::uint64_t operator_number, std::string_view bytes);

  std::vector<PeerLinkState> links() const;

  std::string endpoint;
  PeerLinksCounters counters;

 private:
  /// To one other process: a socket of our own if we dial it, else its connection at our ROUTER.
  struct Link {
    std::shared_ptr<LoopSocket> dialled;
    std::unique_ptr<HandshakeWatch> watch;               ///< of `dialled`
    std::chrono::steady_clock::time_point not_before{};  ///< it refused our key: not dialled until then
    std::string address;                                 ///< of `dialled`
    std::string routing_id;                              ///< empty: it has not greeted us
    Batch outgoing;
    bool is_dirty = false;
  };

  Result<void> listen();
  void hang_up(std::size_t process);
  void watch(std::size_t process, zmq::socket_t& socket, const std::string& address);
  void greet();
  void dial(std::size_t process);
  bool take_dialled(std::size_t process, LoopSocket& socket);
  bool take_accepted();
  void take_shared(std::size_t process, RingMessages messages);
  void report_shared(std::size_t process, const Error* why);
  struct Refused {
    RefusalKind kind = RefusalKind::malformed;
    Error error;
    std::uint64_t count = 1;
  };
  struct OperatorPeer {
    std::string routing_id;
    std::string public_key;
  };
  void enqueue(const Grant& grant, const IntakeQuota& quota, Result<IntakeFrame> frame);
  std::uint64_t number_of(const PeerSpeaker& speaker);
  std::uint64_t number_of_operator(const std::string& routing_id, const std::string& public_key);
  void serve_soon();
  void serve();
  void take_request(const IntakeMessage& message);
  void take_word(const Grant& speaker, std::string_view word);
  void deliver(NodeId from, NodeId to, const Grant& speaker, std::string_view envelope);
  void refuse(const Grant& speaker, NodeId from, Refused why);
  void report(const MessageRefused& refused) const;
  void flush();
  void flush(Link& link);
  SendOutcome send_frame(Link& link, std::string_view frame);

  asio::io_context& io_;
  PeerLinksOptions options_;
  zmq::context_t context_;
  std::unique_ptr<Authenticator> authenticator_;
  std::optional<ListeningSocket> listener_;  ///< outlives the sockets that it is lent to, whose keys change
  std::shared_ptr<LoopSocket> router_;
  std::vector<Link> links_;  ///< by process
  SharedPeers shared_;       ///< which of them run through shared memory
  std::map<NodeId, std::unique_ptr<Port>> ports_;
  std::vector<std::size_t> dirty_;
  std::map<std::uint64_t, OperatorPeer> operators_;  ///< those that asked last
  std::uint64_t last_operator_ = 0;
  asio::steady_timer greeting_;
  Intake intake_;  ///< by key of the other process
  RefusalSums sums_;
  std::vector<PeerSpeaker> speakers_;  ///< by number, as words that wait name them
  bool is_flush_posted_ = false;
  bool is_serve_posted_ = false;
  bool is_open_ = false;
};

class PeerLinks::Port final : public MessageSeam {
 public:
  Port(Core& core, NodeId node, MessageSeam& controller) : core_(core), node_(node), controller_(controller) {}

  void on_receive(Receive receive) override {
    controller_.on_receive(receive);
    receive_ = std::move(receive);
  }
  void on_refuse(Refuse refuse) override {
    controller_.on_refuse(refuse);
    refuse_ = std::move(refuse);
  }
  void send(Peer to, std::string_view bytes) override {
    if (to.kind == Peer::Kind::agent) {
      core_.send(node_, NodeId{static_cast<std::uint32_t>(to.id)}, bytes);
    } else if (to.kind == Peer::Kind::operator_) {
      core_.answer(to.id, bytes);
    } else {
      controller_.send(to, bytes);
    }
  }
  void receive(Peer from, const Grant& speaker, std::string_view envelope) const {
    if (receive_) {
      receive_(from, speaker.principal, speaker.role, envelope);
    }
  }
  void refuse(const MessageRefused& refused) const {
    if (refuse_) {
      refuse_(refused);
    }
  }

 private:
  Core& core_;
  NodeId node_;
  MessageSeam& controller_;
  Receive receive_;
  Refuse refuse_;
};

}  // namespace loom
