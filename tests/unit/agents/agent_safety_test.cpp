// SPDX-License-Identifier: Apache-2.0
// What holds whatever the controller does: the latch, fail-static, timeslots inside their windows, readings reported.
#include <catch2/catch.hpp>

#include "tests/unit/agents/agent_bench.hpp"

using namespace loom;
using namespace loom::test;

namespace {

bool names_latch(const Outcome& outcome) {
  return outcome.error && outcome.error->code == ErrorCode::refused &&
         outcome.error->message.find("latched") != std::string::npos;
}

/// Both lasers alternate between two channels; laser 1 is dark in the first timeslot.
NodePlan timed_plan(const AgentBench& bench, std::uint64_t revision, std::uint32_t cycles) {
  NodePlan plan = bench.static_plan(revision, 16);
  plan.cycle = milliseconds{100};
  plan.cycles = cycles;
  for (std::size_t i = 0; i < bench.lasers.size(); ++i) {
    AgentBench::part(plan, bench.lasers[i]).timeline = {
        {milliseconds{0}, milliseconds{10}, milliseconds{30}, laser_at(16, i == 0)},
        {milliseconds{50}, milliseconds{10}, milliseconds{30}, laser_at(32)},
    };
  }
  return plan;
}

}  // namespace

TEST_CASE("lasers_off_darkens_everything_whatever_is_under_way") {
  const int stage = GENERATE(range(0, 6));
  AgentBench bench;
  bench.start();
  bench.receive(Revision{}, Welcome{milliseconds{100}, {}});
  bench.commit(bench.static_plan(1, 16));
  const NodePlan plan = bench.static_plan(2, 32);
  bench.receive(plan.revision, Prepare{plan});
  if (stage >= 1) {
    bench.receive(plan.revision, Arm{bench.now + milliseconds{5}});
  }
  if (stage >= 2) {
    bench.receive(plan.revision, Go{});
    bench.run_for(milliseconds{5} + microseconds{150});
  }
  if (stage >= 3) {
    bench.run_for(milliseconds{1});
  }
  if (stage >= 4) {
    bench.receive(plan.revision, Proceed{CommitPhase::move, {}});
    bench.run_for(milliseconds{50});
  }
  if (stage >= 5) {
    bench.receive(plan.revision, Proceed{CommitPhase::relight, bench.now});
    bench.run_for(microseconds{250});
  }
  INFO("stage " << stage << ", " << to_string(bench.agent->commit().state()));
  bench.log.clear();
  const Instant ordered = bench.now;
  bench.receive(Revision{}, SetLasers{false, 1});
  CHECK(std::get<LatchRecord>(bench.journal.back()) == LatchRecord{true, 1});
  bench.run_for(seconds{1});
  CHECK(bench.agent->commit().state() == RevisionState::failed);
  for (const DeviceId laser : bench.lasers) {
    CHECK_FALSE(bench.device(laser).emitting);
  }
  for (const Actuation& each : bench.log) {
    CHECK((each.op != Op::light || each.ordered <= ordered));
    CHECK(each.done < ordered + milliseconds{20});
  }
  CHECK(bench.last<Heartbeat>()->lasers_latched_off);
  bench.receive(plan.revision, Go{});
  CHECK_FALSE(bench.last<Darkened>()->outcome.ok() == (stage < 3));
  bench.receive(plan.revision, Proceed{CommitPhase::relight, bench.now});
  bench.run_for(milliseconds{100});
  CHECK(names_latch(bench.last<Applied>()->outcome));
  CHECK_FALSE(bench.device(bench.lasers[0]).emitting);
}

TEST_CASE("the_latch_survives_a_restart_and_no_commit_lights_while_it_holds") {
  AgentBench bench;
  bench.start();
  bench.commit(bench.static_plan(1, 16));
  bench.receive(Revision{}, SetLasers{false, 7});
  bench.run_for(milliseconds{100});
  bench.device(bench.lasers[0]).emitting = true;  // somebody switched it on by hand
  bench.start(2);
  bench.run_for(milliseconds{100});
  CHECK_FALSE(bench.device(bench.lasers[0]).emitting);
  CHECK(bench.last<Hello>()->lasers_latched_off);
  bench.sent.clear();
  bench.commit(bench.static_plan(2, 16));
  CHECK(names_latch(bench.last<Prepared>()->outcome));
  CHECK(names_latch(bench.last<Applied>()->outcome));
  CHECK_FALSE(bench.device(bench.lasers[0]).emitting);

  bench.receive(Revision{}, SetLasers{true, 7});  // not newer
  CHECK(bench.agent->interlock().latched());
  bench.receive(Revision{}, SetLasers{true, 8});
  CHECK_FALSE(bench.agent->interlock().latched());
  bench.run_for(seconds{1});
  CHECK_FALSE(bench.device(bench.lasers[0]).emitting);  // only a commit relights
  bench.commit(bench.static_plan(3, 16, false));
  CHECK(bench.agent->commit().applied() == Revision{3});
  CHECK(bench.device(bench.lasers[0]).emitting);
  bench.start(3);
  CHECK_FALSE(bench.agent->interlock().latched());
}

TEST_CASE("what_is_ordered_of_all_and_what_is_ordered_of_this_node_alone_are_two_latches") {
  AgentBench bench;
  bench.start();
  bench.receive(Revision{}, Welcome{milliseconds{100}, {}});
  bench.commit(bench.static_plan(1, 16));
  const bool node_first = GENERATE(false, true);
  bench.receive(Revision{}, SetLasers{false, 7, 0, node_first});
  bench.receive(Revision{}, SetLasers{false, 8, 0, !node_first});
  bench.run_for(milliseconds{100});
  CHECK_FALSE(bench.device(bench.lasers[0]).emitting);
  CHECK(bench.last<Heartbeat>()->lasers_latched_off);
  CHECK(bench.last<Heartbeat>()->node_latched_off);
  const bool lifts_node = GENERATE(false, true);
  bench.receive(Revision{}, SetLasers{true, 1'000, 0, lifts_node});
  CHECK(bench.agent->interlock().latched());
  CHECK(bench.last<Heartbeat>()->lasers_latched_off == lifts_node);
  CHECK(bench.last<Heartbeat>()->node_latched_off != lifts_node);
  bench.start(2);
  CHECK(bench.agent->interlock().latched());
  bench.commit(bench.static_plan(2, 16));
  CHECK_FALSE(bench.device(bench.lasers[0]).emitting);
  CHECK(bench.last<Prepared>()->outcome.error->message.contains(lifts_node ? "loom lasers rearm" : "loom node maintenance"));
  bench.receive(Revision{}, SetLasers{true, 9, 0, !lifts_node});
  CHECK_FALSE(bench.agent->interlock().latched());
  bench.commit(bench.static_plan(3, 16, false));
  CHECK(bench.device(bench.lasers[0]).emitting);
}

TEST_CASE("an_older_order_about_this_node_is_none") {
  AgentBench bench;
  bench.start();
  bench.receive(Revision{}, SetLasers{true, 5, 0, true});
  bench.receive(Revision{}, SetLasers{false, 4, 0, true});
  CHECK_FALSE(bench.agent->interlock().latched());
  bench.receive(Revision{}, SetLasers{false, 5, 0, true});  // the same order wants it dark now
  CHECK(bench.agent->interlock().latched());
  bench.receive(Revision{}, SetLasers{true, 5, 0, true});
  CHECK(bench.agent->interlock().latched());
}

TEST_CASE("an_open_interlock_contact_darkens_without_a_controller") {
  AgentBench bench;
  bench.start();
  bench.commit(bench.static_plan(1, 16));
  bench.run_for(seconds{60});
  bench.deliver(InterlockChanged{true});
  bench.run_for(milliseconds{10});
  CHECK_FALSE(bench.device(bench.lasers[0]).emitting);
  CHECK_FALSE(bench.device(bench.lasers[1]).emitting);
  CHECK(std::get<LatchRecord>(bench.journal.back()).lasers_off);
  CHECK(bench.alarms.back().code == AlarmCode::lasers_off);
  bench.deliver(InterlockChanged{false});
  bench.run_for(seconds{5});
  CHECK_FALSE(bench.device(bench.lasers[0]).emitting);
}

TEST_CASE("a_laser_that_cannot_be_darkened_is_tried_until_it_is") {
  AgentBench bench;
  bench.start();
  bench.commit(bench.static_plan(1, 16));
  bench.device(bench.lasers[0]).refuses = Op::dark;
  bench.deliver(InterlockChanged{true});
  bench.run_for(seconds{2});
  CHECK(bench.device(bench.lasers[0]).emitting);
  CHECK_FALSE(bench.device(bench.lasers[1]).emitting);
  bench.device(bench.lasers[0]).refuses.reset();
  bench.run_for(seconds{1});
  CHECK_FALSE(bench.device(bench.lasers[0]).emitting);
}

TEST_CASE("an_order_to_go_dark_is_obeyed_even_from_a_fenced_controller") {
  AgentBench bench;
  bench.start();
  bench.commit(bench.static_plan(1, 16));
  bench.term = Term{4};
  bench.receive(Revision{}, SetLasers{false, 1});
  bench.run_for(milliseconds{50});
  CHECK_FALSE(bench.device(bench.lasers[0]).emitting);
  bench.receive(Revision{}, SetLasers{true, 2});
  CHECK(bench.agent->interlock().latched());
}

TEST_CASE("silence_of_the_controller_keeps_the_last_good_light") {
  AgentBench bench;
  bench.start();
  bench.receive(Revision{}, Welcome{milliseconds{100}, {}});
  bench.commit(bench.static_plan(1, 16));
  bench.log.clear();
  bench.sent.clear();
  bench.run_for(seconds{600});
  CHECK(bench.log.empty());
  CHECK(bench.device(bench.lasers[0]).emitting);
  CHECK(bench.agent->session().state() == SessionState::greeting);
  CHECK(bench.count<Hello>() > 2000);
  CHECK(bench.last<Hello>()->applied == Revision{1});
  bench.receive(Revision{}, Welcome{milliseconds{100}, Revision{1}});
  CHECK(bench.agent->session().state() == SessionState::joined);
  CHECK(bench.log.empty());
}

TEST_CASE("a_newer_term_is_greeted_journalled_and_keeps_the_light") {
  AgentBench bench;
  bench.start();
  bench.receive(Revision{}, Welcome{milliseconds{100}, {}});
  bench.commit(bench.static_plan(1, 16));
  bench.log.clear();
  bench.sent.clear();
  bench.term = Term{6};
  bench.receive(Revision{}, Beat{Revision{1}});
  bench.run_for(milliseconds{1});
  CHECK(bench.count<Hello>() == 1);
  CHECK(bench.last<Hello>()->term_seen == Term{6});
  CHECK(std::get<TermRecord>(bench.journal.back()).term == Term{6});
  CHECK(bench.log.empty());
}

TEST_CASE("a_newer_controllers_plan_is_not_answered_with_what_an_older_one_had_lit_under_that_number") {
  AgentBench bench;
  bench.start();
  bench.commit(bench.static_plan(1, 16));
  const NodePlan older = bench.static_plan(2, 32);
  const bool is_applied = GENERATE(true, false);
  CAPTURE(is_applied);
  if (is_applied) {
    bench.commit(older);
  } else {  // on its way into light
    bench.receive(older.revision, Prepare{older});
    bench.receive(older.revision, Arm{bench.now + milliseconds{5}});
    bench.receive(older.revision, Go{});
    bench.run_for(milliseconds{50});
  }
  bench.term = Term{6};
  bench.receive(Revision{}, Beat{Revision{1}});
  bench.run_for(milliseconds{1});
  CHECK(bench.last<Hello>()->applied == Revision{is_applied ? 2U : 1U});
  const auto hello = std::find_if(bench.sent.rbegin(), bench.sent.rend(),
                                  [](const Envelope& each) { return std::holds_alternative<Hello>(each.body); });
  CHECK(hello->revision == Revision{2});  // which the newer one has to go beyond
  bench.sent.clear();
  bench.receive(Revision{2}, Prepare{bench.static_plan(2, 48)});
  REQUIRE(bench.sent.size() == 1);
  REQUIRE(bench.last<Prepared>() != nullptr);
  CHECK(bench.last<Prepared>()->outcome.error->code == ErrorCode::stale_revision);
  bench.receive(Revision{3}, Prepare{bench.static_plan(3, 48)});
  CHECK(bench.last<Prepared>()->outcome.ok());
  bench.receive(Revision{3}, Prepare{bench.static_plan(3, 48)});  // repeated
  CHECK(bench.last<Prepared>()->outcome.ok());
}

TEST_CASE("a_controller_that_welcomes_an_agent_is_told_at_once_what_its_devices_hold") {
  AgentBench bench;
  bench.start();
  bench.receive(Revision{}, Welcome{milliseconds{100}, {}});
  bench.commit(bench.static_plan(1, 16));
  bench.run_for(milliseconds{50});
  bench.term = Term{6};
  bench.receive(Revision{}, Beat{Revision{1}});
  bench.run_for(milliseconds{1});
  bench.sent.clear();
  bench.receive(Revision{}, Welcome{milliseconds{100}, {}});
  bench.run_for(milliseconds{1});
  REQUIRE(bench.count<ObservationReport>() == 1);
  CHECK(bench.last<ObservationReport>()->observations.size() == bench.fabric->devices_of_agent[0].size());
  bench.receive(Revision{}, Welcome{milliseconds{100}, {}});  // repeated
  bench.run_for(milliseconds{1});
  CHECK(bench.count<ObservationReport>() == 1);
}

TEST_CASE("timeslots_are_lit_only_between_guard_end_and_hold_end_and_cycle_done_follows") {
  AgentBench bench;
  bench.start();
  bench.receive(Revision{}, Welcome{milliseconds{100}, {}});
  bench.commit(timed_plan(bench, 1, 3));
  REQUIRE(bench.last<Applied>()->outcome.ok());
  bench.run_for(milliseconds{250});
  for (int i = 0; i < 20; ++i) {
    bench.receive(Revision{}, Beat{Revision{1}});
    bench.run_for(milliseconds{100});
  }
  Instant start{};
  for (const Actuation& each : bench.log) {
    if (each.op == Op::light && start == Instant{}) {
      start = each.ordered - milliseconds{10};
    }
  }
  std::size_t lights = 0;
  for (const Actuation& each : bench.log) {
    const Duration phase = (each.ordered - start + milliseconds{1}) % milliseconds{50} - milliseconds{1};
    if (each.op == Op::light) {
      ++lights;
      CHECK(phase >= milliseconds{9});
      CHECK(phase < milliseconds{40});
    }
    if (each.op == Op::dark) {
      CHECK(phase >= milliseconds{39});
      CHECK(phase < milliseconds{41});
    }
  }
  CHECK(lights == 9);  // laser 0 twice a cycle, laser 1 once
  REQUIRE(bench.last<CycleDone>() != nullptr);
  CHECK(*bench.last<CycleDone>() == CycleDone{3, 0});
  CHECK(bench.count<CycleDone>() > 2);
  CHECK_FALSE(bench.device(bench.lasers[0]).emitting);
  for (int i = 0; i < 30; ++i) {
    bench.receive(Revision{}, Beat{Revision{1}});
    bench.run_for(milliseconds{100});
  }
  CHECK(bench.count<CycleDone>() == 21);  // nobody acknowledges it: said, and repeated 20 times
}

TEST_CASE("a_new_life_of_the_controller_is_told_again_what_was_played") {
  AgentBench bench;
  bench.start();
  bench.receive(Revision{}, Welcome{milliseconds{100}, {}});
  bench.commit(timed_plan(bench, 1, 3));
  for (int i = 0; i < 60; ++i) {
    bench.receive(Revision{}, Beat{Revision{1}});
    bench.run_for(milliseconds{100});
  }
  const std::size_t delivered = bench.count<CycleDone>();
  CHECK(delivered == 21);
  bench.receive(Revision{}, Welcome{milliseconds{100}, Revision{1}});
  bench.run_for(milliseconds{400});
  CHECK(bench.count<CycleDone>() > delivered);
}

TEST_CASE("a_device_that_is_not_settled_in_time_keeps_its_timeslot_dark_and_is_counted") {
  AgentBench bench;
  bench.start();
  bench.receive(Revision{}, Welcome{milliseconds{100}, {}});
  bench.commit(timed_plan(bench, 1, 4));
  REQUIRE(bench.last<Applied>()->outcome.ok());
  bench.device(bench.lasers[0]).settle_time = milliseconds{25};  // guard is 10 ms
  const std::size_t lit_before = bench.actuations(bench.lasers[0], Op::light);
  bench.run_for(seconds{1});
  REQUIRE(bench.last<CycleDone>() != nullptr);
  CHECK(bench.last<CycleDone>()->underflows == 7);  // all timeslots but the first
  CHECK(bench.actuations(bench.lasers[0], Op::light) == lit_before);
  CHECK(bench.actuations(bench.lasers[1], Op::light) == 4);
  CHECK(std::count_if(bench.alarms.begin(), bench.alarms.end(),
                      [](const Alarm& each) { return each.code == AlarmCode::fire_underflow; }) == 1);
}

TEST_CASE("a_timeline_without_end_plays_on_without_a_controller_and_stops_for_the_next_revision") {
  AgentBench bench;
  bench.start();
  bench.commit(timed_plan(bench, 1, 0));
  bench.run_for(seconds{10});
  CHECK(bench.actuations(bench.lasers[0], Op::light) > 190);
  CHECK(bench.count<CycleDone>() == 0);
  bench.commit(bench.static_plan(2, 48));
  CHECK(bench.agent->commit().applied() == Revision{2});
  bench.log.clear();
  bench.run_for(seconds{1});
  CHECK(bench.log.empty());
  CHECK(bench.device(bench.lasers[0]).emitting);
}

TEST_CASE("an_untouched_timeline_plays_on_through_a_commit") {
  AgentBench bench;
  bench.start();
  bench.commit(timed_plan(bench, 1, 0));
  NodePlan plan = timed_plan(bench, 2, 0);
  for (DevicePlan& device : plan.devices) {
    device.touched = false;
  }
  DevicePlan& heater = AgentBench::part(plan, bench.heaters[0]);
  heater.may_hold = {heater.timeline.front().setpoint};
  heater.timeline.front().setpoint = heater_at(193'500'000);
  heater.touched = true;
  bench.log.clear();
  bench.commit(plan);
  bench.run_for(milliseconds{500});
  CHECK(bench.agent->commit().applied() == Revision{2});
  CHECK(bench.actuations(bench.heaters[0]) == 1);
  CHECK(bench.actuations(bench.lasers[0], Op::light) >= 10);
  CHECK(bench.agent->timelines().underflows() == 0);
}

TEST_CASE("firing_late_darkens_all_the_same_and_is_told") {
  AgentBench bench;
  bench.start();
  bench.commit(bench.static_plan(1, 16));
  const NodePlan plan = bench.static_plan(2, 32);
  bench.receive(plan.revision, Prepare{plan});
  bench.receive(plan.revision, Arm{bench.now + milliseconds{5}});
  bench.receive(plan.revision, Go{});
  bench.now += milliseconds{9};  // the process slept
  bench.step_until<Darkened>();
  CHECK(bench.last<Darkened>()->outcome.ok());
  CHECK(bench.last<Darkened>()->lateness >= milliseconds{4});
  CHECK(bench.alarms.back().code == AlarmCode::fire_underflow);
}

TEST_CASE("observations_are_reported_after_applied_on_change_and_at_intervals") {
  AgentBench bench;
  bench.start();
  bench.receive(Revision{}, Welcome{milliseconds{100}, {}});
  bench.commit(bench.static_plan(1, 16));
  REQUIRE(bench.last<ObservationReport>() != nullptr);
  CHECK(bench.last<ObservationReport>()->observations.size() == 6);
  bench.sent.clear();
  const auto keep_company = [&](int beats) {
    for (int i = 0; i < beats; ++i) {
      bench.receive(Revision{}, Beat{Revision{1}});
      bench.run_for(milliseconds{100});
    }
  };
  keep_company(60);
  bench.sent.clear();
  bench.device(bench.lasers[1]).emitting = false;  // it went out by itself; the audit finds it
  keep_company(65);
  CHECK(std::any_of(bench.sent.begin(), bench.sent.end(), [](const Envelope& each) {
    const auto* report = std::get_if<ObservationReport>(&each.body);
    return report != nullptr && report->observations.size() == 1;
  }));
  CHECK(std::any_of(bench.sent.begin(), bench.sent.end(), [](const Envelope& each) {
    const auto* report = std::get_if<ObservationReport>(&each.body);
    return report != nullptr && report->observations.size() == 6;
  }));
  CHECK_FALSE(bench.device(bench.lasers[1]).emitting);  // repair is a commit's business
}

TEST_CASE("a_silent_device_does_not_keep_the_agent_from_greeting") {
  AgentBench bench;
  bench.device(bench.heaters[0]).silent = true;
  bench.start();
  bench.run_for(milliseconds{300});
  REQUIRE(bench.last<Hello>() != nullptr);
  const auto& states = bench.last<Hello>()->devices;
  CHECK(std::count_if(states.begin(), states.end(),
                      [](const DeviceState& each) { return each.health == DeviceHealth::failed; }) == 1);
}
