// SPDX-License-Identifier: Apache-2.0
// A word on a link: the node that it is for (4 bytes, most significant first), then its envelope. Over ZeroMQ words of one turn
// leave as one batch; a batch without any is a greeting, by which a ROUTER learns the way back, and may bring an offer of
// shared memory (kLinkAddress). An operator's frame is a batch of plain envelopes, each for the agent that it names, as a
// controller would get it.
#include "runtime/zmq/peer/peer_links.hpp"

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

#include "core/messages/intake_limits.hpp"
#include "core/text/format_text.hpp"
#include "proto/codec.hpp"
#include "runtime/zmq/peer/peer_links_core.hpp"
#include "runtime/zmq/socket_options.hpp"

namespace loom {
namespace {

constexpr auto kGreetInterval = std::chrono::milliseconds{200};
/// The library gives up a connection whose key was refused for good, but keys may be granted at any time.
constexpr auto kRedialInterval = std::chrono::seconds{2};

std::array<char, kAddressBytes> address_of(NodeId to) {
  return {static_cast<char>(to.value >> 24U & 0xFFU), static_cast<char>(to.value >> 16U & 0xFFU),
          static_cast<char>(to.value >> 8U & 0xFFU), static_cast<char>(to.value & 0xFFU)};
}

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

std::optional<std::size_t> process_of(const PeerLinksOptions& options, NodeId node) {
  for (std::size_t i = 0; i < options.processes.size(); ++i) {
    for (const NodeRange& range : options.processes[i].nodes) {
      if (range.first <= node && node <= range.last) {
        return i;
      }
    }
  }
  return std::nullopt;
}

Result<void> PeerLinks::Core::open() {
  auto reject = [weak = weak_from_this()](std::uint64_t count, const std::string& address, const std::string& key) {
    if (const auto self = weak.lock(); self && self->is_open_) {
      self->counters.unauthorised += count;
      self->refuse({}, NodeId{},
                   {RefusalKind::unauthorised,
                    {ErrorCode::refused, format_text("a peer at {} has key {}, which is no agent's here", address, key)},
                    count});
    }
  };
  auto authenticator = Authenticator::start(context_, agent_keys(options_.keyring), summed_rejects(io_, std::move(reject)));
  if (!authenticator) {
    return std::unexpected(authenticator.error());
  }
  authenticator_ = std::move(*authenticator);
  is_open_ = true;
  auto listener = ListeningSocket::open(options_.endpoint);
  if (!listener) {
    return std::unexpected(listener.error());
  }
  listener_ = *std::move(listener);
  endpoint = listener_->endpoint();
  LOOM_TRY(listen());
  if (const auto shared = shared_.open(); !shared && options_.reported) {
    options_.reported("links to agents of this host go over ZeroMQ: " + shared.error().message);
  }
  greet();
  return {};
}

/// With our keys of now, in place of the socket that had those before, if that can be done.
Result<void> PeerLinks::Core::listen() {
  std::shared_ptr<LoopSocket> router;
  try {
    zmq::socket_t socket(context_, zmq::socket_type::router);
    set_common_options(socket);
    set_listener_options(socket);
    socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(limits::kBatchBytes));
    socket.set(zmq::sockopt::curve_server, true);
    socket.set(zmq::sockopt::curve_secretkey, options_.keys.secret_key);
    socket.set(zmq::sockopt::zap_domain, kZapDomain);
    LOOM_TRY(listener_->lend_to(socket));
    router = std::make_shared<LoopSocket>(io_, std::move(socket));
  } catch (const zmq::error_t& error) {
    return zmq_failure(ErrorCode::unreachable, "cannot listen at " + listener_->endpoint(), error.num());
  }
  LOOM_TRY(router->arm([this] { return take_accepted(); }));
  if (router_) {
    router_->close();
  }
  router_ = std::move(router);
  return {};
}

// --- keys ----------------------------------------------------------------------------------------------------------------

/// What waited for it is dropped; it is dialled anew, or has to greet us anew.
void PeerLinks::Core::hang_up(std::size_t process) {
  Link& link = links_[process];
  shared_.end(process);
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
  listener.failed = [this, process](HandshakeFailure) {
    asio::post(io_, [weak = weak_from_this(), process] {  // not from inside the watch, which ends with it
      if (const auto self = weak.lock(); self && self->is_open_) {
        self->hang_up(process);
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
    if (!may_speak(options_, options_.processes[i].public_key)) {
      hang_up(i);
    }
  }
}

Result<void> PeerLinks::Core::replace_keys(KeyPair keys) {
  LOOM_TRY(check_key("the agents' public key", keys.public_key));
  LOOM_TRY(check_key("the agents' secret key", keys.secret_key));
  KeyPair before = std::exchange(options_.keys, std::move(keys));
  if (auto listening = listen(); !listening) {
    options_.keys = std::move(before);
    return listening;
  }
  options_.processes[options_.process].public_key = options_.keys.public_key;
  for (std::size_t process = 0; process < links_.size(); ++process) {
    hang_up(process);
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
    hang_up(process);
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
  shared_.close();
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
      Batch greeting;
      if (const std::string offer = shared_.offer_to(process); !offer.empty()) {
        const auto address = address_of(kLinkAddress);
        greeting.add(std::string(address.data(), address.size()) + offer);
      }
      send_frame(links_[process], greeting.bytes());
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
  if (!address || *address == link.address || !may_speak(options_, peer.public_key) ||
      std::chrono::steady_clock::now() < link.not_before) {
    return;
  }
  try {
    zmq::socket_t socket(context_, zmq::socket_type::dealer);
    set_common_options(socket);
    set_dialler_options(socket);
    socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(limits::kBatchBytes));
    socket.set(zmq::sockopt::immediate, true);  // a grant that waited would be late
    socket.set(zmq::sockopt::reconnect_ivl, 20);
    socket.set(zmq::sockopt::reconnect_ivl_max, 320);
    socket.set(zmq::sockopt::curve_serverkey, peer.public_key);
    socket.set(zmq::sockopt::curve_publickey, options_.keys.public_key);
    socket.set(zmq::sockopt::curve_secretkey, options_.keys.secret_key);
    if (link.watch && !link.dialled) {
      link.watch->detach();
    }
    link.watch.reset();
    watch(process, socket, *address);
    connect_to(socket, *address);
    if (link.dialled) {
      link.dialled->close();
    }
    link.dialled = std::make_shared<LoopSocket>(io_, std::move(socket));
    link.address = *address;
  } catch (const zmq::error_t& error) {
    return report({agent_peer(peer.nodes.front().first),
                   {ErrorCode::unreachable, format_text("cannot connect to agents at {}: {}", *address, error.what())}});
  }
  LoopSocket& socket = *link.dialled;
  if (auto armed = socket.arm([this, process, &socket] { return take_dialled(process, socket); }); !armed) {
    report({agent_peer(peer.nodes.front().first), armed.error()});
  }
}

MessageSeam& PeerLinks::Core::port(NodeId node, MessageSeam& controller) {
  auto& port = ports_[node];
  if (!port) {
    port = std::make_unique<Port>(*this, node, controller);
  }
  return *port;
}

// --- out -----------------------------------------------------------------------------------------------------------------

void PeerLinks::Core::send(NodeId from, NodeId to, std::string_view bytes) {
  const auto process = process_of(options_, to);
  if (!process || bytes.size() > limits::kGrantMessageBytes) {
    ++counters.dropped;
    return;
  }
  if (*process == options_.process) {
    ++counters.local;
    asio::post(io_, [weak = weak_from_this(), from, to, word = std::string(bytes)] {
      if (const auto self = weak.lock(); self && self->is_open_) {
        const PeerProcess& own = self->options_.processes[self->options_.process];
        self->deliver(from, to, {own.public_key, Role::agent, format_text("agents-{}", self->options_.process), {}}, word);
      }
    });
    return;
  }
  const auto address = address_of(to);
  const std::array<std::string_view, 2> parts{std::string_view(address.data(), address.size()), bytes};
  if (shared_.send(*process, parts)) {
    ++counters.words_out;
    ++counters.shared_out;
    return;
  }
  counters.shared_full += shared_.is_shared(*process) ? 1U : 0U;
  Link& link = links_[*process];
  const std::string word = std::string(parts[0]).append(parts[1]);
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

std::vector<PeerLinkState> PeerLinks::Core::links() const {
  std::vector<PeerLinkState> states;
  for (std::size_t process = 0; process < links_.size(); ++process) {
    if (process != options_.process) {
      const bool has_zeromq = links_[process].dialled || !links_[process].routing_id.empty();
      states.push_back({static_cast<std::uint32_t>(process), shared_.is_shared(process) ? PeerTransport::shared_memory
                                                             : has_zeromq               ? PeerTransport::zeromq
                                                                                        : PeerTransport::none});
    }
  }
  return states;
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
std::vector<PeerLinkState> PeerLinks::links() const { return core_->links(); }

}  // namespace loom
