// SPDX-License-Identifier: Apache-2.0
// The agent's session: every row of its table, when it speaks, and what it says of its host.
#include "agents/session.hpp"

#include <catch2/catch.hpp>
#include <memory>

#include "core/timings.hpp"
#include "tests/unit/agents/agent_bench.hpp"

namespace loom::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

SessionOptions quick_session() {
  SessionOptions options;
  options.hello_interval = milliseconds{200};
  options.heartbeat_interval = milliseconds{100};
  return options;
}

struct Bench {
  Session session{quick_session()};
  EffectSink sink;
  Instant now{std::chrono::seconds{10}};

  Bench() { session.start(context()); }
  StepContext context() { return {now, &sink}; }
  void join() {
    session.welcome(context(), milliseconds{100});
    session.received(now);
  }
  Session::Due after(Duration time) {
    now += time;
    return session.advance(context());
  }
};

TEST_CASE("every row of the session's table leads where its words say") {
  for (const SessionState from : {SessionState::greeting, SessionState::turned_away, SessionState::joined}) {
    const auto in = [&] {
      auto bench = std::make_unique<Bench>();
      if (from == SessionState::turned_away) {
        bench->session.unwelcome(bench->context());
      } else if (from == SessionState::joined) {
        bench->join();
      }
      REQUIRE(bench->session.state() == from);
      return bench;
    };
    auto welcomed = in();
    welcomed->join();
    CHECK(welcomed->session.state() == SessionState::joined);
    auto unwelcome = in();
    unwelcome->session.unwelcome(unwelcome->context());
    CHECK(unwelcome->session.state() == SessionState::turned_away);
    auto newer = in();
    newer->session.newer_term(newer->context());
    CHECK(newer->session.state() == SessionState::greeting);
    CHECK(newer->session.advance(newer->context()) == Session::Due::hello);  // at once
    auto silent = in();
    silent->after(std::chrono::seconds{60});
    CHECK(silent->session.state() == (from == SessionState::joined ? SessionState::greeting : from));
  }
}

TEST_CASE("five of the controller's seldom beats without a word are silence, to the nanosecond, and only for who has joined") {
  Bench bench;
  bench.join();
  for (int i = 0; i < 4; ++i) {
    CHECK(bench.after(milliseconds{100}) == Session::Due::heartbeat);
  }
  const auto silent_at_the_next = [&] { return bench.now + milliseconds{100} - 5 * kBeatsAtRest * milliseconds{100}; };
  bench.session.received(silent_at_the_next() + nanoseconds{1});
  CHECK(bench.after(milliseconds{100}) == Session::Due::heartbeat);
  bench.session.received(silent_at_the_next());
  CHECK(bench.after(milliseconds{100}) == Session::Due::hello);
  CHECK(bench.session.state() == SessionState::greeting);
}

TEST_CASE("a hello is hurried while the agent greets, and not once it was answered") {
  Bench greeting;
  CHECK(greeting.session.advance(greeting.context()) == Session::Due::nothing);
  greeting.session.hurry(greeting.context());
  CHECK(greeting.session.advance(greeting.context()) == Session::Due::hello);
  Bench joined;
  joined.join();
  joined.session.hurry(joined.context());
  CHECK(joined.session.advance(joined.context()) == Session::Due::nothing);
  Bench turned_away;
  turned_away.session.unwelcome(turned_away.context());
  turned_away.session.hurry(turned_away.context());
  CHECK(turned_away.session.advance(turned_away.context()) == Session::Due::nothing);
}

TEST_CASE("a welcome that is repeated puts no heartbeat off") {
  Bench bench;
  bench.join();
  bench.now += milliseconds{60};
  bench.session.welcome(bench.context(), milliseconds{100});
  CHECK(bench.after(milliseconds{40}) == Session::Due::heartbeat);
}

TEST_CASE("who was turned away greets ten times as seldom") {
  Bench bench;
  bench.session.unwelcome(bench.context());
  CHECK(bench.after(milliseconds{1'999}) == Session::Due::nothing);
  CHECK(bench.after(milliseconds{1}) == Session::Due::hello);
  CHECK(bench.after(milliseconds{1'999}) == Session::Due::nothing);
  CHECK(bench.after(milliseconds{1}) == Session::Due::hello);
}

// --- what an agent says of its host, and what it does when the host's clock is lost ----------------------------------------

const Error kLost{ErrorCode::refused, "clock is not synchronised: adjtimex says TIME_ERROR", "chronyc tracking"};

std::size_t alarms_of(const AgentBench& bench, AlarmCode code) {
  return static_cast<std::size_t>(
      std::count_if(bench.alarms.begin(), bench.alarms.end(), [&](const Alarm& alarm) { return alarm.code == code; }));
}

TEST_CASE("a_host_without_its_clock_prepares_nothing_that_emits_and_keeps_its_light") {
  AgentBench bench;
  bench.start();
  bench.receive(Revision{}, Welcome{milliseconds{100}, {}});
  bench.commit(bench.static_plan(1, 16));
  REQUIRE(bench.last<Applied>() != nullptr);
  REQUIRE(bench.last<Applied>()->outcome.ok());
  bench.log.clear();

  bench.deliver(ClockJudged{kLost});
  CHECK(alarms_of(bench, AlarmCode::clock_unsynchronised) == 1);
  REQUIRE(bench.last<AlarmReport>() != nullptr);
  CHECK(bench.last<AlarmReport>()->alarm.code == AlarmCode::clock_unsynchronised);
  const NodePlan other = bench.static_plan(2, 32);
  bench.receive(other.revision, Prepare{other});
  REQUIRE(bench.last<Prepared>() != nullptr);
  REQUIRE_FALSE(bench.last<Prepared>()->outcome.ok());
  CHECK(bench.last<Prepared>()->outcome.error->code == ErrorCode::refused);
  CHECK(bench.last<Prepared>()->outcome.error->message.find("clock_unsynchronised") != std::string::npos);
  bench.run_for(milliseconds{500});
  for (const DeviceId laser : bench.lasers) {
    CHECK(bench.device(laser).emitting);
    CHECK(bench.device(laser).setpoint == laser_at(16, false));  // set in the dark, and never again
  }

  SECTION("and says it again to a controller that welcomes it") {
    bench.receive(Revision{}, Welcome{milliseconds{100}, {}});
    CHECK(alarms_of(bench, AlarmCode::clock_unsynchronised) == 2);
  }
  SECTION("and prepares again when the clock is back, with a hello") {
    const std::size_t hellos = bench.count<Hello>();
    bench.deliver(ClockJudged{});
    bench.run_for(milliseconds{10});
    CHECK(bench.count<Hello>() > hellos);
    bench.receive(Revision{}, Welcome{milliseconds{100}, {}});
    CHECK(alarms_of(bench, AlarmCode::clock_unsynchronised) == 1);
    const NodePlan later_plan = bench.static_plan(3, 32);
    bench.receive(later_plan.revision, Prepare{later_plan});
    bench.step_until<Prepared>();
    CHECK(bench.last<Prepared>()->outcome.ok());
  }
}

TEST_CASE("an_agent_tells_where_it_listens_and_learns_where_others_do") {
  AgentBench bench;
  bench.start();
  bench.receive(Revision{}, Welcome{milliseconds{100}, {}});
  bench.deliver(PeersListen{"tcp://10.0.0.11:7610"});
  bench.run_for(milliseconds{10});
  REQUIRE(bench.last<Hello>() != nullptr);
  CHECK(bench.last<Hello>()->listens_at == "tcp://10.0.0.11:7610");
  bench.receive(Revision{}, Welcome{milliseconds{100}, {}});
  bench.run_for(milliseconds{200});
  CHECK(bench.last<Heartbeat>()->peers_digest == 0);
  const PeerAddresses addresses{{{NodeId{0}, "tcp://10.0.0.11:7610"}, {NodeId{1}, "tcp://10.0.0.12:7610"}}, 99};
  bench.receive(Revision{}, addresses);
  bench.receive(Revision{}, addresses);
  REQUIRE(bench.peers.size() == 1);  // the second one is known
  CHECK(bench.peers.front() == addresses.peers);
  bench.run_for(milliseconds{200});
  CHECK(bench.last<Heartbeat>()->peers_digest == 99);
}

TEST_CASE("an_agent_that_is_turned_away_says_why_once_and_asks_on") {
  AgentBench bench;
  bench.start();
  bench.run_for(milliseconds{300});
  const std::size_t hellos = bench.count<Hello>();
  for (int i = 0; i < 3; ++i) {
    bench.receive(Revision{},
                  Unwelcome{{ErrorCode::conflict, "fabric 'a' has digest 1 here and 2 there", "give both the same"}});
    bench.run_for(seconds{3});
  }
  CHECK(bench.count<Hello>() > hellos);
  REQUIRE(alarms_of(bench, AlarmCode::agent_duplicate) == 1);
  const auto alarm = std::find_if(bench.alarms.begin(), bench.alarms.end(),
                                  [](const Alarm& each) { return each.code == AlarmCode::agent_duplicate; });
  CHECK(alarm->evidence.find("digest 1 here and 2 there") != std::string::npos);
  CHECK(alarm->next_command == "give both the same");
}

// --- at rest ---------------------------------------------------------------------------------------------------------------

struct RestingBench : AgentBench {
  RestingBench() {
    is_pulsed = true;
    start();
    receive(Revision{}, Welcome{milliseconds{100}, {}});
    run_for(seconds{4});
  }
  std::size_t heartbeats_in(Duration time) {
    const std::size_t before = count<Heartbeat>();
    run_for(time);
    return count<Heartbeat>() - before;
  }
};

TEST_CASE("an agent whose process pulses for it beats seldom once ten heartbeats were alike") {
  AgentBench bench;
  bench.is_pulsed = true;
  bench.start();
  bench.receive(Revision{}, Welcome{milliseconds{100}, {}});
  bench.run_for(milliseconds{1'150});
  CHECK(bench.count<Heartbeat>() == 10);
  bench.run_for(seconds{4});
  CHECK(bench.count<Heartbeat>() == 12);
}

TEST_CASE("news end the rest: within a beat, and ten times") {
  RestingBench bench;
  SECTION("lasers are latched off") {
    const std::size_t before = bench.count<Heartbeat>();
    bench.receive(Revision{}, SetLasers{false, 1});
    CHECK(bench.count<Heartbeat>() == before + 1);  // the answer
    CHECK(bench.last<Heartbeat>()->lasers_latched_off);
  }
  SECTION("a revision is applied") {
    bench.commit(bench.static_plan(1, 16));
    REQUIRE(bench.last<Applied>() != nullptr);
    bench.run_for(milliseconds{110});
    CHECK(bench.last<Heartbeat>()->confirmed == Revision{1});
  }
  CHECK(bench.heartbeats_in(milliseconds{900}) >= 8);
  bench.run_for(seconds{2});
  CHECK(bench.heartbeats_in(seconds{4}) == 2);
}

TEST_CASE("at rest five of the seldom beats without a word are silence") {
  RestingBench bench;
  bench.receive(Revision{}, Beat{});
  bench.run_for(seconds{9});
  CHECK(bench.agent->session().state() == SessionState::joined);
  bench.run_for(seconds{4});
  CHECK(bench.agent->session().state() == SessionState::greeting);
}

TEST_CASE("an agent pulses for its process while it has joined, and only then") {
  AgentBench bench;
  bench.is_pulsed = true;
  bench.start();
  const PulseDue due{{NodeId{0}, NodeId{3}}};
  bench.deliver(due);
  CHECK(bench.count<Pulse>() == 0);
  bench.receive(Revision{}, Welcome{milliseconds{100}, {}});
  bench.deliver(due);
  REQUIRE(bench.count<Pulse>() == 1);
  CHECK(bench.last<Pulse>()->nodes == due.nodes);
}

}  // namespace
}  // namespace loom::test
