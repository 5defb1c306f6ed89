// SPDX-License-Identifier: Apache-2.0
// An operator's own schedule: applied, on trial, confirmed, rolled back, compared, explained.
#include "tests/unit/requests/request_bench.hpp"

namespace loom::test {

using std::chrono::seconds;

namespace {

/// The shown schedule with the first circuit on a slot that no circuit uses.
std::vector<ScheduledCircuit> retuned(RequestBench& bench) {
  auto circuits = bench.shown();
  REQUIRE_FALSE(circuits.empty());
  const auto is_used = [&](FrequencySlot slot) {
    return std::any_of(circuits.begin(), circuits.end(), [&](const ScheduledCircuit& circuit) { return circuit.slot == slot; });
  };
  const auto& channels = std::get<Transmitter>(bench.fabric->element(*circuits.front().transmitter).kind).channels;
  // The grating decides which receiver a channel reaches: stay a whole free spectral range of it away.
  for (std::int32_t channel = 0; channel < channels.count; ++channel) {
    ScheduledCircuit moved = circuits.front();
    moved.slot = channels.slot(channel);
    if (is_used(moved.slot)) {
      continue;
    }
    auto attempt = circuits;
    attempt.front() = moved;
    if (bench.ask(ApplySchedule{ApplyMode::update, attempt, {}, true}).outcome.ok()) {
      return attempt;
    }
  }
  return {};
}

/// The lasers of the node are read dark.
void report_dark(RequestBench& bench, NodeId node) {
  ObservationReport report;
  for (const DeviceId id : bench.fabric->devices_of_agent[node.value]) {
    if (bench.fabric->device(id).role == DeviceRole::transmitter) {
      Observation seen;
      seen.device = id;
      seen.health = DeviceHealth::ready;
      seen.read_at = bench.now;
      seen.reading = TransmitterObservation{Frequency{191'500'000}, Dbm{kNoLight}, false, true, 0, 0};
      report.observations.push_back(std::move(seen));
    }
  }
  bench.receive(node, std::move(report));
  bench.pump();
}

}  // namespace

TEST_CASE("what is shown can be applied, and changes nothing") {
  RequestBench bench;
  bench.light(4);
  const auto before = bench.controller->confirmed();
  const OperatorReply reply = bench.ask(ApplySchedule{ApplyMode::safe, bench.shown()});
  INFO((reply.outcome.error ? reply.outcome.error->message : ""));
  REQUIRE(reply.outcome.ok());
  CHECK(reply.revision == Revision{0});
  bench.settle();
  CHECK(bench.controller->confirmed() == before);
  CHECK(bench.rows<JobReport>(Noun::jobs).front().pinned);
}

TEST_CASE("mode safe refuses to disturb light, mode update changes what differs and keeps the rest") {
  RequestBench bench;
  bench.light(4);
  const auto wanted = retuned(bench);
  REQUIRE_FALSE(wanted.empty());
  const std::size_t count = bench.shown().size();
  CHECK(refusal_of(bench.ask(ApplySchedule{ApplyMode::safe, wanted})).code == ErrorCode::refused);
  const auto change = std::get<ChangeReport>(bench.ask(ApplySchedule{ApplyMode::update, {wanted.front()}, {}, true}).rows);
  CHECK(change.touched == 2);
  const OperatorReply reply = bench.ask(ApplySchedule{ApplyMode::update, {wanted.front()}});
  REQUIRE(reply.outcome.ok());
  bench.settle();
  CHECK(bench.controller->confirmed() == reply.revision);
  const auto now = bench.shown();
  CHECK(now.size() == count);
  CHECK(std::any_of(now.begin(), now.end(),
                    [&](const ScheduledCircuit& circuit) { return circuit.slot == wanted.front().slot; }));
}

TEST_CASE("mode overwrite makes dark what the file does not name") {
  RequestBench bench;
  bench.light(4);
  const auto all = bench.shown();
  REQUIRE(bench.ask(ApplySchedule{ApplyMode::overwrite, {all.front()}}).outcome.ok());
  bench.settle();
  REQUIRE(bench.shown().size() == 1);
  CHECK(bench.shown().front() == all.front());
}

TEST_CASE("what is shown of a job that is lit in part is not applied as all of its light") {
  RequestBench bench;
  bench.light(4);
  const NodeId node = bench.shown().front().source;
  bench.open_contact(node, 1);
  report_dark(bench, node);
  bench.light(2);  // a plan that does without the lasers of that node
  const auto shown = bench.shown();
  auto lit = shown;
  std::erase_if(lit, [&](const ScheduledCircuit& each) { return each.source == node; });
  REQUIRE(lit.size() == shown.size() - 1);
  const Error why = refusal_of(bench.ask(ApplySchedule{ApplyMode::update, lit}));
  CHECK(why.code == ErrorCode::busy);
  CHECK(why.message.starts_with("1 circuits of job 1 have no light now (job 1"));
  CHECK(why.message.ends_with("), and are missing from what is to be applied"));
  CHECK(why.next_command.find("--mode overwrite") != std::string::npos);
  CHECK(bench.ask(ApplySchedule{ApplyMode::update, shown, {}, true}).outcome.ok());
  CHECK(bench.ask(ApplySchedule{ApplyMode::overwrite, lit}).outcome.ok());
}

TEST_CASE("light of the nodes that a job is about to leave is not applied to those that it goes to") {
  RequestBench bench;
  bench.light(4);
  const auto shown = bench.shown();
  REQUIRE(bench.ask(NodeRequest{shown.front().source, NodeAction::drain, false, false}).outcome.ok());
  const Error why = refusal_of(bench.ask(ApplySchedule{ApplyMode::update, shown}));
  CHECK(why.code == ErrorCode::busy);
  CHECK(why.message == "job 1 goes to other nodes with a revision that is not confirmed yet");
  bench.settle();
  CHECK(bench.ask(ApplySchedule{ApplyMode::update, bench.shown()}).outcome.ok());
}

TEST_CASE("a schedule on trial returns by itself unless it is confirmed in time") {
  RequestBench bench;
  bench.light(4);
  const auto before = bench.shown();
  const bool confirms = GENERATE(false, true);
  REQUIRE(bench.ask(ApplySchedule{ApplyMode::overwrite, {before.front()}, seconds{30}}).outcome.ok());
  bench.settle();
  CHECK(std::get<StatusReport>(bench.ask(Query{Noun::status}).rows).awaiting_confirm.value > 0);
  if (confirms) {
    REQUIRE(bench.ask(ConfirmSchedule{}).outcome.ok());
  }
  bench.run_for(seconds{31});
  bench.settle();
  CHECK(bench.shown().size() == (confirms ? 1 : before.size()));
  const bool is_overdue = std::any_of(bench.alarms.begin(), bench.alarms.end(),
                                      [](const Alarm& alarm) { return alarm.code == AlarmCode::confirm_overdue; });
  CHECK(is_overdue != confirms);
  CHECK(refusal_of(bench.ask(ConfirmSchedule{})).code == ErrorCode::conflict);
}

TEST_CASE("a trial survives a restart on the same clock and ends at once on another") {
  RequestBench bench;
  bench.light(4);
  const auto before = bench.shown();
  const bool same_clock = GENERATE(false, true);
  REQUIRE(bench.ask(ApplySchedule{ApplyMode::overwrite, {before.front()}, seconds{600}}).outcome.ok());
  bench.settle();
  bench.start(same_clock ? kVirtualClock : ClockId{99});
  bench.run_for(seconds{5});
  bench.settle();
  CHECK(bench.shown().size() == (same_clock ? 1 : before.size()));
}

TEST_CASE("a rollback brings back the jobs of an earlier revision, also after a restart") {
  RequestBench bench;
  const JobId job = bench.light(4);
  const Revision good = bench.controller->confirmed();
  const auto before = bench.shown();
  REQUIRE(bench.ask(CancelJob{job, false}).outcome.ok());
  bench.settle();
  REQUIRE(bench.shown().empty());
  if (GENERATE(false, true)) {
    bench.start(kVirtualClock);
  }
  const OperatorReply reply = bench.ask(RollBackSchedule{good});
  REQUIRE(reply.outcome.ok());
  bench.settle();
  CHECK(bench.controller->confirmed() >= reply.revision);
  CHECK(bench.shown().size() == before.size());
  CHECK(bench.controller->jobs().at(job).state == JobState::lit);
}

TEST_CASE("going back to a job's earlier traffic over the same light is a revision, too") {
  RequestBench bench;
  const JobId job = bench.light(4);
  const Revision good = bench.controller->confirmed();
  JobSpec spec = bench.controller->intent().jobs.front().spec;
  spec.collectives.front().bytes.count *= 2;
  REQUIRE(bench.ask(ChangeJob{job, spec, false}).outcome.ok());
  bench.settle();
  REQUIRE(bench.controller->confirmed() > good);
  const Revision changed = bench.controller->confirmed();
  const OperatorReply reply = bench.ask(RollBackSchedule{good});
  REQUIRE(reply.outcome.ok());
  CHECK(reply.revision > changed);
  bench.settle();
  CHECK(bench.controller->confirmed() >= reply.revision);
  CHECK(bench.controller->jobs().at(job).state == JobState::lit);
}

TEST_CASE("a diff names what was removed and added") {
  RequestBench bench;
  const JobId job = bench.light(4);
  const Revision lit = bench.controller->confirmed();
  CHECK(std::get<ChangeReport>(bench.ask(DiffSchedule{}).rows).touched == 0);
  CHECK(std::get<ChangeReport>(bench.ask(DiffSchedule{{}, bench.shown()}).rows).touched == 0);
  CHECK(std::get<ChangeReport>(bench.ask(DiffSchedule{{}, std::vector{bench.shown().front()}}).rows).touched > 0);
  const std::size_t count = bench.shown().size();
  REQUIRE(bench.ask(CancelJob{job, false}).outcome.ok());
  bench.settle();
  const auto change = std::get<ChangeReport>(bench.ask(DiffSchedule{lit, {}}).rows);
  CHECK(change.touched == count);
  CHECK(change.changes.front().kind == CircuitChangeKind::removed);
}

TEST_CASE("an explanation follows the light with falling and rising power to a receiver that receives it") {
  RequestBench bench;
  bench.light(4);
  const Circuit circuit = bench.rows<CircuitReport>(Noun::circuits).front().circuit;
  const auto it = std::get<CircuitExplanation>(bench.ask(Query{Noun::explanation, circuit.id.value}).rows);
  REQUIRE(it.hops.size() > 2);
  CHECK(it.hops.front().element == circuit.transmitter);
  CHECK(it.hops.back().element == circuit.receiver);
  CHECK(it.hops.front().device == bench.laser_of(circuit.source));
  CHECK(it.hops.back().power_out > it.sensitivity);
  CHECK(it.next_command.starts_with("loom "));
}

TEST_CASE("an explanation of a dark circuit names the first thing that is wrong on its way") {
  RequestBench bench;
  bench.light(4);
  const Circuit circuit = bench.rows<CircuitReport>(Noun::circuits).front().circuit;
  bench.silent.insert(circuit.source);
  bench.run_for(seconds{60});
  const auto it = std::get<CircuitExplanation>(bench.ask(Query{Noun::explanation, circuit.id.value}).rows);
  CHECK(mentions(it.verdict, "node " + std::to_string(circuit.source.value) + " is dead"));
}

}  // namespace loom::test
