// SPDX-License-Identifier: Apache-2.0
// The arbiter of a receiver: whom it grants, when the window lies, and what lost, doubled and forged answers do to it.
#include "tests/unit/agents/grant_bench.hpp"

using namespace loom;
using namespace loom::testing;
using std::chrono::microseconds;

namespace {

/// Source has the window; returns its grant.
StreamGrant granted(GrantRig<ReceiverArbiter>& rig, std::int64_t bytes = 125'000) {
  rig.receive(kStart, kSource, request_of(kSource, 1, bytes));
  const auto grants = rig.delivered<StreamGrant>();
  REQUIRE(grants.size() == 1);
  return grants[0];
}

StreamAccept accept_of(const StreamGrant& grant, Instant until) { return {grant.stream, grant.sender_epoch, grant.key, until}; }

/// Steps at every wake up to `limit`; every grant that was sent on the way.
std::vector<StreamGrant> run(GrantRig<ReceiverArbiter>& rig, Instant limit) {
  std::vector<StreamGrant> all;
  while (rig.wake <= limit) {
    rig.step(rig.wake, GrantTick{});
    const auto grants = rig.delivered<StreamGrant>();
    all.insert(all.end(), grants.begin(), grants.end());
  }
  return all;
}

}  // namespace

TEST_CASE("an_idle_receiver_grants_a_whole_stream_at_once") {
  auto rig = arbiter_rig();
  const StreamGrant grant = granted(rig);
  const GrantTimings timings;
  CHECK(grant.start == kStart + timings.control + tuning_of(timings));
  CHECK(grant.end == grant.start + overhead_of(timings) + microseconds{10} + ArbiterOptions{}.slack);
  CHECK(grant.bytes == Bytes{125'000});
}

TEST_CASE("a_stream_beyond_the_quantum_is_cut_to_it") {
  auto rig = arbiter_rig();
  CHECK(granted(rig, 1'000'000'000).bytes == bytes_in(ArbiterOptions{}.quantum, GrantTimings{}.rate));
}

TEST_CASE("the_next_window_opens_one_guard_after_what_was_promised") {
  auto rig = arbiter_rig();
  const StreamGrant first = granted(rig);
  rig.receive(after_us(1), kOther, request_of(kOther, 1, 1000, after_us(1)));
  CHECK(rig.delivered<StreamGrant>().empty());  // the first is not answered
  const Instant until = first.end - ArbiterOptions{}.slack;
  rig.receive(after_us(2), kSource, accept_of(first, until));
  const auto later = run(rig, until - microseconds{1});
  REQUIRE(later.size() == 1);
  CHECK(later[0].stream.source == kOther);
  CHECK(later[0].start == until + guard_of(GrantTimings{}));
}

TEST_CASE("without_an_answer_the_next_window_waits_for_the_end_of_the_lease") {
  auto rig = arbiter_rig();
  const StreamGrant first = granted(rig);
  rig.receive(after_us(1), kOther, request_of(kOther, 1, 1000, after_us(1)));
  const auto later = run(rig, first.end);
  std::size_t repeats = 0;
  for (const StreamGrant& each : later) {
    repeats += each == first ? 1 : 0;
    CHECK((each == first || each.start >= first.end + guard_of(GrantTimings{})));
  }
  CHECK(repeats > 0);
  CHECK(repeats < later.size());
}

TEST_CASE("a_request_whose_grant_was_never_answered_may_be_made_again") {
  auto rig = arbiter_rig();
  const StreamGrant first = granted(rig);
  run(rig, first.end + microseconds{1});
  CHECK(rig.machine.counters().unanswered == 1);
  CHECK(rig.machine.standing() == 0);
  rig.receive(first.end + microseconds{5}, kSource, request_of(kSource, 1, 125'000));
  REQUIRE(rig.delivered<StreamGrant>().size() == 1);
  CHECK(rig.delivered<StreamGrant>()[0].key > first.key);
}

TEST_CASE("a_served_request_that_arrives_late_again_is_dropped") {
  auto rig = arbiter_rig();
  const StreamGrant first = granted(rig);
  rig.receive(after_us(5), kSource, StreamRelease{first.stream, 1, first.key, after_us(5), Bytes{0}});
  CHECK(rig.machine.standing() == 0);
  rig.receive(after_us(6), kSource, request_of(kSource, 1, 125'000));
  CHECK(rig.effects.empty());
  CHECK(rig.machine.counters().stale == 1);
}

TEST_CASE("the_oldest_goes_first_and_the_shortest_of_one_age") {
  ArbiterOptions options;
  options.ahead = 1;
  auto rig = arbiter_rig(options);
  const StreamGrant first = granted(rig);
  const NodeId third{3};
  rig.receive(after_us(2), kOther, request_of(kOther, 1, 9000, after_us(2)));
  rig.receive(after_us(2), third, request_of(third, 1, 1000, after_us(2) + Duration{300}));
  rig.receive(after_us(9), kSource, StreamRequest{stream_to_receiver(kSource, 2), 1, 2, Bytes{10}, after_us(1)});
  std::vector<NodeId> order;
  Instant now = after_us(10);
  StreamGrant standing = first;
  for (int i = 0; i < 3; ++i) {
    rig.receive(now, standing.stream.source, StreamRelease{standing.stream, 1, standing.key, now, Bytes{0}});
    if (rig.delivered<StreamGrant>().empty()) {
      rig.step(rig.wake, GrantTick{});
    }
    REQUIRE(rig.delivered<StreamGrant>().size() == 1);
    standing = rig.delivered<StreamGrant>()[0];
    order.push_back(standing.stream.source);
    now = standing.end - ArbiterOptions{}.slack;
  }
  CHECK(order == std::vector<NodeId>{kSource, third, kOther});
}

namespace {

/// Node 3, one place before the receiver, was granted, is busy for `busy` beyond the start of what node 2 could be granted, and
/// refuses; node 2, two places before, has asked since `since`. What is granted next.
StreamGrant granted_after_refusal(Duration busy, Instant since, Instant since_of_other, std::uint64_t collective = 1) {
  const NodeId near{3};
  auto rig = arbiter_rig();
  rig.receive(kStart, near, request_of(near, 1, 125'000, since));
  REQUIRE(rig.delivered<StreamGrant>().size() == 1);
  const StreamGrant first = rig.delivered<StreamGrant>()[0];
  StreamRequest other = request_of(kOther, 1, 125'000, since_of_other);
  other.stream.collective = collective;
  rig.receive(after_us(2), kOther, other);
  const GrantTimings timings;
  const Instant earliest = after_us(3) + timings.control + tuning_of(timings);
  rig.receive(after_us(3), near, StreamRefusal{first.stream, 1, first.key, RefusalReason::taken, after_us(3), earliest + busy});
  REQUIRE(rig.delivered<StreamGrant>().size() == 1);
  const StreamGrant next = rig.delivered<StreamGrant>()[0];
  CHECK(next.start == (next.stream.source == near ? earliest + busy : earliest));
  return next;
}

}  // namespace

TEST_CASE("of_an_exchange_the_one_whose_turn_it_is_is_waited_for_a_quarter_of_a_window") {
  const Instant ago = kStart - microseconds{9};
  const Duration turn = time_of(Bytes{125'000}, GrantTimings{}.rate) / kTurnShare;
  const NodeId near{3};
  CHECK(granted_after_refusal(turn, ago, ago).stream.source == near);
  CHECK(granted_after_refusal(turn + Duration{1}, ago, ago).stream.source == kOther);
  // Beginners are of one age if they are no further apart than that; whoever is older still is waited for as well.
  CHECK(granted_after_refusal(turn, ago + turn, ago).stream.source == near);
  CHECK(granted_after_refusal(turn, ago + turn + Duration{1}, ago).stream.source == kOther);
  CHECK(granted_after_refusal(turn, ago - microseconds{500}, ago).stream.source == near);
  // Other collectives are no exchange with it, and nobody waits for them.
  CHECK(granted_after_refusal(Duration{1}, ago, ago, 2).stream.source == kOther);
}

TEST_CASE("nobody_who_starves_waits_for_another_ones_turn") {
  const Instant ago = kStart - std::chrono::milliseconds{30};
  CHECK(granted_after_refusal(Duration{1}, ago, ago).stream.source == kOther);
}

TEST_CASE("by_word_the_next_one_is_told_and_needs_no_time_to_tune_once_it_has") {
  ArbiterOptions options;
  options.ahead = 1;
  options.is_first_incarnation = true;
  options.lease_end = LeaseEnd::by_message;
  auto rig = arbiter_rig(options);
  const StreamGrant first = granted(rig);
  rig.receive(after_us(1), kOther, request_of(kOther, 1, 1000, after_us(1)));
  const auto reported = rig.delivered<StreamQueued>();
  CHECK(std::any_of(reported.begin(), reported.end(), [](const StreamQueued& each) { return each.is_next; }));
  CHECK(rig.delivered<StreamGrant>().empty());
  StreamRequest tuned = request_of(kOther, 1, 1000, after_us(1));
  tuned.is_tuned = true;
  rig.receive(after_us(2), kOther, tuned);
  CHECK(rig.delivered<StreamGrant>().empty());  // it waits for the word all the same
  rig.receive(after_us(9), kSource, StreamRelease{first.stream, 1, first.key, after_us(9), Bytes{0}});
  REQUIRE(rig.delivered<StreamGrant>().size() == 1);
  const GrantTimings timings;
  CHECK(rig.delivered<StreamGrant>()[0].start == after_us(9) + timings.control + timings.flight);
}

TEST_CASE("a_refusal_frees_the_window_for_the_next_in_line") {
  auto rig = arbiter_rig();
  const StreamGrant first = granted(rig);
  rig.receive(after_us(1), kOther, request_of(kOther, 1, 1000, after_us(1)));
  const StreamRefusal taken{first.stream, 1, first.key, RefusalReason::taken, after_us(2), after_us(50)};
  rig.receive(after_us(2), kSource, taken);
  REQUIRE(rig.delivered<StreamGrant>().size() == 1);
  CHECK(rig.delivered<StreamGrant>()[0].stream.source == kOther);
  CHECK(rig.delivered<StreamGrant>()[0].start < first.end);
  CHECK(rig.machine.waiting() == 1);  // the refused one keeps its place
  rig.receive(after_us(3), kSource, taken);
  CHECK(rig.machine.counters().foreign == 1);
}

TEST_CASE("refusals_in_a_row_end_in_a_pause_of_a_round_trip") {
  auto rig = arbiter_rig();
  StreamGrant grant = granted(rig);
  Instant now = after_us(2);
  for (std::uint32_t i = 1; i < ArbiterOptions{}.iterations; ++i) {
    rig.receive(now, kSource, StreamRefusal{grant.stream, 1, grant.key, RefusalReason::late, now, now});
    REQUIRE(rig.delivered<StreamGrant>().size() == 1);
    grant = rig.delivered<StreamGrant>()[0];
    now += microseconds{2};
  }
  rig.receive(now, kSource, StreamRefusal{grant.stream, 1, grant.key, RefusalReason::late, now, now});
  CHECK(rig.delivered<StreamGrant>().empty());
  CHECK(rig.wake == now + 2 * GrantTimings{}.control);
}

TEST_CASE("a_restarted_arbiter_grants_nothing_before_every_old_lease_has_run_out") {
  auto former = arbiter_rig();
  const StreamGrant longest = granted(former, 1'000'000'000);
  ArbiterOptions options;
  options.epoch = 2;
  auto rig = arbiter_rig(options);
  rig.step(kStart, GrantTick{});
  rig.receive(after_us(1), kOther, request_of(kOther, 1, 1000, after_us(1)));
  CHECK(rig.delivered<StreamGrant>().empty());
  const auto grants = run(rig, after_us(3'000));
  REQUIRE_FALSE(grants.empty());
  CHECK(grants[0].start >= longest.end + guard_of(GrantTimings{}));
  CHECK(grants[0].start <= longest.end + ArbiterOptions{}.quantum / kTurnShare + microseconds{10});
}

TEST_CASE("forged_and_foreign_answers_change_no_window") {
  auto rig = arbiter_rig();
  const StreamGrant first = granted(rig);
  const Digest before = [&] {
    Digest digest;
    rig.machine.fold(digest, Instant{});
    return digest;
  }();
  rig.receive(after_us(1), kOther, accept_of(first, first.start + Duration{1}));  // not its source
  StreamAccept accept = accept_of(first, first.start + Duration{1});
  accept.key.epoch = 9;
  rig.receive(after_us(1), kSource, accept);
  rig.receive(after_us(1), kSource, accept_of(first, first.end + Duration{1}));
  rig.receive(after_us(1), kSource, accept_of(first, first.start));
  accept = accept_of(first, first.end);
  accept.sender_epoch = 9;
  rig.receive(after_us(1), kSource, accept);  // of an incarnation of the source that was granted nothing
  rig.receive(after_us(1), kSource, first);   // a grant, to an arbiter
  rig.receive(after_us(1), NodeId{77}, request_of(kSource, 4, 1));
  rig.receive(after_us(1), kSource, request_of(kOther, 4, 1));
  rig.receive(after_us(1), kSource, request_of(kSource, 4, 0));
  Digest after;
  rig.machine.fold(after, Instant{});
  CHECK(after.value() == before.value());
  CHECK(rig.machine.counters().foreign == 5);
  CHECK(rig.machine.counters().unlawful == 4);
}

TEST_CASE("a_sender_that_has_said_until_when_it_is_busy_is_offered_nothing_sooner") {
  ArbiterOptions options;
  options.ahead = 1;
  auto rig = arbiter_rig(options);
  const Instant free = after_us(40);
  StreamRequest busy = request_of(kOther, 1, 1'000, kStart);
  busy.free_at = free;
  rig.receive(kStart, kOther, busy);
  CHECK(rig.delivered<StreamQueued>().size() == 1);
  CHECK(rig.delivered<StreamGrant>().empty());
  const auto grants = run(rig, after_us(60));
  REQUIRE_FALSE(grants.empty());
  CHECK(grants[0].start == free);
}

TEST_CASE("an_update_of_a_known_request_is_taken_and_not_answered") {
  auto rig = arbiter_rig();
  StreamRequest busy = request_of(kOther, 1, 1'000, kStart);
  busy.free_at = after_us(40);
  busy.is_update = true;
  rig.receive(kStart, kOther, busy);
  CHECK(rig.delivered<StreamQueued>().size() == 1);  // it was not known
  busy.free_at = after_us(20);
  rig.receive(after_us(1), kOther, busy);
  CHECK(rig.effects.empty());
  const auto grants = run(rig, after_us(60));
  REQUIRE_FALSE(grants.empty());
  CHECK(grants[0].start == after_us(20));
}

TEST_CASE("a_sender_that_claims_to_be_busy_for_a_year_waits_for_a_lease_reach") {
  auto rig = arbiter_rig();
  StreamRequest busy = request_of(kOther, 1, 1'000, kStart);
  busy.free_at = kStart + std::chrono::hours{24 * 365};
  rig.receive(kStart, kOther, busy);
  const auto grants = run(rig, after_us(3'000));
  REQUIRE_FALSE(grants.empty());
  CHECK(grants[0].start == kStart + lease_reach_of(ArbiterOptions{}));
}
