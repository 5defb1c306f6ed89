// SPDX-License-Identifier: Apache-2.0
// One order, one question.
#include "agents/requests_here.hpp"

#include <algorithm>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// A laser that obeys is proven dark within its own blank and control times, some tens of milliseconds; one that has not been
/// by then is named, and is tried again all the same.
constexpr Duration kPatience = std::chrono::seconds{2};
/// Askers at a time; the oldest loses its answer, not its darkness.
constexpr std::size_t kWaitingMax = 64;

}  // namespace

RequestsHere::Verdict RequestsHere::take(StepContext context, const MessageArrived& message, const NodeReport& row) {
  const auto* request = std::get_if<OperatorRequest>(&message.envelope.body);
  if (request == nullptr) {
    return Verdict::answered;
  }
  const Role role = message.envelope.role;
  const auto* lasers = std::get_if<LasersRequest>(&request->ask);
  const auto* query = std::get_if<Query>(&request->ask);
  if (query != nullptr && query->noun == Noun::nodes) {
    answer(context, message.from, request->request, {}, row);
    return Verdict::answered;
  }
  if (lasers == nullptr || lasers->on || (role != Role::operator_ && role != Role::admin)) {
    const bool is_role = lasers != nullptr && !lasers->on;
    const Error error{ErrorCode::refused,
                      is_role ? format_text("lasers off takes a key of role operator or admin; this one is {}", to_string(role))
                              : "an agent itself takes lasers off and nothing else; what lights lasers goes by the controller",
                      is_role ? "loom keys list" : "loom lasers rearm"};
    answer(context, message.from, request->request, {error}, row);
    return Verdict::answered;
  }
  const bool is_known = std::any_of(waiting_.begin(), waiting_.end(), [&](const Waiting& each) {
    return each.peer == message.from && each.request == request->request;
  });
  if (is_known) {
    return Verdict::answered;
  }
  if (waiting_.size() == kWaitingMax) {
    waiting_.erase(waiting_.begin());
  }
  waiting_.push_back({message.from, request->request, later(context.now, kPatience)});
  if (!patience_.is_set()) {
    patience_.set(context, waiting_.back().until);
  }
  return Verdict::darken;
}

void RequestsHere::advance(StepContext context, const NodeReport& row) {
  if (waiting_.empty()) {
    return;
  }
  const std::string lit = not_dark();
  std::erase_if(waiting_, [&](const Waiting& each) {
    if (!lit.empty() && context.now < each.until) {
      return false;
    }
    Outcome outcome;
    if (!lit.empty()) {
      outcome.error = Error{ErrorCode::device_error,
                            format_text("not proven dark within {}: {}", in_microseconds(kPatience), lit), "loom device list"};
    }
    answer(context, each.peer, each.request, std::move(outcome), row);
    return true;
  });
  patience_.forget();
  if (!waiting_.empty()) {
    patience_.set(context, waiting_.front().until);
  }
}

/// Proven, or read anew since then, and found dark.
bool RequestsHere::is_dark(const DeviceUnit& unit) {
  if (!unit.commanded || emits(*unit.commanded)) {
    return false;
  }
  const Observation seen = unit.driver->observe();
  const auto* reading = std::get_if<TransmitterObservation>(&seen.reading);
  return unit.progress == Progress::proven || (unit.progress == Progress::none && reading != nullptr && !reading->emitting);
}

/// Lasers whose darkness was not read back since it was ordered.
std::string RequestsHere::not_dark() const {
  std::string names;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const DeviceUnit& unit = units_[i];
    if (unit.is_laser() && !is_dark(unit)) {
      names += (names.empty() ? "" : ", ") + unit.device->name;
    }
  }
  return names;
}

void RequestsHere::answer(StepContext context, Peer peer, RequestId request, Outcome outcome, const NodeReport& row) const {
  OperatorReply reply;
  reply.request = request;
  reply.outcome = std::move(outcome);
  reply.rows = std::vector<NodeReport>{row};
  reply.total_rows = 1;
  Envelope envelope;
  envelope.role = Role::agent;
  envelope.term = envelopes_.term;
  envelope.node = envelopes_.node;
  envelope.clock = envelopes_.clock;
  envelope.body = std::move(reply);
  context.sink->emit(Send{peer, std::move(envelope)});
}

}  // namespace loom
