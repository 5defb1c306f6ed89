// SPDX-License-Identifier: Apache-2.0
// Operators' orders about nodes, devices and alarms, carried out by the real planner.
#include <cmath>

#include "core/ring/ring.hpp"
#include "tests/unit/requests/request_bench.hpp"

namespace loom::test {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE("a drained node's job moves to a free node, and the reply carries the revision that does it") {
  RequestBench bench;
  const JobId job = bench.light(4);
  const NodeId node = bench.controller->intent().jobs.front().nodes.front();
  const OperatorReply reply = bench.ask(NodeRequest{node, NodeAction::drain});
  REQUIRE(reply.outcome.ok());
  CHECK(reply.revision.value > 0);
  bench.settle();
  CHECK(bench.controller->confirmed() == reply.revision);
  const auto& nodes = bench.controller->intent().jobs.front().nodes;
  CHECK(std::find(nodes.begin(), nodes.end(), node) == nodes.end());
  CHECK(bench.controller->confirmed_plan()->plan.nodes[node.value].ends.empty());
  CHECK(bench.controller->jobs().at(job).state == JobState::lit);
  CHECK(bench.rows<NodeReport>(Noun::nodes, node.value).front().drained);
}

TEST_CASE("a job that changes its traffic keeps its nodes and its name, and the reply carries the revision that does it") {
  RequestBench bench;
  const JobId job = bench.light(4);
  const Job before = bench.controller->intent().jobs.front();
  JobSpec spec;
  spec.name = "other";
  spec.workload = "shuffle";
  spec.node_count = 4;
  spec.collectives = {{CollectiveKind::all_to_all, {}, Bytes{1'000'000}}};
  const auto dry = std::get<ChangeReport>(bench.ask(ChangeJob{job, spec, true}).rows);
  CHECK(dry.touched > 0);
  CHECK(bench.controller->intent().jobs.front() == before);
  const OperatorReply reply = bench.ask(ChangeJob{job, spec, false});
  REQUIRE(reply.outcome.ok());
  bench.run_for(seconds{2});
  const Job& after = bench.controller->intent().jobs.front();
  CHECK(after.nodes == before.nodes);
  CHECK(after.spec.name == "ring");
  CHECK(after.spec.collectives == spec.collectives);
  CHECK(bench.controller->confirmed() >= reply.revision);
  const CommitReport done = bench.rows<CommitReport>(Noun::history, reply.revision.value).front();
  CHECK(dry.slowest == done.slowest);
  CHECK(dry.slowest_time > Duration{});
  CHECK(dry.dark_predicted >= dry.slowest_time);
  CHECK(dry.dark_predicted == done.dark_predicted);
  spec.node_count = 5;
  CHECK(mentions(refusal_of(bench.ask(ChangeJob{job, spec, false})).message, "runs on 4 nodes, the change is for 5"));
  CHECK(mentions(refusal_of(bench.ask(ChangeJob{JobId{99}, spec, false})).message, "job 99 does not run"));
}

TEST_CASE("a dry run of a drain names the moves and the circuits and changes nothing") {
  RequestBench bench;
  bench.light(4);
  const Intent before = bench.controller->intent();
  const std::size_t records = bench.records.size();
  const std::size_t audited = std::get<std::vector<AuditRecord>>(bench.controller->answer(Query{Noun::audit, {}}).rows).size();
  const NodeId node = before.jobs.front().nodes.front();
  const auto change = std::get<ChangeReport>(bench.ask(NodeRequest{node, NodeAction::drain, false, true}).rows);
  REQUIRE_FALSE(change.moves.empty());
  CHECK(change.moves.front().from == node);
  CHECK(change.touched > 0);
  CHECK(bench.controller->intent() == before);
  CHECK(std::get<std::vector<AuditRecord>>(bench.controller->answer(Query{Noun::audit, {}}).rows).size() ==
        audited + 1);  // that it was asked is all that is recorded
  CHECK(bench.records.size() == records + 1);
}

TEST_CASE("a drain without a free node is refused with the numbers, and force keeps the job") {
  RequestBench bench;
  bench.light(8);
  const Error error = refusal_of(bench.ask(NodeRequest{NodeId{1}, NodeAction::drain}));
  CHECK(mentions(error.message, "0 of 8 are free"));
  CHECK(mentions(error.next_command, "--force"));
  CHECK(bench.controller->intent().drained.empty());
  CHECK(bench.ask(NodeRequest{NodeId{1}, NodeAction::drain, true}).outcome.ok());
  CHECK(bench.controller->intent().drained == std::vector{NodeId{1}});
  CHECK(bench.controller->intent().jobs.front().nodes.size() == 8);
}

TEST_CASE("a drained node gets no new job until it is undrained") {
  RequestBench bench;
  REQUIRE(bench.ask(NodeRequest{NodeId{2}, NodeAction::drain}).outcome.ok());
  JobSpec spec;
  spec.name = "all";
  spec.node_count = 8;
  spec.collectives = {{CollectiveKind::all_reduce, {}, Bytes{1'000'000}}};
  CHECK(mentions(refusal_of(bench.ask(SubmitJob{spec, true})).message, "7 free"));
  REQUIRE(bench.ask(NodeRequest{NodeId{2}, NodeAction::undrain}).outcome.ok());
  CHECK(bench.ask(SubmitJob{spec, true}).outcome.ok());
}

TEST_CASE("a node that fell silent in light goes into maintenance only when somebody says that it is dark") {
  RequestBench bench;
  const JobId job = bench.light(4);
  const NodeId node = bench.shown().front().source;
  bench.silent.insert(node);
  bench.run_for(std::chrono::milliseconds{1500});  // missed, and not given up yet
  REQUIRE(bench.ask(CancelJob{job}).outcome.ok());
  const bool is_forced = GENERATE(false, true);
  const OperatorReply reply = bench.ask(NodeRequest{node, NodeAction::maintain, is_forced, false});
  CHECK(reply.outcome.ok() == is_forced);
  if (!is_forced) {
    CHECK(refusal_of(reply).message.find("does not answer, so its lasers cannot be darkened from here") != std::string::npos);
  }
}

TEST_CASE("a node in maintenance is latched dark when its light has gone, and comes back drained") {
  RequestBench bench;
  bench.light(4);
  const NodeId node = bench.controller->intent().jobs.front().nodes[1];
  REQUIRE(bench.ask(NodeRequest{node, NodeAction::maintain}).outcome.ok());
  bench.settle();
  bench.run_for(seconds{2});
  CHECK(bench.node_latched == std::set<NodeId>{node});
  CHECK(bench.controller->confirmed_plan()->plan.nodes[node.value].ends.empty());
  CHECK(bench.rows<NodeReport>(Noun::nodes, node.value).front().maintenance);
  CHECK(mentions(refusal_of(bench.ask(NodeRequest{node, NodeAction::undrain})).next_command, "maintenance"));
  REQUIRE(bench.ask(NodeRequest{node, NodeAction::release}).outcome.ok());
  bench.run_for(seconds{2});
  bench.settle();
  CHECK(bench.node_latched.empty());
  CHECK(bench.rows<NodeReport>(Noun::nodes, node.value).front().drained);
}

TEST_CASE("a node that cannot be heard is drained only by whoever says that it is dark") {
  RequestBench bench;
  bench.light(4);
  const NodeId node = bench.controller->intent().jobs.front().nodes[1];
  bench.silent.insert(node);
  bench.run_for(seconds{30});
  CHECK(mentions(refusal_of(bench.ask(NodeRequest{node, NodeAction::drain})).next_command, "on --force"));
  const OperatorReply forced = bench.ask(NodeRequest{node, NodeAction::maintain, true});
  REQUIRE(forced.outcome.ok());
  bench.settle();
  CHECK(bench.controller->confirmed() == forced.revision);
}

TEST_CASE("a request that comes twice is obeyed once, even over a restart") {
  RequestBench bench;
  JobSpec spec;
  spec.name = "once";
  spec.node_count = 2;
  spec.collectives = {{CollectiveKind::all_reduce, {}, Bytes{1'000'000}}};
  const OperatorReply first = bench.ask_as(RequestId{77}, SubmitJob{spec, false});
  const OperatorReply second = bench.ask_as(RequestId{77}, SubmitJob{spec, false});
  CHECK(first.job == second.job);
  CHECK(bench.controller->intent().jobs.size() == 1);
  bench.settle();
  bench.start(kVirtualClock);
  const OperatorReply third = bench.ask_as(RequestId{77}, SubmitJob{spec, false});
  CHECK(third.job == first.job);
  CHECK(third.revision == first.revision);
  CHECK(bench.controller->intent().jobs.size() == 1);
}

TEST_CASE("a device that carries a circuit is not set by hand, and the refusal names the circuit and the drain") {
  RequestBench bench;
  bench.light(4);
  const NodeId node = bench.controller->intent().jobs.front().nodes.front();
  const DeviceId laser = bench.laser_of(node);
  const Error error = refusal_of(bench.ask(DeviceRequest{laser, TransmitterSetpoint{{-272, 8}, Dbm{0}, false}}));
  CHECK(mentions(error.message, "circuit "));
  CHECK(error.next_command == "loom node drain " + std::to_string(node.value));
}

TEST_CASE("a setpoint by hand is what the device shall be until it is cleared") {
  RequestBench bench;
  bench.light(4);
  const DeviceId laser = bench.laser_of(bench.free_node());
  const Transmitter& transmitter = std::get<Transmitter>(bench.fabric->element(bench.fabric->device(laser).elements[0]).kind);
  const TransmitterSetpoint wanted{transmitter.channels.slot(7), transmitter.launch_power, true};
  const OperatorReply reply = bench.ask(DeviceRequest{laser, wanted});
  INFO((reply.outcome.error ? reply.outcome.error->message : ""));
  REQUIRE(reply.outcome.ok());
  bench.settle();
  auto row = bench.rows<DeviceReport>(Noun::devices, laser.value).front();
  CHECK(row.by_hand);
  CHECK_FALSE(row.adopted);
  CHECK(row.desired == Setpoint{wanted});
  CHECK(bench.controller->confirmed() == reply.revision);
  REQUIRE(bench.ask(DeviceRequest{laser, std::nullopt}).outcome.ok());
  bench.settle();
  row = bench.rows<DeviceReport>(Noun::devices, laser.value).front();
  CHECK_FALSE(row.by_hand);
  CHECK_FALSE(emits(*row.desired));
  CHECK(refusal_of(bench.ask(DeviceRequest{laser, std::nullopt})).code == ErrorCode::conflict);
}

TEST_CASE("a heater by hand in volts becomes the resonance that its ring has then") {
  RequestBench bench;
  bench.light(4);
  const auto& devices = bench.fabric->devices_of_agent[bench.free_node().value];
  const auto bank =
      std::ranges::find_if(devices, [&](DeviceId id) { return bench.fabric->device(id).role == DeviceRole::filter; });
  REQUIRE(bank != devices.end());
  const Device& device = bench.fabric->device(*bank);
  const auto& ring = std::get<RingFilter>(bench.fabric->element(device.elements[0]).kind);
  const OperatorReply reply = bench.ask(DeviceRequest{*bank, FilterSetpoint{}, false, {{0, 1'500}}});
  INFO((reply.outcome.error ? reply.outcome.error->message : ""));
  REQUIRE(reply.outcome.ok());
  bench.settle();
  const auto row = bench.rows<DeviceReport>(Noun::devices, bank->value).front();
  CHECK(row.by_hand);
  CHECK(row.desired == Setpoint{FilterSetpoint{{{0, resonance_at(ring, 1'500)}}}});
  const auto refused = [&](DeviceId id, std::optional<Setpoint> setpoint, HeaterByHand heater) {
    return refusal_of(bench.ask(DeviceRequest{id, std::move(setpoint), false, {heater}})).message;
  };
  const auto limit = std::to_string(std::llround(ring.heater_volt_max * 1000));
  CHECK(refused(*bank, FilterSetpoint{}, {0, 99'000}) ==
        device.name + " channel 0: 99000 mV, limit " + limit + " mV (heater_voltage_max)");
  CHECK(mentions(refused(*bank, FilterSetpoint{}, {63, 1'000}), "channel 63: the bank has channels 0 to "));
  CHECK(mentions(refused(*bank, std::nullopt, {0, 1'000}), "has no heaters to be given in volts"));
  CHECK(mentions(refused(bench.laser_of(NodeId{0}), TransmitterSetpoint{}, {0, 1'000}), "has no heaters"));
}

TEST_CASE("light by hand that would meet other light is refused by verify with the rule named") {
  RequestBench bench;
  bench.light(4);
  const Circuit& lit = bench.controller->confirmed_plan()->plan.circuits.front();
  const std::uint32_t group = bench.fabric->nodes[lit.source.value].group;
  std::optional<DeviceId> neighbour;
  for (const NodeReport& row : bench.rows<NodeReport>(Noun::nodes)) {
    if (row.jobs.empty() && bench.fabric->nodes[row.node.value].group == group) {
      neighbour = bench.laser_of(row.node);
    }
  }
  if (!neighbour) {  // the job has its group for itself: drain one of its nodes to get a neighbour
    const NodeId node = bench.controller->intent().jobs.front().nodes.back();
    REQUIRE(bench.ask(NodeRequest{node, NodeAction::drain}).outcome.ok());
    bench.settle();
    neighbour = bench.laser_of(node);
  }
  FrequencySlot used;
  for (const Circuit& circuit : bench.controller->confirmed_plan()->plan.circuits) {
    if (bench.fabric->nodes[circuit.source.value].group ==
        bench.fabric->nodes[bench.fabric->device(*neighbour).agent.value].group) {
      used = circuit.slot;
    }
  }
  const Error error = refusal_of(bench.ask(DeviceRequest{*neighbour, TransmitterSetpoint{used, Dbm{0}, true}}));
  CHECK(error.code == ErrorCode::unverified);
  CHECK(mentions(error.message, "one_transmitter_per_coupler_wavelength"));
  CHECK(bench.controller->intent().overrides.empty());
}

TEST_CASE("a rearm waits for the agents to lift their latch before light returns") {
  RequestBench bench;
  bench.light(4);
  const std::size_t lit = bench.shown().size();
  REQUIRE(bench.ask(LasersRequest{false}).outcome.ok());
  bench.settle();
  CHECK(bench.latched.size() == 8);
  CHECK(bench.shown().empty());
  const OperatorReply reply = bench.ask(LasersRequest{true});
  bench.settle();
  CHECK(bench.latched.empty());
  CHECK(bench.controller->confirmed() == reply.revision);
  CHECK(bench.shown().size() == lit);
}

TEST_CASE("a device reset is asked until it is answered, and answered with what was written") {
  RequestBench bench;
  const OperatorReply reply = bench.ask(ResetRequest{DeviceId{3}});
  REQUIRE(reply.outcome.ok());
  CHECK(reply.writes == 3);
  CHECK(std::get<std::vector<DeviceReport>>(reply.rows).front().observation.health == DeviceHealth::ready);
  bench.resets_answered = false;
  bench.replies.clear();
  Envelope envelope;
  envelope.role = Role::operator_;
  envelope.body = OperatorRequest{RequestId{900}, ResetRequest{DeviceId{3}}};
  bench.feed(MessageArrived{Peer{Peer::Kind::operator_, 7}, envelope});
  const std::size_t asked = bench.delivered<ResetDevice>();
  bench.run_for(seconds{1});
  CHECK(bench.delivered<ResetDevice>() > asked);
  CHECK(bench.replies.empty());
  bench.run_for(seconds{5});
  REQUIRE(bench.replies.size() == 1);
  CHECK(refusal_of(bench.replies.front()).code == ErrorCode::timed_out);
}

TEST_CASE("equal alarms are one that is counted, acknowledged, and gone when its cause is gone") {
  RequestBench bench;
  bench.silent.insert(NodeId{5});
  bench.run_for(seconds{60});
  auto rows = bench.rows<StandingAlarm>(Noun::alarms);
  REQUIRE(rows.size() == 1);
  CHECK(rows.front().alarm.code == AlarmCode::agent_dead);
  REQUIRE(bench.ask(AcknowledgeAlarm{rows.front().id}).outcome.ok());
  CHECK(bench.rows<StandingAlarm>(Noun::alarms).front().acknowledged_by == "ada");
  CHECK(std::get<StatusReport>(bench.ask(Query{Noun::status}).rows).alarms == 0);
  bench.silent.clear();
  bench.greet(NodeId{5});
  bench.pump();
  CHECK(bench.rows<StandingAlarm>(Noun::alarms).empty());
  CHECK(refusal_of(bench.ask(AcknowledgeAlarm{AlarmId{99}})).code == ErrorCode::not_found);
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
  RequestBench bench;
  bench.light(4);
  JobSpec too_large;
  too_large.node_count = 9;
  const OperatorAsk asks[] = {SubmitJob{too_large, false},
                              CancelJob{JobId{99}, false},
                              NodeRequest{NodeId{99}, NodeAction::drain},
                              NodeRequest{NodeId{1}, NodeAction::release},
                              DeviceRequest{DeviceId{9999}, std::nullopt},
                              DeviceRequest{DeviceId{0}, std::nullopt},
                              ResetRequest{DeviceId{9999}},
                              AcknowledgeAlarm{AlarmId{9}},
                              ApplySchedule{ApplyMode::safe, {{JobId{9}, NodeId{0}, NodeId{1}, {}}}},
                              ConfirmSchedule{},
                              RollBackSchedule{Revision{99}},
                              DiffSchedule{Revision{99}, std::nullopt}};
  for (const OperatorAsk& ask : asks) {
    CAPTURE(ask.index());
    refusal_of(bench.ask(ask));
  }
  refusal_of(bench.ask(NodeRequest{NodeId{1}, NodeAction::drain}, Role::viewer));
  refusal_of(bench.ask(Query{Noun::explanation, 9999}));
}

TEST_CASE("rows come in pages, and every page says how many there are") {
  RequestBench bench;
  const OperatorReply page = bench.ask(Query{Noun::devices, {}, 2, 3});
  const auto& rows = std::get<std::vector<DeviceReport>>(page.rows);
  REQUIRE(rows.size() == 3);
  CHECK(rows.front().device == DeviceId{2});
  CHECK(page.total_rows == bench.fabric->devices.size());
  CHECK(std::get<std::vector<DeviceReport>>(bench.ask(Query{Noun::devices, {}, 1'000'000, 0}).rows).empty());
}

}  // namespace loom::test
