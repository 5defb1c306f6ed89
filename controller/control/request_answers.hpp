// RequestAnswers: each request of an operator is handled once, however often it comes, and its answer is sent again to whoever
// repeats it. It never handles a request itself.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "controller/control/confirmed_plans.hpp"
#include "controller/control/facts.hpp"
#include "controller/control/requester.hpp"

namespace loom {

class RequestAnswers {
 public:
  RequestAnswers(const ControllerFacts& facts, const ConfirmedPlans& confirmed) : facts_(facts), confirmed_(confirmed) {}

  /// True: this principal's request has come before. It is answered again, or will be.
  bool is_repeated(const Requester& requester, EffectSink& sink);
  /// Answers a request and keeps the answer for whoever repeats it.
  void answer(const Requester& requester, OperatorReply reply, EffectSink& sink);
  void refuse(const Requester& requester, Error error, EffectSink& sink);
  /// Answers what may be asked any number of times.
  void answer_once(const Requester& requester, OperatorReply reply, EffectSink& sink) const;
  /// An answer that an earlier incarnation gave.
  void restore(const IntentCause& cause);

 private:
  /// A request that was answered, or (no reply yet) is being worked on.
  struct Known {
    std::string principal;
    RequestId request;
    Peer peer;
    std::optional<OperatorReply> reply;
  };
  void send(Peer to, OperatorReply reply, EffectSink& sink) const;

  const ControllerFacts& facts_;
  const ConfirmedPlans& confirmed_;
  std::deque<Known> known_;
};

}  // namespace loom
