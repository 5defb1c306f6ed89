// A request is known by its principal and number.
#include "controller/control/request_answers.hpp"

#include <algorithm>
#include <utility>

#include "core/limits.hpp"

namespace loom {
bool RequestAnswers::is_repeated(const Requester& requester, EffectSink& sink) {
  const auto known = std::find_if(known_.begin(), known_.end(), [&](const Known& each) {
    return each.principal == requester.principal && each.request == requester.request;
  });
  if (known != known_.end()) {
    known->peer = requester.peer;
    if (known->reply) {
      send(requester.peer, *known->reply, sink);
    }
    return true;
  }
  known_.push_back({requester.principal, requester.request, requester.peer, std::nullopt});
  if (known_.size() > limits::kAnswersKept) {
    known_.pop_front();
  }
  return false;
}

void RequestAnswers::answer(const Requester& requester, OperatorReply reply, EffectSink& sink) {
  reply.request = requester.request;
  Peer to = requester.peer;
  for (Known& known : known_) {
    if (known.principal == requester.principal && known.request == requester.request && !known.reply) {
      known.reply = reply;
      to = known.peer;  // it may have come back over another connection
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
  OperatorReply reply;
  reply.request = cause.request;
  reply.job = cause.job;
  reply.revision = cause.revision;
  known_.push_back({cause.principal, cause.request, Peer{Peer::Kind::operator_, 0}, std::move(reply)});
}

void RequestAnswers::send(Peer to, OperatorReply reply, EffectSink& sink) const {
  if (reply.outcome.error && reply.outcome.error->next_command.empty()) {
    reply.outcome.error->next_command = next_command_for(reply.outcome.error->code);
  }
  sink.emit(Send{to, Envelope{kWireVersion, "controller", Role::controller, facts_.header.term, NodeId{}, facts_.header.clock,
                              confirmed_.revision(), std::move(reply)}});
}

}  // namespace loom
