// SPDX-License-Identifier: Apache-2.0
// RequestAnswers: each request of an operator is handled once, however often it comes, and its answer is sent again to whoever
// repeats it. A request is remembered for as long as its sender may repeat it, which is a matter of time and never of how many
// others came since. What it answers goes into the audit. It never handles a request itself.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/control/audit_trail.hpp"
#include "controller/control/facts.hpp"
#include "controller/control/jobs/confirmed_plans.hpp"
#include "controller/control/requests/requester.hpp"

namespace loom {

class RequestAnswers {
 public:
  RequestAnswers(const ControllerFacts& facts, const ConfirmedPlans& confirmed, AuditTrail& audit)
      : facts_(facts), confirmed_(confirmed), audit_(audit) {}

  enum class Arrival : std::uint8_t {
    first,     ///< to be handled; from now on it is known
    repeated,  ///< answered again, or it will be
    refused,   ///< answered: it could not be remembered, so it must not be handled
  };
  Arrival arrive(const Requester& requester, EffectSink& sink);
  /// Answers a request and keeps the answer for whoever repeats it. An answer with rows is that of a question (a dry run, a
  /// launcher that attends): asking again harms nobody, so it is not kept.
  void answer(const Requester& requester, OperatorReply reply, EffectSink& sink);
  void refuse(const Requester& requester, Error error, EffectSink& sink);
  /// Answers what may be asked any number of times.
  void answer_once(const Requester& requester, OperatorReply reply, EffectSink& sink) const;
  /// An answer that an earlier incarnation gave, or its snapshot remembers. It counts as given now: nobody knows when it was.
  void restore(const IntentCause& cause);
  /// May this request still be repeated? Then a snapshot has to say what became of it.
  bool remembers(const IntentCause& cause) const;

 private:
  using Key = std::pair<std::string, RequestId>;  ///< principal
  struct Answer {
    std::optional<Error> error{};
    JobId job{};
    Revision revision{};
    std::uint32_t writes = 0;
  };
  struct Known {
    Peer peer;
    Instant received{};  ///< last
    std::optional<Answer> answer{};
  };
  struct Expiry {
    Instant at{};
    Key key;
  };
  void keep(Known& known, Key key, Answer answer);
  void forget_expired();
  void send(Peer to, OperatorReply reply, EffectSink& sink) const;

  const ControllerFacts& facts_;
  const ConfirmedPlans& confirmed_;
  AuditTrail& audit_;
  std::map<Key, Known> known_;
  std::deque<Expiry> expiries_;  ///< of what is answered, ascending; a repetition puts its request off
};

}  // namespace loom
