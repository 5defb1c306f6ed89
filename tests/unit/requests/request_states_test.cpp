// SPDX-License-Identifier: Apache-2.0
// What a controller says of jobs and circuits, and who bears a failure: states by what was measured, one broken device costs
// one job, and whoever waits says for whom.
#include <catch2/catch.hpp>

#include "tests/unit/requests/request_bench.hpp"

namespace loom::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

JobSpec ring_on(const std::vector<std::uint32_t>& nodes) {
  JobSpec spec;
  spec.name = "ring";
  spec.workload = "test";
  spec.node_count = static_cast<std::uint32_t>(nodes.size());
  spec.collectives = {{CollectiveKind::all_reduce, {}, Bytes{1'000'000}}};
  for (const std::uint32_t node : nodes) {
    spec.placement.push_back(NodeId{node});
  }
  return spec;
}

/// Devices that no order moves: whoever has to touch one says so at relight.
class BrokenDevices {
 public:
  explicit BrokenDevices(RequestBench& bench) : requests_(bench) {
    bench.misbehave = [this](const Envelope& word) { return answer(word); };
  }
  std::set<DeviceId> broken;
  std::uint32_t asked = 0;  ///< how often one of them was to be touched

 private:
  std::optional<Body> answer(const Envelope& word) {
    if (const auto* prepare = std::get_if<Prepare>(&word.body)) {
      plans_[word.node] = prepare->plan;
    }
    const auto* proceed = std::get_if<Proceed>(&word.body);
    if (proceed == nullptr || proceed->phase != CommitPhase::relight) {
      return std::nullopt;
    }
    for (const DevicePlan& device : plans_[word.node].devices) {
      if (device.touched && !device.left_alone && broken.contains(device.device)) {
        ++asked;
        const Error error{
            ErrorCode::device_error, "device " + std::to_string(device.device.value) + ": no light", {}, device.device};
        report(device.device, DeviceHealth::failed, "no light");
        return Applied{{error}, {}};
      }
    }
    return std::nullopt;
  }

  void report(DeviceId device, DeviceHealth health, std::string fault) {
    Observation seen;
    seen.device = device;
    seen.health = health;
    seen.read_at = requests_.now + milliseconds{1};  // its next audit
    seen.reading = TransmitterObservation{};
    seen.fault = std::move(fault);
    requests_.receive(requests_.fabric->device(device).agent, ObservationReport{{seen}});
  }

  RequestBench& requests_;
  std::map<NodeId, NodePlan> plans_;
};

JobReport row_of(RequestBench& bench, JobId job) { return bench.rows<JobReport>(Noun::jobs, job.value).at(0); }

void come_back(RequestBench& bench, NodeId node) {
  bench.silent.erase(node);
  bench.greet(node);
  bench.run_for(milliseconds{500});
}

TEST_CASE("a job whose agent is away waits, says for whom, and is planned again when it is back") {
  RequestBench bench;
  bench.silent = {NodeId{5}};
  bench.run_for(seconds{6});
  const JobId waits = bench.ask(SubmitJob{ring_on({4, 5, 6}), false}).job;
  const JobId other = bench.ask(SubmitJob{ring_on({0, 1, 2}), false}).job;
  bench.settle();
  CHECK(row_of(bench, waits).state == "waiting");
  CHECK_THAT(row_of(bench, waits).reason, Catch::Contains("node 5"));
  CHECK(row_of(bench, other).state == "lit");
  bench.run_for(seconds{20});
  CHECK(row_of(bench, waits).state == "waiting");
  come_back(bench, NodeId{5});
  bench.settle();
  CHECK(row_of(bench, waits).state == "lit");
  CHECK(row_of(bench, waits).reason.empty());
}

TEST_CASE("a job that is acknowledged while its agent dies is not refused for it") {
  RequestBench bench;
  bench.silent = {NodeId{5}};  // and nobody has noticed yet
  const JobId job = bench.ask(SubmitJob{ring_on({4, 5, 6}), false}).job;
  bench.run_for(seconds{12});
  CHECK(row_of(bench, job).state == "waiting");
  come_back(bench, NodeId{5});
  bench.settle();
  CHECK(row_of(bench, job).state == "lit");
}

TEST_CASE("light that runs stays as it is while its agent is away, whatever else is planned") {
  RequestBench bench;
  const JobId runs = bench.ask(SubmitJob{ring_on({0, 1, 2}), false}).job;
  bench.settle();
  const std::vector<ScheduledCircuit> before = bench.shown();
  bench.silent = {NodeId{1}};
  bench.run_for(seconds{7});
  const JobId next = bench.ask(SubmitJob{ring_on({4, 5, 6}), false}).job;
  bench.settle();
  CHECK(row_of(bench, next).state == "lit");
  CHECK(row_of(bench, runs).state == "degraded");  // nobody knows what became of its light
  CHECK_THAT(row_of(bench, runs).reason, Catch::Contains("away"));
  const std::vector<ScheduledCircuit> after = bench.shown();
  CHECK(std::all_of(before.begin(), before.end(), [&](const ScheduledCircuit& circuit) {
    return std::find(after.begin(), after.end(), circuit) != after.end();
  }));
  come_back(bench, NodeId{1});
  bench.run_for(seconds{1});
  CHECK(row_of(bench, runs).state == "lit");
}

TEST_CASE("one dead laser refuses nobody: its job moves, the others are lit") {
  RequestBench bench;
  BrokenDevices bad(bench);
  bad.broken = {bench.laser_of(NodeId{1})};
  JobSpec spec = ring_on({});
  spec.node_count = 3;
  const JobId first = bench.ask(SubmitJob{spec, false}).job;
  bench.settle();
  CHECK(row_of(bench, first).state == "lit");
  const auto nodes = row_of(bench, first).nodes;
  CHECK(std::find(nodes.begin(), nodes.end(), NodeId{1}) == nodes.end());
  CHECK(bad.asked == 1);
  const JobId second = bench.ask(SubmitJob{spec, false}).job;
  bench.settle();
  CHECK(row_of(bench, second).state == "lit");
  CHECK(bad.asked == 1);  // nobody asks it again for somebody who can do without
}

TEST_CASE("a job that names the node of a dead laser waits, and is lit when the laser follows again") {
  RequestBench bench;
  BrokenDevices bad(bench);
  bad.broken = {bench.laser_of(NodeId{1})};
  const JobId job = bench.ask(SubmitJob{ring_on({0, 1, 2}), false}).job;
  const JobId other = bench.ask(SubmitJob{ring_on({4, 5, 6}), false}).job;
  bench.settle();
  CHECK(row_of(bench, other).state == "lit");
  CHECK(row_of(bench, job).state == "waiting");
  CHECK_THAT(row_of(bench, job).reason, Catch::Contains("no light"));
  const auto alarms = bench.rows<StandingAlarm>(Noun::alarms);
  const auto alarm = std::find_if(alarms.begin(), alarms.end(),
                                  [](const StandingAlarm& row) { return row.alarm.code == AlarmCode::device_failed; });
  REQUIRE(alarm != alarms.end());
  CHECK(alarm->alarm.next_command == "loom device reset " + std::to_string(bench.laser_of(NodeId{1}).value));
  CHECK_FALSE(bench.rows<DeviceReport>(Noun::devices, bench.laser_of(NodeId{1}).value).at(0).unusable.empty());
  bad.broken.clear();
  CHECK(bench.ask(ResetRequest{bench.laser_of(NodeId{1})}).outcome.ok());
  bench.run_for(milliseconds{200});
  bench.settle();
  CHECK(row_of(bench, job).state == "lit");
}

TEST_CASE("a device that fails again and again is asked ever more seldom, and never costs another job light") {
  RequestBench bench;
  BrokenDevices bad(bench);
  const JobId other = bench.ask(SubmitJob{ring_on({4, 5, 6}), false}).job;
  bench.settle();
  const std::vector<ScheduledCircuit> before = bench.shown();
  bad.broken = {bench.laser_of(NodeId{1})};
  const JobId job = bench.ask(SubmitJob{ring_on({0, 1, 2}), false}).job;
  for (int i = 0; i < 200; ++i) {
    bench.run_for(seconds{1});
    Observation answers;  // it answers its audits, and says that it failed
    answers.device = bench.laser_of(NodeId{1});
    answers.health = DeviceHealth::failed;
    answers.fault = "no light";
    answers.read_at = bench.now;
    answers.reading = TransmitterObservation{};
    bench.receive(NodeId{1}, ObservationReport{{answers}});
  }
  bench.settle();
  CHECK(bad.asked >= 2);
  CHECK(bad.asked <= 6);
  CHECK(row_of(bench, job).state == "waiting");
  CHECK(bench.shown() == before);
  CHECK(bench.controller->jobs().at(other).state != JobState::dark);
}

TEST_CASE("nothing is lit while the lasers are off, and everything says why") {
  RequestBench bench;
  const JobId job = bench.light(3);
  CHECK(bench.ask(LasersRequest{false}).outcome.ok());
  CHECK(row_of(bench, job).state == "dark");
  CHECK_THAT(row_of(bench, job).reason, Catch::Contains("loom lasers rearm"));
  bench.settle();
  CHECK(row_of(bench, job).state == "dark");
  const JobId next = bench.ask(SubmitJob{ring_on({4, 5, 6}), false}).job;
  bench.settle();
  CHECK(row_of(bench, next).state == "dark");
  CHECK(bench.ask(LasersRequest{true}).outcome.ok());
  CHECK(row_of(bench, job).state == "dark");  // its light comes with the next revision
  bench.settle();
  CHECK(row_of(bench, job).state == "lit");
  CHECK(row_of(bench, next).state == "lit");
}

TEST_CASE("light comes back after lasers off, also where an agent receives late that they are rearmed") {
  const Duration away = GENERATE(Duration{milliseconds{900}}, Duration{seconds{3}}, Duration{seconds{8}});
  RequestBench bench;
  const JobId whole = bench.ask(SubmitJob{ring_on({0, 1, 2}), false}).job;
  const JobId late = bench.ask(SubmitJob{ring_on({4, 5, 6}), false}).job;
  bench.settle();
  CHECK(bench.ask(LasersRequest{false}).outcome.ok());
  bench.settle();
  bench.silent = {NodeId{5}};
  CHECK(bench.ask(LasersRequest{true}).outcome.ok());
  bench.run_for(away);
  come_back(bench, NodeId{5});
  bench.run_for(seconds{5});
  bench.settle();
  for (const JobId job : {whole, late}) {
    CAPTURE(row_of(bench, job).state, row_of(bench, job).reason);
    const JobState state = bench.controller->jobs().at(job).state;
    CHECK((state == JobState::lit || state == JobState::degraded));  // confirmed, though these agents read nothing
  }
  CHECK_FALSE(bench.controller->confirmed_plan()->intent.lasers_off);
}

TEST_CASE("a laser that was read dark makes its circuit and its job dark, and light makes them lit again") {
  RequestBench bench;
  bench.drift.missing = DriftAnswer::report;  // or it would be repaired at once
  bench.start(kVirtualClock);
  const JobId job = bench.light(3);
  const CircuitReport lit = bench.rows<CircuitReport>(Noun::circuits).at(0);
  CHECK(lit.light == LightState::lit);
  CHECK(lit.state == "CONNECTED");
  CHECK(lit.age >= Duration{});
  const DeviceId laser = bench.laser_of(lit.circuit.source);
  Observation seen;
  seen.device = laser;
  seen.health = DeviceHealth::ready;
  seen.read_at = bench.now + milliseconds{1};
  const auto& transmitter = std::get<Transmitter>(bench.fabric->element(lit.circuit.transmitter).kind);
  seen.reading = TransmitterObservation{centre_of(lit.circuit.slot), transmitter.launch_power, false, true, 0, 0};
  bench.receive(lit.circuit.source, ObservationReport{{seen}});
  bench.run_for(seconds{1});
  const CircuitReport dark = bench.rows<CircuitReport>(Noun::circuits, lit.circuit.id.value).at(0);
  CHECK(dark.light == LightState::dark);
  CHECK(dark.state == "FAILED");
  CHECK_THAT(dark.why, Catch::Contains("does not emit"));
  CHECK(row_of(bench, job).state == "dark");
  CHECK_THAT(row_of(bench, job).reason, Catch::Contains("circuit " + std::to_string(lit.circuit.id.value)));
  seen.read_at = bench.now + milliseconds{1};
  std::get<TransmitterObservation>(seen.reading).emitting = true;
  bench.receive(lit.circuit.source, ObservationReport{{seen}});
  bench.run_for(seconds{1});
  CHECK(bench.rows<CircuitReport>(Noun::circuits, lit.circuit.id.value).at(0).light == LightState::lit);
  CHECK(row_of(bench, job).state == "lit");
  CHECK(row_of(bench, job).reason.empty());
}

TEST_CASE("a launcher that is waited for is named") {
  RequestBench bench;
  const JobId job = bench.light(3);
  bench.ask(AttendJob{job, {}});
  const OperatorReply changed = bench.ask(ResizeJob{job, 4, false});
  REQUIRE(changed.outcome.ok());
  bench.run_for(milliseconds{100});
  CHECK(row_of(bench, job).state == "waiting");
  CHECK_THAT(row_of(bench, job).reason, Catch::Contains("job " + std::to_string(job.value) + " to be quiet"));
}

TEST_CASE("adaptation is switched on and off for a job that runs, without a commit") {
  RequestBench bench;
  const JobId job = bench.light(3);
  const std::size_t commits = bench.rows<CommitReport>(Noun::history).size();
  CHECK_FALSE(row_of(bench, job).adapts);
  REQUIRE(bench.ask(AdaptJob{job, true}).outcome.ok());
  CHECK(row_of(bench, job).adapts);
  CHECK_FALSE(row_of(bench, job).declared.empty());
  bench.run_for(seconds{1});
  CHECK(row_of(bench, job).state == "lit");
  REQUIRE(bench.ask(AdaptJob{job, false}).outcome.ok());
  CHECK_FALSE(row_of(bench, job).adapts);
  CHECK(bench.rows<CommitReport>(Noun::history).size() == commits);
  const OperatorReply unknown = bench.ask(AdaptJob{JobId{99}, true});
  REQUIRE_FALSE(unknown.outcome.ok());
  CHECK(unknown.outcome.error->code == ErrorCode::not_found);
}

TEST_CASE("history has the wall's time and who ordered what") {
  RequestBench bench;
  bench.light(3);
  const CommitReport row = bench.rows<CommitReport>(Noun::history).at(0);
  CHECK(row.ordered_by == "ada");
  CHECK(row.started_wall == wall_time(row.started, bench.wall_offset));
}

TEST_CASE("a drain does not move a job onto what is broken") {
  RequestBench bench;
  BrokenDevices bad(bench);
  bad.broken = {bench.laser_of(NodeId{3})};
  const JobId fails = bench.ask(SubmitJob{ring_on({3, 7}), false}).job;
  bench.settle();
  CHECK(row_of(bench, fails).state == "waiting");
  const JobId job = bench.ask(SubmitJob{ring_on({0, 1, 2}), false}).job;
  bench.settle();
  REQUIRE(row_of(bench, job).state == "lit");
  REQUIRE(bench.ask(NodeRequest{NodeId{1}, NodeAction::drain, false, false}).outcome.ok());
  bench.settle();
  CHECK(row_of(bench, job).state == "lit");
  const auto nodes = row_of(bench, job).nodes;
  CHECK(std::find(nodes.begin(), nodes.end(), NodeId{3}) == nodes.end());
  CHECK(row_of(bench, fails).state == "waiting");
}

// --- alarms --------------------------------------------------------------------------------------------------------------

Alarm alarm_of(AlarmCode code, std::uint32_t node, std::string evidence) {
  return {code, NodeId{node}, {}, std::move(evidence), "loom status"};
}

TEST_CASE("agents never push out what the controller says itself") {
  AlarmBoard board;
  EffectSink sink;
  board.raise(alarm_of(AlarmCode::journal_damaged, 0, "row 7"), Instant{seconds{1}}, sink);
  for (std::uint32_t i = 0; i < 3'000; ++i) {
    board.raise(alarm_of(AlarmCode::malformed_message, i, "noise"), Instant{seconds{2}}, sink, AlarmSource::agent);
  }
  CHECK(board.rows().front().alarm.code == AlarmCode::journal_damaged);
  CHECK(board.rows().size() == 1'025);
  for (std::uint32_t i = 0; i < 3'000; ++i) {
    board.raise(alarm_of(AlarmCode::agent_dead, i, "gone"), Instant{seconds{3}}, sink);
  }
  CHECK(board.rows().size() == 2'048);
}

TEST_CASE("what all agents of one commit say is one alarm that counts and names its nodes") {
  AlarmBoard board;
  EffectSink sink;
  for (std::uint32_t i = 0; i < 66; ++i) {
    Alarm alarm = alarm_of(AlarmCode::fire_underflow, i % 33, "late by " + std::to_string(i));
    alarm.revision = Revision{9};
    board.raise(alarm, Instant{seconds{1}}, sink, AlarmSource::agent);
  }
  REQUIRE(board.rows().size() == 1);
  CHECK(board.rows()[0].count == 66);
  CHECK(board.rows()[0].node_count == 33);
  CHECK(board.rows()[0].alarm.evidence == "late by 0");
  Alarm other = alarm_of(AlarmCode::fire_underflow, 1, "late");
  other.revision = Revision{10};
  board.raise(other, Instant{seconds{1}}, sink, AlarmSource::agent);
  CHECK(board.rows().size() == 2);
}

TEST_CASE("the text of a damage stays while it lasts, and the controller's own goes before an agent's") {
  AlarmBoard board;
  EffectSink sink;
  board.raise(alarm_of(AlarmCode::device_failed, 1, "/dev/ttyUSB0: Permission denied (errno 13)"), {}, sink,
              AlarmSource::agent);
  board.raise(alarm_of(AlarmCode::device_failed, 1, "its driver gave up"), {}, sink, AlarmSource::agent);
  CHECK_THAT(board.rows()[0].alarm.evidence, Catch::Contains("errno 13"));
  board.raise(alarm_of(AlarmCode::device_failed, 1, "errno 13; plans do without it"), {}, sink);
  board.raise(alarm_of(AlarmCode::device_failed, 1, "its driver gave up"), {}, sink, AlarmSource::agent);
  CHECK_THAT(board.rows()[0].alarm.evidence, Catch::Contains("plans do without it"));
  CHECK_FALSE(board.rows()[0].from_agent);
  CHECK(board.rows()[0].count == 4);
  board.clear(AlarmCode::device_failed, NodeId{1});
  board.raise(alarm_of(AlarmCode::device_failed, 1, "silent"), {}, sink, AlarmSource::agent);
  CHECK(board.rows()[0].alarm.evidence == "silent");  // another damage
}

TEST_CASE("an agent speaks for its own node and devices, and what to type next is the controller's to say") {
  RequestBench bench;
  const std::size_t before = bench.rows<StandingAlarm>(Noun::alarms).size();
  Alarm lie = alarm_of(AlarmCode::device_failed, 2, "not mine");
  bench.receive(NodeId{1}, AlarmReport{lie});
  Alarm device{AlarmCode::device_failed, {}, bench.laser_of(NodeId{2}), "nor this", "x"};
  bench.receive(NodeId{1}, AlarmReport{device});
  Alarm own{AlarmCode::device_failed, {}, bench.laser_of(NodeId{1}), "mine", "rm -rf /"};
  bench.receive(NodeId{1}, AlarmReport{own});
  bench.pump();
  const auto rows = bench.rows<StandingAlarm>(Noun::alarms);
  REQUIRE(rows.size() == before + 2);  // the lies of one key are one
  CHECK(rows.back().alarm.node == NodeId{1});
  CHECK(rows.back().from_agent);
  CHECK(rows.back().alarm.next_command == "loom device show " + std::to_string(bench.laser_of(NodeId{1}).value));
  CHECK(rows.back().first_seen_wall == wall_time(rows.back().first_seen, bench.wall_offset));
}

// --- the table -----------------------------------------------------------------------------------------------------------

TEST_CASE("only what is in light is measured, and what is measured tells lit, degraded and dark apart") {
  const std::vector<std::pair<JobTrigger, JobState>> measured{{JobTrigger::measured_lit, JobState::lit},
                                                              {JobTrigger::measured_degraded, JobState::degraded},
                                                              {JobTrigger::measured_dark, JobState::dark}};
  for (const auto& [trigger, found] : measured) {
    for (const JobState state : {JobState::lit, JobState::degraded, JobState::dark}) {
      CHECK(next_state(state, trigger) == found);
      CHECK(next_state(state, JobTrigger::planned) == state);
      CHECK(next_state(state, JobTrigger::confirmed) == state);
      CHECK(next_state(state, JobTrigger::left_out) == JobState::waiting);
    }
    for (const JobState state :
         {JobState::pending, JobState::waiting, JobState::committing, JobState::refused, JobState::ended}) {
      CHECK(next_state(state, trigger) == state);
    }
  }
  CHECK(next_state(JobState::pending, JobTrigger::left_out) == JobState::waiting);
  CHECK(next_state(JobState::waiting, JobTrigger::planned) == JobState::committing);
  CHECK(next_state(JobState::committing, JobTrigger::confirmed) == JobState::lit);
  CHECK(to_string(JobState::committing) == "pending");
  CHECK(to_string(JobState::ended) == "ended");
}

}  // namespace
}  // namespace loom::test
