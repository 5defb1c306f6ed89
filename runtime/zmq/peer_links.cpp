// A word on a link: the node that it is for (4 bytes, most significant first), then its envelope. Words of one turn leave as
// one batch; an empty batch is a greeting, by which a ROUTER learns the way back.
#include "runtime/zmq/peer_links.hpp"

#include <zmq.h>

#include <array>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/limits.hpp"
#include "proto/codec.hpp"
#include "runtime/zmq/authenticator.hpp"
#include "runtime/zmq/batch.hpp"
#include "runtime/zmq/handshake_watch.hpp"
#include "runtime/zmq/loop_socket.hpp"
#include "runtime/zmq/socket_options.hpp"

namespace loom {
namespace {

constexpr auto kGreetInterval = std::chrono::milliseconds{200};
/// The library gives up a connection whose key was refused for good, but keys may be granted at any time.
constexpr auto kRedialInterval = std::chrono::seconds{2};
constexpr std::size_t kAddressBytes = 4;

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

std::set<std::string> agent_keys(const Keyring& keyring) {
  std::set<std::string> keys;
  for (const Grant& grant : keyring.grants()) {
    if (grant.role == Role::agent) {
      keys.insert(grant.public_key);
    }
  }
  return keys;
}

}  // namespace

class PeerLinks::Core : public std::enable_shared_from_this<PeerLinks::Core> {
 public:
  Core(asio::io_context& io, PeerLinksOptions options) : io_(io), options_(std::move(options)), greeting_(io) {
    links_.resize(options_.processes.size());
  }

  Result<void> open();
  void close();
  MessageSeam& port(NodeId node, MessageSeam& controller);
  void send(NodeId from, NodeId to, std::string_view bytes);
  void replace_keyring(Keyring keyring);
  Result<void> replace_keys(KeyPair keys);
  void replace_peer_key(std::uint32_t process, std::string public_key);

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

  Result<void> listen(const std::string& at);
  void hang_up(Link& link);
  void watch(std::size_t process, zmq::socket_t& socket, const std::string& address);
  /// Without a keyring whoever we dial is known by its pinned key alone.
  bool may_speak(const std::string& key) const { return options_.keyring.is_empty() || options_.keyring.find(key) != nullptr; }
  bool is_hosted(NodeId node) const;
  std::optional<std::size_t> process_of(NodeId node) const;
  void greet();
  void dial(std::size_t process);
  bool take_dialled(std::size_t process, LoopSocket& socket);
  bool take_accepted();
  void take_words(const Grant& speaker, std::string_view frame);
  void take_word(const Grant& speaker, std::string_view word);
  void deliver(NodeId from, NodeId to, const Grant& speaker, std::string_view envelope);
  void tell(NodeId from, const Error& error);
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
  asio::steady_timer greeting_;
  bool is_flush_posted_ = false;
  bool is_open_ = false;
};

class PeerLinks::Port final : public MessageSeam {
 public:
  Port(Core& core, NodeId node, MessageSeam& controller) : core_(core), node_(node), controller_(controller) {}

  void on_receive(Receive receive) override {
    controller_.on_receive(receive);
    receive_ = std::move(receive);
  }
  void on_refuse(std::function<void(Peer from, Error error)> refuse) override {
    controller_.on_refuse(refuse);
    refuse_ = std::move(refuse);
  }
  void send(Peer to, std::string_view bytes) override {
    if (to.kind == Peer::Kind::agent) {
      core_.send(node_, NodeId{static_cast<std::uint32_t>(to.id)}, bytes);
    } else {
      controller_.send(to, bytes);
    }
  }
  void receive(NodeId from, const Grant& speaker, std::string_view envelope) const {
    if (receive_) {
      receive_(agent_peer(from), speaker.principal, speaker.role, envelope);
    }
  }
  void refuse(NodeId from, const Error& error) const {
    if (refuse_) {
      refuse_(agent_peer(from), error);
    }
  }

 private:
  Core& core_;
  NodeId node_;
  MessageSeam& controller_;
  Receive receive_;
  std::function<void(Peer, Error)> refuse_;
};

Result<void> PeerLinks::Core::open() {
  auto reject = [weak = weak_from_this(), &io = io_](const std::string& address, const std::string& key) {
    asio::post(io, [weak, address, key] {
      if (const auto self = weak.lock(); self && self->is_open_) {
        ++self->counters.unauthorised;
        self->tell(NodeId{}, {ErrorCode::refused, "a peer at " + address + " has key " + key + ", which is no agent's here"});
      }
    });
  };
  auto authenticator = Authenticator::start(context_, agent_keys(options_.keyring), std::move(reject));
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
    socket.set(zmq::sockopt::router_mandatory, true);
    socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(limits::kFrameBytes));
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
  link.watch.reset();
  link.not_before = {};
  if (link.dialled) {
    link.dialled->close();
    link.dialled.reset();
  }
  link.address.clear();
  link.routing_id.clear();
  counters.dropped += link.outgoing.count();
  link.outgoing.clear();
}

/// Before connect(), so that no refusal is missed; a link that cannot be watched is dialled all the same.
void PeerLinks::Core::watch(std::size_t process, zmq::socket_t& socket, const std::string& address) {
  HandshakeListener listener;
  listener.accepted = [] {};
  listener.lost = [] {};
  listener.failed = [this, process](const Error&) {
    asio::post(io_, [weak = weak_from_this(), process] {  // not from inside the watch, which ends with it
      if (const auto self = weak.lock(); self && self->is_open_) {
        self->hang_up(self->links_[process]);
        self->links_[process].not_before = std::chrono::steady_clock::now() + kRedialInterval;
      }
    });
  };
  if (auto watch = HandshakeWatch::open(io_, context_, socket, address, std::move(listener))) {
    links_[process].watch = std::move(*watch);
  }
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
  greeting_.cancel();
  for (Link& link : links_) {
    link.watch.reset();
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
  if (!address || *address == link.address || !may_speak(peer.public_key) ||
      std::chrono::steady_clock::now() < link.not_before) {
    return;
  }
  try {
    zmq::socket_t socket(context_, zmq::socket_type::dealer);
    set_common_options(socket);
    socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(limits::kFrameBytes));
    socket.set(zmq::sockopt::immediate, true);  // a grant that waited would be late
    socket.set(zmq::sockopt::reconnect_ivl, 20);
    socket.set(zmq::sockopt::reconnect_ivl_max, 320);
    socket.set(zmq::sockopt::curve_serverkey, peer.public_key);
    socket.set(zmq::sockopt::curve_publickey, options_.keys.public_key);
    socket.set(zmq::sockopt::curve_secretkey, options_.keys.secret_key);
    link.watch.reset();
    watch(process, socket, *address);
    socket.connect(*address);
    if (link.dialled) {
      link.dialled->close();
    }
    link.dialled = std::make_shared<LoopSocket>(io_, std::move(socket));
    link.address = *address;
  } catch (const zmq::error_t& error) {
    return tell(NodeId{peer.first},
                {ErrorCode::unreachable, "cannot connect to agents at " + *address + ": " + std::string(error.what())});
  }
  LoopSocket& socket = *link.dialled;
  if (auto armed = socket.arm([this, process, &socket] { return take_dialled(process, socket); }); !armed) {
    tell(NodeId{peer.first}, armed.error());
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

/// The pinned key proves which process speaks, and so for which nodes.
bool PeerLinks::Core::take_dialled(std::size_t process, LoopSocket& socket) {
  zmq::message_t frame;
  if (!socket.receive_part(frame)) {
    return false;
  }
  ++counters.frames_in;
  bool is_whole = !frame.more();
  for (zmq::message_t rest; !is_whole && socket.receive_part(rest) && rest.more();) {
  }
  const PeerProcess& peer = options_.processes[process];
  const Grant speaker{
      peer.public_key, Role::agent, "agents-" + std::to_string(process), {{NodeId{peer.first}, NodeId{peer.end - 1}}}};
  if (!may_speak(peer.public_key)) {
    ++counters.unauthorised;
  } else if (is_whole) {
    take_words(speaker, {frame.data<char>(), frame.size()});
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
  for (std::size_t i = options_.process + 1; i < options_.processes.size(); ++i) {
    if (options_.processes[i].public_key == speaker->public_key) {
      links_[i].routing_id = routing_id.to_string();
    }
  }
  take_words(*speaker, {frame.data<char>(), frame.size()});
  return true;
}

void PeerLinks::Core::take_words(const Grant& speaker, std::string_view frame) {
  const auto words = split_batch(frame);
  if (!words) {
    ++counters.malformed;
    return tell(NodeId{}, words.error());
  }
  for (const std::string_view word : *words) {
    take_word(speaker, word);
  }
}

void PeerLinks::Core::take_word(const Grant& speaker, std::string_view word) {
  ++counters.words_in;
  if (word.size() < kAddressBytes || word.size() > kAddressBytes + limits::kGrantMessageBytes) {
    ++counters.malformed;
    return tell(NodeId{}, {ErrorCode::malformed, "a word of " + speaker.principal + " has " + std::to_string(word.size()) +
                                                     " bytes, allowed " + std::to_string(kAddressBytes) + " to " +
                                                     std::to_string(kAddressBytes + limits::kGrantMessageBytes)});
  }
  const std::string_view envelope = word.substr(kAddressBytes);
  const auto head = peek_head(envelope);
  if (!head) {
    ++counters.malformed;
    return tell(NodeId{}, head.error());
  }
  if (!speaker.may_speak_for(head->node)) {
    ++counters.unauthorised;
    return tell(head->node, {ErrorCode::refused, "the key of " + speaker.principal + " may not speak for node " +
                                                     std::to_string(head->node.value)});
  }
  deliver(head->node, address_of(word), speaker, envelope);
}

void PeerLinks::Core::deliver(NodeId from, NodeId to, const Grant& speaker, std::string_view envelope) {
  const auto at = ports_.find(to);
  if (at == ports_.end()) {
    ++counters.strangers;
    return;
  }
  at->second->receive(from, speaker, envelope);
}

/// The first agent of this process hears of what nobody in particular is to blame for.
void PeerLinks::Core::tell(NodeId from, const Error& error) {
  if (!ports_.empty()) {
    ports_.begin()->second->refuse(from, error);
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
