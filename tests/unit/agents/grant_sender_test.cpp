// SPDX-License-Identifier: Apache-2.0
// The sender of the fast plane: what it answers to lawful, late, doubled and forged grants, and when it lights.
#include "tests/unit/agents/grant_bench.hpp"

using namespace loom;
using namespace loom::testing;
using std::chrono::microseconds;

namespace {

GrantRig<StreamSender> asking() {
  auto rig = sender_rig();
  rig.step(kStart, StreamOffered{stream_to_receiver(kSource), Bytes{100'000}});
  REQUIRE(rig.delivered<StreamRequest>().size() == 1);
  return rig;
}

std::uint64_t counted(const GrantRig<StreamSender>& rig, GrantKind kind) {
  return rig.machine.counters().grants[static_cast<std::size_t>(kind)];
}

}  // namespace

TEST_CASE("a_sender_asks_again_until_it_is_heard_and_then_only_now_and_then") {
  auto rig = asking();
  CHECK(rig.wake == after_us(3));
  rig.step(after_us(3), GrantTick{});
  REQUIRE(rig.delivered<StreamRequest>().size() == 1);
  CHECK(rig.delivered<StreamRequest>()[0].number == 1);
  CHECK(rig.wake == after_us(6));
  rig.receive(after_us(4), kReceiver, StreamQueued{stream_to_receiver(kSource), 5, 1, 3});
  CHECK(rig.wake == after_us(4) + SenderOptions{}.keepalive);
}

TEST_CASE("a_sender_gives_up_a_silent_arbiter_aloud") {
  auto rig = asking();
  std::vector<StreamOver> over;
  for (int steps = 0; steps < 200 && over.empty(); ++steps) {
    rig.step(rig.wake, GrantTick{});
    over = rig.asked<StreamOver>();
  }
  REQUIRE(over.size() == 1);
  CHECK(over[0].end == StreamEnd::unreachable);
  CHECK(rig.machine.queued() == 0);
  CHECK(rig.wake == kNever);
}

TEST_CASE("an_accepted_grant_is_one_row_inside_its_window") {
  auto rig = asking();
  rig.receive(after_us(2), kReceiver, lawful_grant());
  const auto rows = rig.asked<WriteRow>();
  REQUIRE(rows.size() == 1);
  const GrantTimings timings;
  CHECK(rows[0].row.light_at == after_us(10) - timings.flight);
  CHECK(rows[0].row.light_at - rows[0].row.tune_at >= timings.tune);
  CHECK(rows[0].row.bytes == Bytes{100'000});
  const auto accepts = rig.delivered<StreamAccept>();
  REQUIRE(accepts.size() == 1);
  CHECK(accepts[0].until == rows[0].row.dark_at + timings.flight);
  CHECK(accepts[0].until == after_us(10) + overhead_of(timings) + microseconds{8});
  CHECK(rig.machine.has_standing({3, 1}, kReceiver));
}

TEST_CASE("a_grant_heard_twice_is_accepted_once_and_never_after_its_release") {
  auto rig = asking();
  rig.receive(after_us(2), kReceiver, lawful_grant());
  const GrantRow row = rig.asked<WriteRow>().at(0).row;
  rig.receive(after_us(3), kReceiver, lawful_grant());
  CHECK(rig.asked<WriteRow>().empty());
  CHECK(rig.delivered<StreamAccept>().size() == 1);
  rig.step(row.dark_at, RowEnded{row, row.light_at, row.dark_at});
  REQUIRE(rig.delivered<StreamRelease>().size() == 1);
  CHECK(rig.delivered<StreamRelease>()[0].remaining == Bytes{0});
  REQUIRE(rig.asked<StreamOver>().size() == 1);
  CHECK(rig.asked<StreamOver>()[0].end == StreamEnd::sent);
  rig.step(row.dark_at, StreamOffered{stream_to_receiver(kSource), Bytes{100'000}});
  rig.receive(row.dark_at, kReceiver, lawful_grant());
  CHECK(rig.asked<WriteRow>().empty());
  CHECK(rig.delivered<StreamRefusal>().size() == 1);
  CHECK(counted(rig, GrantKind::seen) == 1);
}

TEST_CASE("forged_and_foreign_grants_are_counted_and_light_nothing") {
  auto rig = asking();
  StreamGrant grant = lawful_grant();
  grant.stream.source = kOther;
  rig.receive(after_us(2), kReceiver, grant);
  CHECK(rig.effects.empty());
  rig.receive(after_us(2), kOther, lawful_grant());  // not from the stream's destination
  CHECK(rig.effects.empty());
  CHECK(counted(rig, GrantKind::misdirected) == 2);
  grant = lawful_grant();
  grant.sender_epoch = 6;
  rig.receive(after_us(2), kReceiver, grant);
  CHECK(rig.effects.empty());
  CHECK(counted(rig, GrantKind::other_incarnation) == 1);
  grant = lawful_grant();
  grant.end = grant.start;
  rig.receive(after_us(2), kReceiver, grant);
  CHECK(rig.effects.empty());
  CHECK(counted(rig, GrantKind::unlawful) == 1);
  grant = lawful_grant();
  grant.stream.collective = 99;
  rig.receive(after_us(2), kReceiver, grant);
  CHECK(rig.asked<WriteRow>().empty());
  CHECK(counted(rig, GrantKind::unwanted) == 1);
  grant = lawful_grant(9);
  grant.sender_epoch = 4;
  rig.receive(after_us(2), kReceiver, grant);
  CHECK(rig.asked<WriteRow>().empty());
  CHECK(rig.delivered<StreamRefusal>().size() == 1);
  CHECK(counted(rig, GrantKind::former_incarnation) == 1);
}

TEST_CASE("a_grant_of_a_former_arbiter_is_dropped_once_its_successor_has_spoken") {
  auto rig = asking();
  StreamGrant grant = lawful_grant();
  grant.stream.collective = 99;
  grant.key = {4, 1};
  rig.receive(after_us(2), kReceiver, grant);
  rig.receive(after_us(2), kReceiver, lawful_grant(7));
  CHECK(rig.effects.empty());
  CHECK(counted(rig, GrantKind::former_epoch) == 1);
}

TEST_CASE("a_sender_whose_transmitter_is_taken_refuses_and_says_when_it_is_free") {
  auto rig = asking();
  const StreamId elsewhere{JobId{7}, 2, kSource, kOther};
  rig.step(kStart, StreamOffered{elsewhere, Bytes{100'000}});
  rig.receive(after_us(2), kReceiver, lawful_grant());
  const GrantRow row = rig.asked<WriteRow>().at(0).row;
  const StreamGrant second{elsewhere, 5, 1, {1, 1}, after_us(11), after_us(22), Bytes{100'000}};
  rig.receive(after_us(3), kOther, second);
  CHECK(rig.asked<WriteRow>().empty());
  REQUIRE(rig.delivered<StreamRefusal>().size() == 1);
  CHECK(rig.delivered<StreamRefusal>()[0].reason == RefusalReason::taken);
  CHECK(rig.delivered<StreamRefusal>()[0].free_at == row.dark_at + tuning_of(GrantTimings{}));
  const StreamGrant third{elsewhere, 5, 1, {1, 2}, after_us(19), after_us(30), Bytes{100'000}};
  rig.receive(after_us(4), kOther, third);
  REQUIRE(rig.asked<WriteRow>().size() == 1);
  CHECK(rig.asked<WriteRow>()[0].row.tune_at >= row.dark_at);
}

TEST_CASE("a_stream_that_has_starved_goes_before_all_younger_ones") {
  auto rig = asking();
  const StreamId elsewhere{JobId{7}, 2, kSource, kOther};
  const Instant late = kStart + SenderOptions{}.starvation + microseconds{100};
  rig.receive(late - microseconds{50}, kReceiver, StreamQueued{stream_to_receiver(kSource), 5, 1, 3});
  rig.step(late, StreamOffered{elsewhere, Bytes{1000}});
  const StreamGrant younger{elsewhere, 5, 1, {1, 1}, late + microseconds{2}, late + microseconds{9}, Bytes{1000}};
  rig.receive(late, kOther, younger);
  CHECK(rig.asked<WriteRow>().empty());
  REQUIRE(rig.delivered<StreamRefusal>().size() == 1);
  StreamGrant starved = lawful_grant();
  starved.start = late + microseconds{2};
  starved.end = late + microseconds{13};
  rig.receive(late, kReceiver, starved);
  CHECK(rig.asked<WriteRow>().size() == 1);
}

TEST_CASE("a_sender_that_is_next_tunes_in_the_dark_and_lights_without_tuning_once_granted") {
  auto rig = asking();
  rig.receive(after_us(2), kReceiver, StreamQueued{stream_to_receiver(kSource), 5, 1, 3, true});
  REQUIRE(rig.asked<PreTuneRequest>().size() == 1);
  CHECK(rig.asked<PreTuneRequest>()[0].destination == kReceiver);
  CHECK(rig.asked<WriteRow>().empty());  // nothing permits light
  rig.step(after_us(3), TunedAhead{0, kReceiver});
  REQUIRE(rig.delivered<StreamRequest>().size() == 1);
  CHECK(rig.delivered<StreamRequest>()[0].is_tuned);
  StreamGrant grant = lawful_grant();
  grant.start = after_us(4) + GrantTimings{}.flight;
  rig.receive(after_us(4), kReceiver, grant);
  REQUIRE(rig.asked<WriteRow>().size() == 1);
  CHECK(rig.asked<WriteRow>()[0].row.light_at == after_us(4));
  CHECK(rig.asked<WriteRow>()[0].row.tune_at == after_us(4));
}

TEST_CASE("a_wish_to_tune_that_comes_true_after_a_row_was_taken_says_nothing") {
  auto rig = asking();
  rig.receive(after_us(2), kReceiver, StreamQueued{stream_to_receiver(kSource), 5, 1, 3, true});
  rig.receive(after_us(3), kReceiver, lawful_grant());
  REQUIRE(rig.asked<WriteRow>().size() == 1);
  rig.step(after_us(4), TunedAhead{0, kReceiver});
  CHECK(rig.effects.empty());
}

TEST_CASE("streams_that_are_unlawful_known_or_too_many_are_refused_at_once") {
  auto rig = sender_rig();
  const auto refused = [&](const StreamOffered& offered) {
    rig.step(kStart, offered);
    const auto over = rig.asked<StreamOver>();
    return over.size() == 1 && over[0].end == StreamEnd::refused && rig.delivered<StreamRequest>().empty();
  };
  CHECK(refused({stream_to_receiver(kOther), Bytes{1}}));
  CHECK(refused({{JobId{1}, 1, kSource, kSource}, Bytes{1}}));
  CHECK(refused({{JobId{1}, 1, kSource, NodeId{4}}, Bytes{1}}));
  CHECK(refused({stream_to_receiver(kSource), Bytes{0}}));
  CHECK(refused({stream_to_receiver(kSource), Bytes{limits::kStreamBytes + 1}}));
  for (std::uint64_t i = 1; i <= 4; ++i) {
    rig.step(kStart, StreamOffered{stream_to_receiver(kSource, i), Bytes{1}});
    CHECK(rig.asked<StreamOver>().empty());
  }
  CHECK(refused({stream_to_receiver(kSource, 2), Bytes{1}}));
  CHECK(refused({stream_to_receiver(kSource, 5), Bytes{1}}));
}

TEST_CASE("the_grant_table_lights_late_or_never_but_is_dark_in_time") {
  const GrantRow row{0, stream_to_receiver(kSource), {1, 1}, after_us(1), after_us(2), after_us(5), Bytes{1}};
  GrantTable table(1, Duration{100});
  REQUIRE(table.write(row));
  CHECK_FALSE(table.write(row));  // two rows at one time
  CHECK(table.step(kStart).wake == after_us(1));
  CHECK(table.step(after_us(3)).wake == after_us(3) + Duration{100});  // tuned late
  CHECK_FALSE(table.is_lit(0));
  table.step(after_us(4));
  CHECK(table.is_lit(0));
  const TableStep end = table.step(after_us(5));
  CHECK_FALSE(table.is_lit(0));
  REQUIRE(end.ended_count == 1);
  CHECK(end.ended[0].lit_from == after_us(4));
  CHECK(end.wake == kNever);
  REQUIRE(table.write(row));
  const TableStep missed = table.step(after_us(6));
  REQUIRE(missed.ended_count == 1);
  CHECK(missed.ended[0].lit_from == missed.ended[0].dark_from);
}

TEST_CASE("a_sender_whose_last_idle_transmitter_is_promised_tells_the_arbiters_of_its_oldest_streams_until_when") {
  for (const std::uint32_t transmitters : {1U, 2U}) {
    auto rig = sender_rig(transmitters);
    rig.step(kStart, StreamOffered{stream_to_receiver(kSource), Bytes{100'000}});
    CHECK(rig.delivered<StreamRequest>().at(0).free_at == kStart + tuning_of(GrantTimings{}));
    CHECK_FALSE(rig.delivered<StreamRequest>()[0].is_update);
    const StreamId other{JobId{7}, 1, kSource, kOther};
    rig.step(after_us(1), StreamOffered{other, Bytes{100'000}});
    rig.receive(after_us(2), kReceiver, lawful_grant());
    REQUIRE(rig.asked<WriteRow>().size() == 1);
    const auto updates = rig.delivered<StreamRequest>();
    REQUIRE(updates.size() == (transmitters == 1 ? 1 : 0));
    if (transmitters == 1) {
      CHECK(updates[0].stream == other);
      CHECK(updates[0].number == 1);
      CHECK(updates[0].is_update);
      CHECK(updates[0].free_at == rig.asked<WriteRow>()[0].row.dark_at + tuning_of(GrantTimings{}));
    }
  }
}

TEST_CASE("a_sender_tells_sixteen_arbiters_at_most_the_oldest_first") {
  SenderOptions options;
  options.node = kSource;
  options.epoch = 5;
  options.nodes = 40;
  GrantRig<StreamSender> rig{StreamSender(options)};
  rig.step(kStart, StreamOffered{stream_to_receiver(kSource), Bytes{100'000}});
  for (std::uint32_t to = 39; to > 1; --to) {
    rig.step(kStart + Duration{40 - to}, StreamOffered{{JobId{7}, 1, kSource, NodeId{to}}, Bytes{100'000}});
  }
  rig.receive(after_us(2), kReceiver, lawful_grant());
  const auto updates = rig.delivered<StreamRequest>();
  REQUIRE(updates.size() == 16);
  for (std::uint32_t i = 0; i < 16; ++i) {
    CHECK(updates[i].stream.destination == NodeId{39 - i});
  }
}
