// SPDX-License-Identifier: Apache-2.0
// What the arbiter hears of senders.
#include <algorithm>
#include <tuple>

#include "agents/grant/arbiter.hpp"
#include "core/messages/intake_limits.hpp"

namespace loom {

void ReceiverArbiter::receive(Instant now, const GrantReceived& received, GrantSink& sink) {
  if (received.from.value >= asks_.size()) {
    ++counters_.foreign;
    return;
  }
  if (const auto* request = std::get_if<StreamRequest>(&received.message)) {
    return receive_request(now, received.from, *request, sink);
  }
  if (const auto* accept = std::get_if<StreamAccept>(&received.message); accept && accept->stream.source == received.from) {
    return receive_accept(*accept);
  }
  if (const auto* refusal = std::get_if<StreamRefusal>(&received.message); refusal && refusal->stream.source == received.from) {
    return receive_refusal(now, *refusal);
  }
  if (const auto* release = std::get_if<StreamRelease>(&received.message); release && release->stream.source == received.from) {
    return receive_release(now, *release);
  }
  ++counters_.foreign;
}

void ReceiverArbiter::receive_request(Instant now, NodeId from, const StreamRequest& request, GrantSink& sink) {
  const bool is_lawful = request.stream.source == from && request.stream.destination == options_.node &&
                         request.sender_epoch > 0 && request.number > 0 && request.remaining.count > 0 &&
                         request.remaining.count <= limits::kStreamBytes;
  Ask& ask = asks_[from.value];
  // Numbers rise by one; one that no sender comes to would make all of its later requests old.
  const std::uint64_t known = ask.sender_epoch == request.sender_epoch ? ask.number : 0;
  if (!is_lawful || (request.number > known && request.number - known > limits::kGrantRequestJump)) {
    ++counters_.unlawful;
    return;
  }
  const Instant free_at = std::min(request.free_at, now + lease_reach_of(options_));
  const auto order = std::tuple(request.sender_epoch, request.number) <=> std::tuple(ask.sender_epoch, ask.number);
  const RequestAge age = order < 0 ? RequestAge::older : order > 0 ? RequestAge::newer : RequestAge::same;
  switch (react(ask.state, age)) {
    case RequestReaction::drop:
      ++counters_.stale;
      return;
    case RequestReaction::queue:
      ++counters_.requests;
      if (ask.state != AskState::queued) {
        queue_.push_back(from.value);
      }
      // A sender's clock cannot make a request younger than its arrival, nor buy it a place before time began.
      ask = {AskState::queued, request.sender_epoch, request.number,
             request.stream,   request.remaining,    std::clamp(request.since, Instant{}, now),
             free_at,          request.is_tuned};
      break;
    case RequestReaction::report_queued:
      ++counters_.duplicates;
      ask.is_tuned = request.is_tuned;
      ask.not_before = free_at;
      if (request.is_update) {
        return;
      }
      break;
    case RequestReaction::repeat_grant:
      ++counters_.duplicates;
      if (request.is_update) {
        return;  // said before it had our grant
      }
      for (std::size_t i = 0; i < standing_count_; ++i) {
        const StreamGrant& each = standing_[i].grant;
        if (each.stream == request.stream && each.number == request.number && each.sender_epoch == request.sender_epoch) {
          ++counters_.repeats;
          sink.emit(SendGrant{from, GrantChannel::supervisory, each});
        }
      }
      return;
  }
  send_queued(from.value, sink);
}

ReceiverArbiter::Standing* ReceiverArbiter::standing_of(const GrantKey& key, const StreamId& stream,
                                                        std::optional<std::uint64_t> sender_epoch) {
  for (std::size_t i = 0; i < standing_count_; ++i) {
    const StreamGrant& grant = standing_[i].grant;
    if (grant.key == key && grant.stream == stream && grant.sender_epoch == sender_epoch.value_or(grant.sender_epoch)) {
      return &standing_[i];
    }
  }
  ++counters_.foreign;
  return nullptr;
}

void ReceiverArbiter::receive_accept(const StreamAccept& accept) {
  Standing* standing = standing_of(accept.key, accept.stream, accept.sender_epoch);
  if (standing == nullptr) {
    return;
  }
  if (accept.until <= standing->grant.start || accept.until > standing->grant.end) {
    ++counters_.unlawful;
    return;
  }
  ++counters_.accepts;
  standing->is_promised = true;
  standing->busy_until = accept.until;
  refused_in_a_row_ = 0;
}

void ReceiverArbiter::receive_refusal(Instant now, const StreamRefusal& refusal) {
  // Of a later incarnation as well: an incarnation that refuses an old grant is dark.
  Standing* standing = standing_of(refusal.key, refusal.stream, std::nullopt);
  if (standing == nullptr) {
    return;
  }
  ++counters_.refusals;
  free_from(now, refusal.dark_at, *standing);
  if (refusal.reason == RefusalReason::unknown) {
    return close(*standing, AskState::closed);
  }
  Ask& ask = asks_[refusal.stream.source.value];
  if (ask.state == AskState::granted && ask.number == standing->grant.number) {
    ask.is_tuned = false;
    ask.not_before = refusal.reason == RefusalReason::taken ? std::min(refusal.free_at, now + lease_reach_of(options_)) : now;
  }
  close(*standing, AskState::queued);
  if (++refused_in_a_row_ >= options_.iterations) {
    refused_in_a_row_ = 0;
    pause_until_ = now + 2 * options_.timings.control;
  }
}

void ReceiverArbiter::receive_release(Instant now, const StreamRelease& release) {
  Standing* standing = standing_of(release.key, release.stream, release.sender_epoch);
  if (standing == nullptr) {
    return;
  }
  ++counters_.releases;
  free_from(now, release.dark_at, *standing);
  close(*standing, AskState::closed);
}

}  // namespace loom
