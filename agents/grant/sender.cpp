// SPDX-License-Identifier: Apache-2.0
// The sender's queues, requests and rows; what it hears of arbiters is in sender_grants.cpp.
#include "agents/grant/sender.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace loom {

namespace {

/// Requests and endings of one step; the rest follows at once in the next. Two effects each, beside kUpdatesMax and what a
/// grant makes: GrantSink::kCapacity.
constexpr int kRepeatsPerStep = 12;
constexpr std::int64_t kStaggersMax = 8;
/// Of one step. With eight utilisation at 95 % load is 0.01 lower, with 32 no higher.
constexpr std::size_t kUpdatesMax = 16;

}  // namespace

StreamSender::StreamSender(const SenderOptions& options)
    : options_(options), streams_(options.streams_max), destinations_(options.nodes), tunings_(options.transmitters) {
  LOOM_ASSERT(options.epoch > 0);
  LOOM_ASSERT(options.streams_max > 0 && options.streams_max <= limits::kStreamsPerSender);
  LOOM_ASSERT(options.transmitters > 0 && options.transmitters <= limits::kTransmittersPerNode);
  for (std::uint32_t i = 0; i < options.streams_max; ++i) {
    recycle(options.streams_max - 1 - i);
  }
  asked_.reserve(options.nodes);
  promises_.reserve(options.transmitters * kRowsPerTransmitter);
}

Instant StreamSender::step(Instant now, const GrantEvent& event, GrantSink& sink) {
  if (const auto* received = std::get_if<GrantReceived>(&event)) {
    receive(now, *received, sink);
  } else if (const auto* offered = std::get_if<StreamOffered>(&event)) {
    offer(now, *offered, sink);
  } else if (const auto* ended = std::get_if<RowEnded>(&event)) {
    end_row(now, *ended, sink);
    pre_tune(now, sink);
  } else if (const auto* tuned = std::get_if<TunedAhead>(&event)) {
    receive_tuned(now, *tuned, sink);
  }
  repeat_requests(now, sink);
  return wake();
}

Instant StreamSender::wake() const {
  Instant at = kNever;
  for (const std::uint32_t to : asked_) {
    at = std::min(at, destinations_[to].repeat_at);
  }
  return at;
}

// --- queues --------------------------------------------------------------------------------------------------------------

bool StreamSender::is_known(const StreamId& stream) const {
  for (std::uint32_t i = destinations_[stream.destination.value].head; i != kNone; i = streams_[i].next) {
    if (streams_[i].id == stream) {
      return true;
    }
  }
  return std::any_of(promises_.begin(), promises_.end(), [&](const Promise& each) { return each.row.stream == stream; });
}

void StreamSender::offer(Instant now, const StreamOffered& offered, GrantSink& sink) {
  const StreamId& id = offered.stream;
  const bool is_lawful = id.source == options_.node && id.destination != options_.node &&
                         id.destination.value < destinations_.size() && offered.bytes.count > 0 &&
                         offered.bytes.count <= limits::kStreamBytes;
  if (!is_lawful || free_ == kNone || is_known(id)) {
    sink.emit(StreamOver{offered.stream, StreamEnd::refused});
    return;
  }
  const std::uint32_t stream = free_;
  free_ = streams_[stream].next;
  streams_[stream] = {offered.stream, offered.bytes, now, kNone};
  ++queued_;
  enqueue(stream);
  const auto before = std::count_if(asked_.begin(), asked_.end(), [&](std::uint32_t other) {
    return other != id.destination.value && streams_[destinations_[other].head].since == now;
  });
  ask_next(now, id.destination, sink, options_.stagger * std::min<std::int64_t>(before, kStaggersMax));
}

void StreamSender::enqueue(std::uint32_t stream) {
  Destination& destination = destinations_[streams_[stream].id.destination.value];
  streams_[stream].next = kNone;
  if (destination.head == kNone) {
    destination.head = stream;
  } else {
    streams_[destination.tail].next = stream;
  }
  destination.tail = stream;
}

std::uint32_t StreamSender::dequeue(Destination& destination) {
  const std::uint32_t stream = destination.head;
  destination.head = streams_[stream].next;
  return stream;
}

void StreamSender::recycle(std::uint32_t stream) {
  streams_[stream].next = free_;
  free_ = stream;
}

// --- requests ------------------------------------------------------------------------------------------------------------

void StreamSender::ask_next(Instant now, NodeId to, GrantSink& sink, Duration wait) {
  Destination& destination = destinations_[to.value];
  if (destination.is_asking || destination.head == kNone) {
    return;
  }
  destination.is_asking = true;
  destination.is_next = false;
  ++destination.number;
  destination.interval = options_.repeat;
  destination.received_at = now;
  destination.repeat_at = now + (wait > Duration::zero() ? wait : destination.interval);
  asked_.push_back(to.value);
  if (wait == Duration::zero()) {
    send_request(now, to, sink);
  }
}

void StreamSender::send_request(Instant now, NodeId to, GrantSink& sink, bool is_update) {
  const Destination& destination = destinations_[to.value];
  const Stream& stream = streams_[destination.head];
  ++counters_.requests;
  sink.emit(SendGrant{to, GrantChannel::supervisory,
                      StreamRequest{stream.id, options_.epoch, destination.number, stream.remaining, stream.since, is_tuned(to),
                                    free_at(now, to), is_update}});
}

/// A transmitter was promised and none is idle: the arbiters of the oldest streams, which would be granted next, need not offer
/// what would be refused. Who is not told learns it by a refusal.
void StreamSender::report_busy(Instant now, GrantSink& sink) {
  for (std::uint32_t i = 0; i < options_.transmitters; ++i) {
    if (rows_of(i) == 0) {
      return;
    }
  }
  std::array<std::uint32_t, kUpdatesMax> oldest{};
  std::size_t count = 0;
  const auto is_older = [this](std::uint32_t a, std::uint32_t b) {
    return std::pair(streams_[destinations_[a].head].since, a) < std::pair(streams_[destinations_[b].head].since, b);
  };
  for (const std::uint32_t to : asked_) {
    if (count == kUpdatesMax && !is_older(to, oldest[count - 1])) {
      continue;
    }
    std::size_t place = count < kUpdatesMax ? count++ : count - 1;
    for (; place > 0 && is_older(to, oldest[place - 1]); --place) {
      oldest[place] = oldest[place - 1];
    }
    oldest[place] = to;
  }
  for (std::size_t i = 0; i < count; ++i) {
    send_request(now, NodeId{oldest[i]}, sink, true);
  }
}

void StreamSender::stop_asking(NodeId to) {
  destinations_[to.value].is_asking = false;
  const auto entry = std::find(asked_.begin(), asked_.end(), to.value);
  LOOM_ASSERT(entry != asked_.end());
  *entry = asked_.back();
  asked_.pop_back();
}

void StreamSender::repeat_requests(Instant now, GrantSink& sink) {
  int left = kRepeatsPerStep;
  for (std::size_t i = 0; i < asked_.size() && left > 0;) {
    const NodeId to{asked_[i]};
    Destination& destination = destinations_[to.value];
    if (destination.repeat_at > now) {
      ++i;
      continue;
    }
    --left;
    if (now - destination.received_at >= options_.give_up) {
      give_up(now, to, sink);  // the entry i is another one now
      continue;
    }
    destination.repeat_at = destination.repeat_at + destination.interval;
    if (destination.repeat_at <= now) {
      destination.repeat_at = now + destination.interval;  // the host slept: no salvo
    }
    destination.interval = std::min(2 * destination.interval, options_.keepalive);
    ++counters_.repeats;
    send_request(now, to, sink);
    ++i;
  }
}

void StreamSender::give_up(Instant now, NodeId to, GrantSink& sink) {
  stop_asking(to);
  const std::uint32_t stream = dequeue(destinations_[to.value]);
  sink.emit(StreamOver{streams_[stream].id, StreamEnd::unreachable});
  recycle(stream);
  --queued_;
  ask_next(now, to, sink);
}

// --- tuning ahead --------------------------------------------------------------------------------------------------------

/// A transmitter that has no row and is on this wavelength already.
bool StreamSender::is_tuned(NodeId to) const {
  for (std::uint32_t i = 0; i < options_.transmitters; ++i) {
    if (tunings_[i].to == to && tunings_[i].is_known && rows_of(i) == 0) {
      return true;
    }
  }
  return false;
}

/// Idle transmitters go to the receivers where we are next, the oldest stream first; at most one an event.
void StreamSender::pre_tune(Instant now, GrantSink& sink) {
  const auto is_served = [&](NodeId to) {
    return std::any_of(tunings_.begin(), tunings_.end(), [&](const Tuning& each) {
      return each.to == to && rows_of(static_cast<std::uint32_t>(&each - tunings_.data())) == 0;
    });
  };
  std::uint32_t best = kNone;
  for (const std::uint32_t to : asked_) {
    const bool is_older = best == kNone || std::pair(streams_[destinations_[to].head].since, to) <
                                               std::pair(streams_[destinations_[best].head].since, best);
    if (destinations_[to].is_next && is_older && !is_served(NodeId{to})) {
      best = to;
    }
  }
  for (std::uint32_t i = 0; best != kNone && i < options_.transmitters; ++i) {
    const Tuning tuning = tunings_[i];
    const bool is_kept = tuning.to && destinations_[tuning.to->value].is_asking && destinations_[tuning.to->value].is_next;
    if (rows_of(i) == 0 && !is_kept) {
      tunings_[i] = {NodeId{best}, false};
      sink.emit(PreTuneRequest{i, NodeId{best}});
      return report_retuned(now, tuning, sink);
    }
  }
}

/// Whoever heard that we are on his wavelength hears that we are not.
void StreamSender::report_retuned(Instant now, const Tuning& before, GrantSink& sink) {
  if (before.to && before.is_known && destinations_[before.to->value].is_asking && !is_tuned(*before.to)) {
    send_request(now, *before.to, sink);
  }
}

void StreamSender::receive_tuned(Instant now, const TunedAhead& tuned, GrantSink& sink) {
  if (tuned.transmitter >= tunings_.size() || tunings_[tuned.transmitter].to != tuned.destination ||
      rows_of(tuned.transmitter) != 0) {
    return;  // a row came between
  }
  tunings_[tuned.transmitter].is_known = true;
  if (destinations_[tuned.destination.value].is_asking) {
    send_request(now, tuned.destination, sink);
  }
}

// --- rows ----------------------------------------------------------------------------------------------------------------

void StreamSender::end_row(Instant now, const RowEnded& ended, GrantSink& sink) {
  const auto promise = std::find_if(promises_.begin(), promises_.end(), [&](const Promise& each) {
    return each.row.key == ended.row.key && each.row.stream == ended.row.stream;
  });
  if (promise == promises_.end()) {
    ++counters_.unexpected;
    return;
  }
  const std::uint32_t index = promise->stream;
  Stream& stream = streams_[index];
  const NodeId to = stream.id.destination;
  const Duration lit = ended.dark_from - ended.lit_from - options_.timings.lock;
  const Bytes sent{std::min({promise->row.bytes.count, bytes_in(lit, options_.timings.rate).count, stream.remaining.count})};
  // What the quantum cut asks anew, as if it had just come; what a late start left over keeps its age.
  if (ended.lit_from < ended.dark_from) {
    tunings_[promise->row.transmitter] = {to, true};
  }
  const bool was_cut = promise->granted < stream.remaining;
  stream.remaining.count -= sent.count;
  stream.since = was_cut ? now : stream.since;
  sink.emit(SendGrant{
      to, GrantChannel::in_band,
      StreamRelease{stream.id, options_.epoch, ended.row.key, ended.dark_from + options_.timings.flight, stream.remaining}});
  promises_.erase(promise);
  if (stream.remaining.count == 0) {
    sink.emit(StreamOver{stream.id, StreamEnd::sent});
    recycle(index);
    --queued_;
  } else {
    enqueue(index);
  }
  ask_next(now, to, sink);
}

void StreamSender::fold(Digest& digest) const {
  digest.add(options_.epoch);
  for (const Destination& each : destinations_) {
    digest.add(each.number);
    digest.add(each.arbiter_epoch);
    digest.add(each.last_sequence);
    digest.add(each.is_asking ? 1 : 0);
    if (each.is_asking) {
      digest.add(static_cast<std::uint64_t>(ns_of(each.repeat_at)));
      digest.add(static_cast<std::uint64_t>(each.interval.count()));
      digest.add(static_cast<std::uint64_t>(ns_of(each.received_at)));
    }
    for (std::uint32_t i = each.head; i != kNone; i = streams_[i].next) {
      digest.add(streams_[i].id.collective);
      digest.add(static_cast<std::uint64_t>(streams_[i].remaining.count));
      digest.add(static_cast<std::uint64_t>(ns_of(streams_[i].since)));
    }
  }
  for (const Destination& each : destinations_) {
    digest.add(each.is_next ? 1 : 0);
  }
  for (const Tuning& each : tunings_) {
    digest.add(each.to ? 2 * each.to->value + (each.is_known ? 3 : 2) : 0);
  }
  for (const Promise& each : promises_) {
    fold_row(digest, each.row);
    digest.add(static_cast<std::uint64_t>(each.granted.count));
    digest.add(static_cast<std::uint64_t>(streams_[each.stream].remaining.count));
    digest.add(static_cast<std::uint64_t>(ns_of(streams_[each.stream].since)));
  }
}

}  // namespace loom
