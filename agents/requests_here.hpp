// SPDX-License-Identifier: Apache-2.0
// RequestsHere: what an operator may ask an agent itself, without a controller: darkness, and how it is. Never light: rearming
// needs the controller, which alone knows what may be lit. Whoever asks for darkness is answered when every laser of the node
// has been read back dark, or when that took too long, naming those that were not.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agents/commit/deadline.hpp"
#include "agents/devices/device_units.hpp"
#include "agents/envelope_sender.hpp"
#include "core/message.hpp"

namespace loom {

class RequestsHere {
 public:
  RequestsHere(const EnvelopeSender& envelopes, const DeviceUnits& units) : envelopes_(envelopes), units_(units) {}

  /// What is to be done about a message of an operator.
  enum class Verdict : std::uint8_t { answered, darken };
  /// `row`: how the agent is. darken: the caller latches; the answer comes by advance(). A request that is repeated while it is
  /// under way is one request.
  Verdict take(StepContext context, const MessageArrived& message, const NodeReport& row);
  /// Answers who has waited. `row` as above.
  void advance(StepContext context, const NodeReport& row);
  bool is_waiting() const { return !waiting_.empty(); }

 private:
  struct Waiting {
    Peer peer;
    RequestId request;
    Instant until{};
  };
  void answer(StepContext context, Peer peer, RequestId request, Outcome outcome, const NodeReport& row) const;
  static bool is_dark(const DeviceUnit& unit);
  std::string not_dark() const;

  const EnvelopeSender& envelopes_;
  const DeviceUnits& units_;
  std::vector<Waiting> waiting_;
  Deadline patience_{kOrdersHereTimer};
};

}  // namespace loom
