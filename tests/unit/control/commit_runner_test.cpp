// SPDX-License-Identifier: Apache-2.0
// From a wanted plan to a commit under way: when planning begins, what is left out, who is waited for, and what is recorded.
#include "core/messages/intake_limits.hpp"
#include "tests/unit/control/commit_runner_bench.hpp"

namespace loom::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

using Bench = RunnerBench;

constexpr std::uint64_t kJump = limits::kRevisionJump;  // more than that above its own numbers the runner believes nobody

// --- revision numbers of others --------------------------------------------------------------------------------------------

bool go_beyond(Bench& bench, std::uint64_t revision) {
  bool is_unknown = false;
  bench.with([&](EffectSink& sink) { is_unknown = bench.numbers.go_beyond(NodeId{1}, Revision{revision}, sink); });
  return is_unknown;
}

TEST_CASE("revisions above what ever went are another journal's, up to the numbers that are given from then on") {
  Bench bench;
  bench.light(1, {2, 3, 4});
  REQUIRE(bench.confirmed.revision() == Revision{1});
  CHECK_FALSE(go_beyond(bench, 1));
  CHECK(go_beyond(bench, 5));
  CHECK(bench.numbers.next() == Revision{1'006});
  CHECK_FALSE(go_beyond(bench, 1));
  CHECK(go_beyond(bench, 2));
  CHECK(go_beyond(bench, 1'005));
  CHECK(bench.numbers.next() == Revision{1'006});
  CHECK(go_beyond(bench, 1'006));  // somebody gave that number, too
  CHECK(bench.numbers.next() == Revision{2'007});
}

TEST_CASE("a number that no journal can have come to is not believed") {
  Bench bench;
  const std::uint64_t next = bench.numbers.next().value;
  CHECK(go_beyond(bench, next + kJump + 1));
  CHECK(bench.numbers.next() == Revision{next});
  CHECK_THAT(bench.alarms.rows().back().alarm.evidence, Catch::Contains("not believed"));
  CHECK(go_beyond(bench, next + kJump));
  CHECK(bench.numbers.next() == Revision{next + kJump + 1'001});
}

TEST_CASE("a commit that waits while its number turns out to be another's is planned again under a new one, once") {
  Bench bench;
  bench.add(1, {2, 3, 4});
  bench.want();
  bench.await_request();
  bench.pass(bench.facts.timings.dead_after, {NodeId{3}});
  bench.planned(bench.made());
  REQUIRE(bench.runner.waits_for() == "revision 1 waits for the agent of node 3");
  go_beyond(bench, 5);
  bench.begin();
  REQUIRE(bench.runner.under_way() != nullptr);  // its agent is away still
  bench.greet(NodeId{3});
  bench.begin();
  CHECK(bench.runner.under_way() == nullptr);
  bench.await_request();
  CHECK(bench.orders.back()->revision == Revision{1'006});
  CHECK(bench.orders.back()->reason == "test");
  bench.planned(bench.made());
  REQUIRE(moving(bench.runner) != nullptr);
  bench.handle();
  bench.durable();
  CHECK(bench.state(1) == JobState::lit);
}

// --- when a plan is made ---------------------------------------------------------------------------------------------------

TEST_CASE("changes of intent become one plan, with the first one's reason") {
  Bench bench;
  bench.add(1, {2, 3});
  bench.want("first");
  bench.pass(bench.facts.timings.debounce - nanoseconds{1});
  bench.want("second");
  CHECK(bench.orders.empty());
  CHECK_FALSE(bench.runner.is_idle());
  bench.pass(nanoseconds{1});
  bench.consider();
  REQUIRE(bench.orders.size() == 1);
  CHECK(bench.orders[0]->reason == "first");
  CHECK(bench.orders[0]->budget.steps == bench.facts.timings.plan_steps);  // never without a limit
  bench.want("third");
  bench.pass(seconds{1});
  bench.consider();
  CHECK(bench.orders.size() == 1);  // one at a time
}

TEST_CASE("nothing is planned before the start, nor while a row is on its way, nor for a journal that takes none") {
  Bench bench;
  SECTION("before the start") {
    bench.facts.started = false;
    CHECK_FALSE(bench.runner.is_idle());
  }
  SECTION("a row is on its way") {
    bench.with([&](EffectSink& sink) { bench.journal.append(bench.desired.record(), PlanAct{}, sink); });
    CHECK_FALSE(bench.runner.is_idle());
  }
  SECTION("the journal takes no rows") {
    bench.journal.fail(Error{ErrorCode::storage, "disk full"});
    CHECK(bench.runner.is_idle());
  }
  bench.want();
  bench.pass(seconds{1});
  bench.consider();
  CHECK(bench.orders.empty());
}

TEST_CASE("a plan that comes when the journal takes no rows any more costs no job its place") {
  Bench bench;
  bench.add(1, {2, 3});
  bench.want();
  bench.await_request();
  const auto plan = bench.made();
  bench.journal.fail(Error{ErrorCode::storage, "disk full"});
  bench.planned(plan);
  CHECK(bench.state(1) == JobState::pending);
  CHECK(bench.runner.under_way() == nullptr);
  CHECK(bench.runner.history().empty());
}

// --- a plan that is refused ------------------------------------------------------------------------------------------------

TEST_CASE("after a refusal something is planned if a job was refused and there is something left to plan") {
  Bench bench;
  bench.light(1, {2, 3});
  SECTION("nobody is left") {
    bench.add(2, {4, 5});
    bench.want();
    bench.await_request();
    bench.refuse_plan();
    CHECK(bench.state(2) == JobState::refused);
    bench.durable();
    CHECK(bench.runner.is_idle());
  }
  SECTION("another was submitted since") {
    bench.add(2, {4, 5});
    bench.want();
    bench.await_request();
    bench.add(3, {6, 7});
    bench.refuse_plan();
    bench.durable();
    CHECK_FALSE(bench.runner.is_idle());
    bench.await_request();
    CHECK_THAT(bench.orders.back()->reason, Catch::Contains("without what was refused"));
  }
  SECTION("another's next stage is on its way") {
    bench.add(2, {4, 5});
    bench.want();
    bench.await_request();
    bench.add(3, {6, 7});
    PlanResult next;
    next.intent.jobs = {*bench.desired.job(JobId{3})};
    bench.jobs.planned(next);
    REQUIRE(bench.state(3) == JobState::committing);
    bench.refuse_plan();
    bench.durable();
    CHECK_FALSE(bench.runner.is_idle());
  }
  SECTION("nobody was refused") {
    bench.want();
    bench.await_request();
    bench.add(3, {6, 7});
    bench.refuse_plan();
    bench.durable();
    CHECK(bench.runner.is_idle());
    CHECK(bench.state(3) == JobState::pending);
  }
  SECTION("devices are in doubt") {
    bench.add(2, {4, 5});
    bench.begin_commit();
    bench.fail_now();
    CHECK(bench.state(2) == JobState::refused);
    bench.add(3, {6, 7});
    bench.durable();
    bench.await_request();
    bench.refuse_plan();
    CHECK(bench.state(3) == JobState::refused);
    bench.durable();
    CHECK_FALSE(bench.runner.is_idle());
  }
}

// --- what a plan leaves out ------------------------------------------------------------------------------------------------

LeftOut left_out(std::uint64_t job, bool in_part, std::vector<DeviceId> devices = {}) {
  return {JobId{job}, Error{ErrorCode::infeasible, "its laser follows no order"}, in_part, std::move(devices), {}};
}

/// Job 1 in light; job 2 on its way to be planned, wherever there is room.
struct LeftOutBench : Bench {
  LeftOutBench() {
    light(1, {2, 3});
    add(2, {4, 5});
    Intent open = desired.intent();
    open.jobs.back().spec.placement.clear();
    desired.replace(std::move(open));
    want();
    await_request();
    plan = made();
  }
  void leave_out(LeftOut out) {
    plan->left_out = {std::move(out)};
    planned(plan);
  }
  std::shared_ptr<PlanResult> plan;
};

TEST_CASE("a job that is left out waits for what may come back, and may be placed elsewhere then") {
  LeftOutBench bench;
  bench.leave_out(left_out(2, false, {bench.laser(4)}));
  CHECK(bench.state(2) == JobState::waiting);
  CHECK(bench.reason(2) == "its laser follows no order");
  REQUIRE(bench.desired.job(JobId{2}) != nullptr);
  CHECK(bench.desired.job(JobId{2})->nodes.empty());
}

TEST_CASE("a job that was placed, had no light and is left out loses its place") {
  LeftOutBench bench;
  bench.planned(bench.plan);
  const std::vector<NodeId> nodes = bench.desired.job(JobId{2})->nodes;
  REQUIRE_FALSE(nodes.empty());
  bench.with([&](EffectSink& sink) { bench.runner.interrupt(nodes.front(), sink); });
  bench.durable();
  bench.await_request();
  bench.plan = bench.made();
  bench.leave_out(left_out(2, false, {bench.laser(4)}));
  CHECK(bench.desired.job(JobId{2})->nodes.empty());
}

TEST_CASE("a job that is left out for good is refused, with an alarm") {
  LeftOutBench bench;
  bench.leave_out(left_out(2, false));
  CHECK(bench.state(2) == JobState::refused);
  CHECK(bench.desired.job(JobId{2}) == nullptr);
  CHECK(bench.alarms_with(AlarmCode::plan_refused) == 1);
}

TEST_CASE("a job that is left out in part, or went meanwhile, is neither refused nor told to wait") {
  LeftOutBench bench;
  SECTION("in part") {
    bench.leave_out(left_out(2, true));
    CHECK(bench.state(2) == JobState::committing);
    CHECK_FALSE(bench.desired.job(JobId{2})->nodes.empty());
  }
  SECTION("it went") {
    const Intent before = bench.desired.intent();
    bench.desired.remove_job(JobId{2});
    bench.jobs.follow(before, Revision{9});
    bench.leave_out(left_out(2, false));
    CHECK(bench.state(2) == JobState::ended);
  }
  CHECK(bench.alarms_with(AlarmCode::plan_refused) == 0);
}

TEST_CASE("a job that had light and is left out waits in its place, whatever the reason") {
  LeftOutBench bench;
  const std::vector<NodeId> before = bench.desired.job(JobId{1})->nodes;
  Intent open = bench.desired.intent();
  open.jobs.front().spec.placement.clear();
  bench.desired.replace(std::move(open));
  bench.leave_out(left_out(1, false));
  CHECK(bench.state(1) == JobState::waiting);
  CHECK(bench.desired.job(JobId{1})->nodes == before);
}

/// A plan that is as confirmed but for a job that it is without.
struct NothingNewBench : Bench {
  NothingNewBench() {
    light(1, {2, 3});
    add(2, {4, 5});
  }
  void go() {
    want();
    await_request();
    plan = std::make_shared<PlanResult>(*confirmed.present());
    plan->plan.revision = orders.back()->revision;
    plan->intent.jobs.push_back(*desired.job(JobId{2}));
    plan->left_out = {left_out(2, false, {laser(4)})};
    plan->plan.changed.clear();
    plan->plan.touched.clear();
    plan->plan.moved_steering.clear();
    for (NodePlan& node : plan->plan.nodes.edit_all()) {
      for (DevicePlan& device : node.devices) {
        device.touched = false;
      }
    }
  }
  bool brings_nothing() {
    const Revision before = confirmed.revision();
    planned(plan);
    const bool is_refused = last().outcome == CommitOutcome::refused;
    CHECK(is_refused == (runner.under_way() == nullptr));
    CHECK(confirmed.revision() == before);
    return is_refused;
  }
  std::shared_ptr<PlanResult> plan;
};

TEST_CASE("a plan that brings nothing but the news of who is left out is not committed") {
  NothingNewBench bench;
  SECTION("as confirmed") {
    bench.go();
    CHECK(bench.brings_nothing());
    CHECK_THAT(bench.last().reason, Catch::Contains("its laser follows no order"));
    CHECK(bench.state(2) == JobState::waiting);
  }
  SECTION("another intent") {
    bench.go();
    bench.plan->intent.maintenance = {NodeId{7}};
    CHECK_FALSE(bench.brings_nothing());
  }
  SECTION("a node changes") {
    bench.go();
    bench.plan->plan.changed = {NodeId{7}};
    CHECK_FALSE(bench.brings_nothing());
  }
  SECTION("nobody is left out as a whole") {
    bench.go();
    bench.plan->left_out.front().in_part = true;
    bench.plan->intent.jobs.pop_back();
    CHECK_FALSE(bench.brings_nothing());
  }
  SECTION("something is to be repaired") {
    bench.go();
    bench.runner.repair_with_next_plan({{NodeId{2}}, {bench.laser(2)}, {}});
    CHECK_FALSE(bench.brings_nothing());
  }
  SECTION("a job that it has is not known to be in light") {
    bench.jobs.add(JobId{1});
    bench.jobs.next_stage(JobId{1}, 1, Revision{9});
    bench.jobs.want_again(JobId{1});
    REQUIRE(bench.state(1) == JobState::pending);
    bench.go();
    CHECK_FALSE(bench.brings_nothing());
  }
  SECTION("devices are in doubt") {
    bench.desired.remove_job(JobId{2});
    bench.add(3, {6, 7});
    bench.begin_commit();
    bench.fail_now();
    bench.durable();
    bench.desired.add_job(placed_job(2, {4, 5}));
    bench.go();
    CHECK_FALSE(bench.brings_nothing());
  }
}

TEST_CASE("before anything is confirmed every plan is news") {
  Bench bench;
  bench.add(1, {2, 3});
  bench.want();
  bench.await_request();
  const auto plan = bench.made();
  plan->left_out = {left_out(1, false, {bench.laser(2)})};
  plan->plan.changed.clear();
  bench.planned(plan);
  CHECK((bench.runner.history().empty() || bench.last().outcome != CommitOutcome::refused));
}

// --- whom a commit waits for -----------------------------------------------------------------------------------------------

TEST_CASE("agents that take part and are away are waited for until the stage's deadline, and no longer") {
  Bench bench;
  bench.add(1, {2, 3, 4});
  bench.want();
  bench.await_request();
  bench.pass(bench.facts.timings.dead_after, {NodeId{3}});
  const Instant began = bench.facts.now;
  bench.planned(bench.made());
  CHECK(moving(bench.runner) == nullptr);
  CHECK(bench.runner.waits_for() == "revision 1 waits for the agent of node 3");
  CHECK_FALSE(bench.timers.contains(timers::kTick));
  // Nothing that is heard or comes due begins it, or ends it.
  bench.deliver(NodeId{2}, Prepared{{Error{ErrorCode::device_error, "no"}}, {}});
  bench.tick();
  bench.with([&](EffectSink& sink) { bench.runner.interrupt(NodeId{2}, sink); });
  REQUIRE(bench.runner.under_way() != nullptr);
  bench.facts.now = began + bench.facts.timings.stage_deadline - nanoseconds{1};
  bench.begin();
  CHECK(bench.runner.under_way() != nullptr);
  bench.facts.now += nanoseconds{1};
  bench.begin();
  CHECK(bench.runner.under_way() == nullptr);
  CHECK_THAT(bench.last().reason, Catch::Contains("node 3 takes part and is not connected (waited 5000 ms)"));
}

TEST_CASE("nobody is named who is waited for by a commit that runs") {
  Bench bench;
  bench.add(1, {2, 3, 4});
  CHECK(bench.runner.waits_for().empty());
  bench.begin_commit(CommitState::preparing);
  bench.pass(bench.facts.timings.dead_after, {NodeId{3}});
  CHECK(bench.runner.waits_for().empty());
}

TEST_CASE("an agent that starts again ends the commit that it takes part in, and no other") {
  Bench bench;
  bench.add(1, {2, 3, 4});
  bench.begin_commit(CommitState::preparing);
  REQUIRE_FALSE(bench.runner.under_way()->takes_part(NodeId{6}));
  bench.with([&](EffectSink& sink) { bench.runner.interrupt(NodeId{6}, sink); });
  CHECK(bench.runner.under_way() != nullptr);
  bench.with([&](EffectSink& sink) { bench.runner.interrupt(NodeId{3}, sink); });
  CHECK(bench.runner.under_way() == nullptr);
  CHECK(bench.state(1) == JobState::pending);  // wanted again
}

/// A lit job with a launcher beside it; job 2 brings a commit. `touches`: that darkens job 1.
struct QuietBench : Bench {
  explicit QuietBench(bool touches = true) : touched(touches) {
    light(1, {2, 3});
    jobs.attend(JobId{1}, facts.now + std::chrono::hours{1}, {});
    add(2, {4, 5});
  }
  void go() {
    want();
    await_request();
    const auto plan = made();
    if (touched) {
      touch(*plan);
    }
    planned(plan);
  }
  void touch(PlanResult& plan) {
    for (const Circuit& circuit : plan.plan.circuits) {
      if (circuit.job == JobId{1}) {
        plan.plan.touched.push_back(circuit.id);
      }
    }
    std::sort(plan.plan.touched.begin(), plan.plan.touched.end());
  }
  bool is_waiting() const { return runner.under_way() != nullptr && moving(runner) == nullptr; }
  bool touched;
};

TEST_CASE("a job that a commit darkens is to be quiet for it, any other is not") {
  QuietBench bench;
  bench.light(3, {6, 7});
  bench.desired.remove_job(JobId{2});
  bench.add(4, {4, 5});
  bench.go();
  REQUIRE(bench.is_waiting());
  const Revision revision = bench.runner.under_way()->revision();
  CHECK(bench.runner.quiesce_of(JobId{1}) == revision);
  CHECK(bench.runner.quiesce_of(JobId{3}) == Revision{});
  CHECK(bench.runner.quiesce_of(JobId{4}) == Revision{});
  CHECK_THAT(bench.runner.waits_for(), Catch::Contains("job 1 to be quiet"));
  bench.jobs.attend(JobId{3}, bench.facts.now + seconds{9}, {});
  CHECK_THAT(bench.runner.waits_for(), Catch::Contains("job 1 to be quiet"));
  bench.jobs.attend(JobId{1}, bench.facts.now + seconds{9}, revision);
  CHECK(bench.runner.waits_for().empty());
  bench.begin();
  CHECK_FALSE(bench.is_waiting());
  CHECK(moving(bench.runner) != nullptr);
}

TEST_CASE("a job that a commit leaves alone is not waited for") {
  QuietBench bench(false);
  bench.go();
  CHECK_FALSE(bench.is_waiting());
}

TEST_CASE("a launcher whose lease is over is not waited for, from that very instant") {
  QuietBench bench;
  bench.go();
  REQUIRE(bench.is_waiting());
  const Instant until = bench.facts.now + seconds{2};
  bench.jobs.attend(JobId{1}, until, {});
  bench.facts.now = until - nanoseconds{1};
  CHECK_THAT(bench.runner.waits_for(), Catch::Contains("job 1"));
  bench.facts.now = until;
  CHECK(bench.runner.waits_for().empty());
  bench.begin();
  CHECK_FALSE(bench.is_waiting());
}

TEST_CASE("a job that does not become quiet goes dark at the deadline, aloud") {
  QuietBench bench;
  bench.go();
  REQUIRE(bench.is_waiting());
  bench.facts.now += bench.facts.timings.quiesce_deadline - nanoseconds{1};
  bench.begin();
  CHECK(bench.is_waiting());
  CHECK(bench.alarms_with(AlarmCode::job_not_quiet) == 0);
  bench.facts.now += nanoseconds{1};
  bench.begin();
  CHECK_FALSE(bench.is_waiting());
  CHECK(bench.alarms_with(AlarmCode::job_not_quiet) == 1);
}

TEST_CASE("nobody has to be quiet where the light is dark already") {
  QuietBench bench;
  SECTION("the lasers are ordered off") {
    bench.desired.set_lasers(false);
    bench.go();
    CHECK_FALSE(bench.is_waiting());
  }
  SECTION("a return") {
    bench.touched = false;
    bench.go();
    bench.handle(CommitState::relighting);
    bench.fail_now();
    bench.durable();
    bench.touched = true;
    bench.await_request();
    const auto plan = bench.made();
    bench.touch(*plan);
    bench.planned(plan);
    CHECK_FALSE(bench.is_waiting());
  }
  SECTION("a repair") {
    bench.desired.remove_job(JobId{2});
    bench.want();
    bench.await_request();
    const auto plan = bench.made();
    bench.touch(*plan);
    bench.runner.repair_with_next_plan({{NodeId{2}}, {bench.laser(2)}, {}});
    bench.planned(plan);
    CHECK_FALSE(bench.is_waiting());
  }
}

TEST_CASE("a commit that waits for agents names them, though an attended job is not quiet") {
  QuietBench bench;
  bench.go();
  REQUIRE(bench.is_waiting());
  const Revision revision = bench.runner.under_way()->revision();
  bench.pass(bench.facts.timings.dead_after, {NodeId{5}});
  bench.jobs.attend(JobId{1}, bench.facts.now, {});  // its launcher is gone ...
  bench.begin();
  REQUIRE(bench.is_waiting());
  bench.jobs.attend(JobId{1}, bench.facts.now + seconds{9}, {});  // ... and back
  CHECK(bench.runner.quiesce_of(JobId{1}) == revision);
  CHECK_THAT(bench.runner.waits_for(), Catch::Contains("the agent of node 5"));
}

TEST_CASE("light that a failed commit left dark has a revision to be quiet for, of its own job and while that runs") {
  Bench bench;
  CHECK(bench.returns.misses_something());  // nothing was ever confirmed
  bench.jobs.add(JobId{1});
  CHECK(bench.runner.quiesce_of(JobId{1}) == Revision{});
  bench.light(1, {2, 3});
  bench.light(2, {4, 5});
  CHECK(bench.runner.quiesce_of(JobId{1}) == Revision{});
  CHECK_FALSE(bench.returns.misses_something());
  bench.runner.repair_with_next_plan({{NodeId{2}}, {bench.laser(2), bench.laser(2, 1)}, {}});
  bench.add(3, {6, 7});
  bench.begin_commit();
  bench.fail_now();
  CHECK(bench.returns.misses_something());
  CHECK(bench.runner.quiesce_of(JobId{1}) == bench.numbers.next());
  CHECK(bench.runner.quiesce_of(JobId{2}) == Revision{});
  SECTION("a job that was refused is dark for nobody") {
    bench.jobs.refuse(JobId{1}, "test");
    CHECK(bench.runner.quiesce_of(JobId{1}) == Revision{});
  }
  SECTION("nor is one that ended") {
    bench.jobs.end(*bench.desired.job(JobId{1}));
    CHECK(bench.runner.quiesce_of(JobId{1}) == Revision{});
  }
}

TEST_CASE("something is missing while a job waits, is left out in part, or light is there that nobody wants") {
  Bench bench;
  bench.light(1, {2, 3});
  bench.light(2, {4, 5});
  REQUIRE_FALSE(bench.returns.misses_something());
  SECTION("a job waits") {
    bench.add(3, {6, 7});
    bench.jobs.leave_out(JobId{3}, "test");
    CHECK(bench.returns.misses_something());
  }
  SECTION("in part") {
    auto plan = std::make_shared<PlanResult>(*bench.confirmed.present());
    plan->left_out = {left_out(1, true)};
    bench.confirmed.confirm(plan);
    CHECK(bench.returns.misses_something());
  }
  SECTION("lasers that are ordered otherwise") {
    bench.desired.set_lasers(false);
    CHECK(bench.returns.misses_something());
  }
  SECTION("light that nobody wants") {
    bench.desired.remove_job(JobId{2});
    CHECK(bench.returns.misses_something());
  }
}

}  // namespace
}  // namespace loom::test
