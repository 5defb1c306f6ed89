// Connections, claims, and the end of a turn.
#include "runtime/zmq/controller_transport.hpp"

#include <zmq.h>

#include <algorithm>
#include <array>
#include <asio/post.hpp>
#include <set>
#include <unordered_map>
#include <utility>

#include "proto/codec.hpp"
#include "runtime/zmq/authenticator.hpp"
#include "runtime/zmq/batch.hpp"
#include "runtime/zmq/loop_socket.hpp"
#include "runtime/zmq/peer_socket.hpp"
#include "runtime/zmq/socket_options.hpp"

namespace loom {
namespace {

/// Connections before the first search for gone ones.
constexpr std::size_t kFirstSweep = 256;

/// What an operator whose machine it is can do.
constexpr const char* kKeyRemedy =
    "if it is ours, `loom keys grant NAME --key KEY --role ROLE`; a key file of another lab: remove it, run `loom keys generate "
    "SCENARIO` and start its process again";

std::set<std::string> keys_of(const Keyring& keyring) {
  std::set<std::string> keys;
  for (const Grant& grant : keyring.grants()) {
    keys.insert(grant.public_key);
  }
  return keys;
}

}  // namespace

class ControllerTransport::Core : public std::enable_shared_from_this<ControllerTransport::Core> {
 public:
  Core(asio::io_context& io, ControllerTransportOptions options) : io_(io), options_(std::move(options)) {}

  Result<void> open();
  void close();
  void send(Peer to, std::string_view bytes);
  void replace_keyring(Keyring keyring);

  Receive receive;
  std::function<void(Peer, Error)> refuse;
  std::vector<std::string> endpoints;
  ControllerTransportCounters counters;

 private:
  /// One live ZeroMQ connection, as the ROUTER numbers it anew each time that a peer connects.
  struct Connection {
    std::string routing_id;
    std::uint64_t number = 0;
    Grant grant;
    PeerSocket socket;
    Instant heard{};
    Batch outgoing;
    bool is_dirty = false;                                ///< listed in dirty_
    std::unordered_map<std::uint32_t, Instant> reported;  ///< node -> when a refusal was last told
  };

  Peer peer_of(const Connection& connection, NodeId node) const {
    return connection.grant.role == Role::agent ? agent_peer(node) : Peer{Peer::Kind::operator_, connection.number};
  }

  bool take_message();
  void take_frame(const std::string& routing_id, zmq::message_t& frame);
  void take_envelope(Connection& connection, std::string_view envelope);
  Connection* connection_of(const std::string& routing_id, const char* user_id);
  bool claim(Connection& connection, NodeId node);
  bool is_live(Connection& connection);
  void tell_refusal(Connection& connection, NodeId node, Error error);
  void tell_reject(const std::string& address, const std::string& public_key);
  Connection* find(Peer to);
  void flush();
  SendOutcome flush(Connection& connection);
  SendOutcome send_frame(Connection& connection, std::string_view frame);
  void forget(Connection& connection);
  void sweep();

  asio::io_context& io_;
  ControllerTransportOptions options_;
  zmq::context_t context_;
  std::unique_ptr<Authenticator> authenticator_;
  std::shared_ptr<LoopSocket> socket_;
  std::unordered_map<std::string, std::unique_ptr<Connection>> connections_;  ///< by routing id
  std::unordered_map<std::uint64_t, Connection*> by_number_;
  std::unordered_map<std::uint32_t, Connection*> holder_;  ///< node -> who speaks for it
  std::vector<std::uint64_t> dirty_;                       ///< numbers of connections with something to send
  std::uint64_t last_number_ = 0;
  std::size_t next_sweep_ = kFirstSweep;
  Instant last_reject_told_{};
  bool was_reject_told_ = false;
  bool is_flush_posted_ = false;
  bool is_open_ = false;
};

Result<void> ControllerTransport::Core::open() {
  allow_many_sockets(context_);
  auto reject = [weak = weak_from_this(), &io = io_](const std::string& address, const std::string& key) {
    asio::post(io, [weak, address, key] {
      if (const auto self = weak.lock()) {
        self->tell_reject(address, key);
      }
    });
  };
  auto authenticator = Authenticator::start(context_, keys_of(options_.keyring), std::move(reject));
  if (!authenticator) {
    return std::unexpected(authenticator.error());
  }
  authenticator_ = std::move(*authenticator);
  is_open_ = true;
  std::string at = "the ROUTER";
  try {
    zmq::socket_t socket(context_, zmq::socket_type::router);
    set_common_options(socket);
    socket.set(zmq::sockopt::router_mandatory, true);
    socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(options_.frame_bytes_max));
    socket.set(zmq::sockopt::backlog, 4'096);
    socket.set(zmq::sockopt::curve_server, true);
    socket.set(zmq::sockopt::curve_secretkey, options_.keys.secret_key);
    socket.set(zmq::sockopt::zap_domain, kZapDomain);
    for (const std::string& endpoint : options_.endpoints) {
      at = endpoint;
      socket.bind(endpoint);
      endpoints.push_back(socket.get(zmq::sockopt::last_endpoint));
    }
    socket_ = std::make_shared<LoopSocket>(io_, std::move(socket));
  } catch (const zmq::error_t& error) {
    return zmq_failure(ErrorCode::unreachable, "cannot listen at " + at, error.num());
  }
  return socket_->arm([this] { return take_message(); });
}

void ControllerTransport::Core::close() {
  receive = nullptr;
  refuse = nullptr;
  if (!is_open_) {
    return;
  }
  is_open_ = false;
  if (socket_) {
    flush();
    socket_->close();
  }
  context_.shutdown();
  authenticator_.reset();
}

// --- in ------------------------------------------------------------------------------------------------------------------

bool ControllerTransport::Core::take_message() {
  zmq::message_t routing_id;
  if (!socket_->receive_part(routing_id)) {
    return false;
  }
  zmq::message_t frame;
  if (!routing_id.more() || !socket_->receive_part(frame)) {
    return true;
  }
  ++counters.frames_in;
  if (!frame.more()) {
    take_frame(routing_id.to_string(), frame);
    return true;
  }
  ++counters.malformed;  // a frame has one part
  for (bool has_more = true; has_more && socket_->receive_part(frame); has_more = frame.more()) {
  }
  return true;
}

void ControllerTransport::Core::take_frame(const std::string& routing_id, zmq::message_t& frame) {
  Connection* connection = connection_of(routing_id, zmq_msg_gets(frame.handle(), "User-Id"));
  if (connection == nullptr) {
    ++counters.unauthorised;  // its key was revoked after it had connected
    PeerSocket(frame).hang_up();
    return;
  }
  if (connection->heard == Instant{}) {
    connection->socket = PeerSocket(frame);
  }
  connection->heard = options_.now();
  const auto envelopes = split_batch({frame.data<char>(), frame.size()});
  if (!envelopes) {
    ++counters.malformed;
    tell_refusal(*connection, NodeId{}, envelopes.error());
    return;
  }
  const std::uint64_t number = connection->number;
  for (const std::string_view envelope : *envelopes) {
    take_envelope(*connection, envelope);
    if (!by_number_.contains(number)) {
      return;  // forgotten by what its envelope set in motion
    }
  }
}

void ControllerTransport::Core::take_envelope(Connection& connection, std::string_view envelope) {
  ++counters.envelopes_in;
  const auto head = peek_head(envelope);
  if (!head) {
    ++counters.malformed;
    tell_refusal(connection, NodeId{}, head.error());
    return;
  }
  if (connection.grant.role == Role::agent && !claim(connection, head->node)) {
    return;
  }
  if (receive) {
    receive(peer_of(connection, head->node), connection.grant.principal, connection.grant.role, envelope);
  }
}

ControllerTransport::Core::Connection* ControllerTransport::Core::connection_of(const std::string& routing_id,
                                                                                const char* user_id) {
  const auto at = connections_.find(routing_id);
  if (at != connections_.end() && user_id != nullptr && at->second->grant.public_key == user_id) {
    return at->second.get();
  }
  if (at != connections_.end()) {
    forget(*at->second);  // a client that chose its own routing id has left, another key took the id
  }
  const Grant* grant = user_id == nullptr ? nullptr : options_.keyring.find(user_id);
  if (grant == nullptr) {
    return nullptr;
  }
  if (connections_.size() >= next_sweep_) {
    sweep();
  }
  auto fresh = std::make_unique<Connection>();
  fresh->routing_id = routing_id;
  fresh->number = ++last_number_;
  fresh->grant = *grant;
  Connection* connection = fresh.get();
  by_number_.emplace(connection->number, connection);
  connections_.emplace(routing_id, std::move(fresh));
  return connection;
}

bool ControllerTransport::Core::claim(Connection& connection, NodeId node) {
  const auto holder = holder_.find(node.value);
  if (holder != holder_.end() && holder->second == &connection) {
    return true;
  }
  if (!connection.grant.may_speak_for(node)) {
    ++counters.unauthorised;
    tell_refusal(connection, node,
                 {ErrorCode::refused, "the key of " + connection.grant.principal + " may not speak for node " +
                                          std::to_string(node.value) + "; " + kKeyRemedy});
    return false;
  }
  if (holder != holder_.end() && is_live(*holder->second)) {
    ++counters.conflicts;
    tell_refusal(connection, node,
                 {ErrorCode::conflict, "node " + std::to_string(node.value) + " is claimed by connection " +
                                           std::to_string(connection.number) + " of " + connection.grant.principal +
                                           ", connection " + std::to_string(holder->second->number) + " of " +
                                           holder->second->grant.principal + " holds it and is alive"});
    return false;
  }
  holder_[node.value] = &connection;
  return true;
}

/// Heard lately, and still there: an empty frame finds out whether the ROUTER knows it.
bool ControllerTransport::Core::is_live(Connection& connection) {
  if (options_.now() - connection.heard > options_.claim_timeout) {
    return false;
  }
  if (send_frame(connection, {}) == SendOutcome::gone) {
    forget(connection);
    return false;
  }
  return true;
}

void ControllerTransport::Core::tell_refusal(Connection& connection, NodeId node, Error error) {
  const Instant now = options_.now();
  const auto [at, is_first] = connection.reported.try_emplace(node.value, now);
  if (!is_first && now - at->second < options_.claim_timeout) {
    return;
  }
  at->second = now;
  if (refuse) {
    refuse(peer_of(connection, node), std::move(error));
  }
}

void ControllerTransport::Core::tell_reject(const std::string& address, const std::string& public_key) {
  ++counters.unauthorised;
  const Instant now = options_.now();
  if (was_reject_told_ && now - last_reject_told_ < options_.claim_timeout) {
    return;
  }
  was_reject_told_ = true;
  last_reject_told_ = now;
  if (refuse) {
    refuse(Peer{Peer::Kind::operator_, 0}, Error{ErrorCode::refused, "a peer at " + address + " has key " + public_key +
                                                                         ", which is not in the keyring; " + kKeyRemedy});
  }
}

// --- out -----------------------------------------------------------------------------------------------------------------

ControllerTransport::Core::Connection* ControllerTransport::Core::find(Peer to) {
  if (to.kind == Peer::Kind::agent) {
    const auto at = holder_.find(static_cast<std::uint32_t>(to.id));
    return at == holder_.end() ? nullptr : at->second;
  }
  const auto at = by_number_.find(to.id);
  return to.kind != Peer::Kind::operator_ || at == by_number_.end() ? nullptr : at->second;
}

void ControllerTransport::Core::send(Peer to, std::string_view bytes) {
  Connection* connection = find(to);
  if (connection == nullptr || bytes.size() > limits::kMessageBytes) {
    ++counters.dropped;
    return;
  }
  if (!connection->outgoing.fits(bytes.size())) {
    flush(*connection);
  }
  connection->outgoing.add(bytes);
  if (!connection->is_dirty) {
    connection->is_dirty = true;
    dirty_.push_back(connection->number);
  }
  if (!is_flush_posted_) {
    is_flush_posted_ = true;
    asio::post(io_, [weak = weak_from_this()] {
      if (const auto self = weak.lock(); self && self->is_open_) {
        self->flush();
      }
    });
  }
}

void ControllerTransport::Core::flush() {
  is_flush_posted_ = false;
  const std::vector<std::uint64_t> numbers = std::exchange(dirty_, {});
  for (const std::uint64_t number : numbers) {
    const auto at = by_number_.find(number);
    if (at == by_number_.end()) {
      continue;
    }
    at->second->is_dirty = false;
    if (flush(*at->second) == SendOutcome::gone) {
      forget(*at->second);
    }
  }
}

SendOutcome ControllerTransport::Core::flush(Connection& connection) {
  if (connection.outgoing.empty()) {
    return SendOutcome::sent;
  }
  const SendOutcome outcome = send_frame(connection, connection.outgoing.bytes());
  if (outcome == SendOutcome::sent) {
    counters.envelopes_out += connection.outgoing.count();
  } else {
    counters.dropped += connection.outgoing.count();
  }
  connection.outgoing.clear();
  return outcome;
}

SendOutcome ControllerTransport::Core::send_frame(Connection& connection, std::string_view frame) {
  const std::array<std::string_view, 2> parts{connection.routing_id, frame};
  const SendOutcome outcome = socket_->send(parts);
  counters.frames_out += outcome == SendOutcome::sent ? 1 : 0;
  return outcome;
}

// --- coming and going ----------------------------------------------------------------------------------------------------

void ControllerTransport::Core::forget(Connection& connection) {
  counters.dropped += connection.outgoing.count();
  std::erase_if(holder_, [&](const auto& entry) { return entry.second == &connection; });
  by_number_.erase(connection.number);
  connections_.erase(std::string{connection.routing_id});  // a copy: the entry owns the name
}

/// Connections come and go with every call of an operator; whoever is silent is asked for with an empty frame.
void ControllerTransport::Core::sweep() {
  std::vector<Connection*> gone;
  const Instant now = options_.now();
  for (const auto& [routing_id, connection] : connections_) {
    if (now - connection->heard > options_.claim_timeout && send_frame(*connection, {}) == SendOutcome::gone) {
      gone.push_back(connection.get());
    }
  }
  for (Connection* connection : gone) {
    forget(*connection);
  }
  next_sweep_ = std::max(kFirstSweep, 2 * connections_.size());
}

void ControllerTransport::Core::replace_keyring(Keyring keyring) {
  options_.keyring = std::move(keyring);
  authenticator_->replace_keys(keys_of(options_.keyring));
  std::vector<Connection*> changed;
  for (const auto& [routing_id, connection] : connections_) {
    const Grant* grant = options_.keyring.find(connection->grant.public_key);
    if (grant == nullptr || *grant != connection->grant) {
      changed.push_back(connection.get());
    }
  }
  for (Connection* connection : changed) {
    if (options_.keyring.find(connection->grant.public_key) == nullptr) {
      connection->socket.hang_up();  // it may come back, and is turned away at the door
    }
    forget(*connection);  // a changed grant begins anew with the next message
  }
}

// --- the public face -----------------------------------------------------------------------------------------------------

Result<std::unique_ptr<ControllerTransport>> ControllerTransport::bind(asio::io_context& io,
                                                                       ControllerTransportOptions options) {
  LOOM_ASSERT(options.now != nullptr);
  auto core = std::make_shared<Core>(io, std::move(options));
  std::unique_ptr<ControllerTransport> transport(new ControllerTransport(core));
  LOOM_TRY(core->open());
  return transport;
}

ControllerTransport::ControllerTransport(std::shared_ptr<Core> core) : core_(std::move(core)) {}
ControllerTransport::~ControllerTransport() { core_->close(); }
void ControllerTransport::on_receive(Receive receive) { core_->receive = std::move(receive); }
void ControllerTransport::on_refuse(std::function<void(Peer from, Error error)> refuse) { core_->refuse = std::move(refuse); }
void ControllerTransport::send(Peer to, std::string_view bytes) { core_->send(to, bytes); }
const std::vector<std::string>& ControllerTransport::endpoints() const { return core_->endpoints; }
void ControllerTransport::replace_keyring(Keyring keyring) { core_->replace_keyring(std::move(keyring)); }
const ControllerTransportCounters& ControllerTransport::counters() const { return core_->counters; }

}  // namespace loom
