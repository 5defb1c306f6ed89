// SPDX-License-Identifier: Apache-2.0
// Devices that can hold the next setpoint ready, dark lasers among them: when Prepared is said, and what never may be shown;
// and when light goes dark after that.
#include <catch2/catch.hpp>

#include "tests/unit/agents/agent_bench.hpp"

using namespace loom;
using namespace loom::test;

namespace {

/// Both WSS can hold a setpoint ready.
struct PrepareBench : AgentBench {
  PrepareBench() {
    for (const DeviceId id : switches) {
      device(id).can_hold = true;
    }
    is_read_at_once = false;
    start();
    run_for(milliseconds{50});
  }
  static Setpoint planned(NodePlan plan, DeviceId id) { return AgentBench::part(plan, id).timeline.front().setpoint; }
};

}  // namespace

TEST_CASE("prepared_is_said_when_the_devices_hold_what_is_next_and_nothing_has_moved") {
  PrepareBench bench;
  const NodePlan plan = bench.static_plan(1, 16);
  bench.receive(plan.revision, Prepare{plan});
  CHECK(bench.count<Prepared>() == 0);
  CHECK(bench.agent->commit().state() == RevisionState::preparing);
  bench.receive(plan.revision, Prepare{plan});  // the controller repeats what is not answered
  bench.receive(plan.revision, Arm{bench.now + milliseconds{50}});
  CHECK(bench.agent->commit().state() == RevisionState::preparing);
  bench.run_for(milliseconds{20});
  REQUIRE(bench.count<Prepared>() == 1);
  CHECK(bench.last<Prepared>()->outcome.ok());
  for (const DeviceId id : bench.switches) {
    CHECK(bench.device(id).held == bench.planned(plan, id));
    CHECK(bench.actuations(id, Op::hold) == 1);
    CHECK(bench.actuations(id, Op::move) == 0);
  }
  bench.receive(plan.revision, Prepare{plan});
  CHECK(bench.count<Prepared>() == 2);  // the same answer
}

TEST_CASE("a_device_that_cannot_be_made_ready_is_an_error_before_anybody_is_dark") {
  PrepareBench bench;
  bench.device(bench.switches[1]).refuses = Op::hold;
  const NodePlan plan = bench.static_plan(1, 16);
  bench.receive(plan.revision, Prepare{plan});
  bench.run_for(milliseconds{50});
  REQUIRE(bench.count<Prepared>() == 1);
  REQUIRE(bench.last<Prepared>()->outcome.error);
  CHECK(bench.last<Prepared>()->outcome.error->code == ErrorCode::device_error);
  CHECK(bench.agent->commit().state() == RevisionState::failed);
  CHECK(bench.device(bench.switches[0]).held == bench.device(bench.switches[0]).setpoint);  // overwritten
  bench.device(bench.switches[1]).refuses.reset();
  const NodePlan next = bench.static_plan(2, 16);
  bench.receive(next.revision, Prepare{next});
  bench.run_for(milliseconds{50});
  CHECK(bench.last<Prepared>()->outcome.ok());
}

TEST_CASE("what_is_abandoned_or_fenced_is_overwritten_whenever_that_happens") {
  for (const int wait_us : {0, 200, 5'000}) {
    for (const bool fenced : {false, true}) {
      INFO(wait_us << " us, " << (fenced ? "fenced" : "abandoned"));
      PrepareBench bench;
      const NodePlan plan = bench.static_plan(1, 16);
      bench.receive(plan.revision, Prepare{plan});
      bench.run_for(microseconds{wait_us});
      if (fenced) {
        bench.term = Term{bench.term.value + 1};
        bench.receive(Revision{}, Beat{});
      } else {
        bench.receive(plan.revision, Abandon{});
      }
      bench.run_for(milliseconds{50});
      CHECK(bench.agent->commit().state() == RevisionState::idle);
      for (const DeviceId id : bench.switches) {
        CHECK(bench.device(id).held == bench.device(id).setpoint);
        CHECK(bench.actuations(id, Op::move) == 0);
      }
    }
  }
}

// --- dark lasers -----------------------------------------------------------------------------------------------------------

namespace {

/// Lasers are tuned while they are dark; no edge shows anything.
struct DarkTuningBench : AgentBench {
  DarkTuningBench() {
    for (const DeviceId id : lasers) {
      device(id).can_hold = true;
    }
    start();
    run_for(milliseconds{50});
  }
};

}  // namespace

TEST_CASE("dark_lasers_are_tuned_while_the_agent_prepares_and_lit_ones_are_left_alone") {
  DarkTuningBench bench;
  const NodePlan plan = bench.static_plan(1, 16);
  bench.receive(plan.revision, Prepare{plan});
  bench.run_for(milliseconds{20});
  REQUIRE(bench.last<Prepared>()->outcome.ok());
  for (const DeviceId id : bench.lasers) {
    CHECK(bench.actuations(id, Op::hold) == 1);
    CHECK(bench.device(id).held == PrepareBench::planned(plan, id));
    CHECK_FALSE(bench.device(id).emitting);
  }
  bench.commit(plan);
  REQUIRE(bench.agent->commit().applied() == plan.revision);
  const NodePlan next = bench.static_plan(2, 24);
  bench.receive(next.revision, Prepare{next});
  bench.run_for(milliseconds{20});
  for (const DeviceId id : bench.lasers) {
    CHECK(bench.actuations(id, Op::hold) == 1);
    CHECK(bench.device(id).emitting);
  }
}

TEST_CASE("a_laser_that_was_tuned_ahead_is_told_to_be_dark_where_it_stands_with_go_or_without") {
  for (const bool goes : {false, true}) {
    CAPTURE(goes);
    DarkTuningBench bench;
    const NodePlan plan = bench.static_plan(1, 16);
    bench.receive(plan.revision, Prepare{plan});
    bench.run_for(milliseconds{20});
    const Instant at = bench.now + milliseconds{5};
    bench.receive(plan.revision, Arm{at});
    if (goes) {
      bench.receive(plan.revision, Go{});
    }
    bench.run_until(at);
    for (const DeviceId id : bench.lasers) {
      const auto& units = bench.agent->units();
      const Setpoint next = darkened(PrepareBench::planned(plan, id));
      CHECK(units[*units.index_of(id)].commanded == next);
    }
  }
}

TEST_CASE("a_laser_that_was_tuned_for_a_revision_that_came_to_nothing_is_dark_where_it_stands") {
  DarkTuningBench bench;
  const NodePlan plan = bench.static_plan(1, 16);
  bench.receive(plan.revision, Prepare{plan});
  bench.run_for(milliseconds{20});
  bench.receive(plan.revision, Abandon{});
  bench.run_for(milliseconds{50});
  CHECK(bench.agent->commit().state() == RevisionState::idle);
  for (const DeviceId id : bench.lasers) {
    CHECK(bench.actuations(id, Op::light) == 0);
    CHECK_FALSE(bench.device(id).emitting);
  }
  bench.commit(bench.static_plan(2, 24));
  CHECK(bench.agent->commit().applied() == Revision{2});
  CHECK(bench.alarms.empty());
}

// --- edges -----------------------------------------------------------------------------------------------------------------

namespace {

/// Both lasers hold a setpoint ready, and one line fires them.
struct EdgeBench : AgentBench {
  EdgeBench() {
    for (const DeviceId id : lasers) {
      device(id).can_hold = true;
    }
    edges = {{"rack", BusId{static_cast<std::uint32_t>(fabric->buses.size())}, lasers}};
    start();
    run_for(milliseconds{50});
  }
  const EdgeCounters& counters() const { return agent->units().edges().counters(); }
  /// Until its light is due in 5 ms.
  Instant relight(const NodePlan& plan) {
    receive(plan.revision, Prepare{plan});
    step_until<Prepared>();
    receive(plan.revision, Arm{now + milliseconds{5}});
    receive(plan.revision, Go{});
    step_until<Darkened>();
    receive(plan.revision, Proceed{CommitPhase::move, {}});
    step_until<Settled>();
    const Instant at = now + milliseconds{5};
    receive(plan.revision, Proceed{CommitPhase::relight, at});
    return at;
  }
  bool is_lit() { return device(lasers[0]).emitting && device(lasers[1]).emitting; }
};

}  // namespace

TEST_CASE("an_edge_lights_lasers_at_its_instant_and_no_word_does") {
  EdgeBench bench;
  const Instant at = bench.relight(bench.static_plan(1, 16));
  bench.run_until(at - microseconds{1});
  REQUIRE(bench.edge_orders == std::vector<Instant>{at});  // once for both
  CHECK_FALSE(bench.is_lit());
  const std::size_t before = bench.log.size();
  bench.run_until(at);
  CHECK(bench.is_lit());
  CHECK(bench.count<Applied>() == 0);  // nobody has asked the lasers yet
  bench.step_until<Applied>();
  REQUIRE(bench.count<Applied>() == 1);
  CHECK(bench.last<Applied>()->outcome.ok());
  CHECK(bench.log.size() == before);  // the fire that proves it wrote nothing
  CHECK(bench.counters().asked == 1);
  CHECK(bench.counters().fired == 2);
  CHECK(bench.counters().missed == 0);
  CHECK(bench.edge_orders.back() == Instant{});  // a line that goes on by itself is switched off
  CHECK(bench.alarms.empty());
}

TEST_CASE("a_laser_whose_edge_does_not_come_is_lit_by_a_word_and_that_is_an_alarm") {
  EdgeBench bench;
  bench.edges_come = false;
  const Instant at = bench.relight(bench.static_plan(1, 16));
  bench.run_until(at);
  CHECK_FALSE(bench.is_lit());
  bench.step_until<Applied>();
  CHECK(bench.is_lit());
  CHECK(bench.last<Applied>()->outcome.ok());
  CHECK(bench.counters().missed == 2);
  CHECK(bench.actuations(bench.lasers[0], Op::light) == 1);
  REQUIRE(bench.alarms.size() == 1);
  CHECK_THAT(bench.alarms[0].evidence, Catch::Contains("no edge set ") && Catch::Contains("was lit by a word"));
}

TEST_CASE("a_line_that_takes_no_edge_is_named_and_costs_no_time") {
  EdgeBench bench;
  bench.edge_answer.status = BusStatus::exception;
  bench.edge_answer.cause = "/dev/ptp0 is 37000000 us behind this host's TAI";
  const Instant at = bench.relight(bench.static_plan(1, 16));
  bench.step_until<Applied>();
  CHECK(bench.is_lit());
  CHECK(bench.last<Applied>()->outcome.ok());
  for (const auto& order : bench.ordered) {
    if (order.op == Op::read || order.at < at || order.device != bench.lasers[0]) {
      continue;
    }
    CHECK((order.op == Op::light && order.at < at + milliseconds{1}));
  }
  CHECK(bench.counters().refused == 1);
  CHECK(bench.counters().missed == 0);
  REQUIRE(bench.alarms.size() == 1);
  CHECK_THAT(bench.alarms[0].evidence, Catch::Contains("trigger 'rack' gives no edge: /dev/ptp0 is 37000000 us behind"));
}

TEST_CASE("an_edge_that_is_armed_is_taken_back_when_its_light_may_not_come") {
  enum class Why { abandoned, lasers_off, newer };
  const auto why = GENERATE(Why::abandoned, Why::lasers_off, Why::newer);
  EdgeBench bench;
  const Instant at = bench.relight(bench.static_plan(1, 16));
  bench.run_until(at - milliseconds{1});
  REQUIRE(bench.edge_at == at);
  if (why == Why::abandoned) {
    bench.receive(Revision{1}, Abandon{});
  } else if (why == Why::lasers_off) {
    bench.receive(Revision{}, SetLasers{false, 1});
  } else {
    const NodePlan next = bench.static_plan(2, 24);
    bench.receive(next.revision, Prepare{next});
  }
  CHECK_FALSE(bench.edge_at.has_value());
  CHECK(bench.edge_orders.back() == Instant{});
  bench.run_until(at + milliseconds{50});
  CHECK_FALSE(bench.is_lit());
  CHECK_FALSE(bench.device(bench.lasers[0]).emitting);
  CHECK(bench.counters().fired == 0);
}

// --- from there to T ----------------------------------------------------------------------------------------------------

TEST_CASE("an_agent_that_started_again_darkens_nothing_only_because_it_has_not_read_it_yet") {
  AgentBench bench;
  bench.start();
  bench.commit(bench.static_plan(1, 16));
  bench.start(2);
  bench.is_read_at_once = false;
  bench.log.clear();
  bench.sent.clear();
  const NodePlan plan = bench.static_plan(2, 16, false);
  bench.receive(plan.revision, Prepare{plan});
  CHECK(bench.count<Prepared>() == 0);
  bench.step_until<Prepared>();
  REQUIRE(bench.count<Prepared>() == 1);
  const Instant fire_at = bench.now + milliseconds{20};
  bench.receive(plan.revision, Arm{fire_at});
  bench.receive(plan.revision, Go{bench.now});
  bench.step_until<Darkened>();
  bench.receive(plan.revision, Proceed{CommitPhase::move, {}});
  bench.step_until<Settled>();
  bench.receive(plan.revision, Proceed{CommitPhase::relight, bench.now});
  bench.step_until<Applied>();
  REQUIRE(bench.last<Applied>() != nullptr);
  CHECK(bench.last<Applied>()->outcome.ok());
  CHECK(bench.actuations(bench.lasers[0]) == 0);
  CHECK(bench.actuations(bench.lasers[1]) == 0);
  CHECK(bench.device(bench.lasers[0]).emitting);
}

TEST_CASE("go_brings_the_instant_forward_never_back_and_not_before_it_is_heard") {
  AgentBench bench;
  bench.start();
  bench.commit(bench.static_plan(1, 16));
  bench.log.clear();
  bench.sent.clear();
  const NodePlan plan = bench.static_plan(2, 32);
  const Instant armed_for = bench.now + milliseconds{40};
  bench.receive(plan.revision, Prepare{plan});
  bench.receive(plan.revision, Arm{armed_for});
  Instant fires = armed_for;
  SECTION("sooner") {
    bench.run_for(milliseconds{5});
    fires = bench.now + milliseconds{10};
    bench.receive(plan.revision, Go{fires});
    bench.receive(plan.revision, Go{fires});  // twice
    bench.receive(plan.revision, Arm{armed_for});
  }
  SECTION("shortly before it") {
    bench.run_for(milliseconds{5});
    fires = bench.now + milliseconds{1};
    bench.receive(plan.revision, Go{fires});
  }
  SECTION("later than what it was armed for") { bench.receive(plan.revision, Go{armed_for + milliseconds{10}}); }
  SECTION("no instant") { bench.receive(plan.revision, Go{}); }
  SECTION("one that has passed: when it is heard, which is not late") {
    bench.run_for(milliseconds{20});
    fires = bench.now;
    bench.receive(plan.revision, Go{bench.now - milliseconds{15}});
  }
  bench.run_until(fires - microseconds{1});
  CHECK(bench.device(bench.lasers[0]).emitting);
  bench.run_until(fires + milliseconds{1});
  CHECK_FALSE(bench.device(bench.lasers[0]).emitting);
  bench.step_until<Darkened>();
  REQUIRE(bench.last<Darkened>() != nullptr);
  CHECK(bench.last<Darkened>()->lateness == Duration{});
  CHECK(bench.log.front().ordered >= fires);
  CHECK(bench.log.front().ordered < fires + milliseconds{1});
}
