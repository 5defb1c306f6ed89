// SPDX-License-Identifier: Apache-2.0
// The arbiter at its borders: which words it receives at all, whose state they may change, and when a receiver is free again,
// for leases that end by themselves and for those that end by their sender's word.
#include "tests/unit/agents/grant_bench.hpp"

namespace loom::testing {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

using Rig = GrantRig<ReceiverArbiter>;
const GrantTimings kTimings;
const NodeId kThird{3};

Rig by_itself(std::uint32_t ahead = 2) {
  ArbiterOptions options;
  options.ahead = ahead;
  return arbiter_rig(options);
}
Rig by_message() {
  ArbiterOptions options;
  options.ahead = 1;
  options.lease_end = LeaseEnd::by_message;
  return arbiter_rig(options);
}

StreamGrant granted(Rig& rig, NodeId source = kSource, std::int64_t bytes = 125'000, Instant now = kStart) {
  rig.receive(now, source, request_of(source, 1, bytes, now));
  REQUIRE(rig.delivered<StreamGrant>().size() == 1);
  return rig.delivered<StreamGrant>()[0];
}
StreamAccept accept_of(const StreamGrant& grant, Instant until) { return {grant.stream, grant.sender_epoch, grant.key, until}; }
StreamRelease release_of(const StreamGrant& grant, Instant dark_at) {
  return {grant.stream, grant.sender_epoch, grant.key, dark_at, Bytes{0}};
}
StreamRefusal refusal_of(const StreamGrant& grant, RefusalReason reason, Instant dark_at, Instant free_at) {
  return {grant.stream, grant.sender_epoch, grant.key, reason, dark_at, free_at};
}

std::uint64_t digest_of(const Rig& rig) {
  Digest digest;
  rig.machine.fold(digest, Instant{});
  return digest.value();
}

/// The next grant that is sent, stepping at every wake.
StreamGrant next_grant(Rig& rig, Instant limit) {
  while (rig.delivered<StreamGrant>().empty() && rig.wake <= limit) {
    rig.step(rig.wake, GrantTick{});
  }
  REQUIRE(rig.delivered<StreamGrant>().size() == 1);
  return rig.delivered<StreamGrant>()[0];
}

// --- what is heard at all -----------------------------------------------------------------------------------------------

TEST_CASE("arbiter: a source beyond the fabric is foreign, the last one of it is not") {
  Rig rig = by_itself();
  rig.receive(kStart, NodeId{4}, request_of(NodeId{4}, 1, 1'000));
  CHECK(rig.machine.counters().foreign == 1);
  CHECK(rig.effects.empty());
  rig.receive(kStart, kThird, request_of(kThird, 1, 1'000));
  CHECK(rig.delivered<StreamGrant>().size() == 1);
}

TEST_CASE("arbiter: a request is lawful within its limits and for this receiver, else it is counted and changes nothing") {
  const auto is_received = [](auto change) {
    Rig rig = by_itself();
    rig.step(kStart, GrantTick{});
    const std::uint64_t before = digest_of(rig);
    StreamRequest request = request_of(kSource, 1, 1'000);
    change(request);
    rig.receive(kStart, kSource, request);
    CHECK(rig.machine.counters().unlawful + rig.machine.counters().requests == 1);
    CHECK((digest_of(rig) != before) == (rig.machine.counters().requests == 1));
    return rig.machine.counters().requests == 1;
  };
  CHECK(is_received([](StreamRequest&) {}));
  CHECK_FALSE(is_received([](StreamRequest& request) { request.stream.source = kOther; }));
  CHECK_FALSE(is_received([](StreamRequest& request) { request.stream.destination = kOther; }));
  CHECK_FALSE(is_received([](StreamRequest& request) { request.sender_epoch = 0; }));
  CHECK_FALSE(is_received([](StreamRequest& request) { request.number = 0; }));
  CHECK_FALSE(is_received([](StreamRequest& request) { request.remaining = Bytes{0}; }));
  CHECK(is_received([](StreamRequest& request) { request.remaining = Bytes{1}; }));
  CHECK(is_received([](StreamRequest& request) { request.remaining = Bytes{limits::kStreamBytes}; }));
  CHECK_FALSE(is_received([](StreamRequest& request) { request.remaining = Bytes{limits::kStreamBytes + 1}; }));
}

TEST_CASE("arbiter: answers count only from the stream's source, for its key, its stream and its life") {
  const auto changes = [](auto make) {
    Rig rig = by_itself();
    const StreamGrant grant = granted(rig);
    const std::uint64_t before = digest_of(rig);
    const auto [from, message] = make(grant);
    rig.receive(after_us(2), from, message);
    const bool did = digest_of(rig) != before;
    const ArbiterCounters& counters = rig.machine.counters();
    CHECK(counters.foreign == (did ? 0 : 1));  // whatever is dropped is counted
    CHECK(counters.accepts + counters.refusals + counters.releases == (did ? 1 : 0));
    return did;
  };
  using Said = std::pair<NodeId, GrantMessage>;
  CHECK(changes([](const StreamGrant& g) { return Said{kSource, accept_of(g, g.end)}; }));
  CHECK(changes([](const StreamGrant& g) { return Said{kSource, release_of(g, after_us(2))}; }));
  CHECK(changes(
      [](const StreamGrant& g) { return Said{kSource, refusal_of(g, RefusalReason::late, after_us(2), after_us(2))}; }));
  CHECK_FALSE(changes([](const StreamGrant& g) { return Said{kOther, accept_of(g, g.end)}; }));
  CHECK_FALSE(changes([](const StreamGrant& g) { return Said{kOther, release_of(g, after_us(2))}; }));
  CHECK_FALSE(
      changes([](const StreamGrant& g) { return Said{kOther, refusal_of(g, RefusalReason::late, after_us(2), after_us(2))}; }));
  const auto other_stream = [](StreamGrant g) {
    g.stream.collective += 1;
    return g;
  };
  CHECK_FALSE(changes([&](const StreamGrant& g) { return Said{kSource, accept_of(other_stream(g), g.end)}; }));
  CHECK_FALSE(changes([&](const StreamGrant& g) { return Said{kSource, release_of(other_stream(g), after_us(2))}; }));
  const auto other_incarnation = [](StreamGrant g) {
    g.sender_epoch += 1;
    return g;
  };
  CHECK_FALSE(changes([&](const StreamGrant& g) { return Said{kSource, accept_of(other_incarnation(g), g.end)}; }));
  CHECK_FALSE(changes([&](const StreamGrant& g) { return Said{kSource, release_of(other_incarnation(g), after_us(2))}; }));
  // An incarnation that refuses an old grant is dark, so that a refusal counts from any.
  CHECK(changes([&](const StreamGrant& g) {
    return Said{kSource, refusal_of(other_incarnation(g), RefusalReason::unknown, after_us(2), after_us(2))};
  }));
}

TEST_CASE("arbiter: a promise lies inside its window, its end included") {
  const auto is_taken = [](auto until_of) {
    Rig rig = by_itself();
    const StreamGrant grant = granted(rig);
    rig.receive(after_us(2), kSource, accept_of(grant, until_of(grant)));
    CHECK(rig.machine.counters().accepts + rig.machine.counters().unlawful == 1);
    return rig.machine.counters().accepts == 1;
  };
  CHECK(is_taken([](const StreamGrant& grant) { return grant.end; }));
  CHECK_FALSE(is_taken([](const StreamGrant& grant) { return grant.end + Duration{1}; }));
  CHECK(is_taken([](const StreamGrant& grant) { return grant.start + Duration{1}; }));
  CHECK_FALSE(is_taken([](const StreamGrant& grant) { return grant.start; }));
}

// --- requests that are known --------------------------------------------------------------------------------------------

TEST_CASE("arbiter: a request that waits is told so again, and waits once") {
  Rig rig = by_itself(1);
  (void)granted(rig);
  rig.receive(after_us(1), kOther, request_of(kOther, 1, 1'000, after_us(1)));
  CHECK(rig.machine.counters().requests == 2);
  REQUIRE(rig.delivered<StreamQueued>().size() == 1);
  CHECK(rig.effects.size() == 1);
  rig.receive(after_us(2), kOther, request_of(kOther, 1, 1'000, after_us(1)));
  CHECK(rig.machine.counters().requests == 2);
  CHECK(rig.machine.counters().duplicates == 1);
  CHECK(rig.delivered<StreamQueued>().size() == 1);
  CHECK(rig.machine.waiting() == 1);
  rig.receive(after_us(2), kOther, request_of(kOther, 2, 1'000, after_us(1)));  // a newer one takes its place
  CHECK(rig.machine.counters().requests == 3);
  CHECK(rig.machine.waiting() == 1);
  rig.receive(after_us(2), kOther, request_of(kOther, 1, 1'000, after_us(1)));  // and the older one means nothing any more
  CHECK(rig.machine.counters().stale == 1);
  CHECK(rig.effects.empty());
}

TEST_CASE("arbiter: a request that was granted is granted again, by the same words and no others") {
  Rig rig = by_itself();
  const StreamGrant first = granted(rig);
  rig.receive(after_us(1), kSource, request_of(kSource, 1, 125'000));
  REQUIRE(rig.delivered<StreamGrant>().size() == 1);
  CHECK(rig.delivered<StreamGrant>()[0] == first);
  CHECK(rig.machine.counters().repeats == 1);
  StreamRequest other = request_of(kSource, 1, 125'000);
  other.stream.collective = 99;
  rig.receive(after_us(1), kSource, other);
  CHECK(rig.delivered<StreamGrant>().empty());
  // Two windows of one source stand: its second request receives of the second one alone.
  rig.receive(after_us(2), kSource, accept_of(first, first.end));
  rig.receive(after_us(2), kSource, StreamRequest{first.stream, 1, 2, Bytes{1'000}, after_us(2)});
  const StreamGrant second = next_grant(rig, first.end);
  CHECK(second.number == 2);
  REQUIRE(rig.machine.standing() == 2);
  rig.receive(second.start - microseconds{1}, kSource, StreamRequest{first.stream, 1, 2, Bytes{1'000}, after_us(2)});
  REQUIRE(rig.delivered<StreamGrant>().size() == 1);
  CHECK(rig.delivered<StreamGrant>()[0] == second);
}

TEST_CASE("arbiter: a new life of a sender receives of its own grant alone") {
  Rig rig = by_itself();
  const StreamGrant first = granted(rig);
  rig.receive(after_us(2), kSource, accept_of(first, first.end));
  const StreamRequest anew{first.stream, 2, 1, Bytes{1'000}, after_us(2)};
  rig.receive(after_us(2), kSource, anew);
  const StreamGrant second = next_grant(rig, first.end);
  CHECK(second.sender_epoch == 2);
  REQUIRE(rig.machine.standing() == 2);
  rig.receive(second.start - microseconds{1}, kSource, anew);
  REQUIRE(rig.delivered<StreamGrant>().size() == 1);
  CHECK(rig.delivered<StreamGrant>()[0] == second);
}

TEST_CASE("arbiter: the end of a former window changes nothing of a request that came since") {
  Rig rig = by_itself(1);
  const StreamGrant first = granted(rig);
  rig.receive(after_us(2), kSource, StreamRequest{first.stream, 1, 2, Bytes{1'000}, after_us(2)});
  CHECK(rig.machine.waiting() == 1);
  rig.receive(after_us(3), kSource, refusal_of(first, RefusalReason::taken, after_us(3), after_us(500)));
  // It neither waits twice nor until the former one's transmitter is free.
  CHECK(rig.machine.waiting() == 0);
  REQUIRE(rig.delivered<StreamGrant>().size() == 1);
  CHECK(rig.delivered<StreamGrant>()[0].number == 2);
  Rig incarnation = by_itself(1);
  const StreamGrant former = granted(incarnation);
  incarnation.receive(after_us(2), kSource, StreamRequest{former.stream, 2, 1, Bytes{1'000}, after_us(2)});
  incarnation.receive(after_us(3), kSource, refusal_of(former, RefusalReason::taken, after_us(3), after_us(500)));
  REQUIRE(incarnation.delivered<StreamGrant>().size() == 1);
  CHECK(incarnation.delivered<StreamGrant>()[0].sender_epoch == 2);
}

TEST_CASE("arbiter: a sender without a transmitter is granted when it has one") {
  Rig rig = by_itself(1);
  const StreamGrant first = granted(rig);
  rig.receive(after_us(2), kSource, refusal_of(first, RefusalReason::taken, after_us(2), after_us(200)));
  CHECK(rig.delivered<StreamGrant>().empty());
  CHECK(rig.machine.waiting() == 1);
  const StreamGrant second = next_grant(rig, after_us(300));
  CHECK(second.start >= after_us(200));
  CHECK(second.start <= after_us(201));
}

// --- who goes first -----------------------------------------------------------------------------------------------------

TEST_CASE("arbiter: of those who wait the oldest goes first, whoever came last") {
  for (const bool oldest_came_last : {false, true}) {
    Rig rig = by_itself(1);
    const StreamGrant first = granted(rig);
    const std::vector<NodeId> in_order = oldest_came_last ? std::vector{kThird, kOther} : std::vector{kOther, kThird};
    for (const NodeId source : in_order) {
      rig.receive(after_us(5), source, request_of(source, 1, 1'000, after_us(source == kOther ? 1 : 3)));
    }
    rig.receive(after_us(6), kSource, release_of(first, after_us(6)));
    CHECK(next_grant(rig, after_us(100)).stream.source == kOther);
  }
}

// --- when the receiver is free ------------------------------------------------------------------------------------------

TEST_CASE("arbiter: a lease that ends by itself is never waited for beyond its end, whatever its sender says") {
  const auto next_start = [](auto dark_at_of) {
    Rig rig = by_itself(1);
    const StreamGrant first = granted(rig);
    rig.receive(after_us(1), kOther, request_of(kOther, 1, 1'000, after_us(1)));
    rig.receive(after_us(3), kSource, release_of(first, dark_at_of(first)));
    return std::pair{next_grant(rig, first.end + milliseconds{1}).start, first.end};
  };
  const auto [late, end] = next_start([](const StreamGrant& grant) { return grant.end + milliseconds{5}; });
  CHECK(late == end + guard_of(kTimings));
  const auto [early, unused] = next_start([](const StreamGrant& grant) { return grant.end - microseconds{2}; });
  CHECK(early == unused - microseconds{2} + guard_of(kTimings));
}

TEST_CASE("arbiter: by word the next window begins when the last sender says that it is dark, and not later than it could be") {
  const auto next_start = [](Instant dark_at) {
    Rig rig = by_message();
    const StreamGrant first = granted(rig);
    StreamRequest tuned = request_of(kOther, 1, 1'000, after_us(1));
    tuned.is_tuned = true;
    rig.receive(after_us(1), kOther, tuned);
    rig.receive(after_us(9), kSource, release_of(first, dark_at));
    return next_grant(rig, after_us(100'000)).start;
  };
  const Instant soonest = after_us(9) + kTimings.control + kTimings.flight;
  CHECK(next_start(after_us(0)) == soonest);
  CHECK(next_start(after_us(40)) == after_us(40) + guard_after_message_of(kTimings));
  ArbiterOptions options;
  CHECK(next_start(after_us(90'000)) == after_us(9) + lease_reach_of(options) + guard_after_message_of(kTimings));
}

TEST_CASE("arbiter: by word nobody is let in before the last one has said that it is dark, however long that takes") {
  Rig rig = by_message();
  const StreamGrant first = granted(rig);
  rig.receive(after_us(1), kOther, request_of(kOther, 1, 1'000, after_us(1)));
  rig.receive(after_us(2), kSource, accept_of(first, first.end));
  CHECK_FALSE(rig.machine.overdue());
  std::size_t repeats = 0;
  for (Instant at = rig.wake; at < first.end + milliseconds{2}; at = rig.wake) {
    rig.step(at, GrantTick{});
    for (const StreamGrant& again : rig.delivered<StreamGrant>()) {
      CHECK(again == first);  // it is asked about, nobody else is granted
      ++repeats;
    }
    REQUIRE(rig.wake > at);
  }
  CHECK(repeats > 2);
  CHECK(repeats < 100);
  CHECK(rig.machine.overdue() == kSource);
  CHECK(rig.machine.counters().overdue == 1);
  CHECK(rig.machine.counters().unreleased == 0);
  CHECK(rig.machine.standing() == 1);
  const Instant word = first.end + milliseconds{3};
  rig.receive(word, kSource, release_of(first, word));
  CHECK(next_grant(rig, word + milliseconds{1}).stream.source == kOther);
  CHECK_FALSE(rig.machine.overdue());
}

TEST_CASE("arbiter: a lease that ended by itself is closed and counted by what was said of it") {
  Rig silent = by_itself();
  const StreamGrant first = granted(silent);
  silent.step(first.end + guard_of(kTimings) - Duration{1}, GrantTick{});
  CHECK(silent.machine.standing() == 1);
  silent.step(first.end + guard_of(kTimings), GrantTick{});
  CHECK(silent.machine.standing() == 0);
  CHECK(silent.machine.counters().unanswered == 1);
  CHECK(silent.machine.counters().overdue == 0);
  CHECK_FALSE(silent.machine.overdue());
  CHECK(silent.wake == kNever);
  Rig promised = by_itself();
  const StreamGrant second = granted(promised);
  promised.receive(after_us(2), kSource, accept_of(second, second.end));
  promised.step(second.end + guard_of(kTimings), GrantTick{});
  CHECK(promised.machine.counters().unreleased == 1);
  CHECK(promised.machine.counters().unanswered == 0);
}

// --- who is told that it is next ----------------------------------------------------------------------------------------

TEST_CASE("arbiter: by word the one that goes next is told once, and only while the end of the window is known") {
  Rig rig = by_message();
  const StreamGrant first = granted(rig);
  CHECK(rig.delivered<StreamQueued>().empty() == false);
  CHECK(rig.delivered<StreamQueued>().size() == 1);  // of its own request
  rig.step(after_us(1), GrantTick{});
  CHECK(rig.delivered<StreamQueued>().empty());  // nobody waits
  rig.receive(after_us(1), kOther, request_of(kOther, 1, 9'000, after_us(1)));
  const auto reported = rig.delivered<StreamQueued>();
  REQUIRE(reported.size() == 2);  // heard, then: you are next
  CHECK_FALSE(reported[0].is_next);
  CHECK(reported[1].is_next);
  rig.step(after_us(2), GrantTick{});
  CHECK(rig.delivered<StreamQueued>().empty());
  rig.receive(after_us(2), kThird, request_of(kThird, 1, 1'000, Instant{}));  // older: it goes before
  const auto then = rig.delivered<StreamQueued>();
  REQUIRE(then.size() == 2);
  CHECK(then[1].stream.source == kThird);
  CHECK(then[1].is_next);
  rig.receive(after_us(3), kOther, request_of(kOther, 1, 9'000, after_us(1)));
  CHECK_FALSE(rig.delivered<StreamQueued>().at(0).is_next);
  // Once the window is overdue nobody knows when the next one begins.
  while (!rig.machine.overdue()) {
    rig.step(rig.wake, GrantTick{});
  }
  rig.receive(first.end + milliseconds{1}, kThird, request_of(kThird, 1, 1'000, Instant{}));
  REQUIRE(rig.delivered<StreamQueued>().size() == 1);
  CHECK_FALSE(rig.delivered<StreamQueued>()[0].is_next);
}

TEST_CASE("arbiter: leases that end by themselves tell nobody that it is next, and an idle receiver nobody either") {
  Rig rig = by_itself(1);
  (void)granted(rig);
  rig.receive(after_us(1), kOther, request_of(kOther, 1, 9'000, after_us(1)));
  REQUIRE(rig.effects.size() == 1);
  CHECK_FALSE(rig.delivered<StreamQueued>().at(0).is_next);
  Rig idle = by_message();
  const StreamGrant first = granted(idle);
  idle.receive(after_us(2), kSource, refusal_of(first, RefusalReason::taken, after_us(2), after_us(500)));
  REQUIRE(idle.machine.standing() == 0);
  idle.receive(after_us(3), kSource, request_of(kSource, 1, 125'000));
  REQUIRE(idle.delivered<StreamQueued>().size() == 1);
  CHECK_FALSE(idle.delivered<StreamQueued>()[0].is_next);
}

// --- the digest that searches compare -----------------------------------------------------------------------------------

TEST_CASE("arbiter: states that differ in what they will do have different digests") {
  const auto waiting = [](std::int64_t bytes, Instant since, bool is_tuned) {
    Rig rig = by_itself(1);
    (void)granted(rig);
    StreamRequest request = request_of(kOther, 1, bytes, since);
    request.is_tuned = is_tuned;
    rig.receive(after_us(5), kOther, request);
    return digest_of(rig);
  };
  CHECK(waiting(1'000, after_us(1), false) == waiting(1'000, after_us(1), false));
  CHECK(waiting(1'000, after_us(1), false) != waiting(1'001, after_us(1), false));
  CHECK(waiting(1'000, after_us(1), false) != waiting(1'000, after_us(2), false));
  CHECK(waiting(1'000, after_us(1), false) != waiting(1'000, after_us(1), true));
  const auto standing = [](std::int64_t since_us) {
    Rig rig = by_itself(1);
    rig.receive(kStart, kSource, request_of(kSource, 1, 125'000, after_us(since_us)));
    REQUIRE(rig.machine.standing() == 1);
    return digest_of(rig);
  };
  CHECK(standing(-10) != standing(-20));
  // What is over is the same, whatever it was.
  const auto served = [](std::int64_t since_us) {
    Rig rig = by_itself(1);
    rig.receive(kStart, kSource, request_of(kSource, 1, 125'000, after_us(since_us)));
    rig.receive(after_us(3), kSource, release_of(rig.delivered<StreamGrant>().at(0), after_us(3)));
    return digest_of(rig);
  };
  CHECK(served(-10) == served(-20));
}

}  // namespace
}  // namespace loom::testing
