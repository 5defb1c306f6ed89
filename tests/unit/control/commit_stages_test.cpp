// SPDX-License-Identifier: Apache-2.0
// One commit stage by stage: what is asked of whom, what counts as an answer, when a stage has failed, and what is measured.
// Every instant is written out from the timings.
#include <algorithm>

#include "core/text/format_text.hpp"
#include "tests/unit/control/commit_bench.hpp"

namespace loom {
namespace {

using namespace commit_stages;

// --- the stages ---------------------------------------------------------------------------------------------------------

TEST_CASE("commit: each stage asks every participant once, and ends with the last answer") {
  CommitBench bench({2, 5, 8});
  CHECK(bench.asked<Prepare>() == Nodes{2, 5, 8});
  CHECK(bench.first<Prepare>().plan.node == NodeId{2});
  const Envelope& envelope = bench.sent.front().envelope;
  CHECK(bench.sent.front().to == agent_peer(NodeId{2}));
  CHECK(envelope.role == Role::controller);
  CHECK(envelope.term == Term{4});
  CHECK(envelope.clock == ClockId{9});
  CHECK(envelope.revision == Revision{7});
  CHECK(bench.commit.verdict() == CommitVerdict::running);
  bench.answer(2, Prepared{{}, milliseconds{10}});
  bench.answer(5, Prepared{{}, milliseconds{30}});
  CHECK(bench.sent.empty());
  CHECK(bench.commit.done() == 2);
  CHECK_FALSE(bench.commit.may_have_moved());
  bench.answer(8, Prepared{{}, milliseconds{20}});
  CHECK(bench.asked<Arm>() == Nodes{2, 5, 8});
  CHECK(bench.first<Arm>().fire_at == kStart + milliseconds{30} + kEverybodyReceives);  // the slowest lead
  CHECK(bench.commit.may_have_moved());
  bench.all(Armed{{}, milliseconds{100}});
  CHECK(bench.sent.empty());
  CHECK(bench.commit.verdict() == CommitVerdict::wants_going);
  CHECK(bench.commit.next_tick() == kNever);
  bench.go();
  CHECK(bench.asked<Go>() == Nodes{2, 5, 8});
  CHECK(bench.first<Go>().fire_at == bench.now + milliseconds{30});  // the slowest lead once more
  CHECK(bench.commit.verdict() == CommitVerdict::running);
  bench.now += milliseconds{300};
  bench.all(Darkened{{}, milliseconds{1}});
  CHECK(bench.asked<Proceed>() == Nodes{2, 5, 8});
  CHECK(bench.first<Proceed>().phase == CommitPhase::move);
  bench.all(Settled{{}, milliseconds{2}});
  CHECK(bench.asked<Proceed>() == Nodes{2, 5, 8});
  CHECK(bench.first<Proceed>().phase == CommitPhase::relight);
  CHECK(bench.first<Proceed>().at == bench.now);  // light that stays needs no common start
  bench.all(Applied{{}, {}});
  CHECK(bench.sent.empty());
  CHECK(bench.commit.stage() == CommitState::confirmed);
  CHECK(bench.commit.verdict() == CommitVerdict::applied);
}

TEST_CASE("commit: timeslots begin together, when everybody has heard of it") {
  for (const Nodes& nodes : {Nodes{2, 5}, Nodes{2}}) {
    CommitBench bench(nodes, milliseconds{1});
    bench.advance_to(CommitState::moving);
    bench.all(Settled{{}, {}});
    CHECK(bench.first<Proceed>().at == bench.now + kEverybodyReceives);
  }
}

TEST_CASE("commit: the guard of the first timeslot passes while the word of it is under way") {
  const Duration guard = GENERATE(milliseconds{3}, milliseconds{50});
  CommitBench bench({2, 5}, milliseconds{200}, {}, {milliseconds{70}, guard});
  bench.advance_to(CommitState::moving);
  bench.all(Settled{{}, {}});
  const Instant lit_at = bench.now + kEverybodyReceives;
  CHECK(bench.first<Proceed>().at == lit_at - guard);
  bench.tick(bench.now + kAnswerFloor);  // repeated as long as somebody might miss the light
  CHECK(bench.asked<Proceed>() == Nodes{2, 5});
  CHECK(bench.first<Proceed>().at == lit_at - guard);
}

TEST_CASE("commit: nobody takes part in a commit that changes nobody") {
  auto result = std::make_shared<PlanResult>();
  result->plan.revision = Revision{7};
  AnswerTimes answers;
  FabricCommit commit(result, timings(), {answers}, {"why"}, kStart);
  EffectSink sink;
  commit.begin(kStart, kHeader, sink);
  CHECK(commit.verdict() == CommitVerdict::wants_going);
  commit.go(kStart, kHeader, sink);
  CHECK(commit.verdict() == CommitVerdict::applied);
  CHECK(sink.effects().empty());
  CHECK(commit.report(kStart).wait == Duration{0});
}

TEST_CASE("commit: who ran ahead is not asked again, and is counted once") {
  CommitBench bench({2, 5});
  bench.advance_to(CommitState::darkening);
  bench.answer(2, Darkened{{}, {}});
  bench.answer(2, Settled{{}, {}});  // it has no switch that moves
  CHECK(bench.sent.empty());
  CHECK(bench.commit.done() == 1);
  CHECK(bench.commit.stage() == CommitState::darkening);
  bench.answer(5, Darkened{{}, {}});
  CHECK(bench.commit.stage() == CommitState::moving);
  CHECK(bench.asked<Proceed>() == Nodes{5});
  CHECK(bench.commit.done() == 1);
  bench.answer(5, Settled{{}, {}});
  CHECK(bench.commit.stage() == CommitState::relighting);
  CommitBench all_ahead({2, 5});
  all_ahead.advance_to(CommitState::darkening);
  all_ahead.answer(2, Settled{{}, {}});
  CHECK(all_ahead.commit.stage() == CommitState::darkening);
  all_ahead.answer(5, Settled{{}, {}});
  CHECK(all_ahead.commit.stage() == CommitState::relighting);  // the moving stage is over before it began
  CHECK(all_ahead.first<Proceed>().phase == CommitPhase::relight);
}

// --- what counts as an answer -------------------------------------------------------------------------------------------

TEST_CASE("commit: repeated answers, answers of others and other words change nothing") {
  CommitBench bench({2, 5});
  bench.answer(2, Prepared{{}, milliseconds{10}});
  bench.answer(2, Prepared{{}, milliseconds{500}});
  CHECK(bench.commit.done() == 1);
  bench.answer(3, Prepared{{}, milliseconds{500}});
  bench.answer(9, Prepared{{}, milliseconds{500}});
  bench.answer(5, Heartbeat{});
  CHECK(bench.commit.done() == 1);
  CHECK(bench.commit.verdict() == CommitVerdict::running);
  bench.answer(5, Prepared{{}, milliseconds{10}});
  CHECK(bench.first<Arm>().fire_at == kStart + milliseconds{10} + kEverybodyReceives);
  bench.answer(2, Prepared{{}, milliseconds{500}});  // late, of the stage before
  CHECK(bench.commit.done() == 0);
  CHECK(bench.commit.report(kStart).prepare_ack.count == 2);
  bench.answer(2, Armed{{}, milliseconds{50}});
  bench.answer(2, Armed{{}, milliseconds{10}});
  CHECK(bench.commit.report(kStart).slack.count == 1);
  bench.advance_to(CommitState::confirmed);
}

TEST_CASE("commit: T comes as soon as one more word is heard, by what the arming took, and never later than it was armed for") {
  CommitBench bench({2, 5});
  bench.now += milliseconds{9};
  bench.all(Prepared{{}, milliseconds{1}});
  const Instant armed_for = bench.first<Arm>().fire_at;
  Duration waited{};
  SECTION("as the slowest answer") {
    bench.now += milliseconds{3};
    bench.answer(2, Armed{{}, milliseconds{50}});
    bench.now += milliseconds{2};
    bench.answer(5, Armed{{}, milliseconds{50}});
    bench.now += milliseconds{1};  // the journal's row
    bench.go();
    waited = milliseconds{1 + 5 + 2 * 1};
  }
  SECTION("the journal took nearly until T") {
    bench.all(Armed{{}, milliseconds{50}});
    bench.now = armed_for - milliseconds{1};
    bench.go();
    waited = milliseconds{1};
    CHECK(bench.first<Go>().fire_at == armed_for);
  }
  SECTION("beyond T") {
    bench.all(Armed{{}, milliseconds{50}});
    bench.now = armed_for + milliseconds{5};
    bench.go();
    CHECK(bench.first<Go>().fire_at == armed_for);
    return;
  }
  CHECK(bench.first<Go>().fire_at <= armed_for);
  const Instant fires = bench.first<Go>().fire_at;
  CHECK(fires - bench.now <= waited);
  CHECK(bench.commit.next_tick() == fires + timings().retry_interval);
  bench.now = fires + milliseconds{4};
  bench.all(Darkened{{}, {}});
  const CommitReport report = bench.commit.report(bench.now);
  CHECK(report.darken == milliseconds{4});
  CHECK(report.prepare + report.arm + report.wait + report.darken == bench.now - kStart);
}

TEST_CASE("commit: where arming lost words Go is said again and again until T, since nobody says that he heard it") {
  CommitBench bench({2, 5, 8});
  bench.now += milliseconds{4};
  bench.all(Prepared{{}, milliseconds{1}});
  bench.answer(2, Armed{{}, milliseconds{50}});
  bench.answer(5, Armed{{}, milliseconds{50}});
  bench.tick(bench.commit.next_tick());
  CHECK(bench.asked<Arm>() == Nodes{8});
  bench.answer(8, Armed{{}, milliseconds{50}});
  bench.go();
  const Instant fires = bench.first<Go>().fire_at;
  std::size_t repeats = 0;
  while (bench.commit.next_tick() < fires) {
    bench.tick(bench.commit.next_tick());
    CHECK(bench.asked<Go>() == Nodes{2, 5, 8});
    CHECK(bench.first<Go>().fire_at == fires);
    ++repeats;
  }
  CHECK(repeats >= 1);
  CHECK(bench.commit.next_tick() >= fires + timings().retry_interval);
  bench.now = fires;
  bench.all(Darkened{{}, {}});
  CHECK(bench.commit.stage() == CommitState::moving);
}

TEST_CASE("commit: who answers while the journal is waited for is not asked for that any more") {
  CommitBench bench({2, 5});
  bench.all(Prepared{{}, milliseconds{10}});
  bench.all(Armed{{}, milliseconds{100}});
  REQUIRE(bench.commit.stage() == CommitState::firing);
  bench.answer(2, Darkened{{}, milliseconds{1}});
  CHECK(bench.commit.stage() == CommitState::firing);
  CHECK(bench.sent.empty());
  bench.go();
  CHECK(bench.asked<Go>() == Nodes{5});
  bench.answer(5, Darkened{{}, milliseconds{1}});
  CHECK(bench.commit.stage() == CommitState::moving);
}

TEST_CASE("commit: an answer beyond its stage counts for the stages before it") {
  CommitBench bench({2, 5});
  bench.answer(2, Armed{{}, milliseconds{50}});  // it remembers this revision
  CHECK(bench.commit.done() == 1);
  bench.answer(5, Prepared{{}, {}});
  CHECK(bench.asked<Arm>() == Nodes{5});
  bench.answer(5, Armed{{}, milliseconds{50}});
  CHECK(bench.commit.verdict() == CommitVerdict::wants_going);
}

TEST_CASE("commit: a refusal fails the commit, names the node and its words, and nothing is heard after it") {
  CommitBench bench({2, 5});
  bench.answer(5, Prepared{{Error{ErrorCode::refused, "the laser is locked"}}, {}});
  CHECK(bench.commit.verdict() == CommitVerdict::failed);
  CHECK(bench.commit.failure().why == "node 5 while preparing: the laser is locked");
  CHECK(bench.commit.failure().node == NodeId{5});
  CHECK(bench.commit.failure().kind != CommitFailureKind::late);
  CHECK(bench.commit.failure().kind != CommitFailureKind::interrupted);
  CHECK(bench.commit.next_tick() == kNever);
  bench.answer(2, Prepared{{}, {}});
  bench.answer(2, Prepared{{Error{ErrorCode::timed_out, "too late"}}, {}});
  CHECK(bench.commit.done() == 0);
  CHECK(bench.commit.failure().node == NodeId{5});
  CHECK(bench.commit.failure().kind != CommitFailureKind::late);
  bench.tick(kStart + seconds{60});
  CHECK(bench.sent.empty());
  CHECK(bench.commit.failure().why == "node 5 while preparing: the laser is locked");
  bench.commit.interrupt(NodeId{2});
  CHECK(bench.commit.failure().kind != CommitFailureKind::interrupted);
  CHECK(bench.commit.failure().node == NodeId{5});
  bench.commit.fail_with({"something else"});
  CHECK(bench.commit.failure().why == "node 5 while preparing: the laser is locked");
}

TEST_CASE("commit: who was too late for an instant is told apart") {
  CommitBench bench({2, 5});
  bench.advance_to(CommitState::arming);
  bench.answer(2, Armed{{Error{ErrorCode::timed_out, "T has passed"}}, Duration{-5}});
  CHECK(bench.commit.failure().why == "node 2 while arming: T has passed");
  CHECK(bench.commit.failure().kind == CommitFailureKind::late);
}

TEST_CASE("commit: an agent that has forgotten what it had prepared has started again, one that never prepared refuses") {
  const Outcome stale{Error{ErrorCode::stale_revision, "unknown revision"}};
  CommitBench forgot({2, 5});
  forgot.advance_to(CommitState::arming);
  forgot.answer(2, Armed{stale, {}});
  CHECK(forgot.commit.failure().kind == CommitFailureKind::interrupted);
  CHECK(forgot.commit.failure().why == "node 2 started again in the middle of the commit");
  CHECK(forgot.commit.failure().node == NodeId{2});
  CommitBench refused({2, 5});
  refused.answer(2, Prepared{stale, {}});
  CHECK(refused.commit.failure().kind != CommitFailureKind::interrupted);
  CHECK(refused.commit.failure().why == "node 2 while preparing: unknown revision");
  CommitBench reported({2, 5});
  reported.commit.interrupt(NodeId{5});
  CHECK(reported.commit.failure().kind == CommitFailureKind::interrupted);
  CHECK(reported.commit.verdict() == CommitVerdict::failed);
}

// --- time ---------------------------------------------------------------------------------------------------------------

TEST_CASE("commit: who has not answered is asked again at each interval, and nobody else") {
  CommitBench bench({2, 4, 5, 8, 9});
  for (const std::uint32_t node : {4U, 5U, 9U}) {
    bench.answer(node, Prepared{{}, milliseconds{10}});
  }
  CHECK(bench.commit.next_tick() == kStart + milliseconds{50});
  bench.tick(kStart + milliseconds{50} - Duration{1});
  CHECK(bench.sent.empty());
  bench.tick(kStart + milliseconds{50});
  CHECK(bench.asked<Prepare>() == Nodes{2, 8});
  CHECK(bench.commit.next_tick() == kStart + milliseconds{100});
  bench.tick(kStart + milliseconds{100});
  CHECK(bench.asked<Prepare>() == Nodes{2, 8});
  CHECK(bench.commit.report(bench.now).resent == 4);
  bench.commit.fail_with({"enough"});
  bench.tick(kStart + milliseconds{150});
  CHECK(bench.sent.empty());
}

TEST_CASE("commit: where most do not answer they are asked ever less often, until they do") {
  CommitBench bench({2, 5, 8});
  Instant at = kStart;
  for (const Duration interval : {milliseconds{50}, milliseconds{100}, milliseconds{200}}) {
    at += interval;
    REQUIRE(bench.commit.next_tick() == at);
    bench.tick(at);
    CHECK(bench.asked<Prepare>() == Nodes{2, 5, 8});
  }
  bench.answer(2, Prepared{{}, milliseconds{10}});
  bench.answer(8, Prepared{{}, milliseconds{10}});
  for (int i = 0; i < 2; ++i) {  // as often as was chosen last
    at += milliseconds{400};
    REQUIRE(bench.commit.next_tick() == at);
    bench.tick(at);
    CHECK(bench.asked<Prepare>() == Nodes{5});
  }
}

TEST_CASE("commit: where most were asked twice the whole stage bounds an answer, and many that are late are no loss") {
  std::vector<std::uint32_t> nodes{0, 1, 2, 3, 4, 5, 6, 7, 8};
  CommitBench bench(nodes);
  bench.answer(0, Prepared{{}, {}});  // at once; the others wait for each other
  bench.tick(kStart + milliseconds{50});
  REQUIRE(bench.asked<Prepare>().size() == 8);
  bench.now = kStart + milliseconds{90};
  for (std::uint32_t node = 1; node < 9; ++node) {
    bench.answer(node, Prepared{{}, {}});
  }
  REQUIRE(bench.commit.stage() == CommitState::arming);
  const Duration lead = bench.first<Arm>().fire_at - bench.now;
  const std::uint32_t tries = 1 + bench.answers.repeats(9, timings().arm_repeats);
  CHECK(lead == milliseconds{90} * tries + milliseconds{20} + 2 * milliseconds{1});
  AnswerTimes without_loss;
  without_loss.count(9, 0);
  CHECK(bench.answers.repeats(9, 9) == without_loss.repeats(9, 9));
}

/// Ticks up to the instant before the stage fails, and then at it; the failure.
std::string fails_exactly_at(CommitBench& bench, Instant deadline) {
  while (bench.commit.next_tick() < deadline) {
    bench.tick(bench.commit.next_tick());
    REQUIRE(bench.commit.verdict() == CommitVerdict::running);
    REQUIRE_FALSE(bench.sent.empty());
  }
  CHECK(bench.commit.next_tick() == deadline);
  bench.tick(deadline - Duration{1});
  REQUIRE(bench.commit.verdict() == CommitVerdict::running);
  bench.tick(deadline);
  REQUIRE(bench.commit.verdict() == CommitVerdict::failed);
  return bench.commit.failure().why;
}

TEST_CASE("commit: every stage has its deadline, to the nanosecond, and names who is silent") {
  const Duration tuned_ahead = GENERATE(Duration{}, Duration{seconds{30}});
  CommitBench preparing({2, 5}, {}, {tuned_ahead, seconds{60}});
  preparing.answer(2, Prepared{{}, {}});
  CHECK(fails_exactly_at(preparing, kStart + tuned_ahead + seconds{5}) ==
        format_text("1 of 2 agents did not answer while preparing (node 5) within {} ms",
                    (tuned_ahead + seconds{5}) / milliseconds{1}));
  CHECK(preparing.commit.failure().node == NodeId{5});
  CHECK(preparing.commit.failure().kind != CommitFailureKind::late);

  CommitBench arming({2, 5});
  arming.advance_to(CommitState::arming);
  CHECK(fails_exactly_at(arming, kStart + milliseconds{10} + kEverybodyReceives) ==
        "2 of 2 agents did not answer while arming (node 2, 5) within 40 ms");
  CHECK(arming.commit.failure().node == NodeId{2});
  CHECK(arming.commit.failure().kind == CommitFailureKind::late);  // T came before they had answered

  CommitBench moving({2, 5}, {}, GENERATE(MoveTimes{seconds{60}, {}}, MoveTimes{seconds{7}, seconds{60}}));
  moving.advance_to(CommitState::moving);
  CHECK(fails_exactly_at(moving, moving.now + milliseconds{10} + seconds{60} + seconds{5}) ==
        "2 of 2 agents did not answer while moving (node 2, 5) within 65010 ms");
  CHECK(moving.commit.failure().kind != CommitFailureKind::late);

  CommitBench relighting({2, 5});
  relighting.advance_to(CommitState::relighting);
  CHECK(fails_exactly_at(relighting, relighting.now + milliseconds{10} + seconds{5}) ==
        "2 of 2 agents did not answer while relighting (node 2, 5) within 5010 ms");
}

TEST_CASE("commit: light waits for a hologram's time by the controller's own clock, whatever agents say") {
  CommitBench bench({2, 5}, {}, {{}, milliseconds{200}, milliseconds{100}});
  bench.advance_to(CommitState::moving);
  const Instant began = bench.now;
  bench.now += milliseconds{3};
  bench.all(Settled{});
  CHECK(bench.commit.stage() == CommitState::moving);
  CHECK(bench.commit.next_tick() == began + milliseconds{100});
  bench.tick(began + milliseconds{100} - Duration{1});
  CHECK(bench.commit.stage() == CommitState::moving);
  bench.tick(began + milliseconds{100});
  CHECK(bench.commit.stage() == CommitState::relighting);
  CommitBench late({2, 5}, {}, {{}, milliseconds{200}, milliseconds{100}});
  late.advance_to(CommitState::moving);
  late.now += milliseconds{101};
  late.all(Settled{});
  CHECK(late.commit.stage() == CommitState::relighting);
}

TEST_CASE("commit: T leaves room for what answers took, for repeats where messages are lost, and for lateness") {
  const auto lead_of = [](Duration prepare, CommitPaceOptions pace) {
    FabricCommit commit(CommitBench::result_of({2, 5}, {}), timings(), pace, {"why"}, kStart);
    EffectSink sink;
    commit.begin(kStart, kHeader, sink);
    EffectSink arms;
    for (const std::uint32_t node : {2U, 5U}) {
      commit.on_answer(NodeId{node}, Prepared{{}, {}}, kStart + prepare, kHeader, arms);
    }
    return std::get<Arm>(std::get<Send>(arms.effects().front()).envelope.body).fire_at - (kStart + prepare);
  };
  const Duration fixed = milliseconds{20} + 2 * milliseconds{1};
  AnswerTimes nothing;
  CHECK(lead_of(milliseconds{7}, {nothing}) == 4 * milliseconds{7} + fixed);  // what the larger message took
  AnswerTimes quiet;
  quiet.count(1'000, 0);
  CHECK(lead_of(milliseconds{7}, {quiet}) == 2 * milliseconds{7} + fixed);  // one repeat
  AnswerTimes measured;
  measured.count(1'000, 0);
  measured.add(2, milliseconds{4});  // and half of it as its deviation
  CHECK(lead_of(milliseconds{80}, {measured}) == 2 * milliseconds{12} + fixed);
  CHECK(lead_of(milliseconds{80}, {measured, 4, milliseconds{3}}) ==
        4 * (2 * milliseconds{12} + milliseconds{3} + milliseconds{20}) + 2 * milliseconds{1});
}

TEST_CASE("commit: of a repeated request nobody knows which copy was answered, so it measures nothing but a loss") {
  CommitBench bench({2, 5});
  bench.advance_to(CommitState::arming);
  bench.tick(bench.commit.next_tick());
  REQUIRE(bench.asked<Arm>() == Nodes{2, 5});
  bench.all(Armed{{}, milliseconds{10}});
  CHECK_FALSE(bench.answers.bound(2));
  CHECK(bench.answers.repeats(1, 9) == 9);
  CommitBench half({2, 5});
  half.advance_to(CommitState::arming);
  half.now += microseconds{300};
  half.answer(2, Armed{{}, milliseconds{10}});
  half.tick(half.commit.next_tick());
  REQUIRE(half.asked<Arm>() == Nodes{5});
  half.now += milliseconds{5};
  half.answer(5, Armed{{}, milliseconds{10}});
  CHECK(half.answers.bound(2) == kAnswerFloor);  // 0.3 ms and twice of it
}

TEST_CASE("commit: nobody is asked again to be dark before T, and the deadline counts from there") {
  CommitBench bench({2, 5});
  bench.advance_to(CommitState::darkening);
  const Instant fire = kStart + milliseconds{10};  // the agents' lead, longer than a word takes
  CHECK(bench.commit.next_tick() == fire + milliseconds{50});
  CHECK(fails_exactly_at(bench, fire + seconds{5}).starts_with("2 of 2 agents did not answer while darkening"));
  CommitBench late({2, 5});
  late.advance_to(CommitState::arming);
  late.all(Armed{{}, milliseconds{100}});
  late.now = kStart + seconds{2};  // the journal was slow: T has passed
  late.go();
  CHECK(late.commit.next_tick() == late.now + milliseconds{50});
  CHECK(fails_exactly_at(late, late.now + seconds{5}).starts_with("2 of 2 agents"));
}

TEST_CASE("commit: five silent agents are named, more are counted") {
  CommitBench five({0, 1, 2, 3, 4});
  CHECK(fails_exactly_at(five, kStart + seconds{5}) ==
        "5 of 5 agents did not answer while preparing (node 0, 1, 2, 3, 4) within 5000 ms");
  CommitBench seven({0, 1, 2, 3, 4, 6, 8});
  seven.answer(0, Prepared{{}, {}});
  CHECK(fails_exactly_at(seven, kStart + seconds{5}) ==
        "6 of 7 agents did not answer while preparing (node 1, 2, 3, 4, 6, ...) within 5000 ms");
}

// --- what is said and measured ------------------------------------------------------------------------------------------

TEST_CASE("commit: abandon and confirm go to everybody who takes part") {
  CommitBench bench({2, 5});
  bench.step([&](EffectSink& sink) { bench.commit.abandon(kHeader, sink); });
  CHECK(bench.asked<Abandon>() == Nodes{2, 5});
  bench.step([&](EffectSink& sink) { bench.commit.confirm(kHeader, sink); });
  CHECK(bench.asked<Confirm>() == Nodes{2, 5});
  CHECK(bench.commit.takes_part(NodeId{5}));
  CHECK_FALSE(bench.commit.takes_part(NodeId{4}));
  CHECK_FALSE(bench.commit.takes_part(NodeId{9}));
}

TEST_CASE("commit: a report says how long each stage took and what the agents measured") {
  CommitBench bench({2, 5});
  bench.now += milliseconds{4};
  bench.answer(2, Prepared{{}, milliseconds{10}});
  bench.now += milliseconds{1};
  bench.answer(5, Prepared{{}, milliseconds{10}});  // prepare: 5 ms
  bench.now += milliseconds{2};
  bench.answer(2, Armed{{}, milliseconds{70}});
  bench.now += milliseconds{4};
  bench.answer(5, Armed{{}, milliseconds{90}});  // arm: 6 ms
  const Duration wait = milliseconds{10};        // the agents' lead, longer than the 6 ms that a word takes, and both clocks
  const Instant fire = bench.now + wait;
  bench.go();
  bench.now = fire + milliseconds{7};
  bench.answer(2, Darkened{{}, milliseconds{1}});
  bench.answer(5, Darkened{{}, milliseconds{3}});  // darken: 7 ms after T
  bench.now += milliseconds{8};
  bench.all(Settled{{}, {}});  // move: 8 ms
  bench.now += milliseconds{9};
  bench.answer(2, Applied{{}, FireReport{{}, {}, {}, milliseconds{40}, 2}});
  const CommitReport before = bench.commit.report(bench.now);
  CHECK(before.dark.count == 1);
  bench.answer(5, Applied{{}, FireReport{{}, {}, {}, Duration{0}, 0}});  // nothing of it was dark
  const CommitReport report = bench.commit.report(bench.now);
  CHECK(report.revision == Revision{7});
  CHECK(report.base == Revision{6});
  CHECK(report.reason == "why");
  CHECK(report.agents == 2);
  CHECK(report.circuits == 3);
  CHECK(report.touched == 2);
  CHECK(report.switches_moved == 1);
  CHECK(report.started == kStart);
  CHECK(report.plan == milliseconds{3});
  CHECK(report.prepare == milliseconds{5});
  CHECK(report.arm == milliseconds{6});
  CHECK(report.wait == wait);
  CHECK(report.darken == milliseconds{7});
  CHECK(report.move == milliseconds{8});
  CHECK(report.relight == milliseconds{9});
  CHECK(report.total == bench.now - kStart);
  CHECK(report.prepare_ack.min == milliseconds{4});
  CHECK(report.prepare_ack.max == milliseconds{5});
  CHECK(report.arm_ack.min == milliseconds{2});
  CHECK(report.arm_ack.max == milliseconds{6});
  CHECK(report.slack.min == milliseconds{70});
  CHECK(report.slack.max == milliseconds{90});
  CHECK(report.lateness.min == milliseconds{1});
  CHECK(report.lateness.max == milliseconds{3});
  CHECK(report.dark.count == 1);
  CHECK(report.dark.max == milliseconds{40});
}

TEST_CASE("commit: what is measured of an agent that failed to apply is not a dark time") {
  CommitBench bench({2, 5});
  bench.advance_to(CommitState::relighting);
  bench.answer(2, Applied{{Error{ErrorCode::device_error, "it went out"}}, FireReport{{}, {}, {}, milliseconds{40}, 2}});
  CHECK(bench.commit.report(bench.now).dark.count == 0);
  CHECK(bench.commit.failure().why == "node 2 while relighting: it went out");
}

TEST_CASE("commit: being dark before T is no negative time, and a T that has passed no negative wait") {
  CommitBench bench({2});
  bench.advance_to(CommitState::darkening);
  bench.all(Darkened{{}, milliseconds{-1}});
  CHECK(bench.commit.report(bench.now).darken == Duration{0});
  CHECK(bench.commit.report(bench.now).wait == milliseconds{10});
}

}  // namespace
}  // namespace loom
