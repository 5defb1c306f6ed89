// Launchers that stand by their jobs: asked before light goes dark, waited for, but not for ever.
#include "tests/unit/desk_bench.hpp"

using namespace loom;
using namespace loom::test;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

/// Says that the job is attended and quiet up to `quiet_for`; its row.
JobReport attend(DeskBench& desk, JobId job, Revision quiet_for = {}) {
  const OperatorReply reply = desk.ask(AttendJob{job, quiet_for});
  REQUIRE(reply.outcome.ok());
  const auto& rows = std::get<std::vector<JobReport>>(reply.rows);
  REQUIRE(rows.size() == 1);
  return rows.front();
}

bool has_alarm(const DeskBench& desk, AlarmCode code) {
  const auto& rows = desk.controller->alarms();
  return std::any_of(rows.begin(), rows.end(), [&](const StandingAlarm& row) { return row.alarm.code == code; });
}

void drain(DeskBench& desk, NodeId node) { REQUIRE(desk.ask(OrderNode{node, NodeOrder::drain, false, false}).outcome.ok()); }

}  // namespace

TEST_CASE("an attended job is asked to be quiet before its light goes dark, and is told when it is back") {
  DeskBench desk;
  const JobId job = desk.light(4);
  const Revision lit = desk.controller->confirmed();
  CHECK(attend(desk, job).quiesce == Revision{});
  drain(desk, desk.controller->jobs().nodes_of(job).front());
  desk.run_for(seconds{1});
  const JobReport asked = attend(desk, job);
  CHECK(asked.attended);
  CHECK(asked.quiesce > lit);
  desk.run_for(seconds{2});
  CHECK(desk.controller->confirmed() == lit);  // nothing goes dark under a job that is not quiet
  attend(desk, job, asked.quiesce);
  desk.settle();
  CHECK(desk.controller->confirmed() > lit);
  CHECK(attend(desk, job, asked.quiesce).quiesce == Revision{});
  CHECK_FALSE(has_alarm(desk, AlarmCode::job_not_quiet));
}

TEST_CASE("a change that leaves the light of an attended job alone does not ask it") {
  DeskBench desk;
  const JobId kept = desk.light(2);
  attend(desk, kept);
  const JobId other = desk.light(2);
  drain(desk, desk.controller->jobs().nodes_of(other).front());
  desk.settle();
  CHECK(attend(desk, kept).quiesce == Revision{});
}

TEST_CASE("a job that is attended and does not become quiet goes dark at the deadline, aloud") {
  DeskBench desk;
  const JobId job = desk.light(4);
  const Revision lit = desk.controller->confirmed();
  attend(desk, job);
  drain(desk, desk.controller->jobs().nodes_of(job).front());
  for (Duration waited{}; waited < ControllerTimings{}.quiesce_deadline; waited += seconds{2}) {
    attend(desk, job);
    CHECK(desk.controller->confirmed() == lit);
    desk.run_for(seconds{2});
  }
  desk.settle();
  CHECK(desk.controller->confirmed() > lit);
  CHECK(has_alarm(desk, AlarmCode::job_not_quiet));
}

TEST_CASE("a launcher that has gone is not waited for") {
  DeskBench desk;
  const JobId job = desk.light(4);
  const Revision lit = desk.controller->confirmed();
  attend(desk, job);
  drain(desk, desk.controller->jobs().nodes_of(job).front());
  desk.run_for(ControllerTimings{}.attend_lease + seconds{1});
  desk.settle();
  CHECK(desk.controller->confirmed() > lit);
  CHECK_FALSE(has_alarm(desk, AlarmCode::job_not_quiet));
}

TEST_CASE("a job that does not exist cannot be attended") {
  DeskBench desk;
  const OperatorReply reply = desk.ask(AttendJob{JobId{7}, {}});
  REQUIRE_FALSE(reply.outcome.ok());
  CHECK(reply.outcome.error->code == ErrorCode::not_found);
  CHECK(reply.outcome.error->message.find("job 7") != std::string::npos);
}

TEST_CASE("a job's row names its nodes in rank order") {
  DeskBench desk;
  JobSpec spec;
  spec.name = "placed";
  spec.node_count = 3;
  spec.placement = {NodeId{5}, NodeId{0}, NodeId{2}};
  spec.collectives = {{CollectiveKind::all_reduce, {}, Bytes{1'000}}};
  const OperatorReply reply = desk.ask(SubmitJob{spec, false});
  REQUIRE(reply.outcome.ok());
  desk.settle();
  CHECK(attend(desk, reply.job).nodes == spec.placement);
}
