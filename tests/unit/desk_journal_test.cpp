// What operators get when the journal takes no rows, or not such long ones; what a snapshot brings back; and revision numbers
// after a restart from an older copy.
#include "core/limits.hpp"
#include "tests/unit/desk_bench.hpp"

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

std::size_t alarms_about_the_journal(const DeskBench& desk) {
  return static_cast<std::size_t>(std::count_if(desk.alarms.begin(), desk.alarms.end(),
                                                [](const Alarm& alarm) { return alarm.code == AlarmCode::journal_damaged; }));
}

}  // namespace

TEST_CASE("a full journal is answered at once with the cause and the command, and the light stays") {
  DeskBench desk;
  const JobId lit = desk.light(4);
  const Revision before = desk.controller->confirmed();
  const std::size_t prepares = desk.said<Prepare>();  // of the job that is lit
  REQUIRE(prepares > 0);
  desk.journal_refuses = kFull;
  const OperatorReply first = desk.ask(SubmitJob{ring(2), false});  // the row that fails
  REQUIRE_FALSE(first.outcome.ok());
  CHECK(*first.outcome.error == kFull);
  CHECK(desk.controller->jobs().at(JobId{2}).state == JobState::refused);
  const auto sent = desk.sent.size();
  const std::vector<OperatorAsk> asks{SubmitJob{ring(2), false}, CancelJob{lit, false}, OrderLasers{true},
                                      OrderNode{NodeId{7}, NodeOrder::drain, false, false}};
  for (const OperatorAsk& what : asks) {
    const OperatorReply refused = desk.ask(what);
    REQUIRE_FALSE(refused.outcome.ok());
    CHECK(*refused.outcome.error == kFull);
  }
  CHECK(desk.rows<JobReport>(Noun::jobs).size() == 2);  // questions are answered as ever
  desk.run_for(seconds{3});
  CHECK(desk.sent.size() > sent);  // beats
  CHECK(desk.said<Prepare>() == prepares);
  CHECK(desk.controller->confirmed() == before);
  CHECK(desk.controller->jobs().at(lit).state == JobState::lit);
  CHECK(alarms_about_the_journal(desk) == 1);
  CHECK(std::find_if(desk.alarms.begin(), desk.alarms.end(), [](const Alarm& alarm) {
          return alarm.code == AlarmCode::journal_damaged && alarm.next_command == "df -h run";
        }) != desk.alarms.end());
}

TEST_CASE("a request that waits for durability when the journal fails gets its answer, and again when it repeats") {
  DeskBench desk;
  desk.journal_refuses = kFull;
  const OperatorReply refused = desk.ask_as(RequestId{500}, SubmitJob{ring(2), false});
  CHECK(*refused.outcome.error == kFull);
  const OperatorReply again = desk.ask_as(RequestId{500}, SubmitJob{ring(2), false});
  CHECK(*again.outcome.error == kFull);
  CHECK(desk.controller->intent().jobs.empty());
}

TEST_CASE("darkness waits for no journal, and its answer says what was done and what was not recorded") {
  DeskBench desk;
  desk.light(4);
  desk.journal_refuses = kFull;
  const OperatorReply reply = desk.ask(OrderLasers{false});
  CHECK(desk.latched.size() == 8);
  REQUIRE_FALSE(reply.outcome.ok());
  CHECK(reply.outcome.error->code == ErrorCode::storage);
  CHECK(mentions(reply.outcome.error->message, "told to go dark"));
  CHECK(mentions(reply.outcome.error->message, "disk is full"));
}

TEST_CASE("a commit that has not gone when the journal fails is abandoned, and none begins after it") {
  DeskBench desk;
  desk.light(4);
  const std::size_t prepares = desk.said<Prepare>();
  const std::size_t gone = desk.said<Go>();  // of the first job
  REQUIRE(gone > 0);
  REQUIRE(desk.ask(SubmitJob{ring(2), false}).outcome.ok());
  desk.journal_refuses = kFull;  // the row that lets it go
  desk.run_for(seconds{10});
  CHECK(desk.said<Prepare>() > prepares);
  CHECK(desk.said<Abandon>() > 0);
  const std::size_t tried = desk.said<Prepare>();
  CHECK(desk.said<Go>() == gone);
  desk.run_for(seconds{10});
  CHECK(desk.said<Prepare>() == tried);
  CHECK(desk.controller->jobs().at(JobId{2}).state != JobState::refused);
  desk.journal_refuses.reset();
  desk.start(kVirtualClock);  // the disk has room, the process is started again
  desk.run_for(seconds{1});
  CHECK(desk.controller->jobs().at(JobId{2}).state == JobState::lit);
}

TEST_CASE("an order whose row would be too long is refused with its size and the limit, and the next one is taken") {
  DeskBench desk;
  std::size_t jobs_that_fit = 2;
  desk.record_bytes = [&](const Record& record) {
    const auto* intent = std::get_if<IntentRecord>(&record);
    return intent != nullptr && intent->intent.jobs.size() > jobs_that_fit ? limits::kIntentBytes + 1 : 1;
  };
  desk.start(kVirtualClock);
  desk.light(2);
  desk.light(2);
  const Error refused = refusal_of(desk.ask(SubmitJob{ring(2), false}));
  CHECK(refused.code == ErrorCode::out_of_range);
  CHECK(mentions(refused.message, std::to_string(limits::kIntentBytes + 1)));
  CHECK(mentions(refused.message, "kIntentBytes, is " + std::to_string(limits::kIntentBytes)));
  REQUIRE(desk.ask(CancelJob{JobId{1}, false}).outcome.ok());
  desk.settle();
  desk.light(2);
  jobs_that_fit = 0;  // a changed job of the same number is judged as well
  const Error changed = refusal_of(desk.ask(ResizeJob{JobId{2}, 4, false}));
  CHECK(changed.code == ErrorCode::out_of_range);
  CHECK(desk.controller->intent().jobs.front().spec.node_count == 2);
}

TEST_CASE("a plan that is too long for a row is refused before an agent hears of it") {
  DeskBench desk;
  desk.record_bytes = [](const Record& record) {
    return std::holds_alternative<CommitRecord>(record) ? limits::kRecordBytes + 1 : 1;
  };
  desk.start(kVirtualClock);
  REQUIRE(desk.ask(SubmitJob{ring(2), false}).outcome.ok());
  desk.settle();
  CHECK(desk.said<Prepare>() == 0);
  CHECK(desk.controller->jobs().at(JobId{1}).state == JobState::refused);
  CHECK(mentions(desk.controller->jobs().at(JobId{1}).reason, "kRecordBytes"));
}

TEST_CASE("a snapshot that is due is written and brings back what the rows before it said") {
  DeskBench desk;
  const JobId job = desk.light(4);
  desk.light(2);
  const std::size_t rows = desk.records.size();
  desk.snapshot_due = true;
  REQUIRE(desk.ask_as(RequestId{700}, SubmitJob{ring(2), false}).outcome.ok());
  REQUIRE(std::holds_alternative<SnapshotRecord>(desk.records.front()));
  desk.settle();
  CHECK(desk.records.size() < rows);
  const Revision confirmed = desk.controller->confirmed();
  desk.start(kVirtualClock);
  CHECK(desk.controller->intent().jobs.size() == 3);
  CHECK(desk.controller->confirmed() >= confirmed);
  CHECK(desk.controller->jobs().at(job).state == JobState::degraded);  // in light, and nobody has read its devices yet
  CHECK(desk.ask_as(RequestId{700}, SubmitJob{ring(2), false}).job == JobId{3});  // not obeyed twice
  CHECK(desk.ask(RollBackSchedule{Revision{1}, true}).outcome.ok());
}

TEST_CASE("a snapshot drops the oldest revisions that an operator may go back to until it fits into a row") {
  DeskBench desk;
  desk.record_bytes = [](const Record& record) {
    const auto* snapshot = std::get_if<SnapshotRecord>(&record);
    return snapshot == nullptr || snapshot->kept.size() <= 2 ? 1 : limits::kRecordBytes + 1;
  };
  desk.start(kVirtualClock);
  desk.light(2);
  desk.light(2);
  desk.light(2);
  desk.snapshot_due = true;
  REQUIRE(desk.ask(CancelJob{JobId{1}, false}).outcome.ok());
  const auto& snapshot = std::get<SnapshotRecord>(desk.records.front());
  CHECK(snapshot.kept.size() == 2);
  CHECK(snapshot.kept.back().revision == snapshot.confirmed->revision);
}

TEST_CASE("after a restart from an older copy no revision number is given that an agent has seen") {
  DeskBench desk;
  desk.light(2);
  const std::vector<Record> copy = desk.records;
  desk.light(2);
  const Revision first_unknown = desk.controller->confirmed();  // its agents say hello before those of the next
  desk.light(2);
  const Revision seen = desk.controller->confirmed();
  desk.records = copy;
  desk.sent.clear();
  desk.start(kVirtualClock);
  CHECK(desk.controller->confirmed() > seen);
  for (const Envelope& envelope : desk.sent) {
    if (std::holds_alternative<Prepare>(envelope.body)) {
      CHECK(envelope.revision > seen);
    }
  }
  CHECK(alarms_about_the_journal(desk) == 1);
  CHECK(std::any_of(desk.alarms.begin(), desk.alarms.end(), [&](const Alarm& alarm) {
    return mentions(alarm.evidence,
                    "has applied revision " + std::to_string(first_unknown.value) + ", of which this journal knows nothing");
  }));
  desk.light(2);
}

TEST_CASE("a number that was planned here and has gone elsewhere is not used") {
  DeskBench desk;
  desk.light(2);
  const Revision taken{desk.controller->confirmed().value + 1};
  const NodeId away{7};
  desk.silent.insert(away);
  desk.run_for(seconds{1});
  REQUIRE(desk.ask(SubmitJob{ring(6), false}).outcome.ok());
  desk.run_for(seconds{1});  // planned, and waits for the one that is away
  REQUIRE(desk.controller->confirmed().value < taken.value);
  desk.sent.clear();
  desk.hear(NodeId{3}, Hello{"test", 4, {}, Revision{1}, false, {}}, taken);  // on its way into light there
  desk.silent.clear();
  desk.greet(away);
  desk.settle();
  CHECK(desk.controller->jobs().at(JobId{2}).state == JobState::lit);
  CHECK(desk.controller->confirmed() > taken);
  for (const Envelope& envelope : desk.sent) {
    CHECK((!std::holds_alternative<Prepare>(envelope.body) || envelope.revision > taken));
  }
  CHECK(alarms_about_the_journal(desk) == 1);
}

TEST_CASE("after a restart nothing is planned before every agent has said what it applied, or is given up") {
  DeskBench desk;
  desk.light(2);
  const bool is_given_up = GENERATE(false, true);
  CAPTURE(is_given_up);
  desk.silent.insert(NodeId{7});
  desk.start_unsettled(kVirtualClock, desk.silent);
  desk.sent.clear();
  REQUIRE(desk.ask(SubmitJob{ring(2), false}).outcome.ok());
  desk.run_for(seconds{5});
  CHECK(desk.said<Prepare>() == 0);
  if (!is_given_up) {
    desk.silent.clear();
    desk.greet(NodeId{7});
  }
  desk.run_for(seconds{1});
  CHECK(desk.said<Prepare>() > 0);
  CHECK(desk.controller->jobs().at(JobId{2}).state == JobState::lit);
}

TEST_CASE("jobs in light are in light after a restart though another one is refused with the first plan") {
  DeskBench desk;
  const JobId first = desk.light(4);
  const JobId second = desk.light(4);
  const OperatorReply third = desk.ask(SubmitJob{ring(2), false});
  REQUIRE(third.outcome.ok());  // on record, not planned yet
  desk.start(kVirtualClock);
  // Not pending any more; lit is what was read, and these agents have reported nothing to the new life.
  CHECK(desk.controller->jobs().at(first).state == JobState::degraded);
  CHECK(desk.controller->jobs().at(second).state == JobState::degraded);
  desk.read_as_planned();
  desk.run_for(seconds{1});
  CHECK(desk.controller->jobs().at(first).state == JobState::lit);
  CHECK(desk.controller->jobs().at(second).state == JobState::lit);
  CHECK(desk.controller->jobs().at(third.job).state == JobState::refused);
}

TEST_CASE("one hello cannot use up all revision numbers") {
  DeskBench desk;
  desk.light(2);
  const Revision before = desk.controller->confirmed();
  desk.hear(NodeId{7}, Hello{"test", 77, {}, Revision{~0ULL - 5}, false, {}});
  desk.pump();
  desk.light(2);
  CHECK(desk.controller->confirmed() > before);
  CHECK(desk.controller->confirmed() < Revision{1'000});
  CHECK(std::any_of(desk.alarms.begin(), desk.alarms.end(), [](const Alarm& alarm) {
    return alarm.node == NodeId{7} && mentions(alarm.evidence, "limit kRevisionJump");
  }));
}

}  // namespace loom
