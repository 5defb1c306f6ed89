// SPDX-License-Identifier: Apache-2.0
// What an agent latches by itself: contacts, orders at its own process, what lifts them and what does not, and that no fibre
// gets more light from its lasers than it may carry.
#include <catch2/catch.hpp>

#include "tests/unit/agents/agent_bench.hpp"

using namespace loom;
using namespace loom::test;

namespace {

constexpr Peer kOperator{Peer::Kind::operator_, 7};

void add_contact(AgentBench& bench, const std::string& name) {
  Fabric fabric = *bench.fabric;
  fabric.interlocks.push_back({name, "file:///run/" + name, NodeId{0}, NodeId{0}});
  bench.fabric = std::make_shared<const Fabric>(std::move(fabric));
}

bool is_dark(AgentBench& bench) {
  return std::none_of(bench.lasers.begin(), bench.lasers.end(), [&](DeviceId laser) { return bench.device(laser).emitting; });
}

void ask(AgentBench& bench, OperatorAsk what, Role role = Role::operator_, std::uint64_t request = 1) {
  Envelope envelope;
  envelope.role = role;
  envelope.principal = "alice";
  envelope.node = kBenchNode;
  envelope.body = OperatorRequest{RequestId{request}, std::move(what)};
  bench.deliver(MessageArrived{kOperator, std::move(envelope)});
}

const LatchRecord& kept_latch(const AgentBench& bench) { return std::get<LatchRecord>(bench.journal.back()); }

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Revision 1 is lit; the controller is there.
struct LitBench : AgentBench {
  LitBench() {
    start();
    receive(Revision{}, Welcome{milliseconds{100}, {}});
    commit(static_plan(1, 16));
    REQUIRE_FALSE(is_dark(*this));
  }
};

}  // namespace

TEST_CASE("nothing_is_lit_until_a_contact_has_been_read_closed_and_nothing_has_to_be_rearmed_then") {
  AgentBench bench;
  add_contact(bench, "door");
  bench.start();
  bench.receive(Revision{}, Welcome{milliseconds{100}, {}});
  bench.commit(bench.static_plan(1, 16));
  CHECK(is_dark(bench));
  CHECK(says(bench.last<Prepared>()->outcome.error->message, "contact door has not been read closed yet"));
  CHECK(bench.last<Heartbeat>()->lasers_latched_off);
  CHECK(bench.last<Heartbeat>()->own_latch.number == 0);
  CHECK_FALSE(bench.agent->interlock().latched());
  bench.receive(Revision{}, Welcome{milliseconds{100}, {}});
  bench.deliver(InterlockChanged{false, "door", {}});
  CHECK_FALSE(bench.last<Heartbeat>()->lasers_latched_off);  // said at once
  bench.commit(bench.static_plan(2, 16));
  CHECK_FALSE(is_dark(bench));
}

TEST_CASE("light_that_an_earlier_incarnation_left_stays_until_a_contact_is_found_open") {
  AgentBench bench;
  add_contact(bench, "door");
  bench.start();
  bench.deliver(InterlockChanged{false, "door", {}});
  bench.commit(bench.static_plan(1, 16));
  REQUIRE_FALSE(is_dark(bench));
  bench.start(2);
  bench.run_for(milliseconds{100});
  CHECK_FALSE(is_dark(bench));
  bench.deliver(InterlockChanged{true, "door", "it could not be read for 251 ms"});
  bench.run_for(milliseconds{20});
  CHECK(is_dark(bench));
  CHECK(says(kept_latch(bench).cause, "could not be read for 251 ms"));
}

TEST_CASE("any_one_of_several_contacts_that_is_open_darkens_and_holds_the_latch") {
  AgentBench bench;
  add_contact(bench, "door");
  add_contact(bench, "cover");
  bench.start();
  bench.receive(Revision{}, Welcome{milliseconds{100}, {}});
  bench.deliver(InterlockChanged{false, "door", {}});
  bench.commit(bench.static_plan(1, 16));
  CHECK(is_dark(bench));  // the cover was not read yet
  bench.deliver(InterlockChanged{false, "cover", {}});
  bench.commit(bench.static_plan(2, 16));
  REQUIRE_FALSE(is_dark(bench));
  bench.receive(Revision{}, Welcome{milliseconds{100}, {}});
  bench.deliver(InterlockChanged{true, "cover", {}});
  bench.deliver(InterlockChanged{true, "door", {}});
  bench.run_for(milliseconds{20});
  CHECK(is_dark(bench));
  const OwnLatch latch = bench.last<Heartbeat>()->own_latch;
  CHECK(says(latch.cause, "interlock contact door is open since "));
  bench.deliver(InterlockChanged{false, "door", {}});
  bench.receive(Revision{}, SetLasers{true, 9, latch.number});
  CHECK(bench.agent->interlock().latched());  // the cover is still open
  CHECK(says(bench.alarms.back().evidence, "contact cover is open since "));
  CHECK(says(bench.alarms.back().evidence, "close the contact, then"));
  bench.deliver(InterlockChanged{false, "cover", {}});
  CHECK(bench.agent->interlock().latched());
  const OwnLatch closed = bench.last<Heartbeat>()->own_latch;
  CHECK(says(closed.cause, ", and is read closed since "));
  bench.receive(Revision{}, SetLasers{true, 10, latch.number});  // ordered while it was open
  CHECK(bench.agent->interlock().latched());
  bench.receive(Revision{}, SetLasers{true, 11, closed.number});
  CHECK_FALSE(bench.agent->interlock().latched());
}

TEST_CASE("a_rearm_that_was_given_while_a_contact_was_open_never_brings_light_back_when_it_is_closed") {
  LitBench bench;
  bench.deliver(InterlockChanged{true, "door", {}});
  const std::uint64_t number = bench.last<Heartbeat>()->own_latch.number;
  bench.receive(Revision{}, SetLasers{true, 4, number});  // for somebody else's contact, say
  bench.deliver(InterlockChanged{false, "door", {}});
  const bool is_anew = GENERATE(false, true);
  bench.receive(Revision{}, SetLasers{true, is_anew ? 5U : 4U, number});  // said again, or numbered anew
  CHECK(bench.agent->interlock().latched());
  bench.commit(bench.static_plan(2, 16));
  CHECK(is_dark(bench));
}

TEST_CASE("a_rearm_does_not_lift_what_a_new_process_of_the_agent_has_read_closed_since") {
  LitBench bench;
  bench.deliver(InterlockChanged{true, "door", {}});
  const std::uint64_t number = bench.last<Heartbeat>()->own_latch.number;
  bench.start(2);
  bench.deliver(InterlockChanged{false, "door", {}});  // closed while it was dead
  bench.receive(Revision{}, SetLasers{true, 5, number});
  CHECK(bench.agent->interlock().latched());
  bench.receive(Revision{}, SetLasers{true, 6, bench.agent->interlock().own_latch().number});
  CHECK_FALSE(bench.agent->interlock().latched());
}

TEST_CASE("what_an_agent_latched_by_itself_is_lifted_by_a_rearm_that_names_it_and_by_no_other_order") {
  LitBench bench;
  bench.receive(Revision{}, SetLasers{true, 3});
  bench.deliver(InterlockChanged{true, "door", {}});
  bench.deliver(InterlockChanged{false, "door", {}});
  const std::uint64_t number = bench.last<Heartbeat>()->own_latch.number;
  CHECK(number == 2);  // opened, and closed
  const auto order = GENERATE(SetLasers{true, 3, 2}, SetLasers{true, 2, 2}, SetLasers{true, 4, 0}, SetLasers{true, 1u << 20, 0},
                              SetLasers{true, 4, 1}, SetLasers{true, 4, 3});
  CAPTURE(order.order, order.own_latch);
  bench.receive(Revision{}, order);  // given before it, or for another node's end of maintenance
  CHECK(bench.agent->interlock().latched());
  bench.commit(bench.static_plan(2, 16));
  CHECK(is_dark(bench));
  bench.start(2);
  CHECK(bench.agent->interlock().latched());
  CHECK(bench.agent->interlock().own_latch().number == 2);
  bench.deliver(InterlockChanged{false, "door", {}});
  bench.receive(Revision{}, SetLasers{true, (1u << 20) + 1, 3});
  CHECK_FALSE(bench.agent->interlock().latched());
}

TEST_CASE("a_rearm_of_the_latch_before_does_not_lift_the_one_after") {
  LitBench bench;
  bench.deliver(InterlockChanged{true, "door", {}});
  bench.deliver(InterlockChanged{false, "door", {}});
  bench.deliver(InterlockChanged{true, "door", {}});
  bench.deliver(InterlockChanged{false, "door", {}});
  CHECK(bench.last<Heartbeat>()->own_latch.number == 4);
  bench.receive(Revision{}, SetLasers{true, 5, 2});  // its operator knew of the first opening only
  CHECK(bench.agent->interlock().latched());
  bench.receive(Revision{}, SetLasers{true, 6, 4});
  CHECK_FALSE(bench.agent->interlock().latched());
}

TEST_CASE("an_operator_is_obeyed_by_the_agent_itself_and_answered_when_its_lasers_have_been_read_back_dark") {
  LitBench bench;
  const auto role = GENERATE(Role::operator_, Role::admin);
  ask(bench, LasersRequest{false}, role);
  CHECK(bench.count<OperatorReply>() == 0);  // not before it is so
  bench.run_for(milliseconds{50});
  CHECK(is_dark(bench));
  REQUIRE(bench.count<OperatorReply>() == 1);
  CHECK(bench.last<OperatorReply>()->outcome.ok());
  CHECK(bench.last<OperatorReply>()->request == RequestId{1});
  const auto& rows = std::get<std::vector<NodeReport>>(bench.last<OperatorReply>()->rows);
  REQUIRE(rows.size() == 1);
  CHECK(says(rows.front().dark_because, "ordered at this agent by alice"));
  CHECK(kept_latch(bench).lasers_off);
  CHECK(kept_latch(bench).is_own);
  bench.receive(Revision{}, SetLasers{true, 99, 0});  // a controller that knows nothing of it
  CHECK(bench.agent->interlock().latched());
  bench.start(2);
  CHECK(bench.agent->interlock().latched());
}

TEST_CASE("an_operator_is_told_which_laser_could_not_be_proven_dark") {
  LitBench bench;
  bench.device(bench.lasers[0]).refuses = Op::dark;
  ask(bench, LasersRequest{false});
  bench.run_for(seconds{3});
  REQUIRE(bench.count<OperatorReply>() == 1);
  const Outcome& outcome = bench.last<OperatorReply>()->outcome;
  REQUIRE_FALSE(outcome.ok());
  CHECK(says(outcome.error->message, bench.fabric->device(bench.lasers[0]).name));
  CHECK_FALSE(says(outcome.error->message, bench.fabric->device(bench.lasers[1]).name));
  bench.device(bench.lasers[0]).refuses.reset();
  bench.run_for(seconds{1});
  CHECK(is_dark(bench));  // tried on, although the asker has gone
}

TEST_CASE("an_order_that_an_operator_repeats_is_one_latch_and_one_asked_again_later_is_proven_again") {
  LitBench bench;
  ask(bench, LasersRequest{false});
  ask(bench, LasersRequest{false});
  bench.run_for(milliseconds{50});
  CHECK(bench.agent->interlock().own_latch().number == 1);
  CHECK(bench.count<OperatorReply>() == 1);
  ask(bench, LasersRequest{false}, Role::operator_, 2);
  bench.run_for(milliseconds{50});
  CHECK(bench.count<OperatorReply>() == 2);
  CHECK(bench.last<OperatorReply>()->outcome.ok());
}

TEST_CASE("an_agent_itself_takes_nothing_but_darkness_and_a_question_from_an_operator") {
  LitBench bench;
  const auto refused = [&] {
    REQUIRE(bench.count<OperatorReply>() == 1);
    return bench.last<OperatorReply>()->outcome.error;
  };
  SECTION("rearm") {
    ask(bench, LasersRequest{true});
    REQUIRE(refused());
    CHECK(refused()->code == ErrorCode::refused);
    CHECK(says(refused()->message, "controller"));
  }
  SECTION("a viewer's key") {
    ask(bench, LasersRequest{false}, Role::viewer);
    REQUIRE(refused());
    CHECK(says(refused()->message, "viewer"));
  }
  SECTION("an agent's key in the part of an operator") {
    ask(bench, LasersRequest{false}, Role::agent);
    REQUIRE(refused());
  }
  SECTION("anything else") {
    ask(bench, NodeRequest{kBenchNode, NodeAction::drain});
    REQUIRE(refused());
  }
  SECTION("how it is") {
    ask(bench, Query{Noun::nodes, {}}, Role::viewer);
    CHECK_FALSE(refused());
    CHECK_FALSE(std::get<std::vector<NodeReport>>(bench.last<OperatorReply>()->rows).front().lasers_latched_off);
  }
  bench.run_for(milliseconds{50});
  CHECK_FALSE(is_dark(bench));
  CHECK_FALSE(bench.agent->interlock().latched());
}

TEST_CASE("an_agent_refuses_more_light_than_the_fibre_behind_its_laser_may_carry_whoever_planned_it") {
  AgentBench bench;
  Fabric fabric = *bench.fabric;
  const Device& laser = fabric.device(bench.lasers[0]);
  const FibreId fibre = *fabric.fibre_out[laser.elements[0].value][0];
  const bool of_fibre = GENERATE(true, false);
  (of_fibre ? fabric.fibres[fibre.value].power_limit : fabric.power_limit) = Dbm{100};
  bench.fabric = std::make_shared<const Fabric>(std::move(fabric));
  bench.start();
  NodePlan plan = bench.static_plan(1, 16);
  auto& setpoint = std::get<TransmitterSetpoint>(AgentBench::part(plan, bench.lasers[0]).timeline.front().setpoint);
  setpoint.power = Dbm{100};  // exactly the limit
  bench.commit(plan);
  CHECK(bench.last<Prepared>()->outcome.ok());
  setpoint.power = Dbm{101};
  plan.revision = Revision{2};
  AgentBench::part(plan, bench.lasers[0]).touched = true;
  bench.receive(plan.revision, Prepare{plan});
  bench.run_for(milliseconds{10});
  const Outcome& outcome = bench.last<Prepared>()->outcome;
  REQUIRE_FALSE(outcome.ok());
  CHECK(outcome.error->code == ErrorCode::out_of_range);
  CHECK(says(outcome.error->message, "fibre " + std::to_string(fibre.value)));
  setpoint.emit = false;  // dark light weighs nothing
  plan.revision = Revision{3};
  bench.receive(plan.revision, Prepare{plan});
  bench.run_for(milliseconds{10});
  CHECK(bench.last<Prepared>()->outcome.ok());
}
