// SPDX-License-Identifier: Apache-2.0
// Who is granted, and when; what the arbiter hears is in arbiter_messages.cpp.
#include "agents/grant/arbiter.hpp"

#include <algorithm>
#include <tuple>

namespace loom {

namespace {

constexpr std::uint32_t kNobody = 0xffff'ffffU;
/// Repeats to a sender that may be dead for long.
constexpr std::int64_t kOverduePace = 8;

}  // namespace

ReceiverArbiter::ReceiverArbiter(const ArbiterOptions& options) : options_(options), asks_(options.nodes) {
  LOOM_ASSERT(options.epoch > 0);
  LOOM_ASSERT(options.ahead >= 1 && options.ahead <= kStandingMax);
  LOOM_ASSERT(bytes_in(options.quantum, options.timings.rate).count > 0);
  LOOM_ASSERT(options.lease_end == LeaseEnd::by_itself || options.ahead == 1);
  LOOM_ASSERT(options.lease_end == LeaseEnd::by_itself || options.is_first_incarnation);
  LOOM_ASSERT(options.age_grain > Duration::zero());
  LOOM_ASSERT(overhead_of(options.timings) + options.quantum + options.slack <= Duration{limits::kGrantWindowNs});
  queue_.reserve(options.nodes);
}

void ReceiverArbiter::start(Instant now) {
  started_ = true;
  floor_ = options_.is_first_incarnation ? now : now + lease_reach_of(options_) + guard_of(options_.timings);
}

Instant ReceiverArbiter::step(Instant now, const GrantEvent& event, GrantSink& sink) {
  if (!started_) {
    start(now);
  }
  if (const auto* received = std::get_if<GrantReceived>(&event)) {
    receive(now, *received, sink);
  }
  close_ended(now);
  repeat_grants(now, sink);
  while (grant_next(now, sink)) {
  }
  report_next(now, sink);
  return wake(now);
}

// --- windows -------------------------------------------------------------------------------------------------------------

void ReceiverArbiter::close(Standing& standing, AskState state) {
  Ask& ask = asks_[standing.grant.stream.source.value];
  const bool is_current =
      ask.state == AskState::granted && ask.number == standing.grant.number && ask.sender_epoch == standing.grant.sender_epoch;
  if (is_current) {
    ask.state = state;
    if (state == AskState::queued) {
      queue_.push_back(standing.grant.stream.source.value);
    }
  }
  const auto index = static_cast<std::size_t>(&standing - standing_);
  std::move(standing_ + index + 1, standing_ + standing_count_, standing_ + index);
  --standing_count_;
}

/// A sender's word about its own light; never beyond its lease if that ends by itself.
void ReceiverArbiter::free_from(Instant now, Instant dark_at, const Standing& standing) {
  if (options_.lease_end == LeaseEnd::by_itself) {
    floor_ = std::max(floor_, std::min(dark_at, standing.grant.end) + guard_of(options_.timings));
    return;
  }
  // By word: it is said once it is proven, so that no lateness is left to wait for.
  const Instant dark = std::max(now + options_.timings.flight, std::min(dark_at, now + lease_reach_of(options_)));
  floor_ = std::max(floor_, dark + guard_after_message_of(options_.timings));
}

void ReceiverArbiter::close_ended(Instant now) {
  for (std::size_t i = 0; i < standing_count_;) {
    Standing& each = standing_[i];
    const Instant over = each.busy_until + guard_of(options_.timings);
    if (over > now) {
      ++i;
      continue;
    }
    if (options_.lease_end == LeaseEnd::by_message) {
      counters_.overdue += each.is_overdue ? 0 : 1;
      each.repeat_at = each.is_overdue ? each.repeat_at : now;
      each.is_overdue = true;
      ++i;
      continue;
    }
    floor_ = std::max(floor_, over);
    ++(each.is_promised ? counters_.unreleased : counters_.unanswered);
    // Nobody answered: whoever still wants it asks again with the same number.
    close(each, each.is_promised ? AskState::closed : AskState::empty);
  }
}

void ReceiverArbiter::repeat_grants(Instant now, GrantSink& sink) {
  for (std::size_t i = 0; i < standing_count_; ++i) {
    Standing& each = standing_[i];
    if ((each.is_promised && !each.is_overdue) || each.repeat_at > now) {
      continue;
    }
    each.repeat_at = now + (each.is_overdue ? kOverduePace : 1) * options_.repeat;
    ++counters_.repeats;
    sink.emit(SendGrant{each.grant.stream.source, GrantChannel::supervisory, each.grant});
  }
}

// --- the next one --------------------------------------------------------------------------------------------------------

/// From then on nobody's light is at the receiver.
Instant ReceiverArbiter::clear_from() const {
  Instant clear = floor_;
  for (std::size_t i = 0; i < standing_count_; ++i) {
    clear = std::max(clear, standing_[i].busy_until + guard_of(options_.timings));
  }
  return clear;
}

/// The first instant at which light of a grant sent now could arrive without meeting another's, had its sender nothing else.
Instant ReceiverArbiter::window_start(Instant now, std::uint32_t source) const {
  const GrantTimings& timings = options_.timings;
  const Duration tuning = asks_[source].is_tuned ? timings.flight : tuning_of(timings);
  return std::max(clear_from(), now + timings.control + tuning);
}

/// When the next grant is due, had somebody asked; kNever while `ahead` grants stand.
Instant ReceiverArbiter::grant_at() const {
  if (standing_count_ >= options_.ahead) {
    return kNever;
  }
  Instant at = std::max(pause_until_, floor_ - lead_of(options_));
  for (std::size_t i = 0; i < standing_count_; ++i) {
    const Standing& each = standing_[i];
    at = std::max(at, each.busy_until + guard_of(options_.timings) - lead_of(options_));
    at = each.is_promised ? at : std::max(at, each.answer_by);
  }
  return at;
}

/// Who goes in place of `first`, the oldest: of its own exchange, and free by `until`. Beginners of an exchange are seldom of
/// one age to the microsecond; an order by their ages would break the rotation, and so would letting in whoever is free a
/// little sooner: what is left then matches worse for a whole window.
std::uint32_t ReceiverArbiter::in_turn(Instant now, std::uint32_t first, Instant until) const {
  const Ask& oldest_free = asks_[first];
  if (now - oldest_free.since > options_.starvation) {
    return first;
  }
  const auto is_mate = [&](const Ask& ask) {
    return ask.stream.job == oldest_free.stream.job && ask.stream.collective == oldest_free.stream.collective &&
           ask.not_before <= until;
  };
  Instant oldest = oldest_free.since;
  for (const std::uint32_t source : queue_) {
    oldest = is_mate(asks_[source]) ? std::min(oldest, asks_[source].since) : oldest;
  }
  const auto rank = [&](std::uint32_t source) {
    const bool is_of_age = asks_[source].since <= oldest + turn_of(options_, oldest_free.remaining);
    return std::tuple(!is_of_age, asks_[source].remaining.count,
                      (options_.node.value + options_.nodes - source) % options_.nodes);
  };
  std::uint32_t best = first;
  for (const std::uint32_t source : queue_) {
    best = is_mate(asks_[source]) && rank(source) < rank(best) ? source : best;
  }
  return best;
}

std::uint32_t ReceiverArbiter::pick(Instant now, Among among) const {
  const auto is_among = [&](std::uint32_t source) {
    return among == Among::all || asks_[source].not_before <= window_start(now, source);
  };
  const auto rank = [&](std::uint32_t source) {
    const Ask& ask = asks_[source];
    const std::uint32_t away = (options_.node.value + options_.nodes - source) % options_.nodes;
    return std::tuple(ask.since.time_since_epoch() / options_.age_grain, ask.remaining.count, away);
  };
  std::uint32_t first = kNobody;
  for (const std::uint32_t source : queue_) {
    first = is_among(source) && (first == kNobody || rank(source) < rank(first)) ? source : first;
  }
  if (first == kNobody) {
    return kNobody;
  }
  const Instant until = window_start(now, first) + turn_of(options_, asks_[first].remaining);
  return in_turn(now, first, among == Among::all ? Instant::max() : until);
}

/// Where windows follow each other by word, tuning is what the next one may do meanwhile; not while the end is unknown.
bool ReceiverArbiter::reports_next() const {
  return options_.lease_end == LeaseEnd::by_message && standing_count_ > 0 && !overdue();
}

void ReceiverArbiter::report_next(Instant now, GrantSink& sink) {
  if (!reports_next() || queue_.empty()) {
    return;
  }
  const std::uint32_t next = pick(now, Among::all);
  if (reported_next_ != next) {
    reported_next_ = next;
    send_queued(next, sink);
  }
}

void ReceiverArbiter::send_queued(std::uint32_t source, GrantSink& sink) const {
  const Ask& ask = asks_[source];
  sink.emit(SendGrant{
      NodeId{source}, GrantChannel::supervisory,
      StreamQueued{ask.stream, ask.sender_epoch, ask.number, options_.epoch, reports_next() && reported_next_ == source}});
}

bool ReceiverArbiter::grant_next(Instant now, GrantSink& sink) {
  if (queue_.empty() || grant_at() > now) {
    return false;
  }
  const std::uint32_t source = pick(now, Among::free);
  if (source == kNobody) {
    return false;
  }
  grant(now, source, std::max(window_start(now, source), asks_[source].not_before), sink);
  return true;
}

void ReceiverArbiter::grant(Instant now, std::uint32_t source, Instant start, GrantSink& sink) {
  const GrantTimings& timings = options_.timings;
  Ask& ask = asks_[source];
  const Bytes bytes = std::min(ask.remaining, bytes_in(options_.quantum, timings.rate));
  const Instant end = start + overhead_of(timings) + time_of(bytes, timings.rate) + options_.slack;
  LOOM_ASSERT(end <= now + lease_reach_of(options_));
  ask.state = AskState::granted;
  reported_next_.reset();
  const auto entry = std::find(queue_.begin(), queue_.end(), source);
  *entry = queue_.back();
  queue_.pop_back();
  ++sequence_;
  ++counters_.grants;
  Standing& standing = standing_[standing_count_++];
  standing.grant = {ask.stream, ask.sender_epoch, ask.number, {options_.epoch, sequence_}, start, end, bytes};
  standing.busy_until = end;
  standing.answer_by = now + options_.repeat;
  standing.repeat_at = now + options_.repeat;
  standing.is_promised = false;
  standing.is_overdue = false;
  sink.emit(SendGrant{NodeId{source}, GrantChannel::supervisory, standing.grant});
}

Instant ReceiverArbiter::wake(Instant now) const {
  Instant at = kNever;
  for (std::size_t i = 0; i < standing_count_; ++i) {
    const Standing& each = standing_[i];
    at = each.is_overdue ? at : std::min(at, each.busy_until + guard_of(options_.timings));
    at = each.is_promised && !each.is_overdue ? at : std::min(at, each.repeat_at);
  }
  const Instant due = grant_at();
  if (queue_.empty() || due == kNever) {
    return at;
  }
  if (due > now) {
    return std::min(at, due);
  }
  // Due, and nobody was picked: everybody who waits is without a transmitter until `not_before`.
  const GrantTimings& timings = options_.timings;
  for (const std::uint32_t source : queue_) {
    const Duration tuning = asks_[source].is_tuned ? timings.flight : tuning_of(timings);
    at = std::min(at, asks_[source].not_before - timings.control - tuning);
  }
  return at;
}

std::optional<NodeId> ReceiverArbiter::overdue() const {
  for (std::size_t i = 0; i < standing_count_; ++i) {
    if (standing_[i].is_overdue) {
      return standing_[i].grant.stream.source;
    }
  }
  return std::nullopt;
}

void ReceiverArbiter::fold(Digest& digest, Instant now) const {
  digest.add(options_.epoch);
  digest.add(sequence_);
  digest.add(static_cast<std::uint64_t>(ns_of(floor_)));
  digest.add(static_cast<std::uint64_t>(ns_of(std::max(pause_until_, now))));
  digest.add(refused_in_a_row_);
  digest.add(reported_next_ ? *reported_next_ + 1 : 0);
  for (const Ask& each : asks_) {
    digest.add(static_cast<std::uint64_t>(each.state));
    digest.add(each.sender_epoch);
    digest.add(each.number);
    if (each.state == AskState::queued || each.state == AskState::granted) {
      digest.add(each.stream.collective);
      digest.add(static_cast<std::uint64_t>(each.remaining.count));
      digest.add(static_cast<std::uint64_t>(ns_of(each.since)));
      digest.add(static_cast<std::uint64_t>(ns_of(std::max(each.not_before, now))));
      digest.add(each.is_tuned ? 1 : 0);
    }
  }
  for (std::size_t i = 0; i < standing_count_; ++i) {
    const Standing& each = standing_[i];
    digest.add(each.grant.key.sequence);
    digest.add(each.grant.stream.source.value);
    digest.add(each.grant.stream.collective);
    digest.add(each.grant.number);
    digest.add(static_cast<std::uint64_t>(ns_of(each.grant.start)));
    digest.add(static_cast<std::uint64_t>(ns_of(each.busy_until)));
    digest.add(static_cast<std::uint64_t>(ns_of(each.repeat_at)));
    digest.add(static_cast<std::uint64_t>(ns_of(each.answer_by)));
    digest.add(each.is_promised ? 1 : 0);
    digest.add(each.is_overdue ? 1 : 0);
  }
}

}  // namespace loom
