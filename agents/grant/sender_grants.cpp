// SPDX-License-Identifier: Apache-2.0
// What the sender hears of arbiters, and its answers.
#include <algorithm>
#include <utility>

#include "agents/grant/sender.hpp"
#include "core/messages/intake_limits.hpp"

namespace loom {

void StreamSender::receive(Instant now, const GrantReceived& received, GrantSink& sink) {
  if (received.from.value >= destinations_.size()) {
    ++counters_.unexpected;
  } else if (const auto* grant = std::get_if<StreamGrant>(&received.message)) {
    receive_grant(now, received.from, *grant, sink);
  } else if (const auto* queued = std::get_if<StreamQueued>(&received.message)) {
    receive_queued(now, received.from, *queued);
    pre_tune(now, sink);
  } else {
    ++counters_.unexpected;
  }
}

void StreamSender::receive_queued(Instant now, NodeId from, const StreamQueued& queued) {
  Destination& destination = destinations_[from.value];
  const bool is_ours = queued.sender_epoch == options_.epoch && queued.number == destination.number && destination.is_asking &&
                       streams_[destination.head].id == queued.stream;
  if (!is_ours || queued.arbiter_epoch < destination.arbiter_epoch) {
    ++counters_.unexpected;
    return;
  }
  destination.is_next = queued.is_next;
  destination.received_at = now;
  destination.interval = options_.keepalive;
  destination.repeat_at = now + options_.keepalive;
}

/// A window of a length and at an instant that an arbiter can grant, under a number that it can have come to. A window that
/// begins in a year would hold a transmitter for as long.
bool StreamSender::is_lawful(Instant now, const StreamGrant& grant) const {
  const Destination& destination = destinations_[grant.stream.destination.value];
  const std::uint64_t known = grant.key.epoch == destination.arbiter_epoch ? destination.last_sequence : 0;
  const bool is_next = grant.key.sequence <= known || grant.key.sequence - known <= limits::kGrantSequenceJump;
  return grant.start < grant.end && grant.end - grant.start <= Duration{limits::kGrantWindowNs} && grant.bytes.count > 0 &&
         grant.start <= now + Duration{limits::kGrantAheadNs} && is_next;
}

GrantKind StreamSender::kind_of(Instant now, NodeId from, const StreamGrant& grant) const {
  const Destination& destination = destinations_[from.value];
  if (grant.stream.source != options_.node || grant.stream.destination != from) {
    return GrantKind::misdirected;
  }
  if (!is_lawful(now, grant)) {
    return GrantKind::unlawful;
  }
  if (grant.sender_epoch != options_.epoch) {
    return grant.sender_epoch > options_.epoch ? GrantKind::other_incarnation : GrantKind::former_incarnation;
  }
  if (grant.key.epoch < destination.arbiter_epoch) {
    return GrantKind::former_epoch;
  }
  if (has_standing(grant.key, from)) {
    return GrantKind::standing;
  }
  if (grant.key.epoch == destination.arbiter_epoch && grant.key.sequence <= destination.last_sequence) {
    return GrantKind::seen;
  }
  const bool asks =
      destination.is_asking && destination.number == grant.number && streams_[destination.head].id == grant.stream;
  return asks ? GrantKind::wanted : GrantKind::unwanted;
}

void StreamSender::receive_grant(Instant now, NodeId from, const StreamGrant& grant, GrantSink& sink) {
  const GrantKind kind = kind_of(now, from, grant);
  ++counters_.grants[static_cast<std::size_t>(kind)];
  Destination& destination = destinations_[from.value];
  const bool still_asks = kind == GrantKind::seen && destination.is_asking && destination.number == grant.number &&
                          streams_[destination.head].id == grant.stream;
  if (kind == GrantKind::wanted || kind == GrantKind::unwanted) {
    destination.arbiter_epoch = grant.key.epoch;
    destination.last_sequence = grant.key.sequence;
  }
  switch (react(kind)) {
    case GrantReaction::drop:
      return;
    case GrantReaction::accept_again:
      return send_accept(grant, standing(grant.key, from)->row, sink);
    case GrantReaction::refuse:
      return refuse(now, grant, still_asks ? RefusalReason::late : RefusalReason::unknown, now, sink);
    case GrantReaction::judge:
      destination.received_at = now;
      return judge(now, grant, sink);
  }
}

const StreamSender::Promise* StreamSender::standing(const GrantKey& key, NodeId destination) const {
  for (const Promise& each : promises_) {
    if (each.row.key == key && each.row.stream.destination == destination) {
      return &each;
    }
  }
  return nullptr;
}

bool StreamSender::has_standing(const GrantKey& key, NodeId destination) const { return standing(key, destination) != nullptr; }

std::uint32_t StreamSender::rows_of(std::uint32_t transmitter) const {
  return static_cast<std::uint32_t>(std::count_if(promises_.begin(), promises_.end(),
                                                  [&](const Promise& each) { return each.row.transmitter == transmitter; }));
}

Instant StreamSender::free_from(Instant now, std::uint32_t transmitter) const {
  Instant free = now;
  for (const Promise& each : promises_) {
    if (each.row.transmitter == transmitter) {
      free = std::max(free, each.row.dark_at);
    }
  }
  return free;
}

Instant StreamSender::free_at(Instant now, NodeId to) const {
  Instant at = kNever;
  for (std::uint32_t i = 0; i < options_.transmitters; ++i) {
    at = std::min(at, free_from(now, i) + ahead_of(i, to));
  }
  return at;
}

/// From the instant that a transmitter is free until its light could arrive.
Duration StreamSender::ahead_of(std::uint32_t transmitter, NodeId to) const {
  const GrantTimings& timings = options_.timings;
  std::optional<NodeId> last = tunings_[transmitter].is_known ? tunings_[transmitter].to : std::nullopt;
  for (const Promise& each : promises_) {
    last = each.row.transmitter == transmitter ? each.row.stream.destination : last;
  }
  return last == to ? timings.flight : tuning_of(timings);
}

StreamSender::Fit StreamSender::fit(Instant now, const StreamGrant& grant, Bytes remaining) const {
  const GrantTimings& timings = options_.timings;
  Fit fit;
  Instant first = kNever;
  fit.free_at = free_at(now, grant.stream.destination);
  for (std::uint32_t i = 0; i < options_.transmitters; ++i) {
    const Instant light = free_from(now, i) + ahead_of(i, grant.stream.destination);
    if (light < first && rows_of(i) < kRowsPerTransmitter) {
      first = light;
      fit.transmitter = i;
    }
  }
  if (first == kNever) {
    return fit;  // no room for a row: no byte fits
  }
  const Instant ready = std::max(grant.start, now + tuning_of(timings));
  fit.is_tuned = ahead_of(fit.transmitter, grant.stream.destination) == timings.flight;
  fit.from = std::max(grant.start, first);
  fit.late = fit.from - ready;
  const Bytes room = bytes_in(grant.end - fit.from - overhead_of(timings), timings.rate);
  fit.bytes = std::min({grant.bytes, remaining, room});
  return fit;
}

bool StreamSender::yields(Instant now, const Stream& stream) const {
  std::uint32_t idle = 0;
  for (std::uint32_t i = 0; i < options_.transmitters; ++i) {
    idle += rows_of(i) == 0 ? 1 : 0;
  }
  return idle <= 1 && std::any_of(asked_.begin(), asked_.end(), [&](std::uint32_t to) {
           const Stream& other = streams_[destinations_[to].head];
           const bool is_alive = now - destinations_[to].received_at <= 3 * options_.keepalive;
           return is_alive && now - other.since > options_.starvation && other.since < stream.since;
         });
}

void StreamSender::judge(Instant now, const StreamGrant& grant, GrantSink& sink) {
  const Stream& stream = streams_[destinations_[grant.stream.destination.value].head];
  const Fit fit = this->fit(now, grant, stream.remaining);
  if (yields(now, stream)) {
    return refuse(now, grant, RefusalReason::taken, std::max(fit.free_at, now + 2 * options_.timings.control), sink);
  }
  if (fit.late > options_.patience || (fit.bytes.count == 0 && fit.free_at > grant.start)) {
    return refuse(now, grant, RefusalReason::taken, fit.free_at, sink);
  }
  const Bytes wanted = std::min(grant.bytes, stream.remaining);
  if (fit.bytes.count == 0 || 2 * fit.bytes.count < wanted.count) {
    return refuse(now, grant, RefusalReason::late, now, sink);
  }
  accept(now, grant, fit, sink);
}

void StreamSender::accept(Instant now, const StreamGrant& grant, const Fit& fit, GrantSink& sink) {
  const GrantTimings& timings = options_.timings;
  const NodeId to = grant.stream.destination;
  const Instant until = fit.from + overhead_of(timings) + time_of(fit.bytes, timings.rate);
  LOOM_ASSERT(until <= grant.end);
  const Instant light = fit.from - timings.flight;
  const Instant tune_at = fit.is_tuned ? light : light - timings.tune - timings.trigger_late;
  const GrantRow row{fit.transmitter, grant.stream, grant.key, tune_at, light, until - timings.flight, fit.bytes};
  const Tuning before = std::exchange(tunings_[fit.transmitter], {});
  stop_asking(to);
  promises_.push_back({dequeue(destinations_[to.value]), row, grant.bytes});
  sink.emit(WriteRow{row});
  send_accept(grant, row, sink);
  report_retuned(now, before, sink);
  report_busy(now, sink);
  ask_next(now, to, sink);
}

void StreamSender::send_accept(const StreamGrant& grant, const GrantRow& row, GrantSink& sink) {
  ++counters_.accepts;
  sink.emit(SendGrant{grant.stream.destination, GrantChannel::supervisory,
                      StreamAccept{grant.stream, options_.epoch, grant.key, row.dark_at + options_.timings.flight}});
}

/// True of every grant that is not standing: whatever it once lit is out by now.
void StreamSender::refuse(Instant now, const StreamGrant& grant, RefusalReason reason, Instant free_at, GrantSink& sink) {
  ++counters_.refusals;
  sink.emit(SendGrant{grant.stream.destination, GrantChannel::supervisory,
                      StreamRefusal{grant.stream, options_.epoch, grant.key, reason, now + options_.timings.flight, free_at}});
}

}  // namespace loom
