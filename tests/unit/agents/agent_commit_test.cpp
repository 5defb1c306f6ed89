// SPDX-License-Identifier: Apache-2.0
// One revision on one agent: stages, answers, refusals. Asserts on what reached the fake devices, and when.
#include <catch2/catch.hpp>

#include "tests/unit/agents/agent_bench.hpp"

using namespace loom;
using namespace loom::test;

namespace {

bool refused_as(const Outcome& outcome, ErrorCode code) { return outcome.error && outcome.error->code == code; }

void prepare_and_arm(AgentBench& bench, const NodePlan& plan, Instant fire_at) {
  bench.receive(plan.revision, Prepare{plan});
  bench.receive(plan.revision, Arm{fire_at});
}

}  // namespace

TEST_CASE("reads_before_it_writes_and_greets_with_what_it_saw") {
  AgentBench bench;
  bench.device(bench.lasers[0]).emitting = true;
  bench.start(99);
  bench.run_for(milliseconds{50});
  REQUIRE(bench.last<Hello>() != nullptr);
  const Hello& hello = *bench.last<Hello>();
  CHECK(hello.boot_id == 99);
  CHECK(hello.applied == Revision{});
  CHECK(hello.devices.size() == 6);
  CHECK(std::all_of(hello.devices.begin(), hello.devices.end(),
                    [](const DeviceState& each) { return each.health == DeviceHealth::ready; }));
  CHECK(bench.log.empty());
  CHECK(bench.device(bench.lasers[0]).emitting);
}

TEST_CASE("a_revision_is_lit_in_the_order_of_the_road") {
  AgentBench bench;
  bench.start();
  bench.run_for(milliseconds{50});
  const NodePlan plan = bench.static_plan(1, 16);
  bench.receive(plan.revision, Prepare{plan});
  REQUIRE(bench.last<Prepared>() != nullptr);
  CHECK(bench.last<Prepared>()->outcome.ok());
  CHECK(bench.last<Prepared>()->lead > Duration::zero());
  const Instant fire_at = bench.now + milliseconds{20};
  bench.receive(plan.revision, Arm{fire_at});
  REQUIRE(bench.last<Armed>() != nullptr);
  CHECK(bench.last<Armed>()->slack == milliseconds{20});
  bench.receive(plan.revision, Go{});
  bench.run_until(fire_at - microseconds{1});
  CHECK(bench.log.empty());
  CHECK(bench.count<Darkened>() == 0);

  bench.run_for(milliseconds{100});  // lasers move in the dark; what steers waits
  REQUIRE(bench.last<Darkened>() != nullptr);
  CHECK(bench.last<Darkened>()->outcome.ok());
  CHECK(bench.actuations(bench.lasers[0], Op::move) == 1);
  CHECK(bench.actuations(bench.heaters[0]) == 0);
  CHECK(bench.actuations(bench.switches[0]) == 0);
  CHECK(bench.count<Settled>() == 0);

  bench.receive(plan.revision, Proceed{CommitPhase::move, {}});
  bench.run_for(milliseconds{100});
  REQUIRE(bench.last<Settled>() != nullptr);
  CHECK(bench.last<Settled>()->settle >= milliseconds{3});
  CHECK(bench.actuations(bench.switches[1], Op::move) == 1);
  CHECK(bench.actuations(bench.lasers[0], Op::light) == 0);

  const Instant relight_at = bench.now + milliseconds{10};
  bench.receive(plan.revision, Proceed{CommitPhase::relight, relight_at});
  bench.run_for(milliseconds{100});
  REQUIRE(bench.last<Applied>() != nullptr);
  const Applied& applied = *bench.last<Applied>();
  CHECK(applied.outcome.ok());
  CHECK(applied.fire.slack == milliseconds{20});
  CHECK(applied.fire.dark > milliseconds{200});
  CHECK(applied.fire.writes == 8);  // 2 lasers moved and lit, 2 heaters, 2 switches
  for (const Actuation& each : bench.log) {
    CHECK((each.op != Op::light || each.ordered >= relight_at));
  }
  CHECK(bench.device(bench.lasers[1]).emitting);
  bench.receive(plan.revision, Confirm{});
  CHECK(bench.agent->commit().confirmed() == Revision{1});
  CHECK(bench.agent->commit().state() == RevisionState::idle);
}

TEST_CASE("a_touched_laser_is_blanked_where_it_is_before_it_moves") {
  AgentBench bench;
  bench.start();
  bench.commit(bench.static_plan(1, 16));
  bench.log.clear();
  bench.commit(bench.static_plan(2, 32));
  std::vector<Op> ops;
  for (const Actuation& each : bench.log) {
    if (each.device == bench.lasers[0]) {
      ops.push_back(each.op);
    }
  }
  CHECK(ops == std::vector<Op>{Op::dark, Op::move, Op::light});
  CHECK(bench.log.front().setpoint == laser_at(16, false));  // dark at the old frequency
}

TEST_CASE("a_laser_that_says_when_it_is_dark_is_told_at_once_where_to_stand") {
  AgentBench bench;
  bench.start();
  bench.commit(bench.static_plan(1, 16));
  for (const DeviceId laser : bench.lasers) {
    bench.device(laser).tells_dark = true;
    bench.device(laser).settle_time = milliseconds{40};
  }
  bench.log.clear();
  bench.sent.clear();
  const NodePlan plan = bench.static_plan(2, 32);
  const Instant fire_at = bench.now + milliseconds{10};
  prepare_and_arm(bench, plan, fire_at);
  const bool goes_before = GENERATE(true, false);
  if (goes_before) {
    bench.receive(plan.revision, Go{});
  }
  bench.run_for(milliseconds{30});
  CHECK_FALSE(bench.device(bench.lasers[0]).emitting);
  CHECK(bench.actuations(bench.lasers[0], Op::move) == (goes_before ? 1 : 0));
  CHECK(bench.count<Darkened>() == (goes_before ? 1 : 0));
  CHECK(bench.count<Settled>() == 0);
  if (!goes_before) {
    bench.receive(plan.revision, Go{});
  }
  bench.step_until<Darkened>();
  bench.receive(plan.revision, Proceed{CommitPhase::move, {}});
  bench.step_until<Settled>();
  CHECK(bench.now >= fire_at + milliseconds{40});
  bench.receive(plan.revision, Proceed{CommitPhase::relight, bench.now});
  bench.step_until<Applied>();
  std::vector<Op> ops;
  for (const Actuation& each : bench.log) {
    if (each.device == bench.lasers[0]) {
      ops.push_back(each.op);
    }
  }
  CHECK(ops == std::vector<Op>{Op::dark, Op::move, Op::light});
  CHECK(bench.device(bench.lasers[0]).setpoint == laser_at(32, false));
}

TEST_CASE("a_laser_that_is_dark_and_cannot_be_moved_fails_where_it_moves") {
  AgentBench bench;
  bench.start();
  bench.commit(bench.static_plan(1, 16));
  bench.device(bench.lasers[0]).tells_dark = true;
  bench.device(bench.lasers[0]).refuses = Op::move;
  bench.sent.clear();
  const NodePlan plan = bench.static_plan(2, 32);
  prepare_and_arm(bench, plan, bench.now + milliseconds{10});
  bench.receive(plan.revision, Go{});
  bench.run_for(milliseconds{100});
  REQUIRE(bench.last<Darkened>() != nullptr);
  CHECK(bench.last<Darkened>()->outcome.ok());
  bench.receive(plan.revision, Proceed{CommitPhase::move, {}});
  bench.run_for(milliseconds{50});
  REQUIRE(bench.last<Settled>() != nullptr);
  CHECK_FALSE(bench.last<Settled>()->outcome.ok());
  CHECK_FALSE(bench.device(bench.lasers[0]).emitting);
}

TEST_CASE("untouched_devices_that_are_as_planned_are_left_alone") {
  AgentBench bench;
  bench.start();
  bench.commit(bench.static_plan(1, 16));
  bench.log.clear();
  NodePlan plan = bench.static_plan(2, 16, false);
  auto& moved = AgentBench::part(plan, bench.lasers[1]);
  moved.touched = true;
  moved.timeline.front().setpoint = laser_at(48);
  bench.commit(plan);
  REQUIRE(bench.agent->commit().applied() == Revision{2});
  CHECK(bench.actuations(bench.lasers[0]) == 0);
  CHECK(bench.actuations(bench.heaters[0]) == 0);
  CHECK(bench.actuations(bench.switches[0]) == 0);
  CHECK(bench.actuations(bench.lasers[1]) == 3);
}

TEST_CASE("a_restarted_agent_leaves_light_that_is_as_planned_and_untouched") {
  AgentBench bench;
  bench.start();
  bench.commit(bench.static_plan(1, 16));
  bench.start(2);
  bench.log.clear();
  bench.run_for(milliseconds{50});
  bench.commit(bench.static_plan(2, 16, false));
  CHECK(bench.agent->commit().applied() == Revision{2});
  CHECK(bench.log.empty());
  CHECK(bench.device(bench.lasers[0]).emitting);
}

TEST_CASE("a_restarted_agent_puts_right_what_is_not_as_planned") {
  AgentBench bench;
  bench.start();
  bench.commit(bench.static_plan(1, 16));
  bench.start(2);
  bench.run_for(milliseconds{50});
  bench.log.clear();
  bench.commit(bench.static_plan(2, 32, false));
  CHECK(bench.agent->commit().applied() == Revision{2});
  CHECK(bench.log.front().op == Op::dark);
  CHECK(bench.device(bench.lasers[0]).setpoint == laser_at(32, false));
  CHECK(bench.device(bench.lasers[0]).emitting);
}

TEST_CASE("an_agent_without_touched_devices_answers_every_stage") {
  AgentBench bench;
  bench.start();
  bench.commit(bench.static_plan(1, 16));
  bench.log.clear();
  bench.sent.clear();
  bench.commit(bench.static_plan(2, 16, false));
  CHECK(bench.count<Prepared>() == 1);
  CHECK(bench.count<Armed>() == 1);
  CHECK(bench.count<Darkened>() == 1);
  CHECK(bench.count<Settled>() >= 1);
  CHECK(bench.count<Applied>() == 1);
  CHECK(bench.log.empty());
}

TEST_CASE("the_same_request_gets_the_same_answer_at_every_later_stage") {
  AgentBench bench;
  bench.start();
  const NodePlan plan = bench.static_plan(1, 16);
  const Revision revision = plan.revision;
  const Instant fire_at = bench.now + milliseconds{20};
  prepare_and_arm(bench, plan, fire_at);
  bench.receive(revision, Go{});
  bench.step_until<Darkened>();
  bench.receive(revision, Proceed{CommitPhase::move, {}});
  bench.step_until<Settled>();
  bench.receive(revision, Proceed{CommitPhase::relight, bench.now});
  bench.step_until<Applied>();
  const Prepared prepared = *bench.last<Prepared>();
  const Armed armed = *bench.last<Armed>();
  const Darkened darkened = *bench.last<Darkened>();
  const Settled settled = *bench.last<Settled>();
  const Applied applied = *bench.last<Applied>();
  const std::size_t writes = bench.log.size();
  for (const bool confirmed : {false, true}) {
    bench.sent.clear();
    if (confirmed) {
      bench.receive(revision, Confirm{});
    }
    bench.receive(revision, Prepare{plan});  // applied: answered as applied
    bench.receive(revision, Arm{fire_at});
    bench.receive(revision, Go{});
    bench.receive(revision, Proceed{CommitPhase::move, {}});
    bench.receive(revision, Proceed{CommitPhase::relight, bench.now});
    REQUIRE(bench.sent.size() == 5);
    CHECK(std::get<Applied>(bench.sent[0].body) == applied);
    CHECK(std::get<Armed>(bench.sent[1].body) == armed);
    CHECK(std::get<Darkened>(bench.sent[2].body) == darkened);
    CHECK(std::get<Settled>(bench.sent[3].body) == settled);
    CHECK(std::get<Applied>(bench.sent[4].body) == applied);
  }
  CHECK(prepared.outcome.ok());
  CHECK(bench.log.size() == writes);
}

TEST_CASE("a_repeated_prepare_and_arm_change_nothing_while_armed") {
  AgentBench bench;
  bench.start();
  const NodePlan plan = bench.static_plan(1, 16);
  bench.receive(plan.revision, Prepare{plan});
  const Instant fire_at = bench.now + milliseconds{20};
  bench.receive(plan.revision, Arm{fire_at});
  bench.run_for(milliseconds{5});
  bench.is_read_at_once = false;
  bench.receive(plan.revision, Prepare{plan});
  bench.receive(plan.revision, Arm{fire_at});
  CHECK(bench.agent->commit().state() == RevisionState::armed);
  CHECK(bench.count<Prepared>() == 2);
  CHECK(bench.count<Armed>() == 2);
  CHECK(bench.last<Armed>()->slack == milliseconds{20});
}

TEST_CASE("words_ahead_of_their_stage_are_dropped_and_counted") {
  AgentBench bench;
  bench.start();
  const NodePlan plan = bench.static_plan(1, 16);
  bench.receive(plan.revision, Prepare{plan});
  bench.sent.clear();
  bench.receive(plan.revision, Go{});
  bench.receive(plan.revision, Proceed{CommitPhase::move, {}});
  bench.receive(plan.revision, Proceed{CommitPhase::relight, bench.now});
  bench.run_for(milliseconds{50});
  CHECK(bench.agent->commit().early() == 3);
  CHECK(bench.agent->commit().state() == RevisionState::prepared);
  CHECK(bench.log.empty());
  CHECK(bench.count<Applied>() + bench.count<Settled>() + bench.count<Darkened>() == 0);
}

TEST_CASE("without_go_only_touched_transmitters_go_dark_and_nothing_moves") {
  AgentBench bench;
  bench.start();
  bench.commit(bench.static_plan(1, 16));
  bench.log.clear();
  bench.sent.clear();
  NodePlan plan = bench.static_plan(2, 32, false);
  AgentBench::part(plan, bench.lasers[0]).touched = true;
  AgentBench::part(plan, bench.lasers[1]).timeline.front().setpoint = laser_at(16);
  prepare_and_arm(bench, plan, bench.now + milliseconds{10});
  bench.run_for(seconds{2});
  CHECK(bench.agent->commit().state() == RevisionState::dark);
  REQUIRE(bench.log.size() == 1);
  CHECK(bench.log.front().device == bench.lasers[0]);
  CHECK(bench.log.front().op == Op::dark);
  CHECK(bench.count<Darkened>() == 0);  // the answer to a Go that has not come
  bench.receive(plan.revision, Go{});
  bench.run_for(milliseconds{50});
  CHECK(bench.count<Darkened>() == 1);
  CHECK(bench.actuations(bench.lasers[0], Op::move) == 1);
}

TEST_CASE("abandon_at_every_state_forgets_the_revision_and_leaves_it_dark") {
  const auto stage = GENERATE(range(0, 6));
  AgentBench bench;
  bench.start();
  bench.commit(bench.static_plan(1, 16));
  const NodePlan plan = bench.static_plan(2, 32);
  const Revision revision = plan.revision;
  bench.receive(revision, Prepare{plan});
  if (stage >= 1) {
    bench.receive(revision, Arm{bench.now + milliseconds{5}});
  }
  if (stage >= 2) {
    bench.run_for(milliseconds{50});
    REQUIRE(bench.agent->commit().state() == RevisionState::dark);
  }
  if (stage >= 3) {
    bench.receive(revision, Go{});
    bench.run_for(milliseconds{50});
    REQUIRE(bench.agent->commit().state() == RevisionState::moving);
  }
  if (stage >= 4) {
    bench.receive(revision, Proceed{CommitPhase::move, {}});
    bench.run_for(milliseconds{50});
    REQUIRE(bench.agent->commit().state() == RevisionState::settled);
  }
  if (stage >= 5) {
    bench.device(bench.lasers[1]).refuses = Op::read;  // lights, but cannot be proven
    bench.receive(revision, Proceed{CommitPhase::relight, bench.now});
    bench.run_for(microseconds{150});
    REQUIRE(bench.agent->commit().state() == RevisionState::relighting);
    bench.device(bench.lasers[1]).refuses.reset();
  }
  bench.receive(revision, Abandon{});
  bench.run_for(seconds{1});
  INFO("stage " << stage);
  CHECK(bench.agent->commit().state() == RevisionState::idle);
  CHECK(bench.agent->commit().applied() == Revision{1});
  CHECK(bench.device(bench.lasers[0]).emitting == (stage < 2));
  bench.receive(revision, Go{});
  CHECK(refused_as(bench.last<Darkened>()->outcome, ErrorCode::stale_revision));
  bench.receive(revision, Prepare{plan});  // a late duplicate
  CHECK(refused_as(bench.last<Prepared>()->outcome, ErrorCode::stale_revision));
  bench.commit(bench.static_plan(3, 16));  // the return brings the light back
  CHECK(bench.agent->commit().applied() == Revision{3});
  CHECK(bench.device(bench.lasers[0]).emitting);
}

TEST_CASE("a_newer_prepare_displaces_the_older_revision_and_an_older_one_is_stale") {
  AgentBench bench;
  bench.start();
  bench.commit(bench.static_plan(1, 16));
  const NodePlan plan = bench.static_plan(3, 32);
  prepare_and_arm(bench, plan, bench.now + milliseconds{5});
  bench.run_for(milliseconds{50});
  REQUIRE(bench.agent->commit().state() == RevisionState::dark);
  bench.receive(Revision{2}, Prepare{bench.static_plan(2, 48)});
  CHECK(refused_as(bench.last<Prepared>()->outcome, ErrorCode::stale_revision));
  CHECK(bench.agent->commit().in_hand() == Revision{3});
  bench.receive(Revision{4}, Prepare{bench.static_plan(4, 16)});
  CHECK(bench.agent->commit().state() == RevisionState::prepared);
  bench.run_for(milliseconds{50});
  CHECK_FALSE(bench.device(bench.lasers[0]).emitting);
  bench.receive(Revision{3}, Go{});
  CHECK(refused_as(bench.last<Darkened>()->outcome, ErrorCode::stale_revision));
  bench.receive(Revision{1}, Prepare{bench.static_plan(1, 16)});
  CHECK(std::holds_alternative<Applied>(bench.sent.back().body));
}

TEST_CASE("arming_too_late_is_an_underflow_and_may_be_repaired_with_a_later_instant") {
  AgentBench bench;
  bench.start();
  const NodePlan plan = bench.static_plan(1, 16);
  prepare_and_arm(bench, plan, bench.now - milliseconds{5});
  CHECK(refused_as(bench.last<Armed>()->outcome, ErrorCode::timed_out));
  bench.receive(plan.revision, Arm{bench.now + microseconds{10}});
  CHECK(refused_as(bench.last<Armed>()->outcome, ErrorCode::timed_out));
  CHECK(bench.last<Armed>()->outcome.error->message.find("underflow") != std::string::npos);
  CHECK(bench.agent->commit().state() == RevisionState::prepared);
  const Instant later_instant = bench.now + milliseconds{50};
  bench.receive(plan.revision, Arm{later_instant});
  CHECK(bench.last<Armed>()->outcome.ok());
  bench.receive(plan.revision, Arm{bench.now + milliseconds{20}});  // an old duplicate cannot bring T forward
  bench.run_until(later_instant - microseconds{1});
  CHECK(bench.agent->commit().state() == RevisionState::armed);
}

TEST_CASE("an_instant_of_another_clock_is_refused") {
  AgentBench bench;
  bench.start();
  const NodePlan plan = bench.static_plan(1, 16);
  bench.receive(plan.revision, Prepare{plan});
  Envelope envelope;
  envelope.term = bench.term;
  envelope.node = kBenchNode;
  envelope.clock = ClockId{1234};
  envelope.revision = plan.revision;
  envelope.body = Arm{bench.now + milliseconds{50}};
  bench.deliver(MessageArrived{controller_peer(), envelope});
  REQUIRE(refused_as(bench.last<Armed>()->outcome, ErrorCode::refused));
  CHECK(bench.last<Armed>()->outcome.error->message.find("clock_unsynchronised") != std::string::npos);
  bench.run_for(milliseconds{200});
  CHECK(bench.agent->commit().state() == RevisionState::prepared);
}

TEST_CASE("a_stale_term_is_refused_counted_and_moves_nothing") {
  AgentBench bench;
  bench.start();
  bench.receive(Revision{}, Welcome{milliseconds{100}, {}});
  bench.term = Term{4};
  const NodePlan plan = bench.static_plan(1, 16);
  bench.receive(plan.revision, Prepare{plan});
  bench.receive(plan.revision, Arm{bench.now + milliseconds{50}});
  bench.receive(plan.revision, Go{});
  bench.receive(plan.revision, Proceed{CommitPhase::relight, bench.now});
  bench.run_for(milliseconds{200});
  CHECK(bench.agent->counters().stale_term == 4);
  CHECK(refused_as(bench.last<Prepared>()->outcome, ErrorCode::stale_term));
  CHECK(refused_as(bench.last<Applied>()->outcome, ErrorCode::stale_term));
  CHECK(bench.log.empty());
  bench.start(2);  // the term was journalled
  CHECK(bench.agent->term() == Term{5});
}

TEST_CASE("a_newer_controller_may_give_a_number_that_never_went_to_another_plan") {
  const bool had_armed = GENERATE(false, true);
  AgentBench bench;
  bench.start();
  bench.commit(bench.static_plan(1, 16));
  const NodePlan before = bench.static_plan(2, 32);
  bench.receive(Revision{2}, Prepare{before});
  if (had_armed) {
    bench.receive(Revision{2}, Arm{bench.now + milliseconds{5}});
    bench.run_for(milliseconds{50});
    REQUIRE(bench.agent->commit().state() == RevisionState::dark);
  }
  bench.term = Term{bench.term.value + 1};  // it crashed, and of revision 2 nothing was durable
  bench.commit(bench.static_plan(2, 48));
  CHECK(bench.agent->commit().applied() == Revision{2});
  CHECK(std::get<TransmitterSetpoint>(bench.device(bench.lasers[0]).setpoint).slot.n == 48);
  CHECK(bench.device(bench.lasers[0]).emitting);
}

TEST_CASE("unlawful_plans_are_refused_with_the_name_of_the_device") {
  AgentBench bench;
  bench.start();
  NodePlan plan = bench.static_plan(1, 16);
  ErrorCode code = ErrorCode::invalid_argument;
  SECTION("a device is missing") { plan.devices.pop_back(); }
  SECTION("a device is not ours") { plan.devices.push_back({DeviceId{4711}, false, plan.devices.back().timeline}); }
  SECTION("a device is named twice") { plan.devices.push_back(plan.devices.back()); }
  SECTION("a device has no setpoint") { AgentBench::part(plan, bench.lasers[0]).timeline.clear(); }
  SECTION("another kind of setpoint") { AgentBench::part(plan, bench.lasers[0]).timeline.front().setpoint = heater_at(1); }
  SECTION("another node") { plan.node = NodeId{1}; }
  SECTION("the driver says no") {
    AgentBench::part(plan, bench.lasers[0]).timeline.front().setpoint = laser_at(-20'000);
    code = ErrorCode::out_of_range;
  }
  SECTION("a switch with timeslots") {
    AgentBench::part(plan, bench.switches[0]).timeline.front().hold = milliseconds{5};
    code = ErrorCode::unsupported;
  }
  SECTION("timeslots overlap") {
    auto& timeline = AgentBench::part(plan, bench.lasers[0]).timeline;
    timeline.push_back(timeline.front());
  }
  bench.receive(plan.revision, Prepare{plan});
  REQUIRE(bench.last<Prepared>() != nullptr);
  CHECK(refused_as(bench.last<Prepared>()->outcome, code));
  CHECK(bench.agent->commit().state() == RevisionState::failed);
  bench.receive(plan.revision, Arm{bench.now + milliseconds{50}});
  CHECK_FALSE(bench.last<Armed>()->outcome.ok());
  bench.run_for(milliseconds{200});
  CHECK(bench.log.empty());
}

TEST_CASE("a_device_that_fails_is_named_in_the_answer_of_its_stage") {
  AgentBench bench;
  bench.start();
  bench.commit(bench.static_plan(1, 16));
  bench.sent.clear();
  const std::string name = bench.fabric->device(bench.lasers[1]).name;
  const auto reported = [&](const Outcome& outcome) {
    return refused_as(outcome, ErrorCode::device_error) && outcome.error->message.find(name) != std::string::npos;
  };
  SECTION("blanking") {
    bench.device(bench.lasers[1]).refuses = Op::dark;
    bench.commit(bench.static_plan(2, 32));
    CHECK(reported(bench.last<Darkened>()->outcome));
    CHECK(bench.actuations(bench.lasers[0], Op::move) == 1);  // of revision 1 only
  }
  SECTION("moving") {
    bench.device(bench.lasers[1]).refuses = Op::move;
    bench.commit(bench.static_plan(2, 32));
    CHECK(reported(bench.last<Settled>()->outcome));
    CHECK(bench.actuations(bench.lasers[0], Op::light) == 1);
  }
  SECTION("lighting") {
    bench.device(bench.lasers[1]).refuses = Op::light;
    bench.commit(bench.static_plan(2, 32));
    CHECK(reported(bench.last<Applied>()->outcome));
  }
  CHECK(bench.agent->commit().applied() == Revision{1});
  REQUIRE(bench.last<AlarmReport>() != nullptr);
  CHECK(bench.last<AlarmReport>()->alarm.code == AlarmCode::device_failed);
  CHECK(bench.last<AlarmReport>()->alarm.device == bench.lasers[1]);
  bench.device(bench.lasers[1]).refuses.reset();
  bench.commit(bench.static_plan(3, 16));
  CHECK(bench.agent->commit().applied() == Revision{3});
}

TEST_CASE("a_laser_that_never_settles_is_never_relit_on_time_alone") {
  AgentBench bench;
  bench.start();
  bench.device(bench.lasers[0]).settle_time = seconds{3600};
  const NodePlan plan = bench.static_plan(1, 16);
  prepare_and_arm(bench, plan, bench.now + milliseconds{10});
  bench.receive(plan.revision, Go{});
  bench.run_for(seconds{1});
  bench.receive(plan.revision, Proceed{CommitPhase::move, {}});
  bench.receive(plan.revision, Proceed{CommitPhase::relight, bench.now});
  bench.run_for(seconds{10});
  CHECK(bench.agent->commit().state() == RevisionState::moving);
  CHECK(bench.actuations(bench.lasers[0], Op::light) + bench.actuations(bench.lasers[1], Op::light) == 0);
}
