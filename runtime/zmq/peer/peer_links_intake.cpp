// SPDX-License-Identifier: Apache-2.0
// Frames into queues by key, and out of them one a key and round: words of agents for agents, and requests of operators.
#include <zmq.h>

#include <algorithm>
#include <array>
#include <asio/post.hpp>
#include <utility>

#include "core/messages/intake_limits.hpp"
#include "core/text/format_text.hpp"
#include "proto/codec.hpp"
#include "runtime/zmq/peer/peer_links_core.hpp"
#include "runtime/zmq/quota.hpp"

namespace loom {
namespace {

/// Connections of operators that an answer may still go to.
constexpr std::size_t kOperatorsMax = 64;

NodeId address_of(std::string_view word) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < kAddressBytes; ++i) {
    value = value << 8 | static_cast<unsigned char>(word[i]);
  }
  return NodeId{value};
}

/// A process that we dial proves itself by its pinned key, one that dials us by the key in the keyring.
PeerSpeaker speaker_at(const PeerLinksOptions& options, std::size_t process) {
  return process < options.process ? PeerSpeaker{process, {}}
                                   : PeerSpeaker{std::nullopt, options.processes[process].public_key};
}

/// Which process has dialled us with this key: the ones below us are dialled by us.
std::optional<std::size_t> dialler_of(const PeerLinksOptions& options, const Grant& speaker) {
  for (std::size_t i = options.process + 1; i < options.processes.size(); ++i) {
    if (speaker.role == Role::agent && options.processes[i].public_key == speaker.public_key) {
      return i;
    }
  }
  return std::nullopt;
}

Result<void> refused_offer(const Grant& speaker) {
  return fail(ErrorCode::refused, format_text("{} offers shared memory, but is no process that dials us", speaker.principal));
}

Result<IntakeFrame> frame_of(std::uint64_t number, zmq::message_t message) {
  const auto owner = std::make_shared<zmq::message_t>(std::move(message));
  auto messages = split_batch({owner->data<char>(), owner->size()});
  if (!messages) {
    return std::unexpected(messages.error());
  }
  return IntakeFrame{number, owner, std::move(*messages), owner->size()};
}

}  // namespace

std::optional<Grant> grant_of(const PeerLinksOptions& options, const PeerSpeaker& speaker) {
  if (speaker.process) {  // the pinned key proves which process speaks, and so for which nodes
    const PeerProcess& peer = options.processes[*speaker.process];
    if (!may_speak(options, peer.public_key)) {
      return std::nullopt;
    }
    return Grant{peer.public_key, Role::agent, format_text("agents-{}", *speaker.process), peer.nodes};
  }
  const Grant* grant = options.keyring.find(speaker.public_key);
  return grant == nullptr ? std::nullopt : std::optional(*grant);
}

bool PeerLinks::Core::take_dialled(std::size_t process, LoopSocket& socket) {
  zmq::message_t frame;
  if (!socket.receive_part(frame)) {
    return false;
  }
  ++counters.frames_in;
  bool is_whole = !frame.more();
  for (zmq::message_t rest; !is_whole && socket.receive_part(rest) && rest.more();) {
  }
  const auto grant = grant_of(options_, {process, {}});
  if (!grant) {
    ++counters.unauthorised;
  } else if (is_whole) {
    enqueue(*grant, peer_quota(), frame_of(number_of({process, {}}), std::move(frame)));
    serve_soon();
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
    enqueue(*speaker, quota_of(*speaker), frame_of(number, std::move(frame)));
    serve_soon();
    return true;
  }
  if (const auto process = dialler_of(options_, *speaker)) {
    links_[*process].routing_id = routing_id.to_string();
  }
  enqueue(*speaker, peer_quota(), frame_of(number_of({std::nullopt, speaker->public_key}), std::move(frame)));
  serve_soon();
  return true;
}

/// Into the same queue, under the same key and quota, as if it had come over ZeroMQ; but served in the turn in which it came.
void PeerLinks::Core::take_shared(std::size_t process, RingMessages messages) {
  const PeerSpeaker speaker = speaker_at(options_, process);
  const auto grant = grant_of(options_, speaker);
  if (!grant || grant->role != Role::agent) {
    counters.unauthorised += messages.messages.size();
    return;
  }
  counters.shared_in += messages.messages.size();
  enqueue(*grant, peer_quota(),
          IntakeFrame{number_of(speaker), messages.owner, std::move(messages.messages), messages.owner->size()});
  serve();
}

/// `why`: it is over, or came to nothing.
void PeerLinks::Core::report_shared(std::size_t process, const Error* why) {
  if (why != nullptr && why->code == ErrorCode::malformed) {
    ++counters.malformed;
    const auto grant = grant_of(options_, speaker_at(options_, process));
    refuse(grant.value_or(Grant{}), NodeId{}, {RefusalKind::malformed, *why});
  }
  counters.shared_ended += why != nullptr ? 1 : 0;
  if (options_.reported) {
    options_.reported(why == nullptr ? format_text("the link to agents-{} goes through shared memory", process)
                                     : format_text("the link to agents-{} goes over ZeroMQ: {}", process, why->message));
  }
}

/// Into the queue of the sender's key: what one of them sends does not make another one's messages wait. Its number says who of
/// that key, for serve().
void PeerLinks::Core::enqueue(const Grant& grant, const IntakeQuota& quota, Result<IntakeFrame> frame) {
  if (!frame) {
    ++counters.malformed;
    return refuse(grant, NodeId{}, {RefusalKind::malformed, frame.error()});
  }
  const IntakeFrame& arrived = *frame;
  const std::size_t admitted = intake_.offer(grant.public_key, quota, arrived, steady_now()).admitted;
  if (const std::size_t rest = arrived.messages.size() - admitted; rest > 0) {
    counters.over_quota += rest;
    refuse(grant, NodeId{},
           {RefusalKind::over_quota,
            {ErrorCode::busy, format_text("the key of {} sends more than {} messages a second (limit {})", grant.principal,
                                          quota.messages.tokens, quota.limit)},
            rest});
  }
}

/// There are as many speakers as processes that we dial and keys that dial us.
std::uint64_t PeerLinks::Core::number_of(const PeerSpeaker& speaker) {
  const auto known = std::find(speakers_.begin(), speakers_.end(), speaker);
  if (known == speakers_.end()) {
    speakers_.push_back(speaker);
    return speakers_.size() - 1;
  }
  return static_cast<std::uint64_t>(known - speakers_.begin());
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
  for (std::size_t i = 0; i < limits::kAgentsPerRound && is_open_; ++i) {
    const auto message = intake_.next(IntakeRank::agent);
    if (!message) {
      break;
    }
    if (const auto grant = grant_of(options_, speakers_[message->connection])) {
      take_word(*grant, message->bytes);
    } else {
      ++counters.unauthorised;
    }
  }
  for (std::size_t i = 0; i < limits::kOperatorsPerRound && is_open_; ++i) {
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
  const bool is_offer = word.size() > kAddressBytes && address_of(word) == kLinkAddress;
  counters.words_in += is_offer ? 0U : 1U;
  if (word.size() < kAddressBytes || word.size() > kAddressBytes + limits::kGrantMessageBytes) {
    ++counters.malformed;
    return refuse(
        speaker, NodeId{},
        {RefusalKind::malformed,
         {ErrorCode::malformed, format_text("a word of {} has {} bytes, allowed {} to {}", speaker.principal, word.size(),
                                            kAddressBytes, kAddressBytes + limits::kGrantMessageBytes)}});
  }
  const std::string_view envelope = word.substr(kAddressBytes);
  if (is_offer) {
    const auto process = dialler_of(options_, speaker);
    if (const auto taken = process ? shared_.take_offer(*process, envelope) : refused_offer(speaker); !taken) {
      ++counters.malformed;
      refuse(speaker, NodeId{}, {RefusalKind::malformed, taken.error()});
    }
    return;
  }
  const auto head = peek_head(envelope);
  if (!head) {
    ++counters.malformed;
    return refuse(speaker, NodeId{}, {RefusalKind::malformed, head.error()});
  }
  if (!speaker.may_speak_for(head->node)) {
    ++counters.unauthorised;
    return refuse(
        speaker, head->node,
        {RefusalKind::foreign,
         {ErrorCode::refused, format_text("the key of {} may not speak for node {}", speaker.principal, head->node.value)}});
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
void PeerLinks::Core::report(const MessageRefused& refused) const {
  if (!ports_.empty()) {
    ports_.begin()->second->refuse(refused);
  }
}

}  // namespace loom
