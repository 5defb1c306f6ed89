// SPDX-License-Identifier: Apache-2.0
// Links to the controller, ports of the agents behind them.
#include "runtime/zmq/agent_transport.hpp"

#include <array>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/text/format_text.hpp"
#include "proto/codec.hpp"
#include "runtime/zmq/batch.hpp"
#include "runtime/zmq/keys/handshake_watch.hpp"
#include "runtime/zmq/loop_socket.hpp"
#include "runtime/zmq/quota.hpp"
#include "runtime/zmq/refusal_sums.hpp"
#include "runtime/zmq/socket_options.hpp"

namespace loom {
namespace {

/// The library gives up a connection whose key was refused for good, but keys may be granted at any time.
constexpr auto kRedialInterval = std::chrono::seconds{2};

/// One connection and what leaves on it at the end of this turn.
struct Link {
  std::shared_ptr<LoopSocket> socket;
  Batch outgoing;
  bool is_dirty = false;
};

}  // namespace

class AgentTransport::Core : public std::enable_shared_from_this<AgentTransport::Core> {
 public:
  Core(asio::io_context& io, AgentTransportOptions options)
      : io_(io),
        options_(std::move(options)),
        silence_(io),
        outage_(io),
        sums_(io, [this](const MessageRefused& refused) { report(refused); }),
        redial_(io) {
    allow_many_sockets(context_);
  }

  Result<Link*> open_link();
  Result<MessageSeam*> port(NodeId node);
  Result<void> replace_keys(KeyPair keys, std::string controller_key);
  void begin_outage();
  void close();
  void send(Link& link, std::string_view bytes);

  AgentTransportCounters counters;

 private:
  Result<std::shared_ptr<LoopSocket>> dial();
  bool take_frame(Link& link);
  void serve_soon();
  void serve();
  void take_envelope(std::string_view envelope);
  void refuse(RefusalKind kind, Error error, std::uint64_t count = 1);
  void report(const MessageRefused& refused) const;
  void flush();
  void flush(Link& link);
  Result<void> watch(zmq::socket_t& socket);
  void await_an_answer();
  void on_accepted();
  void on_failed(HandshakeFailure failure);
  void redial_later();
  void await_connection();
  bool has_moved();
  void tell(LinkTrouble trouble, const std::string& sentence);

  asio::io_context& io_;
  AgentTransportOptions options_;
  zmq::context_t context_;
  std::vector<std::unique_ptr<Link>> links_;
  std::map<NodeId, std::unique_ptr<Port>> ports_;
  std::vector<Link*> dirty_;
  asio::steady_timer silence_;  ///< set with the first message over each accepted connection
  asio::steady_timer outage_;   ///< set again and again while there is no connection
  Intake intake_;               ///< one key: the controller's
  RefusalSums sums_;
  std::unique_ptr<HandshakeWatch> watch_;  ///< of the first connection: the others have the same keys
  asio::steady_timer redial_;              ///< set while we are refused
  std::set<LinkTrouble> told_;             ///< since the last accepted connection
  bool is_outage_ = false;
  bool is_reached_ = false;  ///< a connection was made since `outage_` was set
  bool stands_ = false;      ///< and is there still, with its handshake over or not
  bool is_unasked_ = false;  ///< nothing has left yet over the accepted connection
  bool is_flush_posted_ = false;
  bool is_serve_posted_ = false;
  bool is_open_ = true;
};

class AgentTransport::Port : public MessageSeam {
 public:
  Port(Core& core, Link& link) : core_(core), link_(link) {}

  void on_receive(Receive receive) override { receive_ = std::move(receive); }
  void on_refuse(Refuse refuse) override { refuse_ = std::move(refuse); }
  void send(Peer to, std::string_view bytes) override {
    if (to == controller_peer()) {
      core_.send(link_, bytes);
    } else {
      ++core_.counters.dropped;  // an agent has nobody else to talk to
    }
  }
  void receive(std::string_view envelope) const {
    if (receive_) {
      receive_(controller_peer(), "controller", Role::controller, envelope);
    }
  }
  void refuse(const MessageRefused& refused) const {
    if (refuse_) {
      refuse_(refused);
    }
  }

 private:
  Core& core_;
  Link& link_;
  Receive receive_;
  Refuse refuse_;
};

Result<Link*> AgentTransport::Core::open_link() {
  auto socket = dial();
  if (!socket) {
    return std::unexpected(socket.error());
  }
  auto link = std::make_unique<Link>();
  link->socket = std::move(*socket);
  Link& opened = *link;
  LOOM_TRY(opened.socket->arm([this, &opened] { return take_frame(opened); }));
  links_.push_back(std::move(link));
  return &opened;
}

Result<std::shared_ptr<LoopSocket>> AgentTransport::Core::dial() {
  try {
    zmq::socket_t socket(context_, zmq::socket_type::dealer);
    set_common_options(socket);
    set_dialler_options(socket);
    socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(limits::kBatchBytes));
    socket.set(zmq::sockopt::immediate, true);    // nothing queues for a controller that is not there
    socket.set(zmq::sockopt::reconnect_ivl, 20);  // ms; 1024 agents shall be back within 2 s of a restart
    socket.set(zmq::sockopt::reconnect_ivl_max, 320);
    socket.set(zmq::sockopt::connect_timeout, 2'000);
    socket.set(zmq::sockopt::curve_serverkey, options_.controller_key);
    socket.set(zmq::sockopt::curve_publickey, options_.keys.public_key);
    socket.set(zmq::sockopt::curve_secretkey, options_.keys.secret_key);
    if (!watch_) {
      LOOM_TRY(watch(socket));
    }
    connect_to(socket, options_.endpoint);
    return std::make_shared<LoopSocket>(io_, std::move(socket));
  } catch (const zmq::error_t& error) {
    if (watch_) {
      watch_->detach();
    }
    return zmq_failure(ErrorCode::unreachable, "cannot connect to " + options_.endpoint, error.num());
  }
}

/// All new connections exist before the first old one is closed.
Result<void> AgentTransport::Core::replace_keys(KeyPair keys, std::string controller_key) {
  LOOM_TRY(check_key("the controller's public key", controller_key));
  LOOM_TRY(check_key("the agent's public key", keys.public_key));
  LOOM_TRY(check_key("the agent's secret key", keys.secret_key));
  std::swap(options_.keys, keys);
  std::swap(options_.controller_key, controller_key);
  silence_.cancel();
  redial_.cancel();
  std::unique_ptr<HandshakeWatch> watch_before = std::move(watch_);
  std::vector<std::shared_ptr<LoopSocket>> sockets;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    auto socket = dial();
    if (!socket) {
      watch_ = std::move(watch_before);
      options_.keys = std::move(keys);
      options_.controller_key = std::move(controller_key);
      return std::unexpected(socket.error());
    }
    sockets.push_back(std::move(*socket));
  }
  watch_before.reset();
  stands_ = false;
  begin_outage();
  for (std::size_t i = 0; i < links_.size(); ++i) {
    Link& link = *links_[i];
    link.socket->close();
    link.socket = std::move(sockets[i]);
    LOOM_TRY(link.socket->arm([this, &link] { return take_frame(link); }));
  }
  return {};
}

/// Before connect(), so that no event is missed.
Result<void> AgentTransport::Core::watch(zmq::socket_t& socket) {
  HandshakeListener listener;
  listener.reached = [this] { is_reached_ = stands_ = true; };
  listener.accepted = [this] { on_accepted(); };
  listener.lost = [this] {
    stands_ = false;
    silence_.cancel();
    begin_outage();
  };
  listener.failed = [this](HandshakeFailure failure) { on_failed(failure); };
  listener.stumbled = [this] { redial_later(); };
  auto watch = HandshakeWatch::open(io_, context_, socket, options_.endpoint, std::move(listener));
  if (!watch) {
    return std::unexpected(watch.error());
  }
  watch_ = std::move(*watch);
  return {};
}

void AgentTransport::Core::on_accepted() {
  told_.clear();
  redial_.cancel();
  outage_.cancel();
  is_outage_ = false;
  is_unasked_ = true;
}

void AgentTransport::Core::on_failed(HandshakeFailure failure) {
  const std::string& called = options_.called;
  if (failure == HandshakeFailure::key_refused) {
    tell(LinkTrouble::key_refused,
         format_text("{} at {} refuses our key: it is not in its keyring", called, options_.endpoint));
  } else {
    tell(LinkTrouble::other_key,
         format_text("whoever listens at {} is not {}: it does not hold the secret half of {}; is that the address of {}?",
                     options_.endpoint, called, options_.key_file, called));
  }
}

/// Once until we are let in.
void AgentTransport::Core::tell(LinkTrouble trouble, const std::string& sentence) {
  if (told_.insert(trouble).second && options_.on_trouble) {
    options_.on_trouble(trouble, sentence);
  }
}

void AgentTransport::Core::begin_outage() {
  if (!std::exchange(is_outage_, true)) {
    is_reached_ = false;
    await_connection();
  }
}

/// What comes of a handshake its watch tells; that there is none, nobody but the time that goes by.
void AgentTransport::Core::await_connection() {
  outage_.expires_after(options_.patience);
  outage_.async_wait([weak = weak_from_this()](asio::error_code cancelled) {
    const auto self = weak.lock();
    if (!self || cancelled || !self->is_open_ || !self->is_outage_) {
      return;
    }
    const bool is_reached = std::exchange(self->is_reached_, false);
    if (!self->has_moved() && !is_reached) {
      const AgentTransportOptions& to = self->options_;
      self->tell(LinkTrouble::unreachable,
                 self->stands_ ? format_text("whoever listens at {} ({}) does not answer", to.endpoint, to.called)
                               : format_text("nobody listens at {} ({})", to.endpoint, to.called));
    }
    self->await_connection();
  });
}

/// It started again and listens elsewhere: it is dialled there from now on.
bool AgentTransport::Core::has_moved() {
  auto found = options_.find ? options_.find() : Result<std::string>(options_.endpoint);
  if (!found || *found == options_.endpoint) {
    return false;
  }
  std::string before = std::exchange(options_.endpoint, *std::move(found));
  if (!replace_keys(options_.keys, options_.controller_key)) {
    options_.endpoint = std::move(before);
    return false;
  }
  told_.clear();
  return true;
}

/// The library does not dial again after every failed handshake.
void AgentTransport::Core::redial_later() {
  redial_.expires_after(kRedialInterval);
  redial_.async_wait([weak = weak_from_this()](asio::error_code cancelled) {
    const auto self = weak.lock();
    if (self && !cancelled && self->is_open_) {
      (void)self->replace_keys(self->options_.keys, self->options_.controller_key);  // what fails is tried again by nobody else
    }
  });
}

/// A key that is known but speaks for other nodes is let in and never heard; only the silence tells. Who asked for nothing is
/// owed no answer, as a relay without agents.
void AgentTransport::Core::await_an_answer() {
  silence_.expires_after(options_.patience);
  silence_.async_wait([weak = weak_from_this(), received = counters.frames_in](asio::error_code error) {
    const auto self = weak.lock();
    if (!self || error || !self->is_open_ || self->counters.frames_in != received) {
      return;
    }
    self->tell(LinkTrouble::unanswered, format_text("{} at {} knows our key and answers none of our nodes",
                                                    self->options_.called, self->options_.endpoint));
  });
}

Result<MessageSeam*> AgentTransport::Core::port(NodeId node) {
  const auto at = ports_.find(node);
  if (at != ports_.end()) {
    return at->second.get();
  }
  if (links_.empty() || (options_.connections == Connections::one_per_agent && ports_.size() == links_.size())) {
    if (auto opened = open_link(); !opened) {
      return std::unexpected(opened.error());
    }
  }
  auto port = std::make_unique<Port>(*this, *links_.back());
  return ports_.emplace(node, std::move(port)).first->second.get();
}

void AgentTransport::Core::close() {
  flush();
  is_open_ = false;
  sums_.close();
  silence_.cancel();
  outage_.cancel();
  redial_.cancel();
  watch_.reset();
  for (const auto& link : links_) {
    link->socket->close();
  }
}

bool AgentTransport::Core::take_frame(Link& link) {
  auto owner = std::make_shared<zmq::message_t>();
  zmq::message_t& frame = *owner;
  if (!link.socket->receive_part(frame)) {
    return false;
  }
  ++counters.frames_in;
  const auto envelopes =
      frame.more() ? fail(ErrorCode::malformed, "a frame of several parts") : split_batch({frame.data<char>(), frame.size()});
  for (zmq::message_t rest; frame.more() && link.socket->receive_part(rest) && rest.more();) {
  }
  if (!envelopes) {
    ++counters.malformed;
    refuse(RefusalKind::malformed, envelopes.error());
    return true;
  }
  const IntakeFrame arrived{0, owner, *envelopes, owner->size()};
  static const IntakeQuota quota = peer_quota();
  const std::size_t admitted = intake_.offer(options_.controller_key, quota, arrived, steady_now()).admitted;
  if (admitted > 0) {
    serve_soon();
  }
  if (const std::size_t rest = arrived.messages.size() - admitted; rest > 0) {
    counters.over_quota += rest;
    refuse(RefusalKind::over_quota,
           {ErrorCode::busy, format_text("{} sends more than {} messages a second (limit {})", options_.called,
                                         quota.messages.tokens, quota.limit)},
           rest);
  }
  return true;
}

void AgentTransport::Core::serve_soon() {
  if (!std::exchange(is_serve_posted_, true)) {
    asio::post(io_, [weak = weak_from_this()] {
      if (const auto self = weak.lock(); self && self->is_open_) {
        self->is_serve_posted_ = false;
        self->serve();
      }
    });
  }
}

/// As much as a turn may take; timers and buses of the same loop come between two turns.
void AgentTransport::Core::serve() {
  for (std::size_t i = 0; i < limits::kAgentsPerRound && is_open_; ++i) {
    const auto message = intake_.next(IntakeRank::agent);
    if (!message) {
      return;
    }
    take_envelope(message->bytes);
  }
  serve_soon();
}

void AgentTransport::Core::take_envelope(std::string_view envelope) {
  ++counters.envelopes_in;
  const auto head = peek_head(envelope);
  if (!head) {
    ++counters.malformed;
    refuse(RefusalKind::malformed, head.error());
    return;
  }
  const auto at = ports_.find(head->node);
  if (at == ports_.end()) {
    ++counters.strangers;
    return;
  }
  at->second->receive(envelope);
}

void AgentTransport::Core::refuse(RefusalKind kind, Error error, std::uint64_t count) {
  sums_.note({controller_peer(), std::move(error), kind, count, "controller"}, steady_now());
}

/// Nobody knows for whom it was, so the first agent of this process hears of it.
void AgentTransport::Core::report(const MessageRefused& refused) const {
  if (!ports_.empty()) {
    ports_.begin()->second->refuse(refused);
  }
}

void AgentTransport::Core::send(Link& link, std::string_view bytes) {
  if (bytes.size() > limits::kMessageBytes) {
    ++counters.dropped;
    return;
  }
  if (!link.outgoing.fits(bytes.size())) {
    flush(link);
  }
  link.outgoing.add(bytes);
  if (!link.is_dirty) {
    link.is_dirty = true;
    dirty_.push_back(&link);
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

void AgentTransport::Core::flush() {
  is_flush_posted_ = false;
  for (Link* link : std::exchange(dirty_, {})) {
    link->is_dirty = false;
    flush(*link);
  }
}

void AgentTransport::Core::flush(Link& link) {
  if (link.outgoing.empty()) {
    return;
  }
  const std::array<std::string_view, 1> parts{link.outgoing.bytes()};
  if (link.socket->send(parts) == SendOutcome::sent) {
    ++counters.frames_out;
    counters.envelopes_out += link.outgoing.count();
    if (std::exchange(is_unasked_, false)) {
      await_an_answer();
    }
  } else {
    counters.dropped += link.outgoing.count();
  }
  link.outgoing.clear();
}

Result<std::unique_ptr<AgentTransport>> AgentTransport::connect(asio::io_context& io, AgentTransportOptions options) {
  LOOM_TRY(check_key("the controller's public key", options.controller_key));
  LOOM_TRY(check_key("the agent's public key", options.keys.public_key));
  LOOM_TRY(check_key("the agent's secret key", options.keys.secret_key));
  auto core = std::make_shared<Core>(io, std::move(options));
  std::unique_ptr<AgentTransport> transport(new AgentTransport(core));
  if (auto opened = core->open_link(); !opened) {
    return std::unexpected(opened.error());
  }
  core->begin_outage();
  return transport;
}

AgentTransport::AgentTransport(std::shared_ptr<Core> core) : core_(std::move(core)) {}
AgentTransport::~AgentTransport() { core_->close(); }
Result<MessageSeam*> AgentTransport::port(NodeId node) { return core_->port(node); }
Result<void> AgentTransport::replace_keys(KeyPair keys, std::string controller_key) {
  return core_->replace_keys(std::move(keys), std::move(controller_key));
}
const AgentTransportCounters& AgentTransport::counters() const { return core_->counters; }

}  // namespace loom
