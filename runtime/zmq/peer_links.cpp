// A word on a link: the node that it is for (4 bytes, most significant first), then its envelope. Words of one turn leave as
// one batch; an empty batch is a greeting, by which a ROUTER learns the way back. An operator's frame is a batch of plain
// envelopes, each for the agent that it names, as a controller would get it.
#include "runtime/zmq/peer_links.hpp"

#include <zmq.h>

#include <algorithm>
#include <array>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/intake_limits.hpp"
#include "proto/codec.hpp"
#include "runtime/zmq/authenticator.hpp"
#include "runtime/zmq/batch.hpp"
#include "runtime/zmq/loop_socket.hpp"
#include "runtime/zmq/quota.hpp"
#include "runtime/zmq/refusal_sums.hpp"
#include "runtime/zmq/socket_options.hpp"

namespace loom {
namespace {

constexpr auto kGreetInterval = std::chrono::milliseconds{200};
constexpr std::size_t kAddressBytes = 4;
/// Connections of operators that an answer may still go to.
constexpr std::size_t kOperatorsMax = 64;

std::string addressed(NodeId to, std::string_view bytes) {
  std::string word;
  word.reserve(kAddressBytes + bytes.size());
  for (int shift = 24; shift >= 0; shift -= 8) {
    word += static_cast<char>((to.value >> shift) & 0xFFu);
  }
  word += bytes;
  return word;
}

NodeId address_of(std::string_view word) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < kAddressBytes; ++i) {
    value = value << 8 | static_cast<unsigned char>(word[i]);
  }
  return NodeId{value};
}

bool may_darken(Role role) { return role == Role::operator_ || role == Role::admin; }

/// Of whom the listener lets in.
std::set<std::string> agent_keys(const Keyring& keyring) {
  std::set<std::string> keys;
  for (const Grant& grant : keyring.grants()) {
    if (grant.role == Role::agent || may_darken(grant.role)) {
      keys.insert(grant.public_key);
    }
  }
  return keys;
}

}  // namespace

class PeerLinks::Core : public std::enable_shared_from_this<PeerLinks::Core> {
 public:
  Core(asio::io_context& io, PeerLinksOptions options)
      : io_(io),
        options_(std::move(options)),
        greeting_(io),
        sums_(io, [this](const MessageRefused& refused) { tell(refused); }) {
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

  std::string endpoint;
  PeerLinksCounters counters;

 private:
  /// To one other process: a socket of our own if we dial it, else its connection at our ROUTER.
  struct Link {
    std::shared_ptr<LoopSocket> dialled;
    std::string address;     ///< of `dialled`
    std::string routing_id;  ///< empty: it has not greeted us
    Batch outgoing;
    bool is_dirty = false;
  };

  Result<void> listen(const std::string& at);
  void hang_up(Link& link);
  /// Without a keyring whoever we dial is known by its pinned key alone.
  bool may_speak(const std::string& key) const { return options_.keyring.is_empty() || options_.keyring.find(key) != nullptr; }
  bool is_hosted(NodeId node) const;
  std::optional<std::size_t> process_of(NodeId node) const;
  void greet();
  void dial(std::size_t process);
  bool take_dialled(std::size_t process, LoopSocket& socket);
  bool take_accepted();
  /// Whose words they are: of a process that we dial, or of a key that has dialled us.
  struct Speaker {
    std::optional<std::size_t> process{};
    std::string public_key{};
    bool operator==(const Speaker&) const = default;
  };
  struct Refused {
    RefusalKind kind = RefusalKind::malformed;
    Error error;
    std::uint64_t count = 1;
  };
  struct OperatorPeer {
    std::string routing_id;
    std::string public_key;
  };
  void enqueue(const Grant& grant, const IntakeQuota& quota, std::uint64_t number, zmq::message_t frame);
  std::uint64_t number_of(const Speaker& speaker);
  std::uint64_t number_of_operator(const std::string& routing_id, const std::string& public_key);
  std::optional<Grant> grant_of(const Speaker& speaker) const;
  void serve_soon();
  void serve();
  void take_request(const IntakeMessage& message);
  void take_word(const Grant& speaker, std::string_view word);
  void deliver(NodeId from, NodeId to, const Grant& speaker, std::string_view envelope);
  void refuse(const Grant& speaker, NodeId from, Refused why);
  void tell(const MessageRefused& refused) const;
  void flush();
  void flush(Link& link);
  SendOutcome send_frame(Link& link, std::string_view frame);

  asio::io_context& io_;
  PeerLinksOptions options_;
  zmq::context_t context_;
  std::unique_ptr<Authenticator> authenticator_;
  std::shared_ptr<LoopSocket> router_;
  std::vector<Link> links_;  ///< by process
  std::map<NodeId, std::unique_ptr<Port>> ports_;
  std::vector<std::size_t> dirty_;
  std::map<std::uint64_t, OperatorPeer> operators_;  ///< those that asked last
  std::uint64_t last_operator_ = 0;
  asio::steady_timer greeting_;
  Intake intake_;  ///< by key of the other process
  RefusalSums sums_;
  std::vector<Speaker> speakers_;  ///< by number, as words that wait name them
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

Result<void> PeerLinks::Core::open() {
  auto reject = [weak = weak_from_this()](std::uint64_t count, const std::string& address, const std::string& key) {
    if (const auto self = weak.lock(); self && self->is_open_) {
      self->counters.unauthorised += count;
      self->refuse({}, NodeId{},
                   {RefusalKind::unauthorised,
                    {ErrorCode::refused, "a peer at " + address + " has key " + key + ", which is no agent's here"},
                    count});
    }
  };
  auto authenticator = Authenticator::start(context_, agent_keys(options_.keyring), summed_rejects(io_, std::move(reject)));
  if (!authenticator) {
    return std::unexpected(authenticator.error());
  }
  authenticator_ = std::move(*authenticator);
  is_open_ = true;
  LOOM_TRY(listen(options_.endpoint));
  greet();
  return {};
}

/// In place of where we listened before, if that can be done.
Result<void> PeerLinks::Core::listen(const std::string& at) {
  std::shared_ptr<LoopSocket> router;
  std::string bound;
  try {
    zmq::socket_t socket(context_, zmq::socket_type::router);
    set_common_options(socket);
    set_listener_options(socket);
    socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(limits::kBatchBytes));
    socket.set(zmq::sockopt::curve_server, true);
    socket.set(zmq::sockopt::curve_secretkey, options_.keys.secret_key);
    socket.set(zmq::sockopt::zap_domain, kZapDomain);
    socket.bind(at);
    bound = socket.get(zmq::sockopt::last_endpoint);
    router = std::make_shared<LoopSocket>(io_, std::move(socket));
  } catch (const zmq::error_t& error) {
    return zmq_failure(ErrorCode::unreachable, "cannot listen at " + at, error.num());
  }
  LOOM_TRY(router->arm([this] { return take_accepted(); }));
  if (router_) {
    router_->close();
  }
  router_ = std::move(router);
  endpoint = std::move(bound);
  return {};
}

// --- keys ----------------------------------------------------------------------------------------------------------------

/// What waited for it is dropped; it is dialled anew, or has to greet us anew.
void PeerLinks::Core::hang_up(Link& link) {
  if (link.dialled) {
    link.dialled->close();
    link.dialled.reset();
  }
  link.address.clear();
  link.routing_id.clear();
  counters.dropped += link.outgoing.count();
  link.outgoing.clear();
}

void PeerLinks::Core::replace_keyring(Keyring keyring) {
  options_.keyring = std::move(keyring);
  authenticator_->replace_keys(agent_keys(options_.keyring));
  for (std::size_t i = 0; i < links_.size(); ++i) {
    if (!may_speak(options_.processes[i].public_key)) {
      hang_up(links_[i]);
    }
  }
}

Result<void> PeerLinks::Core::replace_keys(KeyPair keys) {
  LOOM_TRY(check_key("the agents' public key", keys.public_key));
  LOOM_TRY(check_key("the agents' secret key", keys.secret_key));
  KeyPair before = std::exchange(options_.keys, std::move(keys));
  const std::size_t port = options_.endpoint.rfind(':');  // the old socket holds its port until the library's thread is done
  if (auto listening = listen(options_.endpoint.substr(0, port) + ":*"); !listening) {
    options_.keys = std::move(before);
    return listening;
  }
  options_.processes[options_.process].public_key = options_.keys.public_key;
  for (Link& link : links_) {
    hang_up(link);
  }
  for (std::size_t process = 0; process < options_.process; ++process) {
    dial(process);
  }
  return {};
}

void PeerLinks::Core::replace_peer_key(std::uint32_t process, std::string public_key) {
  LOOM_ASSERT(process < options_.processes.size());
  if (options_.processes[process].public_key != public_key) {
    options_.processes[process].public_key = std::move(public_key);
    hang_up(links_[process]);
  }
}

void PeerLinks::Core::close() {
  if (!is_open_) {
    return;
  }
  flush();
  is_open_ = false;
  sums_.close();
  greeting_.cancel();
  for (const Link& link : links_) {
    if (link.dialled) {
      link.dialled->close();
    }
  }
  if (router_) {
    router_->close();
  }
  context_.shutdown();
  authenticator_.reset();
}

/// Who was not there yet, or started anew, is dialled within one interval; who was greeted knows the way back.
void PeerLinks::Core::greet() {
  for (std::size_t process = 0; process < options_.process; ++process) {
    dial(process);
    if (links_[process].dialled) {
      send_frame(links_[process], {});
    }
  }
  greeting_.expires_after(kGreetInterval);
  greeting_.async_wait([weak = weak_from_this()](asio::error_code error) {
    if (const auto self = weak.lock(); self && !error && self->is_open_) {
      self->greet();
    }
  });
}

void PeerLinks::Core::dial(std::size_t process) {
  const PeerProcess& peer = options_.processes[process];
  Link& link = links_[process];
  const auto address = peer.address();
  if (!address || *address == link.address || !may_speak(peer.public_key)) {
    return;
  }
  try {
    zmq::socket_t socket(context_, zmq::socket_type::dealer);
    set_common_options(socket);
    socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(limits::kBatchBytes));
    socket.set(zmq::sockopt::immediate, true);  // a grant that waited would be late
    socket.set(zmq::sockopt::reconnect_ivl, 20);
    socket.set(zmq::sockopt::reconnect_ivl_max, 320);
    socket.set(zmq::sockopt::curve_serverkey, peer.public_key);
    socket.set(zmq::sockopt::curve_publickey, options_.keys.public_key);
    socket.set(zmq::sockopt::curve_secretkey, options_.keys.secret_key);
    socket.connect(*address);
    if (link.dialled) {
      link.dialled->close();
    }
    link.dialled = std::make_shared<LoopSocket>(io_, std::move(socket));
    link.address = *address;
  } catch (const zmq::error_t& error) {
    return tell({agent_peer(NodeId{peer.first}),
                 {ErrorCode::unreachable, "cannot connect to agents at " + *address + ": " + std::string(error.what())}});
  }
  LoopSocket& socket = *link.dialled;
  if (auto armed = socket.arm([this, process, &socket] { return take_dialled(process, socket); }); !armed) {
    tell({agent_peer(NodeId{peer.first}), armed.error()});
  }
}

bool PeerLinks::Core::is_hosted(NodeId node) const {
  const PeerProcess& own = options_.processes[options_.process];
  return node.value >= own.first && node.value < own.end;
}

std::optional<std::size_t> PeerLinks::Core::process_of(NodeId node) const {
  for (std::size_t i = 0; i < options_.processes.size(); ++i) {
    if (node.value >= options_.processes[i].first && node.value < options_.processes[i].end) {
      return i;
    }
  }
  return std::nullopt;
}

MessageSeam& PeerLinks::Core::port(NodeId node, MessageSeam& controller) {
  auto& port = ports_[node];
  if (!port) {
    port = std::make_unique<Port>(*this, node, controller);
  }
  return *port;
}

// --- in ------------------------------------------------------------------------------------------------------------------

bool PeerLinks::Core::take_dialled(std::size_t process, LoopSocket& socket) {
  zmq::message_t frame;
  if (!socket.receive_part(frame)) {
    return false;
  }
  ++counters.frames_in;
  bool is_whole = !frame.more();
  for (zmq::message_t rest; !is_whole && socket.receive_part(rest) && rest.more();) {
  }
  const auto grant = grant_of({process, {}});
  if (!grant) {
    ++counters.unauthorised;
  } else if (is_whole) {
    enqueue(*grant, peer_quota(), number_of({process, {}}), std::move(frame));
  } else {
    ++counters.malformed;
  }
  return true;
}

bool PeerLinks::Core::take_accepted() {
  zmq::message_t routing_id;
  if (!router_->receive_part(routing_id)) {
    return false;
  }
  zmq::message_t frame;
  if (!routing_id.more() || !router_->receive_part(frame)) {
    return true;
  }
  ++counters.frames_in;
  if (frame.more()) {
    ++counters.malformed;
    for (bool has_more = true; has_more && router_->receive_part(frame); has_more = frame.more()) {
    }
    return true;
  }
  const char* key = zmq_msg_gets(frame.handle(), "User-Id");
  const Grant* speaker = key == nullptr ? nullptr : options_.keyring.find(key);
  if (speaker == nullptr) {
    ++counters.unauthorised;
    return true;
  }
  if (may_darken(speaker->role)) {
    const std::uint64_t number = number_of_operator(routing_id.to_string(), speaker->public_key);
    enqueue(*speaker, quota_of(*speaker), number, std::move(frame));
    return true;
  }
  for (std::size_t i = options_.process + 1; i < options_.processes.size(); ++i) {
    if (options_.processes[i].public_key == speaker->public_key) {
      links_[i].routing_id = routing_id.to_string();
    }
  }
  enqueue(*speaker, peer_quota(), number_of({std::nullopt, speaker->public_key}), std::move(frame));
  return true;
}

/// Into the queue of the sender's key: what one of them sends does not make another one's messages wait. `number`: who of that
/// key, for serve().
void PeerLinks::Core::enqueue(const Grant& grant, const IntakeQuota& quota, std::uint64_t number, zmq::message_t frame) {
  const auto owner = std::make_shared<zmq::message_t>(std::move(frame));
  auto messages = split_batch({owner->data<char>(), owner->size()});
  if (!messages) {
    ++counters.malformed;
    return refuse(grant, NodeId{}, {RefusalKind::malformed, messages.error()});
  }
  const IntakeFrame arrived{number, owner, std::move(*messages), owner->size()};
  const std::size_t admitted = intake_.offer(grant.public_key, quota, arrived, steady_now()).admitted;
  if (admitted > 0) {
    serve_soon();
  }
  if (const std::size_t rest = arrived.messages.size() - admitted; rest > 0) {
    counters.over_quota += rest;
    refuse(grant, NodeId{},
           {RefusalKind::over_quota,
            {ErrorCode::busy, "the key of " + grant.principal + " sends more than " + std::to_string(quota.messages.tokens) +
                                  " messages a second (limit " + std::string(quota.limit) + ")"},
            rest});
  }
}

/// There are as many speakers as processes that we dial and keys that dial us.
std::uint64_t PeerLinks::Core::number_of(const Speaker& speaker) {
  const auto known = std::find(speakers_.begin(), speakers_.end(), speaker);
  if (known == speakers_.end()) {
    speakers_.push_back(speaker);
    return speakers_.size() - 1;
  }
  return static_cast<std::uint64_t>(known - speakers_.begin());
}

/// What it may speak for now: a key may have been revoked while its words waited. Nothing: for nobody.
std::optional<Grant> PeerLinks::Core::grant_of(const Speaker& speaker) const {
  if (speaker.process) {  // the pinned key proves which process speaks, and so for which nodes
    const PeerProcess& peer = options_.processes[*speaker.process];
    if (!may_speak(peer.public_key)) {
      return std::nullopt;
    }
    return Grant{peer.public_key,
                 Role::agent,
                 "agents-" + std::to_string(*speaker.process),
                 {{NodeId{peer.first}, NodeId{peer.end - 1}}}};
  }
  const Grant* grant = options_.keyring.find(speaker.public_key);
  return grant == nullptr ? std::nullopt : std::optional(*grant);
}

void PeerLinks::Core::serve_soon() {
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
void PeerLinks::Core::serve() {
  for (std::size_t i = 0; i < limits::kAgentsPerTurn && is_open_; ++i) {
    const auto message = intake_.next(IntakeRank::agent);
    if (!message) {
      break;
    }
    if (const auto grant = grant_of(speakers_[message->connection])) {
      take_word(*grant, message->bytes);
    } else {
      ++counters.unauthorised;
    }
  }
  for (std::size_t i = 0; i < limits::kOperatorsPerTurn && is_open_; ++i) {
    const auto message = intake_.next(IntakeRank::operator_);
    if (!message) {
      break;
    }
    take_request(*message);
  }
  if (is_open_ && !intake_.is_empty()) {
    serve_soon();
  }
}

/// What an operator may ask of it is the agent's to decide.
void PeerLinks::Core::take_request(const IntakeMessage& message) {
  ++counters.operators_in;
  const auto peer = operators_.find(message.connection);
  const Grant* speaker = peer == operators_.end() ? nullptr : options_.keyring.find(peer->second.public_key);
  if (speaker == nullptr || !may_darken(speaker->role)) {
    ++counters.unauthorised;
    return;
  }
  const auto head = peek_head(message.bytes);
  const auto port = head ? ports_.find(head->node) : ports_.end();
  if (!head) {
    ++counters.malformed;
    refuse(*speaker, NodeId{}, {RefusalKind::malformed, head.error()});
  } else if (port == ports_.end()) {
    ++counters.strangers;
  } else {
    port->second->receive(Peer{Peer::Kind::operator_, message.connection}, *speaker, message.bytes);
  }
}

std::uint64_t PeerLinks::Core::number_of_operator(const std::string& routing_id, const std::string& public_key) {
  for (const auto& [number, known] : operators_) {
    if (known.routing_id == routing_id && known.public_key == public_key) {
      return number;
    }
  }
  if (operators_.size() == kOperatorsMax) {
    operators_.erase(operators_.begin());
  }
  operators_.emplace(++last_operator_, OperatorPeer{routing_id, public_key});
  return last_operator_;
}

void PeerLinks::Core::answer(std::uint64_t operator_number, std::string_view bytes) {
  const auto to = operators_.find(operator_number);
  Batch batch;
  if (to == operators_.end() || !batch.fits(bytes.size())) {
    ++counters.dropped;
    return;
  }
  batch.add(bytes);
  const std::array<std::string_view, 2> parts{to->second.routing_id, batch.bytes()};
  if (router_->send(parts) != SendOutcome::sent) {
    ++counters.dropped;
  }
}

void PeerLinks::Core::take_word(const Grant& speaker, std::string_view word) {
  ++counters.words_in;
  if (word.size() < kAddressBytes || word.size() > kAddressBytes + limits::kGrantMessageBytes) {
    ++counters.malformed;
    return refuse(speaker, NodeId{},
                  {RefusalKind::malformed,
                   {ErrorCode::malformed, "a word of " + speaker.principal + " has " + std::to_string(word.size()) +
                                              " bytes, allowed " + std::to_string(kAddressBytes) + " to " +
                                              std::to_string(kAddressBytes + limits::kGrantMessageBytes)}});
  }
  const std::string_view envelope = word.substr(kAddressBytes);
  const auto head = peek_head(envelope);
  if (!head) {
    ++counters.malformed;
    return refuse(speaker, NodeId{}, {RefusalKind::malformed, head.error()});
  }
  if (!speaker.may_speak_for(head->node)) {
    ++counters.unauthorised;
    return refuse(speaker, head->node,
                  {RefusalKind::foreign,
                   {ErrorCode::refused,
                    "the key of " + speaker.principal + " may not speak for node " + std::to_string(head->node.value)}});
  }
  deliver(head->node, address_of(word), speaker, envelope);
}

void PeerLinks::Core::deliver(NodeId from, NodeId to, const Grant& speaker, std::string_view envelope) {
  const auto at = ports_.find(to);
  if (at == ports_.end()) {
    ++counters.strangers;
    return;
  }
  at->second->receive(agent_peer(from), speaker, envelope);
}

void PeerLinks::Core::refuse(const Grant& speaker, NodeId from, Refused why) {
  sums_.note({agent_peer(from), std::move(why.error), why.kind, why.count, speaker.principal}, steady_now());
}

/// The first agent of this process hears of what nobody in particular is to blame for.
void PeerLinks::Core::tell(const MessageRefused& refused) const {
  if (!ports_.empty()) {
    ports_.begin()->second->refuse(refused);
  }
}

// --- out -----------------------------------------------------------------------------------------------------------------

void PeerLinks::Core::send(NodeId from, NodeId to, std::string_view bytes) {
  const auto process = process_of(to);
  if (!process || bytes.size() > limits::kGrantMessageBytes) {
    ++counters.dropped;
    return;
  }
  if (is_hosted(to)) {
    ++counters.local;
    asio::post(io_, [weak = weak_from_this(), from, to, word = std::string(bytes)] {
      if (const auto self = weak.lock(); self && self->is_open_) {
        const PeerProcess& own = self->options_.processes[self->options_.process];
        self->deliver(from, to, {own.public_key, Role::agent, "agents-" + std::to_string(self->options_.process), {}}, word);
      }
    });
    return;
  }
  Link& link = links_[*process];
  const std::string word = addressed(to, bytes);
  if (!link.outgoing.fits(word.size())) {
    flush(link);
  }
  link.outgoing.add(word);
  if (!link.is_dirty) {
    link.is_dirty = true;
    dirty_.push_back(*process);
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

void PeerLinks::Core::flush() {
  is_flush_posted_ = false;
  for (const std::size_t process : std::exchange(dirty_, {})) {
    links_[process].is_dirty = false;
    flush(links_[process]);
  }
}

void PeerLinks::Core::flush(Link& link) {
  if (link.outgoing.empty()) {
    return;
  }
  if (send_frame(link, link.outgoing.bytes()) == SendOutcome::sent) {
    ++counters.frames_out;
    counters.words_out += link.outgoing.count();
  } else {
    counters.dropped += link.outgoing.count();
  }
  link.outgoing.clear();
}

SendOutcome PeerLinks::Core::send_frame(Link& link, std::string_view frame) {
  if (link.dialled) {
    const std::array<std::string_view, 1> parts{frame};
    return link.dialled->send(parts);
  }
  if (link.routing_id.empty()) {
    return SendOutcome::gone;
  }
  const std::array<std::string_view, 2> parts{link.routing_id, frame};
  return router_->send(parts);
}

Result<std::unique_ptr<PeerLinks>> PeerLinks::open(asio::io_context& io, PeerLinksOptions options) {
  LOOM_TRY(check_key("the agents' public key", options.keys.public_key));
  LOOM_TRY(check_key("the agents' secret key", options.keys.secret_key));
  LOOM_ASSERT(options.process < options.processes.size());
  auto core = std::make_shared<Core>(io, std::move(options));
  std::unique_ptr<PeerLinks> links(new PeerLinks(core));
  if (auto opened = core->open(); !opened) {
    return std::unexpected(opened.error());
  }
  return links;
}

PeerLinks::PeerLinks(std::shared_ptr<Core> core) : core_(std::move(core)) {}
PeerLinks::~PeerLinks() { core_->close(); }
const std::string& PeerLinks::endpoint() const { return core_->endpoint; }
void PeerLinks::replace_keyring(Keyring keyring) { core_->replace_keyring(std::move(keyring)); }
Result<void> PeerLinks::replace_keys(KeyPair keys) { return core_->replace_keys(std::move(keys)); }
void PeerLinks::replace_peer_key(std::uint32_t process, std::string public_key) {
  core_->replace_peer_key(process, std::move(public_key));
}
MessageSeam& PeerLinks::port(NodeId node, MessageSeam& controller) { return core_->port(node, controller); }
const PeerLinksCounters& PeerLinks::counters() const { return core_->counters; }

}  // namespace loom
