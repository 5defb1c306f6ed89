// SPDX-License-Identifier: Apache-2.0
// What operators get when the journal takes no rows, or not such long ones; what a snapshot brings back; and revision numbers
// after a restart from an older copy.
#include "core/limits.hpp"
#include "tests/unit/requests/request_bench.hpp"

namespace loom {

using namespace loom::test;

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Error kFull{
    ErrorCode::storage,
    "journal run/controller.db: row 7 cannot be written: database or disk is full; free space on the disk of run, "
    "then lightloomd",
    "df -h run"};

JobSpec ring(std::uint32_t nodes) {
  JobSpec spec;
  spec.name = "ring";
  spec.workload = "test";
  spec.node_count = nodes;
  spec.collectives = {{CollectiveKind::all_reduce, {}, Bytes{1'000'000}}};
  return spec;
}

std::size_t alarms_about_the_journal(const RequestBench& bench) {
  return static_cast<std::size_t>(std::count_if(bench.alarms.begin(), bench.alarms.end(),
                                                [](const Alarm& alarm) { return alarm.code == AlarmCode::journal_damaged; }));
}

}  // namespace

TEST_CASE("a full journal is answered at once with the cause and the command, and the light stays") {
  RequestBench bench;
  const JobId lit = bench.light(4);
  const Revision before = bench.controller->confirmed();
  const std::size_t prepares = bench.delivered<Prepare>();  // of the job that is lit
  REQUIRE(prepares > 0);
  bench.journal_refuses = kFull;
  const OperatorReply first = bench.ask(SubmitJob{ring(2), false});  // the row that fails
  REQUIRE_FALSE(first.outcome.ok());
  CHECK(*first.outcome.error == kFull);
  CHECK(bench.controller->jobs().at(JobId{2}).state == JobState::refused);
  const auto sent = bench.sent.size();
  const std::vector<OperatorAsk> asks{SubmitJob{ring(2), false}, CancelJob{lit, false}, LasersRequest{true},
                                      NodeRequest{NodeId{7}, NodeAction::drain, false, false}};
  for (const OperatorAsk& what : asks) {
    const OperatorReply refused = bench.ask(what);
    REQUIRE_FALSE(refused.outcome.ok());
    CHECK(*refused.outcome.error == kFull);
  }
  CHECK(bench.rows<JobReport>(Noun::jobs).size() == 2);  // questions are answered as ever
  bench.run_for(seconds{3});
  CHECK(bench.sent.size() > sent);  // beats
  CHECK(bench.delivered<Prepare>() == prepares);
  CHECK(bench.controller->confirmed() == before);
  CHECK(bench.controller->jobs().at(lit).state == JobState::lit);
  CHECK(alarms_about_the_journal(bench) == 1);
  CHECK(std::find_if(bench.alarms.begin(), bench.alarms.end(), [](const Alarm& alarm) {
          return alarm.code == AlarmCode::journal_damaged && alarm.next_command == "df -h run";
        }) != bench.alarms.end());
}

TEST_CASE("a request that waits for durability when the journal fails gets its answer, and again when it repeats") {
  RequestBench bench;
  bench.journal_refuses = kFull;
  const OperatorReply refused = bench.ask_as(RequestId{500}, SubmitJob{ring(2), false});
  CHECK(*refused.outcome.error == kFull);
  const OperatorReply again = bench.ask_as(RequestId{500}, SubmitJob{ring(2), false});
  CHECK(*again.outcome.error == kFull);
  CHECK(bench.controller->intent().jobs.empty());
}

TEST_CASE("darkness waits for no journal, and its answer says what was done and what was not recorded") {
  RequestBench bench;
  bench.light(4);
  bench.journal_refuses = kFull;
  const OperatorReply reply = bench.ask(LasersRequest{false});
  CHECK(bench.latched.size() == 8);
  REQUIRE_FALSE(reply.outcome.ok());
  CHECK(reply.outcome.error->code == ErrorCode::storage);
  CHECK(mentions(reply.outcome.error->message, "commanded dark"));
  CHECK(mentions(reply.outcome.error->message, "disk is full"));
}

TEST_CASE("a node whose maintenance no journal keeps is not latched for it") {
  RequestBench bench;
  bench.light(4);
  const NodeId idle = bench.free_node();
  bench.journal_refuses = kFull;
  CHECK(*bench.ask(NodeRequest{idle, NodeAction::maintain}).outcome.error == kFull);
  bench.run_for(seconds{2});
  CHECK(bench.node_latched.empty());
  bench.journal_refuses.reset();
  bench.start(kVirtualClock);  // nobody knows of it any more
  bench.run_for(seconds{2});
  CHECK(bench.node_latched.empty());
  CHECK(bench.ask(NodeRequest{idle, NodeAction::maintain}).outcome.ok());
  bench.run_for(seconds{2});
  CHECK(bench.node_latched == std::set{idle});
}

TEST_CASE("a commit that has not gone when the journal fails is abandoned, and none begins after it") {
  RequestBench bench;
  bench.light(4);
  const std::size_t prepares = bench.delivered<Prepare>();
  const std::size_t gone = bench.delivered<Go>();  // of the first job
  REQUIRE(gone > 0);
  REQUIRE(bench.ask(SubmitJob{ring(2), false}).outcome.ok());
  bench.journal_refuses = kFull;  // the row that lets it go
  bench.run_for(seconds{10});
  CHECK(bench.delivered<Prepare>() > prepares);
  CHECK(bench.delivered<Abandon>() > 0);
  const std::size_t tried = bench.delivered<Prepare>();
  CHECK(bench.delivered<Go>() == gone);
  bench.run_for(seconds{10});
  CHECK(bench.delivered<Prepare>() == tried);
  CHECK(bench.controller->jobs().at(JobId{2}).state != JobState::refused);
  bench.journal_refuses.reset();
  bench.start(kVirtualClock);  // the disk has room, the process is started again
  bench.run_for(seconds{1});
  CHECK(bench.controller->jobs().at(JobId{2}).state == JobState::lit);
}

TEST_CASE("an order whose row would be too long is refused with its size and the limit, and the next one is taken") {
  RequestBench bench;
  std::size_t jobs_that_fit = 2;
  bench.record_bytes = [&](const Record& record) {
    const auto* intent = std::get_if<IntentRecord>(&record);
    return intent != nullptr && intent->intent.jobs.size() > jobs_that_fit ? limits::kIntentBytes + 1 : 1;
  };
  bench.start(kVirtualClock);
  bench.light(2);
  bench.light(2);
  const Error refused = refusal_of(bench.ask(SubmitJob{ring(2), false}));
  CHECK(refused.code == ErrorCode::out_of_range);
  CHECK(mentions(refused.message, std::to_string(limits::kIntentBytes + 1)));
  CHECK(mentions(refused.message, "kIntentBytes, is " + std::to_string(limits::kIntentBytes)));
  REQUIRE(bench.ask(CancelJob{JobId{1}, false}).outcome.ok());
  bench.settle();
  bench.light(2);
  jobs_that_fit = 0;  // a changed job of the same number is judged as well
  const Error changed = refusal_of(bench.ask(ResizeJob{JobId{2}, 4, false}));
  CHECK(changed.code == ErrorCode::out_of_range);
  CHECK(bench.controller->intent().jobs.front().spec.node_count == 2);
}

TEST_CASE("a plan that is too long for a row is refused before an agent receives of it") {
  RequestBench bench;
  bench.record_bytes = [](const Record& record) {
    return std::holds_alternative<CommitRecord>(record) ? limits::kRecordBytes + 1 : 1;
  };
  bench.start(kVirtualClock);
  REQUIRE(bench.ask(SubmitJob{ring(2), false}).outcome.ok());
  bench.settle();
  CHECK(bench.delivered<Prepare>() == 0);
  CHECK(bench.controller->jobs().at(JobId{1}).state == JobState::refused);
  CHECK(mentions(bench.controller->jobs().at(JobId{1}).reason, "kRecordBytes"));
}

TEST_CASE("a snapshot that is due is written and brings back what the rows before it said") {
  RequestBench bench;
  const JobId job = bench.light(4);
  bench.light(2);
  const std::size_t rows = bench.records.size();
  bench.snapshot_due = true;
  REQUIRE(bench.ask_as(RequestId{700}, SubmitJob{ring(2), false}).outcome.ok());
  REQUIRE(std::holds_alternative<SnapshotRecord>(bench.records.front()));
  bench.settle();
  CHECK(bench.records.size() < rows);
  const Revision confirmed = bench.controller->confirmed();
  bench.start(kVirtualClock);
  CHECK(bench.controller->intent().jobs.size() == 3);
  CHECK(bench.controller->confirmed() >= confirmed);
  CHECK(bench.controller->jobs().at(job).state == JobState::degraded);  // in light, and nobody has read its devices yet
  CHECK(bench.ask_as(RequestId{700}, SubmitJob{ring(2), false}).job == JobId{3});  // not obeyed twice
  CHECK(bench.ask(RollBackSchedule{Revision{1}, true}).outcome.ok());
}

TEST_CASE("a snapshot that becomes due while light moves waits for the end of the commit") {
  RequestBench bench;
  bench.light(4);
  const Revision before = bench.controller->confirmed();
  REQUIRE(bench.ask(SubmitJob{ring(2), false}).outcome.ok());
  bench.snapshot_due = true;  // the plan's row is the next
  bench.settle();
  const auto& snapshot = std::get<SnapshotRecord>(bench.records.front());
  CHECK(snapshot.confirmed->revision > before);
  CHECK(snapshot.planned == nullptr);
  CHECK(snapshot.going == nullptr);
}

TEST_CASE("a snapshot drops the oldest revisions that an operator may go back to until it fits into a row") {
  RequestBench bench;
  bench.record_bytes = [](const Record& record) {
    const auto* snapshot = std::get_if<SnapshotRecord>(&record);
    return snapshot == nullptr || snapshot->kept.size() <= 2 ? 1 : limits::kRecordBytes + 1;
  };
  bench.start(kVirtualClock);
  bench.light(2);
  bench.light(2);
  bench.light(2);
  bench.snapshot_due = true;
  REQUIRE(bench.ask(CancelJob{JobId{1}, false}).outcome.ok());
  const auto& snapshot = std::get<SnapshotRecord>(bench.records.front());
  CHECK(snapshot.kept.size() == 2);
  CHECK(snapshot.kept.back().revision == snapshot.confirmed->revision);
}

TEST_CASE("after a restart from an older copy no revision number is given that an agent has seen") {
  RequestBench bench;
  bench.light(2);
  const std::vector<Record> copy = bench.records;
  bench.light(2);
  const Revision first_unknown = bench.controller->confirmed();  // its agents say hello before those of the next
  bench.light(2);
  const Revision seen = bench.controller->confirmed();
  bench.records = copy;
  bench.sent.clear();
  bench.start(kVirtualClock);
  CHECK(bench.controller->confirmed() > seen);
  for (const Envelope& envelope : bench.sent) {
    if (std::holds_alternative<Prepare>(envelope.body)) {
      CHECK(envelope.revision > seen);
    }
  }
  CHECK(alarms_about_the_journal(bench) == 1);
  CHECK(std::any_of(bench.alarms.begin(), bench.alarms.end(), [&](const Alarm& alarm) {
    return mentions(alarm.evidence,
                    "has applied revision " + std::to_string(first_unknown.value) + ", of which this journal knows nothing");
  }));
  bench.light(2);
}

TEST_CASE("a number that was planned here and has gone elsewhere is not used") {
  RequestBench bench;
  bench.light(2);
  const Revision taken{bench.controller->confirmed().value + 1};
  const NodeId away{7};
  bench.silent.insert(away);
  bench.run_for(seconds{1});
  REQUIRE(bench.ask(SubmitJob{ring(6), false}).outcome.ok());
  bench.run_for(seconds{1});  // planned, and waits for the one that is away
  REQUIRE(bench.controller->confirmed().value < taken.value);
  bench.sent.clear();
  bench.receive(NodeId{3}, Hello{"test", 4, {}, Revision{1}, false, {}}, taken);  // on its way into light there
  bench.silent.clear();
  bench.greet(away);
  bench.settle();
  CHECK(bench.controller->jobs().at(JobId{2}).state == JobState::lit);
  CHECK(bench.controller->confirmed() > taken);
  for (const Envelope& envelope : bench.sent) {
    CHECK((!std::holds_alternative<Prepare>(envelope.body) || envelope.revision > taken));
  }
  CHECK(alarms_about_the_journal(bench) == 1);
}

TEST_CASE("after a restart nothing is planned before every agent has said what it applied, or is given up") {
  RequestBench bench;
  bench.light(2);
  const bool is_given_up = GENERATE(false, true);
  CAPTURE(is_given_up);
  bench.silent.insert(NodeId{7});
  bench.start_unsettled(kVirtualClock, bench.silent);
  bench.sent.clear();
  REQUIRE(bench.ask(SubmitJob{ring(2), false}).outcome.ok());
  bench.run_for(seconds{5});
  CHECK(bench.delivered<Prepare>() == 0);
  if (!is_given_up) {
    bench.silent.clear();
    bench.greet(NodeId{7});
  }
  bench.run_for(seconds{1});
  CHECK(bench.delivered<Prepare>() > 0);
  CHECK(bench.controller->jobs().at(JobId{2}).state == JobState::lit);
}

TEST_CASE("jobs in light are in light after a restart though another one is refused with the first plan") {
  RequestBench bench;
  const JobId first = bench.light(4);
  const JobId second = bench.light(4);
  const OperatorReply third = bench.ask(SubmitJob{ring(2), false});
  REQUIRE(third.outcome.ok());  // on record, not planned yet
  bench.start(kVirtualClock);
  // Not pending any more; lit is what was read, and these agents have reported nothing to the new incarnation.
  CHECK(bench.controller->jobs().at(first).state == JobState::degraded);
  CHECK(bench.controller->jobs().at(second).state == JobState::degraded);
  bench.read_as_planned();
  bench.run_for(seconds{1});
  CHECK(bench.controller->jobs().at(first).state == JobState::lit);
  CHECK(bench.controller->jobs().at(second).state == JobState::lit);
  CHECK(bench.controller->jobs().at(third.job).state == JobState::refused);
}

TEST_CASE("one hello cannot use up all revision numbers") {
  RequestBench bench;
  bench.light(2);
  const Revision before = bench.controller->confirmed();
  bench.receive(NodeId{7}, Hello{"test", 77, {}, Revision{~0ULL - 5}, false, {}});
  bench.pump();
  bench.light(2);
  CHECK(bench.controller->confirmed() > before);
  CHECK(bench.controller->confirmed() < Revision{1'000});
  CHECK(std::any_of(bench.alarms.begin(), bench.alarms.end(), [](const Alarm& alarm) {
    return alarm.node == NodeId{7} && mentions(alarm.evidence, "limit kRevisionJump");
  }));
}

}  // namespace loom
