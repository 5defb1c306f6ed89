// Operators' orders about nodes, devices and alarms, carried out by the real planner.
#include "desk_bench.hpp"

namespace loom::test {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE("a drained node's job moves to a free node, and the reply carries the revision that does it") {
  DeskBench desk;
  const JobId job = desk.light(4);
  const NodeId node = desk.controller->intent().jobs.front().nodes.front();
  const OperatorReply reply = desk.ask(OrderNode{node, NodeOrder::drain});
  REQUIRE(reply.outcome.ok());
  CHECK(reply.revision.value > 0);
  desk.settle();
  CHECK(desk.controller->confirmed() == reply.revision);
  const auto& nodes = desk.controller->intent().jobs.front().nodes;
  CHECK(std::find(nodes.begin(), nodes.end(), node) == nodes.end());
  CHECK(desk.controller->confirmed_plan()->plan.nodes[node.value].ends.empty());
  CHECK(desk.controller->jobs().at(job).state == JobState::lit);
  CHECK(desk.rows<NodeReport>(Noun::nodes, node.value).front().drained);
}

TEST_CASE("a job that changes its traffic keeps its nodes and its name, and the reply carries the revision that does it") {
  DeskBench desk;
  const JobId job = desk.light(4);
  const Job before = desk.controller->intent().jobs.front();
  JobSpec spec;
  spec.name = "other";
  spec.workload = "shuffle";
  spec.node_count = 4;
  spec.collectives = {{CollectiveKind::all_to_all, {}, Bytes{1'000'000}}};
  const auto dry = std::get<ChangeReport>(desk.ask(ChangeJob{job, spec, true}).rows);
  CHECK(dry.touched > 0);
  CHECK(desk.controller->intent().jobs.front() == before);
  const OperatorReply reply = desk.ask(ChangeJob{job, spec, false});
  REQUIRE(reply.outcome.ok());
  desk.run_for(seconds{2});
  const Job& after = desk.controller->intent().jobs.front();
  CHECK(after.nodes == before.nodes);
  CHECK(after.spec.name == "ring");
  CHECK(after.spec.collectives == spec.collectives);
  CHECK(desk.controller->confirmed() >= reply.revision);
  spec.node_count = 5;
  CHECK(mentions(refusal_of(desk.ask(ChangeJob{job, spec, false})).message, "runs on 4 nodes, the change is for 5"));
  CHECK(mentions(refusal_of(desk.ask(ChangeJob{JobId{99}, spec, false})).message, "job 99 does not run"));
}

TEST_CASE("a dry run of a drain names the moves and the circuits and changes nothing") {
  DeskBench desk;
  desk.light(4);
  const Intent before = desk.controller->intent();
  const std::size_t records = desk.records.size();
  const std::size_t audited = desk.controller->audit().size();
  const NodeId node = before.jobs.front().nodes.front();
  const auto change = std::get<ChangeReport>(desk.ask(OrderNode{node, NodeOrder::drain, false, true}).rows);
  REQUIRE_FALSE(change.moves.empty());
  CHECK(change.moves.front().from == node);
  CHECK(change.touched > 0);
  CHECK(desk.controller->intent() == before);
  CHECK(desk.controller->audit().size() == audited + 1);  // that it was asked is all that is recorded
  CHECK(desk.records.size() == records + 1);
}

TEST_CASE("a drain without a free node is refused with the numbers, and force keeps the job") {
  DeskBench desk;
  desk.light(8);
  const Error error = refusal_of(desk.ask(OrderNode{NodeId{1}, NodeOrder::drain}));
  CHECK(mentions(error.message, "0 of 8 are free"));
  CHECK(mentions(error.next_command, "--force"));
  CHECK(desk.controller->intent().drained.empty());
  CHECK(desk.ask(OrderNode{NodeId{1}, NodeOrder::drain, true}).outcome.ok());
  CHECK(desk.controller->intent().drained == std::vector{NodeId{1}});
  CHECK(desk.controller->intent().jobs.front().nodes.size() == 8);
}

TEST_CASE("a drained node gets no new job until it is undrained") {
  DeskBench desk;
  REQUIRE(desk.ask(OrderNode{NodeId{2}, NodeOrder::drain}).outcome.ok());
  JobSpec spec;
  spec.name = "all";
  spec.node_count = 8;
  spec.collectives = {{CollectiveKind::all_reduce, {}, Bytes{1'000'000}}};
  CHECK(mentions(refusal_of(desk.ask(SubmitJob{spec, true})).message, "7 free"));
  REQUIRE(desk.ask(OrderNode{NodeId{2}, NodeOrder::undrain}).outcome.ok());
  CHECK(desk.ask(SubmitJob{spec, true}).outcome.ok());
}

TEST_CASE("a node in maintenance is latched dark when its light has gone, and comes back drained") {
  DeskBench desk;
  desk.light(4);
  const NodeId node = desk.controller->intent().jobs.front().nodes[1];
  REQUIRE(desk.ask(OrderNode{node, NodeOrder::maintain}).outcome.ok());
  desk.settle();
  desk.run_for(seconds{2});
  CHECK(desk.latched == std::set<NodeId>{node});
  CHECK(desk.controller->confirmed_plan()->plan.nodes[node.value].ends.empty());
  CHECK(desk.rows<NodeReport>(Noun::nodes, node.value).front().maintenance);
  CHECK(mentions(refusal_of(desk.ask(OrderNode{node, NodeOrder::undrain})).next_command, "maintenance"));
  REQUIRE(desk.ask(OrderNode{node, NodeOrder::release}).outcome.ok());
  desk.run_for(seconds{2});
  desk.settle();
  CHECK(desk.latched.empty());
  CHECK(desk.rows<NodeReport>(Noun::nodes, node.value).front().drained);
}

TEST_CASE("a node that cannot be heard is drained only by whoever says that it is dark") {
  DeskBench desk;
  desk.light(4);
  const NodeId node = desk.controller->intent().jobs.front().nodes[1];
  desk.silent.insert(node);
  desk.run_for(seconds{30});
  CHECK(mentions(refusal_of(desk.ask(OrderNode{node, NodeOrder::drain})).next_command, "on --force"));
  const OperatorReply forced = desk.ask(OrderNode{node, NodeOrder::maintain, true});
  REQUIRE(forced.outcome.ok());
  desk.settle();
  CHECK(desk.controller->confirmed() == forced.revision);
}

TEST_CASE("a request that comes twice is obeyed once, even over a restart") {
  DeskBench desk;
  JobSpec spec;
  spec.name = "once";
  spec.node_count = 2;
  spec.collectives = {{CollectiveKind::all_reduce, {}, Bytes{1'000'000}}};
  const OperatorReply first = desk.ask_as(RequestId{77}, SubmitJob{spec, false});
  const OperatorReply second = desk.ask_as(RequestId{77}, SubmitJob{spec, false});
  CHECK(first.job == second.job);
  CHECK(desk.controller->intent().jobs.size() == 1);
  desk.settle();
  desk.start(kVirtualClock);
  const OperatorReply third = desk.ask_as(RequestId{77}, SubmitJob{spec, false});
  CHECK(third.job == first.job);
  CHECK(third.revision == first.revision);
  CHECK(desk.controller->intent().jobs.size() == 1);
}

TEST_CASE("a device that carries a circuit is not set by hand, and the refusal names the circuit and the drain") {
  DeskBench desk;
  desk.light(4);
  const NodeId node = desk.controller->intent().jobs.front().nodes.front();
  const DeviceId laser = desk.laser_of(node);
  const Error error = refusal_of(desk.ask(OrderDevice{laser, LaserSetpoint{{-272, 8}, Dbm{0}, false}}));
  CHECK(mentions(error.message, "circuit "));
  CHECK(error.next_command == "loom node drain " + std::to_string(node.value));
}

TEST_CASE("a setpoint by hand is what the device shall be until it is cleared") {
  DeskBench desk;
  desk.light(4);
  const DeviceId laser = desk.laser_of(desk.free_node());
  const Transmitter& transmitter = std::get<Transmitter>(desk.fabric->element(desk.fabric->device(laser).elements[0]).kind);
  const LaserSetpoint wanted{transmitter.channels.slot(7), transmitter.launch_power, true};
  const OperatorReply reply = desk.ask(OrderDevice{laser, wanted});
  INFO((reply.outcome.error ? reply.outcome.error->message : ""));
  REQUIRE(reply.outcome.ok());
  desk.settle();
  auto row = desk.rows<DeviceReport>(Noun::devices, laser.value).front();
  CHECK(row.by_hand);
  CHECK_FALSE(row.adopted);
  CHECK(row.desired == Setpoint{wanted});
  CHECK(desk.controller->confirmed() == reply.revision);
  REQUIRE(desk.ask(OrderDevice{laser, std::nullopt}).outcome.ok());
  desk.settle();
  row = desk.rows<DeviceReport>(Noun::devices, laser.value).front();
  CHECK_FALSE(row.by_hand);
  CHECK_FALSE(emits(*row.desired));
  CHECK(refusal_of(desk.ask(OrderDevice{laser, std::nullopt})).code == ErrorCode::conflict);
}

TEST_CASE("light by hand that would meet other light is refused by verify with the rule named") {
  DeskBench desk;
  desk.light(4);
  const Circuit& lit = desk.controller->confirmed_plan()->plan.circuits.front();
  const std::uint32_t group = desk.fabric->nodes[lit.source.value].group;
  std::optional<DeviceId> neighbour;
  for (const NodeReport& row : desk.rows<NodeReport>(Noun::nodes)) {
    if (row.jobs.empty() && desk.fabric->nodes[row.node.value].group == group) {
      neighbour = desk.laser_of(row.node);
    }
  }
  if (!neighbour) {  // the job has its group for itself: drain one of its nodes to get a neighbour
    const NodeId node = desk.controller->intent().jobs.front().nodes.back();
    REQUIRE(desk.ask(OrderNode{node, NodeOrder::drain}).outcome.ok());
    desk.settle();
    neighbour = desk.laser_of(node);
  }
  FrequencySlot used;
  for (const Circuit& circuit : desk.controller->confirmed_plan()->plan.circuits) {
    if (desk.fabric->nodes[circuit.source.value].group ==
        desk.fabric->nodes[desk.fabric->device(*neighbour).agent.value].group) {
      used = circuit.slot;
    }
  }
  const Error error = refusal_of(desk.ask(OrderDevice{*neighbour, LaserSetpoint{used, Dbm{0}, true}}));
  CHECK(error.code == ErrorCode::unverified);
  CHECK(mentions(error.message, "one_transmitter_per_coupler_wavelength"));
  CHECK(desk.controller->intent().overrides.empty());
}

TEST_CASE("a rearm waits for the agents to lift their latch before light returns") {
  DeskBench desk;
  desk.light(4);
  const std::size_t lit = desk.shown().size();
  REQUIRE(desk.ask(OrderLasers{false}).outcome.ok());
  desk.settle();
  CHECK(desk.latched.size() == 8);
  CHECK(desk.shown().empty());
  const OperatorReply reply = desk.ask(OrderLasers{true});
  desk.settle();
  CHECK(desk.latched.empty());
  CHECK(desk.controller->confirmed() == reply.revision);
  CHECK(desk.shown().size() == lit);
}

TEST_CASE("a device reset is asked until it is answered, and answered with what was written") {
  DeskBench desk;
  const OperatorReply reply = desk.ask(OrderReset{DeviceId{3}});
  REQUIRE(reply.outcome.ok());
  CHECK(reply.writes == 3);
  CHECK(std::get<std::vector<DeviceReport>>(reply.rows).front().observation.health == DeviceHealth::ready);
  desk.resets_answered = false;
  desk.replies.clear();
  Envelope envelope;
  envelope.role = Role::operator_;
  envelope.body = OperatorRequest{RequestId{900}, OrderReset{DeviceId{3}}};
  desk.feed(MessageArrived{Peer{Peer::Kind::operator_, 7}, envelope});
  const std::size_t asked = desk.said<ResetDevice>();
  desk.run_for(seconds{1});
  CHECK(desk.said<ResetDevice>() > asked);
  CHECK(desk.replies.empty());
  desk.run_for(seconds{5});
  REQUIRE(desk.replies.size() == 1);
  CHECK(refusal_of(desk.replies.front()).code == ErrorCode::timed_out);
}

TEST_CASE("equal alarms are one that is counted, acknowledged, and gone when its cause is gone") {
  DeskBench desk;
  desk.silent.insert(NodeId{5});
  desk.run_for(seconds{60});
  auto rows = desk.rows<StandingAlarm>(Noun::alarms);
  REQUIRE(rows.size() == 1);
  CHECK(rows.front().alarm.code == AlarmCode::agent_dead);
  REQUIRE(desk.ask(AcknowledgeAlarm{rows.front().id}).outcome.ok());
  CHECK(desk.rows<StandingAlarm>(Noun::alarms).front().acknowledged_by == "ada");
  CHECK(std::get<StatusReport>(desk.ask(Query{Noun::status}).rows).alarms == 0);
  desk.silent.clear();
  desk.greet(NodeId{5});
  desk.pump();
  CHECK(desk.rows<StandingAlarm>(Noun::alarms).empty());
  CHECK(refusal_of(desk.ask(AcknowledgeAlarm{AlarmId{99}})).code == ErrorCode::not_found);
}

TEST_CASE("an alarm that comes back after it was cleared is open again") {
  AlarmBoard board;
  EffectSink sink;
  const Alarm alarm{AlarmCode::drift, NodeId{1}, {}, "differs", "loom node show 1"};
  board.raise(alarm, Instant{seconds{1}}, sink);
  board.raise(alarm, Instant{seconds{2}}, sink);
  REQUIRE(board.rows().size() == 1);
  CHECK(board.rows().front().count == 2);
  CHECK(board.rows().front().first_seen == Instant{seconds{1}});
  board.clear(AlarmCode::drift, NodeId{1});
  CHECK(board.open_count() == 0);
  board.raise(alarm, Instant{seconds{3}}, sink);
  CHECK(board.open_count() == 1);
  CHECK(board.acknowledge(board.rows().front().id, "ada"));
  CHECK(board.open_count() == 0);
}

TEST_CASE("every alarm and every error has something to type next") {
  for (int code = 0; code <= static_cast<int>(AlarmCode::job_not_quiet); ++code) {
    for (const bool has_node : {false, true}) {
      Alarm alarm;
      alarm.code = static_cast<AlarmCode>(code);
      alarm.node = has_node ? std::optional(NodeId{1}) : std::nullopt;
      CHECK(next_command_for(alarm).starts_with("loom "));
    }
  }
  for (int code = 0; code <= static_cast<int>(ErrorCode::internal); ++code) {
    CHECK_FALSE(next_command_for(static_cast<ErrorCode>(code)).empty());
  }
}

TEST_CASE("every refusal of the desk says what to type next") {
  DeskBench desk;
  desk.light(4);
  JobSpec too_large;
  too_large.node_count = 9;
  const OperatorAsk asks[] = {SubmitJob{too_large, false},
                              CancelJob{JobId{99}, false},
                              OrderNode{NodeId{99}, NodeOrder::drain},
                              OrderNode{NodeId{1}, NodeOrder::release},
                              OrderDevice{DeviceId{9999}, std::nullopt},
                              OrderDevice{DeviceId{0}, std::nullopt},
                              OrderReset{DeviceId{9999}},
                              AcknowledgeAlarm{AlarmId{9}},
                              ApplySchedule{ApplyMode::safe, {{JobId{9}, NodeId{0}, NodeId{1}, {}}}},
                              ConfirmSchedule{},
                              RollBackSchedule{Revision{99}},
                              DiffSchedule{Revision{99}, std::nullopt}};
  for (const OperatorAsk& ask : asks) {
    CAPTURE(ask.index());
    refusal_of(desk.ask(ask));
  }
  refusal_of(desk.ask(OrderNode{NodeId{1}, NodeOrder::drain}, Role::viewer));
  refusal_of(desk.ask(Query{Noun::explanation, 9999}));
}

TEST_CASE("rows come in pages, and every page says how many there are") {
  DeskBench desk;
  const OperatorReply page = desk.ask(Query{Noun::devices, {}, 2, 3});
  const auto& rows = std::get<std::vector<DeviceReport>>(page.rows);
  REQUIRE(rows.size() == 3);
  CHECK(rows.front().device == DeviceId{2});
  CHECK(page.total_rows == desk.fabric->devices.size());
  CHECK(std::get<std::vector<DeviceReport>>(desk.ask(Query{Noun::devices, {}, 1'000'000, 0}).rows).empty());
}

}  // namespace loom::test
