// SPDX-License-Identifier: Apache-2.0
// The small world's machines, messages and judge.
#include "tests/property/grant_world.hpp"

#include <algorithm>
#include <type_traits>

namespace loom::testing {

namespace {

constexpr std::uint64_t kRivalNumbers = 16;  ///< more than messages of a rival can be under way

void fold_instant(Digest& digest, Instant instant) { digest.add(static_cast<std::uint64_t>(ns_of(instant))); }

/// `now`: of the receiver. A sender that was free before it is free.
std::uint64_t digest_of(const FlyingGrant& flying, Instant now) {
  Digest digest;
  digest.add(flying.from.value);
  digest.add(flying.to.value);
  digest.add(flying.message.index());
  fold_instant(digest, flying.sent);
  digest.add(flying.routed_by);
  std::visit(
      [&](const auto& body) {
        using Body = std::decay_t<decltype(body)>;
        digest.add(body.stream.collective);
        digest.add(body.sender_epoch);
        if constexpr (std::is_same_v<Body, StreamRequest>) {
          digest.add(body.number);
          digest.add(static_cast<std::uint64_t>(body.remaining.count));
          fold_instant(digest, body.since);
          digest.add(body.is_tuned ? 1 : 0);
          fold_instant(digest, std::max(body.free_at, now));
          digest.add(body.is_update ? 1 : 0);
        } else if constexpr (std::is_same_v<Body, StreamQueued>) {
          digest.add(body.number);
          digest.add(body.arbiter_epoch);
          digest.add(body.is_next ? 1 : 0);
        } else {
          digest.add(body.key.epoch);
          digest.add(body.key.sequence);
        }
        if constexpr (std::is_same_v<Body, StreamGrant>) {
          digest.add(body.number);
          fold_instant(digest, body.start);
          fold_instant(digest, body.end);
        } else if constexpr (std::is_same_v<Body, StreamAccept>) {
          fold_instant(digest, body.until);
        } else if constexpr (std::is_same_v<Body, StreamRefusal>) {
          digest.add(static_cast<std::uint64_t>(body.reason));
          fold_instant(digest, body.dark_at);
          fold_instant(digest, body.free_at);
        } else if constexpr (std::is_same_v<Body, StreamRelease>) {
          fold_instant(digest, body.dark_at);
        }
      },
      flying.message);
  return digest.value();
}

}  // namespace

bool is_to_arbiter(const GrantMessage& message) {
  return !std::holds_alternative<StreamQueued>(message) && !std::holds_alternative<StreamGrant>(message);
}

GrantWorld::GrantWorld(const GrantWorldOptions& options) : options_(options) {
  options_.sender.nodes = options.nodes;
  options_.arbiter.nodes = options.nodes;
  // Instants are never near the zero of a clock.
  now_ = Instant{std::chrono::seconds{1}};
  for (GrantOffer& offer : options_.offers) {
    offer.at += now_.time_since_epoch();
  }
  for (std::uint32_t i = 0; i < options.nodes; ++i) {
    nodes_.push_back(make_node(i, 1));
  }
  run_machines();
}

GrantWorld::Node GrantWorld::make_node(std::uint32_t node, std::uint64_t epoch) const {
  SenderOptions sender = options_.sender;
  sender.node = NodeId{node};
  sender.epoch = epoch;
  ArbiterOptions arbiter = options_.arbiter;
  arbiter.node = NodeId{node};
  arbiter.epoch = epoch;
  arbiter.starvation = options_.sender.starvation;
  arbiter.is_first_incarnation =
      epoch == 1 || is_by_message();  // by_message an incarnation begins with a commit, which has proven all dark
  return {StreamSender(sender),
          ReceiverArbiter(arbiter),
          GrantTable(sender.transmitters, sender.timings.tune),
          local(node),
          local(node),
          true};
}

Duration GrantWorld::offset(std::uint32_t node) const {
  return node < options_.clock_offset.size() ? options_.clock_offset[node] : Duration::zero();
}

Duration GrantWorld::flight(std::uint32_t node) const {
  return node < options_.flight.size() ? options_.flight[node] : options_.sender.timings.flight;
}

void GrantWorld::advance() {
  now_ += options_.tick;
  run_tables();
  for (; next_offer_ < options_.offers.size() && options_.offers[next_offer_].at <= now_; ++next_offer_) {
    const GrantOffer& offer = options_.offers[next_offer_];
    const Node& source = nodes_[offer.stream.source.value];
    if (source.may_send()) {
      step_sender(offer.stream.source.value, StreamOffered{offer.stream, offer.bytes});
    }
  }
  report_tuned();
  offer_rivals();
  run_machines();
}

void GrantWorld::report_tuned() {
  for (const Ahead& each : std::vector<Ahead>(aheads_)) {
    Node& node = nodes_[each.node.value];
    if (each.at <= now_ && node.may_send() && node.table.rows(each.tuned.transmitter).count == 0) {
      node.table.note_tuned(each.tuned.transmitter, each.tuned.destination);
      step_sender(each.node.value, each.tuned);
    }
  }
  std::erase_if(aheads_, [&](const Ahead& each) { return each.at <= now_; });
}

void GrantWorld::offer_rivals() {
  rivals_offered_.resize(options_.rivals.size());
  for (const GrantRival& rival : options_.rivals) {
    const bool is_open = std::any_of(waiting_.begin(), waiting_.end(), [&](const Waiting& each) {
      return each.stream.source == rival.source && each.stream.destination == rival.destination;
    });
    if (!is_open) {
      // Each rival counts for itself, and its numbers come again: what others did before is no state. Rivals of an exchange
      // have one number; others never.
      const auto index = static_cast<std::size_t>(&rival - options_.rivals.data());
      const std::uint64_t number = options_.is_exchange ? 0 : index * kRivalNumbers + rivals_offered_[index]++ % kRivalNumbers;
      const StreamId stream{JobId{2}, number, rival.source, rival.destination};
      waiting_.push_back({stream, now_});
      offer(stream, rival.bytes);
    }
  }
}

Duration GrantWorld::longest_wait() const {
  Duration longest = longest_wait_;
  for (const Waiting& each : waiting_) {
    longest = std::max(longest, now_ - each.since);
  }
  return longest;
}

void GrantWorld::run_tables() {
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    const bool has_stopped = is_by_message() && !nodes_[i].is_alive;
    for (bool is_due = !has_stopped; is_due;) {
      std::vector<GrantRow> first;
      for (std::uint32_t t = 0; t < nodes_[i].table.transmitters(); ++t) {
        first.push_back(nodes_[i].table.rows(t).rows[0]);
      }
      const TableStep context = nodes_[i].table.step(local(i));
      for (std::size_t o = 0; o < context.order_count; ++o) {
        handle(i, context.orders[o], first[context.orders[o].transmitter]);
      }
      for (std::size_t e = 0; e < context.ended_count; ++e) {
        if (is_by_message()) {
          darkening_.push_back({NodeId{i}, context.ended[e].row.transmitter, context.ended[e]});
        } else if (nodes_[i].is_alive) {
          step_sender(i, context.ended[e]);
        }
      }
      is_due = context.wake <= local(i);
    }
  }
}

void GrantWorld::run_machines() {
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    for (int rounds = 0; nodes_[i].may_send() && nodes_[i].sender_wake <= local(i); ++rounds) {
      step_sender(i, GrantTick{});
      if (rounds > 100) {
        violation_ = "a sender asks to be stepped for ever";
        return;
      }
    }
    for (int rounds = 0; nodes_[i].is_alive && nodes_[i].is_on && nodes_[i].arbiter_wake <= local(i); ++rounds) {
      step_arbiter(i, GrantTick{});
      if (rounds > 100) {
        violation_ = "an arbiter asks to be stepped for ever";
        return;
      }
    }
  }
}

void GrantWorld::step_sender(std::uint32_t node, const GrantEvent& event) {
  GrantSink sink;
  nodes_[node].sender_wake = nodes_[node].sender.step(local(node), event, sink);
  carry_out(node, sink);
}

void GrantWorld::step_arbiter(std::uint32_t node, const GrantEvent& event) {
  GrantSink sink;
  nodes_[node].arbiter_wake = nodes_[node].arbiter.step(local(node), event, sink);
  carry_out(node, sink);
}

void GrantWorld::carry_out(std::uint32_t node, const GrantSink& sink) {
  for (const GrantEffect& effect : sink.effects()) {
    if (const auto* send = std::get_if<SendGrant>(&effect)) {
      if (is_by_message() && !nodes_[send->to.value].is_alive) {
        continue;  // its next incarnation has another revision: nobody will ever hear it
      }
      flying_.push_back({NodeId{node}, send->to, send->message, now_, nodes_[node].routed_by});
      const auto* grant = std::get_if<StreamGrant>(&send->message);
      if (grant != nullptr && std::find(issued_.begin(), issued_.end(), *grant) == issued_.end()) {
        issued_.push_back(*grant);
      }
    } else if (const auto* write = std::get_if<WriteRow>(&effect)) {
      if (const auto written = nodes_[node].table.write(write->row); !written) {
        violation_ = written.error().message;
      }
    } else if (const auto* request = std::get_if<PreTuneRequest>(&effect)) {
      aheads_.push_back({NodeId{node}, {request->transmitter, request->destination}, now_ + options_.sender.timings.tune});
    } else if (const auto* over = std::get_if<StreamOver>(&effect)) {
      tally_.sent += over->end == StreamEnd::sent ? 1 : 0;
      tally_.unreachable += over->end == StreamEnd::unreachable ? 1 : 0;
      tally_.refused += over->end == StreamEnd::refused ? 1 : 0;
      std::erase_if(waiting_, [&](const Waiting& each) {
        longest_wait_ = each.stream == over->stream ? std::max(longest_wait_, now_ - each.since) : longest_wait_;
        return each.stream == over->stream;
      });
    }
  }
}

// --- light ---------------------------------------------------------------------------------------------------------------

void GrantWorld::handle(std::uint32_t node, const LaserCommand& order, const GrantRow& row) {
  if (order.act == LaserAct::dark) {
    return is_by_message() ? void() : darken(node, order.transmitter);  // by_message: when it is proven
  }
  if (order.act == LaserAct::tune) {
    return;
  }
  if (nodes_[node].is_alive && !nodes_[node].sender.has_standing(row.key, order.destination)) {
    violation_ = "node " + std::to_string(node) + " lights without a standing grant";
  }
  for (std::size_t i = 0; i < darkening_.size(); ++i) {
    if (darkening_[i].node == NodeId{node} && darkening_[i].transmitter == order.transmitter) {
      prove_dark(i);  // a laser that shines is not tuned; one that is tuned was dark
      break;
    }
  }
  lights_.push_back({NodeId{node}, order.transmitter, order.destination, row.key, now_ + flight(node), {}});
  judge_lit(lights_.back());
}

void GrantWorld::darken(std::uint32_t node, std::uint32_t transmitter) {
  for (TrueLight& light : lights_) {
    if (light.source == NodeId{node} && light.transmitter == transmitter && !light.off) {
      light.off = now_ + options_.sender.timings.blank + flight(node);
      tally_.lit += *light.off - light.on - options_.sender.timings.blank;
      judge(light);
    }
  }
  const Instant horizon = now_ - 50 * options_.tick;
  std::erase_if(lights_, [&](const TrueLight& each) { return each.off && *each.off < horizon; });
}

/// As it comes on, so that one that never goes out is judged as well.
void GrantWorld::judge_lit(const TrueLight& light) {
  for (const TrueLight& other : lights_) {
    if (&other != &light && other.destination == light.destination && light.on < other.off.value_or(Instant::max()) &&
        (!other.off || other.on <= light.on)) {
      violation_ = "node " + std::to_string(light.source.value) + " lights receiver " +
                   std::to_string(light.destination.value) + " while node " + std::to_string(other.source.value) + " is lit";
    }
  }
}

void GrantWorld::judge(const TrueLight& light) {
  for (const TrueLight& other : lights_) {
    const bool is_other = &other != &light && other.destination == light.destination;
    if (is_other && other.on < *light.off && light.on < other.off.value_or(Instant::max())) {
      violation_ = "nodes " + std::to_string(light.source.value) + " and " + std::to_string(other.source.value) +
                   " are lit on receiver " + std::to_string(light.destination.value) + " at once";
    }
  }
  // By the receiver's clock, within what clocks and flights may err.
  const GrantTimings& timings = options_.sender.timings;
  const Duration error = timings.clock_error + timings.flight_error;
  const Duration ahead = offset(light.destination.value);
  const bool is_granted = std::any_of(issued_.begin(), issued_.end(), [&](const StreamGrant& each) {
    return each.key == light.key && each.stream.source == light.source && each.stream.destination == light.destination &&
           each.start <= light.on + ahead + error &&
           (is_by_message() || *light.off + ahead <= each.end + error + timings.blank + timings.trigger_late);
  });
  if (!is_granted) {
    violation_ = "node " + std::to_string(light.source.value) + " was lit on receiver " +
                 std::to_string(light.destination.value) + " outside every grant";
  }
}

// --- faults --------------------------------------------------------------------------------------------------------------

void GrantWorld::deliver(std::size_t index) {
  const FlyingGrant flying = flying_[index];
  lose(index);
  const Node& to = nodes_[flying.to.value];
  if (!to.is_alive || !to.is_on || flying.routed_by != to.routed_by || answers_dark(flying.to.value, flying)) {
    return;
  }
  if (is_to_arbiter(flying.message)) {
    step_arbiter(flying.to.value, GrantReceived{flying.from, flying.message});
  } else {
    step_sender(flying.to.value, GrantReceived{flying.from, flying.message});
  }
  run_tables();
  run_machines();
}

void GrantWorld::offer(const StreamId& stream, Bytes bytes) { step_sender(stream.source.value, StreamOffered{stream, bytes}); }

void GrantWorld::lose(std::size_t index) { flying_.erase(flying_.begin() + static_cast<std::ptrdiff_t>(index)); }

void GrantWorld::duplicate(std::size_t index) { flying_.push_back(flying_[index]); }

void GrantWorld::kill(std::uint32_t node) {
  nodes_[node].is_alive = false;
  if (is_by_message()) {
    std::erase_if(flying_, [&](const FlyingGrant& each) { return each.to == NodeId{node}; });
  }
}

void GrantWorld::restart(std::uint32_t node) {
  for (std::uint32_t t = 0; t < nodes_[node].table.transmitters(); ++t) {
    darken(node, t);
  }
  nodes_[node] = make_node(node, nodes_[node].sender.epoch() + 1);
  std::erase_if(aheads_, [&](const Ahead& each) { return each.node == NodeId{node}; });
  if (is_by_message()) {
    nodes_[node].is_on = false;
    nodes_[node].routed_by = 0;
    changed_at_ = now_;
    std::erase_if(darkening_, [&](const Darkening& each) { return each.node == NodeId{node}; });
  }
  run_machines();
}

bool GrantWorld::is_idle() const {
  return next_offer_ == options_.offers.size() && flying_.empty() &&
         std::all_of(nodes_.begin(), nodes_.end(), [](const Node& each) { return each.is_at_rest(); });
}

std::optional<int> GrantWorld::settle_alive(int limit) {
  for (int ticks = 0; ticks < limit; ++ticks) {
    if (is_idle() || !violation_.empty()) {
      return ticks;
    }
    advance();
    while (!darkening_.empty() && nodes_[darkening_.front().node.value].is_alive) {
      prove_dark(0);
    }
    for (std::size_t i = 0; i < flying_.size();) {
      if (flying_[i].sent < now_) {
        deliver(i);
      } else {
        ++i;
      }
    }
  }
  return std::nullopt;
}

std::string GrantWorld::describe() const {
  std::string text = std::to_string(flying_.size()) + " messages in flight";
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    const Node& each = nodes_[i];
    text += "; node " + std::to_string(i) + (each.is_alive ? ": " : " (dead): ") + std::to_string(each.sender.queued()) +
            " streams, " + std::to_string(each.arbiter.waiting()) + " requests, " + std::to_string(each.arbiter.standing()) +
            " grants";
  }
  return text;
}

std::uint64_t GrantWorld::fingerprint() const {
  Digest digest;
  fold_instant(digest, now_);
  digest.add(next_offer_);
  for (const Node& each : nodes_) {
    digest.add(each.is_alive ? 1 : 0);
    if (each.is_alive) {
      each.sender.fold(digest);
      each.arbiter.fold(digest, local(static_cast<std::uint32_t>(&each - nodes_.data())));
    }
    each.table.fold(digest);
  }
  fold_routed_by(digest);
  for (const Ahead& each : aheads_) {
    digest.add(each.node.value * 64 + each.tuned.transmitter * 8 + each.tuned.destination.value);
    fold_instant(digest, each.at);
  }
  for (const Waiting& each : waiting_) {
    digest.add(each.stream.source.value * 64 + each.stream.destination.value);
    fold_instant(digest, each.since);
  }
  for (const TrueLight& each : lights_) {
    digest.add(each.source.value * 64 + each.destination.value);
    fold_instant(digest, each.on);
    fold_instant(digest, each.off.value_or(Instant::max()));
  }
  std::uint64_t messages = 0;  // a multiset: the order of sending means nothing
  for (const FlyingGrant& each : flying_) {
    messages += digest_of(each, local(each.to.value));
  }
  digest.add(messages);
  return digest.value();
}

}  // namespace loom::testing
