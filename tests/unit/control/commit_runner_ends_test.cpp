// SPDX-License-Identifier: Apache-2.0
// A commit under way and how it ends: what is recorded and when, how long a stage may last, what a failure leaves and costs,
// and what follows a confirmation.
#include "controller/plan/light/light_path.hpp"
#include "tests/unit/control/commit_runner_bench.hpp"

namespace loom::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

using Bench = RunnerBench;

// --- under way -------------------------------------------------------------------------------------------------------------

TEST_CASE("a commit has twice what the slowest switch or laser that it moves promises, beyond the deadline") {
  Bench bench;
  bench.add(1, {2, 3, 4});
  bench.want();
  bench.await_request();
  const auto plan = bench.made();
  Duration allowed = bench.lead + bench.facts.timings.stage_deadline;
  const bool moves = GENERATE(true, false);
  if (moves) {
    REQUIRE_FALSE(plan->plan.moved_steering.empty());
    allowed += milliseconds{60};
  } else {
    allowed += milliseconds{20};
    for (NodePlan& node : plan->plan.nodes.edit_all()) {
      for (DevicePlan& device : node.devices) {
        device.touched = device.touched && bench.facts.fabric->device(device.device).role == DeviceRole::transmitter;
      }
    }
  }
  bench.planned(plan);
  bench.handle(CommitState::moving);
  const Instant began = bench.facts.now;
  bench.facts.now = began + allowed - nanoseconds{1};
  bench.tick();
  CHECK(bench.runner.under_way() != nullptr);
  bench.facts.now = began + allowed;
  bench.tick();
  CHECK(bench.runner.under_way() == nullptr);
}

TEST_CASE("a decision is recorded once, and acted upon when its row is durable and not before") {
  Bench bench;
  bench.add(1, {2, 3, 4});
  bench.begin_commit(CommitState::firing);
  const Revision revision = bench.runner.under_way()->revision();
  const std::size_t rows = bench.records.size();
  bench.timers.clear();
  bench.deliver(NodeId{2}, Armed{{}, {}});  // heard twice
  bench.tick();
  CHECK(bench.records.size() == rows);
  CHECK_FALSE(bench.timers.contains(timers::kTick));  // nobody is waited for but the journal
  bench.perform(GoAct{Revision{revision.value + 1}});
  bench.perform(ConfirmAct{revision});
  CHECK(bench.runner.under_way()->stage() == CommitState::firing);
  bench.handle(CommitState::confirmed);
  REQUIRE(bench.runner.under_way() != nullptr);
  const std::size_t later = bench.records.size();
  bench.deliver(NodeId{2}, Applied{{}, {}});
  bench.tick();
  CHECK(bench.records.size() == later);
  bench.perform(GoAct{revision});
  bench.perform(ConfirmAct{Revision{revision.value + 1}});
  REQUIRE(bench.runner.under_way() != nullptr);
  CHECK_FALSE(bench.confirmed.exists());
  bench.durable();
  CHECK(bench.confirmed.revision() == revision);
  bench.perform(GoAct{revision});
  bench.perform(ConfirmAct{revision});
  CHECK(bench.runner.history().size() == 1);
}

TEST_CASE("the plan of a commit is recorded while its agents prepare, and what lets it go is short") {
  Bench bench;
  bench.add(1, {2, 3, 4});
  bench.begin_commit(CommitState::preparing);
  CHECK_FALSE(bench.recorded(CommitDecision::planned).has_value());  // they are asked first
  SECTION("before they answer") { bench.tick(); }
  SECTION("when they were quicker than that") {}
  bench.add(2, {6, 7});
  bench.handle(CommitState::darkening);
  const auto row = bench.recorded(CommitDecision::planned);
  REQUIRE(row.has_value());
  REQUIRE(row->plan != nullptr);
  CHECK(row->intent->jobs.size() == 1);  // that it carries out, whatever is wanted since
  CHECK(bench.recorded(CommitDecision::going)->plan == nullptr);
  const auto rows = std::ranges::count_if(bench.records, [](const Record& record) {
    const auto* commit = std::get_if<CommitRecord>(&record);
    return commit != nullptr && commit->plan != nullptr;
  });
  CHECK(rows == 1);
}

TEST_CASE("a journal that takes no rows ends a commit that has not gone, and no other") {
  Bench bench;
  bench.add(1, {2, 3, 4});
  const auto fail = [&] {
    bench.journal.fail(Error{ErrorCode::storage, "disk full"});
    bench.with([&](EffectSink& sink) { bench.runner.on_journal_failed(sink); });
  };
  SECTION("it waits for its row") {
    bench.begin_commit(CommitState::firing);
    fail();
    CHECK(bench.runner.under_way() == nullptr);
  }
  SECTION("it has gone") {
    bench.begin_commit(CommitState::darkening);
    fail();
    CHECK(bench.runner.under_way() != nullptr);
  }
  CHECK(bench.state(1) != JobState::refused);
}

TEST_CASE("the newest 4096 commits are kept in history") {
  Bench bench;
  for (int i = 0; i < 4'097; ++i) {
    bench.want();
    bench.await_request();
    bench.refuse_plan();
    bench.durable();
    if (i == 4'095) {
      CHECK(bench.runner.history().front().revision == Revision{1});
    }
  }
  CHECK(bench.runner.history().size() == 4'096);
  CHECK(bench.runner.history().front().revision == Revision{2});
}

// --- what a failure costs --------------------------------------------------------------------------------------------------

void fail_at(Bench& bench, NodeId node, ErrorCode code, std::optional<DeviceId> device = {}) {
  bench.deliver(node, Applied{{Error{code, "no light", {}, device}}, {}});
  REQUIRE(bench.runner.under_way() == nullptr);
}

TEST_CASE("a repair that fails is no commit that failed: nobody is refused, nothing returns") {
  Bench bench;
  bench.light(1, {2, 3, 4});
  const RepairScope scope{{NodeId{2}}, {bench.laser(2)}, {}};
  SECTION("a repair") {
    bench.runner.repair_with_next_plan(scope);
    bench.begin_commit();
    bench.fail_now();
    CHECK(bench.runner.take_end()->is_repair);
    CHECK(bench.alarms_with(AlarmCode::commit_returned) == 0);
    CHECK(bench.returns.uncertain().empty());
  }
  SECTION("a commit that repairs as well") {
    bench.runner.repair_with_next_plan(scope);
    bench.add(2, {6, 7});
    bench.begin_commit();
    bench.fail_now();
    CHECK_FALSE(bench.runner.take_end()->is_repair);
    CHECK(bench.alarms_with(AlarmCode::commit_returned) == 1);
    // Nor is what follows a failure.
    bench.runner.repair_with_next_plan(scope);
    bench.durable();
    bench.begin_commit();
    bench.fail_now();
    CHECK_FALSE(bench.runner.take_end()->is_repair);
    CHECK(bench.alarms_with(AlarmCode::commit_returned) == 2);
  }
  SECTION("a commit that changes nothing") {
    bench.want();
    bench.await_request();
    const auto plan = bench.made();
    plan->plan.changed.clear();
    bench.planned(plan);
    bench.fail_now();
    CHECK_FALSE(bench.runner.take_end()->is_repair);
  }
  SECTION("a stage that is played again") {
    bench.runner.repair_with_next_plan(scope);
    bench.jobs.repeat_stage(JobId{1}, bench.numbers.next());
    bench.want();
    bench.await_request();
    const auto plan = bench.made();
    REQUIRE(plan->plan.changed.empty());
    bench.jobs.planned(*plan);
    bench.planned(plan);
    bench.handle(CommitState::relighting);
    bench.fail_now();
    CHECK_FALSE(bench.runner.take_end()->is_repair);
  }
}

TEST_CASE("the alarm of a failure names the node that it failed at, if it failed at one") {
  Bench bench;
  bench.add(1, {2, 3, 4});
  bench.begin_commit();
  SECTION("at a node") {
    fail_at(bench, NodeId{3}, ErrorCode::device_error);
    CHECK(bench.alarms.rows().back().alarm.node == NodeId{3});
  }
  SECTION("at none") {
    bench.fail_now();
    CHECK_FALSE(bench.alarms.rows().back().alarm.node);
  }
}

/// The first return is planned at once, unless something has to be read again first.
bool awaits_reading(Bench& bench) {
  bench.durable();
  bench.pass(bench.facts.timings.debounce);
  bench.consider();
  return bench.orders.empty();
}

TEST_CASE("what steers at an agent whose device failed is read again before the light returns") {
  Bench bench;
  bench.add(1, {0, 1, 2});
  bench.begin_commit();
  const DeviceId ocs = bench.device(0, DeviceRole::circuit_switch);
  REQUIRE(bench.runner.under_way()->takes_part(NodeId{0}));
  const auto read = [&](DeviceId id, Instant at) {
    bench.readings.keep(Observation{id, DeviceHealth::ready, at, CircuitSwitchObservation{{}, true}, {}});
    bench.consider();
  };
  SECTION("its switch") {
    fail_at(bench, NodeId{0}, ErrorCode::device_error);
    const Instant failed = bench.facts.now;
    CHECK(awaits_reading(bench));
    read(ocs, failed - nanoseconds{1});
    CHECK(bench.orders.empty());
    read(ocs, failed);
    CHECK_FALSE(bench.orders.empty());
  }
  SECTION("no longer than one poll") {
    fail_at(bench, NodeId{0}, ErrorCode::device_error);
    const Instant failed = bench.facts.now;
    CHECK(awaits_reading(bench));
    bench.facts.now = failed + poll_bound(bench.facts.timings) - nanoseconds{1};
    bench.consider();
    CHECK(bench.orders.empty());
    bench.facts.now = failed + poll_bound(bench.facts.timings);
    bench.consider();
    CHECK_FALSE(bench.orders.empty());
  }
  SECTION("the device that failed, where nothing steers") {
    fail_at(bench, NodeId{2}, ErrorCode::device_error, bench.laser(2));
    CHECK(awaits_reading(bench));
  }
  SECTION("an agent without switches failed, and names no device") {
    fail_at(bench, NodeId{2}, ErrorCode::device_error);
    CHECK_FALSE(awaits_reading(bench));
  }
  SECTION("it failed at no agent") {
    bench.fail_now();
    CHECK_FALSE(awaits_reading(bench));
  }
  SECTION("it was found otherwise than planned: that was just read") {
    fail_at(bench, NodeId{0}, ErrorCode::busy);
    CHECK_FALSE(awaits_reading(bench));
  }
  SECTION("its process started again: it reads all by itself") {
    bench.with([&](EffectSink& sink) { bench.runner.interrupt(NodeId{0}, sink); });
    CHECK_FALSE(awaits_reading(bench));
  }
  SECTION("it is away: nobody can read") {
    bench.pass(bench.facts.timings.dead_after, {NodeId{0}});
    fail_at(bench, NodeId{0}, ErrorCode::device_error);
    CHECK_FALSE(awaits_reading(bench));
  }
  SECTION("so is one of its devices") {
    bench.pass(bench.facts.timings.dead_after, {NodeId{2}});
    fail_at(bench, NodeId{2}, ErrorCode::device_error, bench.laser(2));
    CHECK_FALSE(awaits_reading(bench));
  }
}

TEST_CASE("a commit is tried again as often as its cause allows, then its new jobs are refused") {
  Bench bench;
  bench.facts.timings.return_attempts = 2;
  bench.facts.timings.late_attempts = 1;
  bench.add(1, {2, 3, 4});
  const auto again = [&](auto fail) {
    bench.begin_commit();
    fail();
    bench.durable();
    bench.pass(bench.facts.timings.return_backoff);
    return bench.state(1) == JobState::pending;
  };
  SECTION("interrupted") {
    const auto interrupt = [&] { bench.with([&](EffectSink& sink) { bench.runner.interrupt(NodeId{2}, sink); }); };
    CHECK(again(interrupt));
    CHECK(again(interrupt));
    CHECK_FALSE(again(interrupt));
    CHECK(bench.state(1) == JobState::refused);
  }
  SECTION("late") {
    const auto late = [&] { fail_at(bench, NodeId{2}, ErrorCode::timed_out); };
    CHECK(again(late));
    CHECK_FALSE(again(late));
  }
  SECTION("surprised") {
    const auto surprised = [&] { fail_at(bench, NodeId{2}, ErrorCode::busy); };
    CHECK(again(surprised));
    CHECK_FALSE(again(surprised));
  }
  SECTION("refused by an agent") {
    CHECK_FALSE(again([&] { fail_at(bench, NodeId{2}, ErrorCode::device_error); }));
  }
}

TEST_CASE("what a failed commit left comes back, as often as it is tried and no oftener") {
  Bench bench;
  bench.facts.timings.return_attempts = 1;
  bench.add(1, {2, 3, 4});
  bench.begin_commit();
  fail_at(bench, NodeId{3}, ErrorCode::device_error);
  CHECK(bench.returns.is_returning(NodeId{3}));
  CHECK_FALSE(bench.returns.is_returning(NodeId{7}));
  CHECK_THAT(bench.alarms.rows().back().alarm.evidence, !Catch::Contains("gave up"));
  CHECK_FALSE(bench.runner.is_idle());
  bench.durable();
  bench.pass(poll_bound(bench.facts.timings));
  bench.begin_commit(CommitState::preparing);
  SECTION("at a node") {
    bench.deliver(NodeId{3}, Prepared{{Error{ErrorCode::device_error, "no"}}, {}});
    CHECK(bench.alarms.rows().back().alarm.node == NodeId{3});
  }
  SECTION("at none") {
    bench.fail_now();
    CHECK_FALSE(bench.alarms.rows().back().alarm.node);
  }
  CHECK_THAT(bench.alarms.rows().back().alarm.evidence, Catch::Contains("gave up returning to revision 0 after 1 attempts"));
  CHECK_FALSE(bench.returns.is_returning(NodeId{3}));
  bench.durable();
  bench.pass(seconds{60});
  bench.consider();
  CHECK(bench.orders.empty());
}

TEST_CASE("a job that failed at what follows no order is placed anew, if it never had light, one that had stays") {
  Bench bench;
  bench.light(1, {2, 3});
  bench.add(2, {4, 5});
  Intent open = bench.desired.intent();
  for (Job& job : open.jobs) {
    job.spec.placement.clear();
  }
  bench.desired.replace(std::move(open));
  bench.begin_commit();
  REQUIRE_FALSE(bench.desired.job(JobId{2})->nodes.empty());
  const NodeId node = bench.desired.job(JobId{2})->nodes.front();
  SECTION("a device") {
    fail_at(bench, node, ErrorCode::device_error, bench.laser(node.value));
    CHECK(bench.desired.job(JobId{2})->nodes.empty());
    CHECK(bench.state(2) == JobState::pending);
  }
  SECTION("a process that started again is no reason to move") {
    bench.with([&](EffectSink& sink) { bench.runner.interrupt(node, sink); });
    CHECK_FALSE(bench.desired.job(JobId{2})->nodes.empty());
    CHECK(bench.state(2) == JobState::pending);
  }
  CHECK_FALSE(bench.desired.job(JobId{1})->nodes.empty());
}

// --- who bears a refusal ---------------------------------------------------------------------------------------------------

TEST_CASE("of two jobs in one revision only that is refused which needs an agent at which it failed") {
  Bench bench;
  bench.facts.timings.return_attempts = 2;
  bench.add(1, {2, 3});
  bench.add(2, {4, 5});
  const auto is_spared = [&](std::uint64_t id) { return bench.state(id) == JobState::pending && bench.desired.job(JobId{id}); };
  SECTION("an agent of one of them says no") {
    bench.begin_commit();
    fail_at(bench, NodeId{4}, ErrorCode::device_error);
  }
  SECTION("it says no before anything moved") {
    bench.begin_commit(CommitState::preparing);
    bench.deliver(NodeId{4}, Prepared{{Error{ErrorCode::device_error, "no"}}, {}});
    REQUIRE(bench.returns.uncertain().empty());
  }
  SECTION("some do not answer") {
    bench.begin_commit(CommitState::preparing);
    for (const NodeId node : bench.runner.under_way()->plan().plan.changed) {
      if (node != NodeId{4} && node != NodeId{5}) {
        bench.deliver(node, Prepared{{}, bench.lead});
      }
    }
    bench.facts.now += bench.facts.timings.stage_deadline + milliseconds{20};  // the lasers' time
    bench.tick();
    REQUIRE(bench.runner.under_way() == nullptr);
    CHECK_THAT(bench.reason(2), Catch::Contains("2 of") && Catch::Contains("(node 4, 5)"));
  }
  CHECK(bench.state(2) == JobState::refused);
  CHECK(is_spared(1));
  CHECK_FALSE(bench.runner.is_idle());  // it is planned again by itself
  bench.durable();
  bench.pass(poll_bound(bench.facts.timings));
  bench.await_request();
  bench.commit();
  CHECK(bench.state(1) == JobState::lit);
}

TEST_CASE("a failure at what both jobs need, at nobody, or once too often, is for both to bear") {
  Bench bench;
  bench.facts.timings.return_attempts = 1;
  bench.add(1, {2, 3});
  bench.add(2, {4, 5});
  bench.begin_commit();
  SECTION("a switch that their light passes") {
    const auto& plan = bench.runner.under_way()->plan().plan;
    const NodeId agent = GENERATE(NodeId{0}, NodeId{1});
    const LightFollower follower(*bench.facts.fabric, plan);
    std::set<JobId> through;
    for (const Circuit& circuit : plan.circuits) {
      const auto path = follower.follow(circuit);
      REQUIRE(path);
      for (const Hop& hop : *path) {
        const auto device = bench.facts.fabric->device_of_element[hop.element.value];
        if (device && bench.facts.fabric->device(*device).agent == agent) {
          through.insert(circuit.job);
        }
      }
    }
    fail_at(bench, agent, ErrorCode::device_error);
    CHECK((bench.state(1) == JobState::refused) == through.contains(JobId{1}));
    CHECK((bench.state(2) == JobState::refused) == through.contains(JobId{2}));
    return;
  }
  SECTION("nobody knows where") { bench.fail_now(); }
  SECTION("it was tried often enough") {
    fail_at(bench, NodeId{6}, ErrorCode::device_error);  // whose light neither has
    CHECK(bench.state(1) == JobState::pending);
    bench.durable();
    bench.pass(poll_bound(bench.facts.timings));
    bench.begin_commit(CommitState::preparing);
    bench.deliver(bench.runner.under_way()->plan().plan.changed.front(), Prepared{{Error{ErrorCode::device_error, "no"}}, {}});
  }
  CHECK(bench.state(1) == JobState::refused);
  CHECK(bench.state(2) == JobState::refused);
}

TEST_CASE("a failure is borne by the jobs that it was to bring, and by no other") {
  Bench bench;
  bench.light(1, {2, 3});
  bench.add(2, {4, 5});
  SECTION("a new one") {
    bench.begin_commit();
    bench.fail_now();
    CHECK(bench.state(2) == JobState::refused);
    CHECK(is_in_light(bench.state(1)));
  }
  SECTION("one that went meanwhile") {
    bench.begin_commit();
    const Intent before = bench.desired.intent();
    bench.desired.remove_job(JobId{2});
    bench.jobs.follow(before, Revision{9});
    bench.fail_now();
    CHECK(bench.state(2) == JobState::ended);
  }
  SECTION("one that waits: the plan was none of its") {
    bench.begin_commit();
    bench.jobs.leave_out(JobId{2}, "test");
    REQUIRE(bench.state(2) == JobState::waiting);
    bench.fail_now();
    CHECK(bench.state(2) == JobState::waiting);
    CHECK(bench.desired.job(JobId{2}) != nullptr);
  }
  SECTION("one that the confirmed plan was without had no light") {
    auto plan = std::make_shared<PlanResult>(*bench.confirmed.present());
    plan->left_out = {{JobId{1}, Error{ErrorCode::infeasible, "test"}, false, {}, {}}};
    bench.confirmed.confirm(plan);
    bench.begin_commit();
    bench.fail_now();
    CHECK(bench.state(1) == JobState::refused);
  }
  const auto fail_with_other_stage = [&](bool is_measured) {
    bench.want();
    bench.await_request();
    const auto plan = bench.made();
    Intent next = bench.desired.intent();
    next.jobs.front().stage = 1;
    if (is_measured) {
      next.jobs.front().measured = next.jobs.front().spec.collectives;
    }
    plan->intent.jobs.front() = next.jobs.front();
    bench.desired.replace(std::move(next));
    bench.planned(plan);
    bench.fail_now();
  };
  SECTION("the next stage of one in light") {
    fail_with_other_stage(false);
    CHECK(bench.state(1) == JobState::waiting);
    CHECK_THAT(bench.reason(1), Catch::Contains("stage 2 did not come into light: test"));
    REQUIRE(bench.desired.job(JobId{1}) != nullptr);
    CHECK(bench.desired.job(JobId{1})->stage == 1);
  }
  SECTION("light by a new measurement, which nobody asked for") {
    fail_with_other_stage(true);
    REQUIRE(bench.desired.job(JobId{1}) != nullptr);
    CHECK(bench.desired.job(JobId{1})->stage == 0);
    CHECK(bench.state(1) != JobState::waiting);
  }
}

// --- after a confirmation --------------------------------------------------------------------------------------------------

TEST_CASE("what waits for a revision comes by a plan of its own, which follows at once and lets nothing wait again") {
  Bench bench;
  bench.light(1, {2, 3});
  CHECK(bench.runner.is_idle());
  bench.add(2, {4, 5});
  bench.want();
  bench.await_request();
  CHECK(bench.orders.back()->make_before_break);
  const auto plan = bench.made();
  REQUIRE_FALSE(plan->schedule.jobs.empty());
  plan->schedule.jobs.back().waiting = 1;
  bench.planned(plan);
  bench.handle();
  bench.await_request();
  CHECK_THAT(bench.orders.back()->reason, Catch::StartsWith("what waited for revision "));
  CHECK_FALSE(bench.orders.back()->make_before_break);
}

/// A job in light that plays its stage.
struct StageBench : Bench {
  explicit StageBench(std::uint32_t stages) {
    light(1, {2, 3});
    light(2, {4, 5});
    set_stages(stages);
  }
  void set_stages(std::uint32_t stages) {
    auto plan = std::make_shared<PlanResult>(*confirmed.present());
    for (JobSchedule& schedule : plan->schedule.jobs) {
      schedule.stages.resize(schedule.job == JobId{1} ? stages : 1);
    }
    jobs.planned(*plan);
    jobs.confirmed(*plan);
    confirmed.confirm(plan);
  }
  void play(std::uint32_t underflows) {
    for (const std::uint32_t node : {2U, 3U}) {
      with([&](EffectSink& sink) {
        if (const auto job = jobs.keep_cycle(NodeId{node}, confirmed.revision(), underflows)) {
          runner.advance_stage(*job, sink);
        }
      });
    }
  }
};

TEST_CASE("a job goes on to its next stage when all of its nodes have played this one, and after the last to its first") {
  StageBench bench(2);
  bench.play(0);
  CHECK(bench.desired.job(JobId{1})->stage == 1);
  CHECK_FALSE(bench.runner.is_idle());
  StageBench last(2);
  last.with([&](EffectSink&) { last.desired.go_to_stage(JobId{1}, 1); });
  last.play(0);
  CHECK(last.desired.job(JobId{1})->stage == 0);
  CHECK(last.jobs.at(JobId{1}).played.iterations() == 1);
  CHECK_FALSE(last.runner.is_idle());
  StageBench alone(1);
  alone.play(0);  // its nodes repeat it by themselves
  CHECK(alone.state(1) == JobState::lit);
  CHECK(alone.runner.is_idle());
}

TEST_CASE("a stage with timeslots that stayed dark is played again by its own lasers, a few times") {
  StageBench bench(2);
  bench.facts.timings.late_attempts = 1;
  bench.play(1);
  CHECK(bench.desired.job(JobId{1})->stage == 0);
  bench.durable();
  bench.await_request();
  CHECK(bench.orders.back()->reason == "job 1 plays stage 1 again: 2 timeslots stayed dark");
  bench.planned(bench.made());
  REQUIRE(bench.runner.under_way() != nullptr);
  const Plan& plan = bench.runner.under_way()->plan().plan;
  CHECK(plan.changed == std::vector<NodeId>{NodeId{2}, NodeId{3}});
  for (const Circuit& circuit : plan.circuits) {
    const bool is_touched = std::binary_search(plan.touched.begin(), plan.touched.end(), circuit.id);
    CHECK(is_touched == (circuit.job == JobId{1}));
  }
  bench.handle();
  bench.durable();
  bench.set_stages(2);
  bench.play(1);
  CHECK(bench.desired.job(JobId{1})->stage == 1);  // enough
}

}  // namespace
}  // namespace loom::test
