// SPDX-License-Identifier: Apache-2.0
// What the rows of replies look like to people and to programs: tables to the letter, and of JSON every key and value that was
// ever promised (more keys are welcome, their order is nobody's).
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/nouns/rows.hpp"

using namespace loom;
using namespace std::chrono_literals;

namespace {

using Json = nlohmann::ordered_json;

Circuit circuit_of(std::uint32_t number) {
  Circuit circuit;
  circuit.id = CircuitId{number};
  circuit.job = JobId{7};
  circuit.source = NodeId{number};
  circuit.destination = NodeId{number + 1};
  circuit.transmitter = ElementId{10 + number};
  circuit.receiver = ElementId{20 + number};
  circuit.slot = {16, 4};
  circuit.rate = BitRate{25'000'000'000};
  return circuit;
}

CertificateReport certificate() {
  CertificateReport report;
  report.physically_isolated = false;
  report.shared_amplifiers = {"edfa-0", "edfa-1"};
  report.light.circuits = 3;
  report.light.link_margin = Db{310};
  report.light.crosstalk = Db{-2'950};
  report.light.crosstalk_margin = Db{450};
  report.light.dipped = 2;
  report.light.dip = Db{40};
  report.light.dip_time = 12us;
  report.light.dip_margin = Db{120};
  report.weakest = "rx-3";
  report.noisiest = "rx-4";
  return report;
}

StatusReport status() {
  StatusReport report;
  report.term = Term{3};
  report.revision = Revision{17};
  report.fabric = "oddl-8";
  report.nodes = 8;
  report.live = 6;
  report.suspect = 1;
  report.dead = 1;
  report.jobs = 2;
  report.circuits = 12;
  report.drift = {1, 2, 3, 4, 5};
  report.stage = CommitState::moving;
  report.under_way = Revision{18};
  report.stage_done = 5;
  report.stage_total = 6;
  report.malformed = 9;
  report.alarms = 2;
  report.awaiting_confirm = Revision{17};
  report.confirm_left = 90s;
  report.certificate = certificate();
  report.refusals = {1, 0, 3, 0, 0, 4, 0};
  report.keyring_digest = 99;
  return report;
}

std::vector<NodeReport> nodes() {
  NodeReport open{NodeId{0}, "node-0", "live", Revision{17}, 12ms, false, 4};
  open.jobs = {JobId{1}, JobId{4}};
  NodeReport dark{NodeId{1}, "node-1", "dead", Revision{}, Duration{-1}, true, 3};
  dark.maintenance = true;
  dark.drained = true;
  dark.dark_because = "contact 'door' is open since 12:00";
  NodeReport drained{NodeId{2}, "node-2", "suspect", Revision{16}, 3s, false, 4};
  drained.drained = true;
  drained.turned_away = "another clock";
  return {open, dark, drained};
}

std::vector<DeviceReport> devices() {
  DeviceReport laser{DeviceId{0}, "node-0.tx0", DeviceRole::transmitter, NodeId{0}, {}};
  laser.observation.health = DeviceHealth::ready;
  laser.observation.reading = TransmitterObservation{Frequency{193'150'000}, Dbm{-120}, true, true, 0, 3};
  laser.observation.read_at = instant_from_ns(5'000);
  laser.desired = TransmitterSetpoint{{8, 4}, Dbm{-100}, true};
  laser.by_hand = true;
  DeviceReport heater{DeviceId{1}, "node-0.rings", DeviceRole::filter, NodeId{0}, {}};
  heater.observation.health = DeviceHealth::moving;
  heater.observation.reading = FilterObservation{{1'200, 0, 3'300}};
  heater.desired = FilterSetpoint{{{0, Frequency{193'050'000}}}};
  heater.drift = Drift::detuned;
  DeviceReport wss{DeviceId{2}, "wss-0", DeviceRole::wavelength_switch, NodeId{1}, {}};
  wss.observation.health = DeviceHealth::failed;
  wss.observation.fault = "does not answer";
  wss.observation.reading = WavelengthSwitchObservation{{{{8, 4}, 1, 2, Db{150}}}, false};
  wss.desired = WavelengthSwitchSetpoint{{{{8, 4}, 1, 2, Db{150}}}};
  DeviceReport ocs{DeviceId{3}, "ocs-0", DeviceRole::circuit_switch, NodeId{1}, {}};
  ocs.observation.reading = CircuitSwitchObservation{{{1, 9}, {2, 10}}, true};
  ocs.desired = CircuitSwitchSetpoint{{{1, 9}, {2, 10}}};
  ocs.lit_ways = 1;
  ocs.adopted = true;
  ocs.unusable = "its agent is gone";
  DeviceReport unread{DeviceId{4}, "node-4.tx0", DeviceRole::transmitter, NodeId{4}, {}};
  laser.model = unread.model = "itla_laser";
  heater.model = "heater_bank";
  wss.model = "wss";
  ocs.model = "ocs";
  return {laser, heater, wss, ocs, unread};
}

std::vector<CircuitReport> circuits() {
  return {{circuit_of(3), 2, "CONNECTED", LightState::lit, 40ms, "all is well"},
          {circuit_of(5), 0, "UNKNOWN", LightState::unknown, Duration{-1}, "rx-5 was never read"}};
}

std::vector<JobReport> jobs() {
  JobReport lit;
  lit.job = JobId{7};
  lit.name = "night";
  lit.workload = "vgg16";
  lit.state = "lit";
  lit.stage = 1;
  lit.stages = 3;
  lit.nodes = {NodeId{0}, NodeId{1}, NodeId{2}, NodeId{5}};
  lit.revision = Revision{17};
  lit.cycles_done = 2;
  lit.underflows = 1;
  lit.iterations = 410;
  lit.replayed = 3;
  lit.iteration_p50 = 142100us;
  lit.ledger = {90400us, 40200us, 5300us, 200us, 6000us};
  lit.slowest = "iteration 37 took 389.0 ms: laser-2 of node-2 stayed dark, 196.6 ms were played again";
  lit.awaited = "node-3, whose training is not ready, for 3100.0 ms now";
  lit.iteration_p99 = 150ms;
  lit.iteration_predicted = 151300us;
  lit.pinned = true;
  lit.forwarded_pairs = 30;
  lit.hops_most = 3;
  lit.waiting_circuits = 64;
  lit.note = "static";
  lit.attended = true;
  lit.quiesce = Revision{18};
  lit.adapts = true;
  lit.declared = "10 MB";
  lit.made_for = "declared";
  lit.decision = "none";
  JobReport refused;
  refused.job = JobId{8};
  refused.name = "day";
  refused.state = "refused";
  refused.reason = "no free node";
  return {lit, refused};
}

std::vector<CommitReport> commits() {
  CommitReport row;
  row.revision = Revision{17};
  row.base = Revision{16};
  row.outcome = CommitOutcome::committed;
  row.reason = "job 7 was submitted";
  row.agents = 8;
  row.circuits = 12;
  row.touched = 4;
  row.switches_moved = 1;
  row.started = instant_from_ns(1'000'000);
  row.plan = 1ms;
  row.prepare = 2ms;
  row.arm = 3ms;
  row.wait = 4ms;
  row.darken = 5us;
  row.move = 25ms;
  row.relight = 7ms;
  row.total = 40ms;
  row.prepare_ack = {1us, 2us, 3us, 4us, 8};
  row.slack = {Duration{-5}, 2us, 3us, 4us, 8};
  row.resent = 2;
  row.certificate = certificate();
  row.started_wall = WallTime{1'795'361'000s};
  CommitReport unlit;
  unlit.revision = Revision{18};
  unlit.ordered_by = "ada";
  return {row, unlit};
}

std::vector<StandingAlarm> alarms() {
  StandingAlarm one;
  one.id = AlarmId{3};
  one.alarm.code = AlarmCode::device_failed;
  one.alarm.node = NodeId{2};
  one.alarm.device = DeviceId{9};
  one.alarm.evidence = "no answer for 3 s";
  one.alarm.next_command = "loom device reset 9";
  one.first_seen = instant_from_ns(7);
  one.last_seen = instant_from_ns(9);
  one.count = 4;
  one.from_agent = true;
  one.nodes = {NodeId{2}};
  one.node_count = 1;
  one.first_seen_wall = WallTime{1'795'361'000s};
  one.last_seen_wall = WallTime{1'795'361'002s};
  StandingAlarm many;
  many.id = AlarmId{4};
  many.alarm.code = AlarmCode::agent_dead;
  many.alarm.revision = Revision{17};
  many.acknowledged_by = "ada";
  many.node_count = 12;
  StandingAlarm over;
  over.id = AlarmId{5};
  over.cleared = true;
  return {one, many, over};
}

std::vector<AuditRecord> audit() {
  AuditRecord done;
  done.number = 1;
  done.at = WallTime{1'795'361'000s};
  done.principal = "ada\x1b[2J";
  done.role = Role::operator_;
  done.request = RequestId{55};
  done.asked = "node drain 17";
  done.revision = Revision{17};
  AuditRecord refused = done;
  refused.number = 2;
  refused.principal = "grace";
  refused.revision = Revision{};
  refused.job = JobId{7};
  refused.outcome.error = Error{ErrorCode::refused, "needs 1 free node"};
  return {done, refused};
}

ChangeReport change() {
  ChangeReport report;
  report.base = Revision{17};
  report.agents = 3;
  report.circuits = 12;
  report.touched = 2;
  report.switches_moved = 1;
  report.plan = 3ms;
  report.moves = {{JobId{7}, NodeId{1}, NodeId{4}}};
  report.changes = {{CircuitChangeKind::removed, circuit_of(3)}, {CircuitChangeKind::added, circuit_of(9)}};
  report.certificate = certificate();
  report.slowest = "wss-3";
  report.slowest_time = 100ms;
  report.dark_predicted = 140ms;
  return report;
}

CircuitExplanation explanation() {
  CircuitExplanation it;
  it.circuit = circuits().front();
  it.revision = Revision{17};
  it.job_name = "night";
  it.sensitivity = Dbm{-2'000};
  HopReport begin;
  begin.element = ElementId{13};
  begin.name = "node-3.tx0";
  begin.kind = "transmitter";
  begin.output = 1;
  begin.loss = Db{0};
  begin.power_out = Dbm{-100};
  begin.device = DeviceId{0};
  begin.desired = "emit";
  begin.applied = Revision{17};
  begin.observed = "emitting";
  HopReport end;
  end.element = ElementId{23};
  end.name = "node-4.rx0";
  end.kind = "receiver";
  end.loss = Db{355};
  end.power_out = Dbm{-455};
  end.drift = Drift::dim;
  end.problem = "weak";
  it.hops = {begin, end};
  it.verdict = "node-4.rx0 is weak";
  it.next_command = "loom device show 0";
  it.forwarded = {{NodeId{1}, NodeId{6}, {NodeId{3}, NodeId{4}}}};
  it.forwarded_pairs = 1;
  return it;
}

Json all_json() {
  Json all = Json::object();
  all["status"] = cli::json_of(status());
  all["nodes"] = cli::json_of(nodes());
  all["devices"] = cli::json_of(devices());
  all["circuits"] = cli::json_of(circuits());
  all["jobs"] = cli::json_of(jobs());
  all["history"] = cli::json_of(commits());
  all["alarms"] = cli::json_of(alarms());
  all["audit"] = cli::json_of(audit());
  all["certificate"] = cli::json_of(certificate());
  all["change"] = cli::json_of(change());
  all["explanation"] = cli::json_of(explanation());
  return all;
}

std::string all_text() {
  return cli::text_of(status()) + "\n" + cli::text_of(nodes()) + "\n" + cli::text_of(devices()) + "\n" +
         cli::text_of(circuits()) + "\n" + cli::text_of(jobs()) + "\n" + cli::text_of(commits()) + "\n" +
         cli::text_of(alarms()) + "\n" + cli::text_of(audit()) + "\n" + cli::text_of(certificate()) + "\n" +
         cli::text_of(change()) + "\n" + cli::text_of(explanation());
}

std::string content_of(const char* path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Where `promised` differs from `made`, or is missing there.
void compare(const Json& promised, const Json& made, const std::string& path, std::vector<std::string>& faults) {
  if (promised.is_object() && made.is_object()) {
    for (const auto& [key, value] : promised.items()) {
      if (made.contains(key)) {
        compare(value, made[key], path + "." + key, faults);
      } else {
        faults.push_back(path + "." + key + " is missing");
      }
    }
  } else if (promised.is_array() && made.is_array() && promised.size() == made.size()) {
    for (std::size_t i = 0; i < promised.size(); ++i) {
      compare(promised[i], made[i], path + "[" + std::to_string(i) + "]", faults);
    }
  } else if (promised != made) {
    faults.push_back(path + " = " + made.dump() + ", promised: " + promised.dump());
  }
}

}  // namespace

TEST_CASE("tables of rows are to the letter what they were") {
  const std::string text = all_text();
  INFO(text);
  CHECK(text == content_of("tests/golden/rows.txt"));
}

TEST_CASE("rows in JSON keep every key and value that was promised") {
  const Json made = all_json();
  const Json promised = Json::parse(content_of("tests/golden/rows.json"), nullptr, false);
  REQUIRE(promised.is_object());
  std::vector<std::string> faults;
  compare(promised, made, "", faults);
  std::string listing;
  for (const std::string& fault : faults) {
    listing += "\n  " + fault;
  }
  INFO(listing);
  CHECK(faults.empty());
}

TEST_CASE("a status with the lasers off says of how many agents nobody knows that they are dark") {
  StatusReport off = status();
  const auto says = [&](std::string_view words) { return cli::text_of(off).find(words) != std::string::npos; };
  CHECK_FALSE(says("OFF"));
  off.lasers_off = true;
  CHECK(says(
      "lasers      OFF, latched (loom lasers rearm); 2 agents are not heard, NOT KNOWN TO BE DARK (loom lasers status)\n"));
  off.dead = 0;
  CHECK(says("; 1 agent is not heard,"));
  off.suspect = 0;
  CHECK(says("lasers      OFF, latched (loom lasers rearm)\n"));
}
