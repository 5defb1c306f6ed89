// SPDX-License-Identifier: Apache-2.0
// A request is known by its principal and number.
#include "controller/control/requests/request_answers.hpp"

#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// Twice as long as a client repeats: a repetition may have waited in a queue, ours or the network's.
constexpr Duration kRemembered{2 * limits::kRequestRepeatNs};

}  // namespace

RequestAnswers::Arrival RequestAnswers::arrive(const Requester& requester, EffectSink& sink) {
  forget_expired();
  Key key{requester.principal, requester.request};
  if (const auto known = known_.find(key); known != known_.end()) {
    known->second.peer = requester.peer;
    known->second.received = facts_.now;
    if (const auto& answer = known->second.answer) {
      OperatorReply again;
      again.request = requester.request;
      again.outcome.error = answer->error;
      again.job = answer->job;
      again.revision = answer->revision;
      again.writes = answer->writes;
      send(requester.peer, std::move(again), sink);
    }
    return Arrival::repeated;
  }
  if (known_.size() >= limits::kRequestsRemembered) {
    OperatorReply refused;
    refused.outcome.error = Error{ErrorCode::busy,
                                  format_text("{} requests came within the last {} min, as many as are remembered so that none "
                                              "is carried out twice (limit kRequestsRemembered); this one was not carried out",
                                              known_.size(), kRemembered / std::chrono::minutes{1}),
                                  "loom status"};
    answer_once(requester, std::move(refused), sink);
    return Arrival::refused;
  }
  known_.emplace(std::move(key), Known{requester.peer, facts_.now});
  return Arrival::first;
}

void RequestAnswers::keep(Known& known, Key key, Answer answer) {
  known.answer = std::move(answer);
  expiries_.push_back({known.received + kRemembered, std::move(key)});
}

/// What was repeated meanwhile stays longer; what is not answered yet is not among them.
void RequestAnswers::forget_expired() {
  while (!expiries_.empty() && expiries_.front().at <= facts_.now) {
    Expiry expired = std::move(expiries_.front());
    expiries_.pop_front();
    const auto known = known_.find(expired.key);
    if (known == known_.end()) {
      continue;
    }
    if (const Instant due = known->second.received + kRemembered; due > facts_.now) {
      expiries_.push_back({due, std::move(expired.key)});
    } else {
      known_.erase(known);
    }
  }
}

void RequestAnswers::answer(const Requester& requester, OperatorReply reply, EffectSink& sink) {
  audit_.end(requester, reply, sink);
  reply.request = requester.request;
  Peer to = requester.peer;
  Key key{requester.principal, requester.request};
  if (const auto known = known_.find(key); known != known_.end() && !known->second.answer) {
    to = known->second.peer;  // it may have come back over another connection
    if (std::holds_alternative<std::monostate>(reply.rows)) {
      known->second.received = facts_.now;
      keep(known->second, std::move(key), {reply.outcome.error, reply.job, reply.revision, reply.writes});
    } else {
      known_.erase(known);
    }
  }
  send(to, std::move(reply), sink);
}

void RequestAnswers::refuse(const Requester& requester, Error error, EffectSink& sink) {
  OperatorReply refused;
  refused.outcome.error = std::move(error);
  answer(requester, std::move(refused), sink);
}

void RequestAnswers::answer_once(const Requester& requester, OperatorReply reply, EffectSink& sink) const {
  reply.request = requester.request;
  send(requester.peer, std::move(reply), sink);
}

void RequestAnswers::restore(const IntentCause& cause) {
  Known known{Peer{Peer::Kind::operator_, 0}, facts_.now};
  Key key{cause.principal, cause.request};
  keep(known, key, {{}, cause.job, cause.revision, 0});
  known_.insert_or_assign(std::move(key), std::move(known));
}

bool RequestAnswers::remembers(const IntentCause& cause) const { return known_.contains({cause.principal, cause.request}); }

void RequestAnswers::send(Peer to, OperatorReply reply, EffectSink& sink) const {
  if (reply.outcome.error && reply.outcome.error->next_command.empty()) {
    reply.outcome.error->next_command = next_command_for(reply.outcome.error->code);
  }
  sink.emit(Send{to, Envelope{kWireVersion, "controller", Role::controller, facts_.header.term, NodeId{}, facts_.header.clock,
                              confirmed_.revision(), std::move(reply)}});
}

}  // namespace loom
