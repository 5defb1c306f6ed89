// SPDX-License-Identifier: Apache-2.0
// The audit: what is recorded of an order, of a question, of a key; when it is durable; and that nobody can fill it.
#include "controller/architectures/registry.hpp"
#include "controller/control/requests/audit_text.hpp"
#include "core/journal/journal_state.hpp"
#include "core/limits.hpp"
#include "tests/unit/requests/request_bench.hpp"

using namespace loom;
using namespace loom::test;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

using Kind = KeysChanged::Change::Kind;

JobSpec ring(std::uint32_t nodes, std::string name = "ring") {
  JobSpec spec;
  spec.name = std::move(name);
  spec.workload = "vgg16";
  spec.node_count = nodes;
  spec.collectives = {{CollectiveKind::all_reduce, {}, Bytes{1'000'000}}};
  return spec;
}

std::vector<AuditRecord> audit_of(RequestBench& bench) { return bench.rows<AuditRecord>(Noun::audit); }

std::vector<AuditRecord> about(RequestBench& bench, const std::string& part) {
  std::vector<AuditRecord> rows = audit_of(bench);
  std::erase_if(rows, [&](const AuditRecord& row) { return !mentions(row.asked, part); });
  return rows;
}

KeysChanged one_key(const std::string& principal, Role role, Kind kind, const std::string& fingerprint = "0123456789abcdef") {
  return KeysChanged{7, {{principal, role, fingerprint, kind}}, {}};
}

}  // namespace

TEST_CASE("an order is recorded with who asked, when, what, with which key, and what was answered") {
  RequestBench bench;
  bench.feed(one_key("ada", Role::operator_, Kind::added));
  const OperatorReply reply = bench.ask(SubmitJob{ring(4), false});
  REQUIRE(reply.outcome.ok());
  const auto rows = about(bench, "job submit");
  REQUIRE_FALSE(rows.empty());
  const AuditRecord& row = rows.front();
  CHECK(row.principal == "ada");
  CHECK(row.role == Role::operator_);
  CHECK(row.request == reply.request);
  CHECK(mentions(row.asked, "job submit vgg16 --name ring 4 nodes"));
  CHECK(mentions(row.asked, "(key 0123456789abcdef)"));
  CHECK(row.at == wall_time(bench.now, bench.wall_offset));
  CHECK(row.outcome.ok());
  CHECK(row.job == reply.job);
  CHECK(row.revision == reply.revision);
}

TEST_CASE("what became of an order's revision is a record of its own") {
  RequestBench bench;
  const OperatorReply reply = bench.ask(SubmitJob{ring(4), false});
  bench.settle();
  const auto rows = about(bench, "revision " + std::to_string(reply.revision.value) + " committed");
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].principal == "ada");
  CHECK(rows[0].request == reply.request);
  CHECK(rows[0].revision == reply.revision);
  CHECK(rows[0].outcome.ok());
}

TEST_CASE("a revision that came back is recorded as such with the reason") {
  RequestBench bench;
  bench.objection = [](NodeId, const NodePlan&) { return Error{ErrorCode::refused, "this agent does not want to"}; };
  REQUIRE(bench.ask(SubmitJob{ring(4), false}).outcome.ok());
  bench.settle();
  std::vector<AuditRecord> rows = audit_of(bench);
  std::erase_if(rows, [](const AuditRecord& row) { return row.outcome.ok() || !row.asked.starts_with("revision "); });
  REQUIRE_FALSE(rows.empty());
  CHECK(mentions(rows[0].outcome.error->message, "does not want to"));
}

TEST_CASE("an order's record is in the journal before what it changes, and the answer waits for both") {
  RequestBench bench;
  bench.settle();
  const std::size_t before = bench.records.size();
  REQUIRE(bench.ask(SubmitJob{ring(2), false}).outcome.ok());
  REQUIRE(bench.records.size() >= before + 2);
  CHECK(std::holds_alternative<AuditRecord>(bench.records[before]));
  CHECK(std::holds_alternative<IntentRecord>(bench.records[before + 1]));
}

TEST_CASE("darkness goes out before its record, which waits for nobody") {
  RequestBench bench;
  bench.light(2);
  EffectSink sink;
  Envelope envelope;
  envelope.principal = "ada";
  envelope.role = Role::operator_;
  envelope.body = OperatorRequest{RequestId{999}, LasersRequest{false}};
  bench.controller->step(bench.now, MessageArrived{Peer{Peer::Kind::operator_, 7}, envelope}, sink);
  std::optional<std::size_t> dark;
  std::optional<std::size_t> recorded;
  for (std::size_t i = 0; i < sink.effects().size(); ++i) {
    const auto* send = std::get_if<Send>(&sink.effects()[i]);
    const auto* append = std::get_if<Append>(&sink.effects()[i]);
    if (send != nullptr && std::holds_alternative<SetLasers>(send->envelope.body)) {
      dark = i;  // the last one
    }
    if (append != nullptr && std::holds_alternative<AuditRecord>(append->record) && !recorded) {
      recorded = i;
      CHECK(std::get<AuditRecord>(append->record).asked == "lasers off");
    }
  }
  REQUIRE(dark);
  REQUIRE(recorded);
  CHECK(*dark < *recorded);
}

TEST_CASE("dry runs, refusals and orders of a viewer's key are recorded as what they were") {
  RequestBench bench;
  REQUIRE(bench.ask(SubmitJob{ring(2), true}).outcome.ok());
  CHECK(about(bench, "job submit").at(0).asked.ends_with("--dry-run"));
  const OperatorReply refused = bench.ask(CancelJob{JobId{77}, false});
  const auto cancelled = about(bench, "job cancel 77");
  REQUIRE(cancelled.size() == 1);
  CHECK(cancelled[0].outcome.error->message == refused.outcome.error->message);
  (void)bench.ask(LasersRequest{false}, Role::viewer);
  const auto viewer = about(bench, "lasers off");
  REQUIRE(viewer.size() == 1);
  CHECK(viewer[0].role == Role::viewer);
  CHECK(mentions(viewer[0].outcome.error->message, "your key is a viewer's"));
}

TEST_CASE("a request that comes again is recorded once") {
  RequestBench bench;
  for (int i = 0; i < 5; ++i) {
    (void)bench.ask_as(RequestId{500}, NodeRequest{NodeId{7}, NodeAction::drain, true, false});
  }
  bench.settle();
  std::vector<AuditRecord> rows = about(bench, "node drain 7 --force");
  std::erase_if(rows, [](const AuditRecord& row) { return row.asked.starts_with("revision "); });
  CHECK(rows.size() == 1);
}

TEST_CASE("questions are summed, an hour in one record") {
  RequestBench bench;
  bench.settle();
  const std::size_t before = bench.records.size();
  for (int i = 0; i < 1'000; ++i) {
    (void)bench.ask(Query{Noun::status, {}}, Role::viewer);
  }
  CHECK(bench.records.size() == before);
  bench.run_for(minutes{61});
  const auto rows = about(bench, "1000 questions");
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].principal == "ada");
  CHECK(rows[0].role == Role::viewer);
}

TEST_CASE("no viewer fills the audit, and what was not recorded one by one is counted") {
  RequestBench bench;
  bench.settle();
  const std::size_t before = bench.records.size();
  for (int i = 0; i < 5'000; ++i) {
    (void)bench.ask(LasersRequest{false}, Role::viewer);
  }
  CHECK(bench.records.size() <= before + 8);
  for (int i = 0; i < 10; ++i) {
    bench.run_for(minutes{30});
    (void)bench.ask(LasersRequest{false}, Role::viewer);
  }
  const auto sums = about(bench, "were not recorded one by one");
  REQUIRE_FALSE(sums.empty());
  CHECK(mentions(sums[0].asked, "requests that were not recorded one by one, the last: lasers off"));
  CHECK(bench.records.size() <= before + 8 + 10 + 12);
}

TEST_CASE("an operator's own records are rationed only where nothing durable goes with them") {
  RequestBench bench;
  bench.settle();
  for (int i = 0; i < 200; ++i) {
    (void)bench.ask(CancelJob{JobId{77}, false});
  }
  CHECK(about(bench, "job cancel 77").size() == 60);
  for (int i = 0; i < 100; ++i) {  // each of these changes what is wanted
    REQUIRE(bench.ask(NodeRequest{NodeId{7}, i % 2 == 0 ? NodeAction::drain : NodeAction::undrain, true, false}).outcome.ok());
  }
  std::vector<AuditRecord> rows = about(bench, "drain 7");
  std::erase_if(rows, [](const AuditRecord& row) { return row.asked.starts_with("revision "); });
  CHECK(rows.size() == 100);
}

TEST_CASE("the audit goes on over a restart, and a snapshot with a tail says the same") {
  RequestBench bench;
  bench.light(2);
  bench.snapshot_due = true;
  REQUIRE(bench.ask(NodeRequest{NodeId{7}, NodeAction::drain, true, false}).outcome.ok());
  bench.settle();
  REQUIRE(std::any_of(bench.records.begin(), bench.records.end(),
                      [](const Record& record) { return std::holds_alternative<SnapshotRecord>(record); }));
  const auto before = audit_of(bench);
  CHECK(state_of(bench.records).audit == before);
  bench.start(kVirtualClock);
  const auto after = audit_of(bench);
  REQUIRE(after.size() > before.size());
  CHECK(std::vector<AuditRecord>(after.begin(), after.begin() + static_cast<std::ptrdiff_t>(before.size())) == before);
  CHECK(after[before.size()].asked.starts_with("controller started, term 2"));
  for (std::size_t i = 1; i < after.size(); ++i) {
    CHECK(after[i].number == after[i - 1].number + 1);
  }
}

TEST_CASE("an order that the journal did not take is corrected in the audit's next record") {
  RequestBench bench;
  bench.journal_refuses = Error{ErrorCode::storage, "disk is full", "df -h"};
  const OperatorReply refused = bench.ask(SubmitJob{ring(2), false});
  REQUIRE_FALSE(refused.outcome.ok());
  const auto rows = about(bench, "job submit");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].outcome.ok());
  CHECK(rows[1].outcome.error->message == "disk is full");
  CHECK(rows[0].request == rows[1].request);
}

// --- keys ----------------------------------------------------------------------------------------------------------------

TEST_CASE("the keyring in force is in the status, and its changes are in the audit") {
  RequestBench bench;
  bench.feed(
      KeysChanged{11, {{"ada", Role::operator_, "aaaa", Kind::added}, {"grace", Role::viewer, "bbbb", Kind::added}}, {}});
  CHECK(std::get<StatusReport>(bench.ask(Query{Noun::status, {}}).rows).keyring_digest == 11);
  CHECK(about(bench, "keys in force: 2, ada (operator, key aaaa), grace (viewer, key bbbb)").size() == 1);
  bench.feed(KeysChanged{12, {{"grace", Role::viewer, "bbbb", Kind::removed}}, {}});
  const auto rows = about(bench, "key bbbb revoked");
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].principal == "grace");
  CHECK(std::get<StatusReport>(bench.ask(Query{Noun::status, {}}).rows).keyring_digest == 12);
}

TEST_CASE("a keyring that cannot be taken over is an alarm that names the line, until it can") {
  RequestBench bench;
  bench.feed(one_key("ada", Role::operator_, Kind::added));
  KeysChanged kept;
  kept.digest = 7;
  kept.problem = Error{ErrorCode::malformed, "the keyring stays as it was: keyring:4: expected: KEY ROLE", "loom keys list"};
  bench.feed(kept);
  const auto stands = [&] {
    const auto& rows = bench.controller->alarms();
    return std::any_of(rows.begin(), rows.end(), [](const StandingAlarm& row) {
      return !row.cleared && mentions(row.alarm.evidence, "keyring:4") && row.alarm.next_command == "loom keys list";
    });
  };
  CHECK(stands());
  CHECK(about(bench, "keyring changed").at(0).outcome.error->message == kept.problem->message);
  CHECK(std::get<StatusReport>(bench.ask(Query{Noun::status, {}}).rows).keyring_digest == 7);
  bench.feed(KeysChanged{7, {}, {}});
  CHECK_FALSE(stands());
}

TEST_CASE("a key that is revoked while its order is being planned has it refused, and nothing changes") {
  RequestBench bench;
  bench.feed(one_key("ada", Role::operator_, Kind::added));
  bench.light(4);
  const Intent before = bench.controller->intent();
  Envelope envelope;
  envelope.principal = "ada";
  envelope.role = Role::operator_;
  envelope.body = OperatorRequest{RequestId{900}, NodeRequest{before.jobs[0].nodes[0], NodeAction::drain, false, false}};
  bench.replies.clear();
  const auto loses = GENERATE(Kind::removed, Kind::altered);
  EffectSink asked;
  bench.controller->step(bench.now, MessageArrived{Peer{Peer::Kind::operator_, 7}, envelope}, asked);
  const PlanRequest* wanted = nullptr;
  for (const Effect& effect : asked.effects()) {
    if (const auto* order = std::get_if<MakePlan>(&effect)) {
      wanted = order->request.get();
    }
  }
  REQUIRE(wanted != nullptr);
  const Planned planned{{wanted->revision, make_plan(all_architectures(), *wanted), {}}};
  bench.feed(one_key("ada", Role::viewer, loses));
  REQUIRE(bench.replies.size() == 1);  // to a connection that is gone
  CHECK(mentions(bench.replies[0].outcome.error->message, "was revoked while this was being planned"));
  bench.feed(planned);
  bench.settle();
  CHECK(bench.controller->intent() == before);
  const auto rows = about(bench, "node drain");
  REQUIRE(rows.size() == 1);
  CHECK_FALSE(rows[0].outcome.ok());
}

TEST_CASE("what was accepted before a key was revoked stays, and what it attends is attended no more") {
  RequestBench bench;
  bench.feed(one_key("ada", Role::operator_, Kind::added));
  const JobId job = bench.light(4);
  REQUIRE(bench.ask(AttendJob{job, {}}).outcome.ok());
  CHECK(bench.rows<JobReport>(Noun::jobs).at(0).attended);
  bench.feed(one_key("ada", Role::operator_, Kind::removed));
  CHECK_FALSE(bench.rows<JobReport>(Noun::jobs).at(0).attended);
  bench.run_for(seconds{1});
  CHECK(bench.controller->jobs().at(job).state == JobState::lit);
}

TEST_CASE("refused keys are recorded by number, and a flood of them fills nothing") {
  RequestBench bench;
  bench.settle();
  MessageRefused stranger;
  stranger.from = Peer{Peer::Kind::operator_, 0};
  stranger.error = {ErrorCode::refused, "a peer at 10.0.0.1 has key ...., which is not in the keyring"};
  stranger.kind = RefusalKind::unauthorised;
  stranger.count = 41;
  bench.feed(stranger);
  const auto rows = about(bench, "41 messages refused (unauthorised)");
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].principal == "?");
  CHECK(mentions(rows[0].outcome.error->message, "10.0.0.1"));
  const std::size_t before = bench.records.size();
  for (int i = 0; i < 1'000; ++i) {
    bench.feed(stranger);
  }
  CHECK(bench.records.size() <= before + 8);
}

TEST_CASE("an interlock that an agent tells of is recorded") {
  RequestBench bench;
  Alarm alarm;
  alarm.code = AlarmCode::lasers_off;
  alarm.node = NodeId{3};
  alarm.evidence = "interlock door is open";
  alarm.next_command = "loom lasers rearm";
  bench.receive(NodeId{3}, AlarmReport{alarm});
  bench.pump();
  CHECK(about(bench, "node 3: interlock door is open").size() == 1);
}

// --- sentences -----------------------------------------------------------------------------------------------------------

TEST_CASE("every order is one readable sentence") {
  const auto expect = [](const OperatorAsk& ask, const std::string& sentence) { CHECK(sentence_of(ask) == sentence); };
  expect(NodeRequest{NodeId{17}, NodeAction::drain, true, false}, "node drain 17 --force");
  expect(NodeRequest{NodeId{17}, NodeAction::maintain, false, true}, "node maintenance 17 on --dry-run");
  expect(NodeRequest{NodeId{17}, NodeAction::release, false, false}, "node maintenance 17 off");
  expect(LasersRequest{false}, "lasers off");
  expect(LasersRequest{true}, "lasers rearm");
  expect(CancelJob{JobId{3}, true}, "job cancel 3 --dry-run");
  expect(ResizeJob{JobId{3}, 8, false}, "job resize 3 8 nodes");
  expect(AdaptJob{JobId{3}, true}, "job adapt 3");
  expect(AdaptJob{JobId{3}, false}, "job adapt 3 --off");
  expect(ProbeLight{{{}, {}}, {{}}}, "measure by 2 lights and 1 heaters");
  expect(Calibrate{{{DeviceId{3}, 0, {}, {}, {{}}}, {DeviceId{4}, 0, {}, {}, {}}}, true},
         "device calibrate 3 4 --forget --dry-run");
  expect(DeviceRequest{DeviceId{3}, TransmitterSetpoint{FrequencySlot{0, 4}, Dbm{-100}, true}, false},
         "device set 3 frequency=193.10000 THz power=-1.00 dBm emit=on");
  expect(DeviceRequest{DeviceId{3}, {}, false}, "device set 3 --clear");
  expect(DeviceRequest{DeviceId{3}, FilterSetpoint{{{0, Frequency{193'100'000}}}}, true, {{2, 2'500}}},
         "device set 3 1 rings ring.0=193.10000 THz volts.2=2500mV --dry-run");
  expect(ResetRequest{DeviceId{3}}, "device reset 3");
  expect(AcknowledgeAlarm{AlarmId{9}}, "alarm ack 9");
  expect(RollBackSchedule{Revision{4}, false}, "schedule rollback 4");
  expect(ConfirmSchedule{}, "schedule confirm");
  expect(SubmitJob{ring(8), false},
         "job submit vgg16 --name ring 8 nodes, 1 collectives of 1000000 bytes a rank and iteration");
  ApplySchedule apply;
  apply.mode = ApplyMode::update;
  apply.circuits = {{JobId{1}, NodeId{2}, NodeId{3}, FrequencySlot{-4, 2}}};
  apply.confirm_within = seconds{120};
  expect(apply, "schedule apply --mode update 1 circuits: job 1 2-3 on -4/2 --confirm-within 120s");
  apply.circuits.resize(10'000, apply.circuits[0]);
  CHECK(mentions(sentence_of(apply), "10000 circuits: "));
  CHECK(sentence_of(apply).size() <= limits::kTextBytes / 2);
}

TEST_CASE("words of another hand cannot end a line of the log, its JSON or a terminal's sanity") {
  CHECK(printable("a\nb\x1b[2J\\ \"q\" \xc2\x9b") == "a\\x0ab\\x1b[2J\\\\ \"q\" \\xc2\\x9b");
  AuditRecord record;
  record.number = 3;
  record.principal = "eve\"},{\n";
  record.asked = "job submit x\r\n<4>audit: {}";
  record.outcome.error = Error{ErrorCode::refused, "no\\"};
  const std::string line = log_line(record);
  CHECK(line.find('\n') == std::string::npos);
  CHECK(line.find('\r') == std::string::npos);
  CHECK(line.starts_with("audit: {\"record\":3,"));
  CHECK(mentions(line, R"("principal":"eve\"},{\\x0a")"));
  CHECK(mentions(line, R"("asked":"job submit x\\x0d\\x0a<4>audit: {}")"));
  CHECK(mentions(line, R"("answer":"no\\\\")"));
}
