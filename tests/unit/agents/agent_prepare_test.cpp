// Devices that can hold the next setpoint ready: when Prepared is said, and what never may be shown.
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
