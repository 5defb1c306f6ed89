// SPDX-License-Identifier: Apache-2.0
// What an agent does not believe of its controller: numbers that would make all later ones old, and instants that never come.
// Darkness it always believes.
#include <catch2/catch.hpp>

#include "core/messages/intake_limits.hpp"
#include "tests/unit/agents/agent_bench.hpp"

namespace loom {
namespace {

using Catch::Matchers::Contains;
using test::AgentBench;
using test::at_ms;
using test::milliseconds;
using test::seconds;

constexpr std::uint64_t kMax = ~0ULL;

class ClaimsBench : public AgentBench {
 public:
  ClaimsBench() {
    start();
    receive(Revision{}, Welcome{milliseconds{100}, {}});
  }
  /// It is not followed, and the controller is told which field is wrong.
  void expect_refused(const std::string& evidence, Revision revision, Body body) {
    INFO(evidence);
    run_for(seconds{2});
    sent.clear();
    const std::uint64_t before = agent->counters().implausible;
    receive(revision, std::move(body));
    CHECK(agent->counters().implausible == before + 1);
    REQUIRE(count<AlarmReport>() == 1);
    CHECK(last<AlarmReport>()->alarm.code == AlarmCode::malformed_message);
    CHECK_THAT(last<AlarmReport>()->alarm.evidence, Contains(evidence));
  }
};

}  // namespace

TEST_CASE("a_term_beyond_belief_is_not_adopted_and_the_true_controller_is_followed_on") {
  ClaimsBench bench;
  const Term own = bench.term;
  bench.term = Term{kMax};
  bench.expect_refused("kTermAbove", Revision{}, Beat{});
  bench.term = own;
  CHECK(bench.agent->term() == own);
  bench.commit(bench.static_plan(1, 16));
  CHECK(bench.device(bench.lasers[0]).emitting);
}

TEST_CASE("a_revision_beyond_belief_is_not_prepared_and_the_next_one_is") {
  ClaimsBench bench;
  NodePlan absurd = bench.static_plan(1, 16);
  absurd.revision = Revision{kMax};
  bench.expect_refused("kRevisionAbove", absurd.revision, Prepare{absurd});
  bench.commit(bench.static_plan(1, 16));
  CHECK(bench.agent->commit().applied() == Revision{1});
}

TEST_CASE("an_instant_of_a_commit_that_is_years_ahead_is_not_waited_for") {
  ClaimsBench bench;
  const NodePlan plan = bench.static_plan(1, 16);
  bench.receive(plan.revision, Prepare{plan});
  bench.expect_refused("kCommitAheadNs", plan.revision, Arm{Instant{Duration{limits::kInstantNs}}});
  CHECK(bench.agent->commit().state() == RevisionState::prepared);
  bench.expect_refused("kCommitAheadNs", plan.revision,
                       Proceed{CommitPhase::relight, bench.now + seconds{10} + Duration{limits::kCommitAheadNs}});
  bench.commit(plan);
  CHECK(bench.device(bench.lasers[0]).emitting);
}

TEST_CASE("a_controller_that_wants_a_heartbeat_a_year_is_not_joined") {
  AgentBench bench;
  bench.start();
  bench.receive(Revision{}, Welcome{Duration{limits::kDurationNs}, {}});
  CHECK(bench.agent->session().state() == SessionState::greeting);
  CHECK(bench.agent->counters().implausible == 1);
  bench.receive(Revision{}, Welcome{milliseconds{100}, {}});
  CHECK(bench.agent->session().state() == SessionState::joined);
}

TEST_CASE("an_order_to_rearm_with_an_absurd_number_is_refused_and_honest_ones_are_followed") {
  ClaimsBench bench;
  bench.receive(Revision{}, SetLasers{false, 1});
  bench.expect_refused("kLaserOrderJump", Revision{}, SetLasers{true, kMax});
  CHECK(bench.agent->interlock().latched());
  bench.receive(Revision{}, SetLasers{true, 2});
  CHECK_FALSE(bench.agent->interlock().latched());
}

TEST_CASE("darkness_is_followed_whatever_its_number_and_a_later_order_lifts_it") {
  ClaimsBench bench;
  bench.commit(bench.static_plan(1, 16));
  bench.receive(Revision{}, SetLasers{true, 1});
  bench.receive(Revision{}, SetLasers{false, kMax});
  CHECK(bench.agent->counters().implausible == 1);
  CHECK_THAT(bench.last<AlarmReport>()->alarm.evidence, Contains("kLaserOrderJump"));  // said last: dark first
  bench.run_for(milliseconds{100});
  CHECK(bench.agent->interlock().latched());
  CHECK_FALSE(bench.device(bench.lasers[0]).emitting);
  CHECK(bench.agent->interlock().record().order == 1);
  bench.receive(Revision{}, SetLasers{true, 2});
  CHECK_FALSE(bench.agent->interlock().latched());
}

TEST_CASE("a_reset_with_a_number_of_another_term_is_refused_and_the_next_one_is_done") {
  ClaimsBench bench;
  const DeviceId laser = bench.lasers[0];
  bench.expect_refused("reset", Revision{}, ResetDevice{laser, kMax});
  bench.sent.clear();
  bench.receive(Revision{}, ResetDevice{laser, (bench.term.value << 32U) + 1});
  bench.run_for(seconds{1});
  CHECK(bench.count<DeviceReset>() == 1);
}

TEST_CASE("what_is_turned_away_of_peers_is_reported_once_a_second_with_its_number") {
  ClaimsBench bench;
  bench.sent.clear();
  const MessageRefused flood{
      agent_peer(NodeId{1}), {ErrorCode::busy, "agents of agents-1 send too much"}, RefusalKind::over_quota, 500, "agents-1"};
  for (int i = 0; i < 100; ++i) {
    bench.deliver(flood);
  }
  CHECK(bench.count<AlarmReport>() == 1);
  CHECK(bench.agent->counters().refused == 50'000);
  bench.run_for(seconds{2});
  bench.deliver(flood);
  REQUIRE(bench.count<AlarmReport>() == 2);
  CHECK_THAT(bench.last<AlarmReport>()->alarm.evidence, Contains("agents-1") && Contains("50500 messages"));
}

TEST_CASE("a_controller_that_lies_without_end_is_reported_once_a_second") {
  ClaimsBench bench;
  bench.sent.clear();
  for (int i = 0; i < 1'000; ++i) {
    bench.receive(Revision{}, SetLasers{true, kMax});
  }
  CHECK(bench.agent->counters().implausible == 1'000);
  CHECK(bench.count<AlarmReport>() == 1);
}

}  // namespace loom
