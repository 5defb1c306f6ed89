// SPDX-License-Identifier: Apache-2.0
// Connections, claims, and the end of a turn.
#include "runtime/zmq/controller_transport.hpp"

#include <zmq.h>

#include <algorithm>
#include <array>
#include <asio/post.hpp>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/text/format_text.hpp"
#include "proto/codec.hpp"
#include "runtime/zmq/batch.hpp"
#include "runtime/zmq/keys/authenticator.hpp"
#include "runtime/zmq/listening_socket.hpp"
#include "runtime/zmq/loop_socket.hpp"
#include "runtime/zmq/peer/peer_socket.hpp"
#include "runtime/zmq/refusal_sums.hpp"
#include "runtime/zmq/socket_options.hpp"

namespace loom {
namespace {

/// Connections before the first search for gone ones.
constexpr std::size_t kFirstSweep = 256;

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
  Core(asio::io_context& io, ControllerTransportOptions options)
      : io_(io), options_(std::move(options)), sums_(io, [this](const MessageRefused& refused) {
          if (refuse) {
            refuse(refused);
          }
        }) {}

  Result<void> open();
  void close();
  void send(Peer to, std::string_view bytes);
  void replace_keyring(Keyring keyring);

  Receive receive;
  Refuse refuse;
  std::vector<std::string> endpoints;
  ControllerTransportCounters counters;

 private:
  /// One live ZeroMQ connection, as the ROUTER numbers it anew each time that a peer connects.
  struct Connection {
    std::string routing_id;
    std::uint64_t number = 0;
    Grant grant;
    IntakeQuota quota;
    PeerSocket socket;
    Instant received{};
    Batch outgoing;
    bool is_dirty = false;  ///< listed in dirty_
  };
  struct Refused {
    RefusalKind kind = RefusalKind::malformed;
    Error error;
    std::uint64_t count = 1;
  };

  Peer peer_of(const Connection& connection, NodeId node) const {
    return connection.grant.role == Role::agent ? agent_peer(node) : Peer{Peer::Kind::operator_, connection.number};
  }

  bool take_message();
  void take_frame(const std::string& routing_id, zmq::message_t frame);
  void refuse_rest(Connection& connection, const IntakeFrame& frame, const Intake::Admission& admission);
  void answer_busy(Connection& connection, std::string_view request, const Error& why);
  void serve_soon();
  void serve();
  void take_envelope(const IntakeMessage& message);
  Connection* connection_of(const std::string& routing_id, const char* user_id);
  bool has_room_for(const Grant& grant);
  bool claim(Connection& connection, NodeId node);
  bool is_live(Connection& connection);
  void report(const Connection& connection, NodeId node, Refused why);
  void report_stranger(Error error, std::uint64_t count);
  Connection* find(Peer to);
  void flush();
  SendOutcome flush(Connection& connection);
  SendOutcome send_frame(Connection& connection, std::string_view frame);
  void forget(Connection& connection);
  void sweep(const std::string& key);

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
  Instant next_key_sweep_{};
  std::map<std::string, std::size_t> connections_by_key_;
  Intake intake_;
  RefusalSums sums_;
  std::size_t queued_ = 0;  ///< messages of this turn
  bool is_flush_posted_ = false;
  bool is_serve_posted_ = false;
  bool is_open_ = false;
};

Result<void> ControllerTransport::Core::open() {
  allow_many_sockets(context_);
  auto reject = [weak = weak_from_this()](std::uint64_t count, const std::string& address, const std::string& key) {
    if (const auto self = weak.lock()) {
      std::string why = self->options_.why_turned_away ? self->options_.why_turned_away(key) : std::string{};
      why = why.empty() ? format_text("is not in the keyring; {}", kKeyRemedy) : why;
      self->report_stranger({ErrorCode::refused, format_text("a peer at {} has key {}, which {}", address, key, why)}, count);
    }
  };
  auto authenticator = Authenticator::start(context_, keys_of(options_.keyring), summed_rejects(io_, std::move(reject)));
  if (!authenticator) {
    return std::unexpected(authenticator.error());
  }
  authenticator_ = std::move(*authenticator);
  is_open_ = true;
  std::string at = "the ROUTER";
  try {
    zmq::socket_t socket(context_, zmq::socket_type::router);
    set_common_options(socket);
    set_listener_options(socket);
    socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(options_.frame_bytes_max));
    socket.set(zmq::sockopt::curve_server, true);
    socket.set(zmq::sockopt::curve_secretkey, options_.keys.secret_key);
    socket.set(zmq::sockopt::zap_domain, kZapDomain);
    for (const std::string& endpoint : options_.endpoints) {
      at = endpoint;
      auto listener = ListeningSocket::open(endpoint);
      if (!listener) {
        return std::unexpected(listener.error());
      }
      LOOM_TRY(listener->lend_to(socket));
      endpoints.push_back(listener->endpoint());
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
  sums_.close();
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
    take_frame(routing_id.to_string(), std::move(frame));
    return true;
  }
  ++counters.malformed;  // a frame has one part
  if (Connection* connection = connection_of(routing_id.to_string(), zmq_msg_gets(frame.handle(), "User-Id"))) {
    report(*connection, NodeId{},
           {RefusalKind::malformed, {ErrorCode::malformed, "a message of several parts; a batch has one"}});
  }
  for (bool has_more = true; has_more && socket_->receive_part(frame); has_more = frame.more()) {
  }
  return true;
}

/// Into its key's queue, as far as the key's quota goes.
void ControllerTransport::Core::take_frame(const std::string& routing_id, zmq::message_t frame) {
  const char* user_id = zmq_msg_gets(frame.handle(), "User-Id");
  Connection* connection = connection_of(routing_id, user_id);
  if (connection == nullptr) {
    if (user_id == nullptr || options_.keyring.find(user_id) == nullptr) {
      PeerSocket(frame).hang_up();  // its key was revoked after it had connected
    }
    return;
  }
  if (connection->received == Instant{}) {
    connection->socket = PeerSocket(frame);
  }
  connection->received = options_.now();
  const auto owner = std::make_shared<zmq::message_t>(std::move(frame));
  auto envelopes = split_batch({owner->data<char>(), owner->size()});
  if (!envelopes) {
    ++counters.malformed;
    return report(*connection, NodeId{}, {RefusalKind::malformed, envelopes.error()});
  }
  const IntakeFrame arrived{connection->number, owner, std::move(*envelopes), owner->size()};
  const auto admission = intake_.offer(connection->grant.public_key, connection->quota, arrived, connection->received);
  if (admission.admitted > 0) {
    serve_soon();
  }
  if (admission.admitted < arrived.messages.size()) {
    refuse_rest(*connection, arrived, admission);
  }
  queued_ += arrived.messages.size();
  if (queued_ >= limits::kQueuedPerRound) {
    queued_ = 0;
    socket_->end_round();
  }
}

void ControllerTransport::Core::refuse_rest(Connection& connection, const IntakeFrame& frame,
                                            const Intake::Admission& admission) {
  const IntakeQuota& quota = connection.quota;
  const std::size_t rest = frame.messages.size() - admission.admitted;
  const std::string key = "the key of " + connection.grant.principal;
  std::string why = format_text("{} sends more than {} messages a second, {} at once (limit {})", key, quota.messages.tokens,
                                quota.messages.burst, quota.limit);
  if (admission.is_queue_full) {
    why = format_text("{} has more than {} bytes waiting (limit {})", key, quota.queue_bytes, quota.queue_limit);
  } else if (intake_.owes_replies(connection.grant.public_key, connection.received)) {
    why = format_text("{} asked for more than {} bytes of answers a second, {} at once (limit kReplyBytes)", key,
                      limits::kReplyBytes, limits::kReplyBytesBurst);
  }
  counters.over_quota += rest;
  const Error error{ErrorCode::busy, why + "; wait a second and ask again", "loom status"};
  for (std::size_t i = admission.admitted; quota.rank == IntakeRank::operator_ && i < frame.messages.size(); ++i) {
    if (!intake_.may_answer_refusal(connection.grant.public_key, connection.received)) {
      break;  // counted all the same
    }
    answer_busy(connection, frame.messages[i], error);
  }
  report(connection, NodeId{}, {RefusalKind::over_quota, error, rest});
}

void ControllerTransport::Core::answer_busy(Connection& connection, std::string_view request, const Error& why) {
  const auto number = peek_request(request);
  if (!number) {
    return;
  }
  OperatorReply reply;
  reply.request = *number;
  reply.outcome.error = why;
  Envelope envelope;
  envelope.principal = "controller";
  envelope.role = Role::controller;
  envelope.body = std::move(reply);
  send(Peer{Peer::Kind::operator_, connection.number}, encode(envelope));
}

void ControllerTransport::Core::serve_soon() {
  if (std::exchange(is_serve_posted_, true)) {
    return;
  }
  asio::post(io_, [weak = weak_from_this()] {
    if (const auto self = weak.lock(); self && self->is_open_) {
      self->is_serve_posted_ = false;
      self->serve();
    }
  });
}

/// One turn: agents first, and at least one request of an operator. Timers, plans and sockets come between two turns.
void ControllerTransport::Core::serve() {
  constexpr std::size_t kPerReading = 16;
  const Instant end = options_.now() + Duration{limits::kRoundNs};
  for (std::size_t i = 0; i < limits::kAgentsPerRound && is_open_; ++i) {
    if (i % kPerReading == kPerReading - 1 && options_.now() >= end) {
      break;
    }
    const auto message = intake_.next(IntakeRank::agent);
    if (!message) {
      break;
    }
    take_envelope(*message);
  }
  for (std::size_t i = 0; i < limits::kOperatorsPerRound && is_open_ && (i == 0 || options_.now() < end); ++i) {
    const auto message = intake_.next(IntakeRank::operator_);
    if (!message) {
      break;
    }
    take_envelope(*message);
  }
  if (is_open_ && !intake_.is_empty()) {
    serve_soon();
  }
}

void ControllerTransport::Core::take_envelope(const IntakeMessage& message) {
  const auto at = by_number_.find(message.connection);
  if (at == by_number_.end()) {
    ++counters.dropped;  // its connection has gone, or its key was revoked, while it waited
    return;
  }
  Connection& connection = *at->second;
  ++counters.envelopes_in;
  const auto head = peek_head(message.bytes);
  if (!head) {
    ++counters.malformed;
    return report(connection, NodeId{}, {RefusalKind::malformed, head.error()});
  }
  const auto principal = options_.keyring.speaker_of(connection.grant, head->node, head->principal);
  if (!principal) {
    const bool is_malformed = principal.error().code == ErrorCode::malformed;
    const auto kind = is_malformed ? RefusalKind::malformed : RefusalKind::unauthorised;
    ++(is_malformed ? counters.malformed : counters.unauthorised);
    return report(connection, head->node, {kind, principal.error()});
  }
  const bool is_held = connection.grant.role != Role::agent || claim(connection, head->node);
  if (is_held && receive) {
    receive(peer_of(connection, head->node), *principal, connection.grant.role, message.bytes);
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
    report_stranger({ErrorCode::refused, "a peer goes on with a key that is no longer in the keyring"}, 1);
    return nullptr;
  }
  if (connections_.size() >= next_sweep_) {
    sweep({});
  }
  if (!has_room_for(*grant)) {
    return nullptr;
  }
  auto fresh = std::make_unique<Connection>();
  fresh->routing_id = routing_id;
  fresh->number = ++last_number_;
  fresh->grant = *grant;
  fresh->quota = options_.quota(*grant);
  ++connections_by_key_[grant->public_key];
  by_number_.emplace(fresh->number, fresh.get());
  return connections_.emplace(routing_id, std::move(fresh)).first->second.get();
}

/// Calls of an operator's tool leave connections behind, so gone ones are looked for before one more is refused.
bool ControllerTransport::Core::has_room_for(const Grant& grant) {
  const std::size_t most = connections_of(grant);
  if (connections_by_key_[grant.public_key] < most) {
    return true;
  }
  const Instant now = options_.now();
  if (now >= next_key_sweep_) {
    next_key_sweep_ = now + options_.claim_timeout / 10;
    sweep(grant.public_key);
  }
  if (connections_by_key_[grant.public_key] < most) {
    return true;
  }
  ++counters.over_quota;
  sums_.note({Peer{Peer::Kind::operator_, 0},
              {ErrorCode::busy, format_text("the key of {} has {} connections (limits kConnectionsPerKey, "
                                            "kOperatorConnections); what comes over further ones is dropped",
                                            grant.principal, most)},
              RefusalKind::over_quota,
              1,
              grant.principal},
             now);
  return false;
}

bool ControllerTransport::Core::claim(Connection& connection, NodeId node) {
  const auto holder = holder_.find(node.value);
  if (holder != holder_.end() && holder->second == &connection) {
    return true;
  }
  if (!connection.grant.may_speak_for(node)) {
    ++counters.unauthorised;
    report(connection, node,
           {RefusalKind::unauthorised,
            {ErrorCode::refused,
             format_text("the key of {} may not speak for node {}; {}", connection.grant.principal, node.value, kKeyRemedy)}});
    return false;
  }
  if (holder != holder_.end() && is_live(*holder->second)) {
    ++counters.conflicts;
    report(connection, node,
           {RefusalKind::conflict,
            {ErrorCode::conflict,
             format_text("node {} is claimed by connection {} of {}, connection {} of {} holds it and is alive", node.value,
                         connection.number, connection.grant.principal, holder->second->number,
                         holder->second->grant.principal)}});
    return false;
  }
  holder_[node.value] = &connection;
  return true;
}

/// Heard lately, and still there: an empty frame finds out whether the ROUTER knows it.
bool ControllerTransport::Core::is_live(Connection& connection) {
  if (options_.now() - connection.received > options_.claim_timeout) {
    return false;
  }
  if (send_frame(connection, {}) == SendOutcome::gone) {
    forget(connection);
    return false;
  }
  return true;
}

void ControllerTransport::Core::report(const Connection& connection, NodeId node, Refused why) {
  sums_.note({peer_of(connection, node), std::move(why.error), why.kind, why.count, connection.grant.principal},
             options_.now());
}

/// Nobody's key.
void ControllerTransport::Core::report_stranger(Error error, std::uint64_t count) {
  counters.unauthorised += count;
  sums_.note({Peer{Peer::Kind::operator_, 0}, std::move(error), RefusalKind::unauthorised, count, {}}, options_.now());
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
  if (connection->grant.role != Role::agent) {
    intake_.charge(connection->grant.public_key, bytes.size(), options_.now());
  }
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
  if (const auto at = connections_by_key_.find(connection.grant.public_key); --at->second == 0) {
    connections_by_key_.erase(at);
  }
  std::erase_if(holder_, [&](const auto& entry) { return entry.second == &connection; });
  by_number_.erase(connection.number);
  connections_.erase(std::string{connection.routing_id});  // a copy: the entry owns the name
}

/// Connections come and go with every call of an operator; whoever is silent is asked for with an empty frame. `key`: of this
/// one, silent or not; empty: of all.
void ControllerTransport::Core::sweep(const std::string& key) {
  std::vector<Connection*> gone;
  const Instant now = options_.now();
  for (const auto& [routing_id, connection] : connections_) {
    const bool is_meant =
        key.empty() ? now - connection->received > options_.claim_timeout : connection->grant.public_key == key;
    if (is_meant && send_frame(*connection, {}) == SendOutcome::gone) {
      gone.push_back(connection.get());
    }
  }
  for (Connection* connection : gone) {
    forget(*connection);
  }
  if (key.empty()) {
    next_sweep_ = std::max(kFirstSweep, 2 * connections_.size());
  }
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
    counters.dropped += intake_.forget(connection->grant.public_key);  // what waits was sent under the old grant and its quota
    forget(*connection);                                               // a changed grant begins anew with the next message
  }
}

// --- the public face -----------------------------------------------------------------------------------------------------

Result<std::unique_ptr<ControllerTransport>> ControllerTransport::bind(asio::io_context& io,
                                                                       ControllerTransportOptions options) {
  LOOM_ASSERT(options.now != nullptr && options.quota != nullptr);
  auto core = std::make_shared<Core>(io, std::move(options));
  std::unique_ptr<ControllerTransport> transport(new ControllerTransport(core));
  LOOM_TRY(core->open());
  return transport;
}

ControllerTransport::ControllerTransport(std::shared_ptr<Core> core) : core_(std::move(core)) {}
ControllerTransport::~ControllerTransport() { core_->close(); }
void ControllerTransport::on_receive(Receive receive) { core_->receive = std::move(receive); }
void ControllerTransport::on_refuse(Refuse refuse) { core_->refuse = std::move(refuse); }
void ControllerTransport::send(Peer to, std::string_view bytes) { core_->send(to, bytes); }
const std::vector<std::string>& ControllerTransport::endpoints() const { return core_->endpoints; }
void ControllerTransport::replace_keyring(Keyring keyring) { core_->replace_keyring(std::move(keyring)); }
const ControllerTransportCounters& ControllerTransport::counters() const { return core_->counters; }

}  // namespace loom
