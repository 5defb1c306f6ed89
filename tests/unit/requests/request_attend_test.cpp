// SPDX-License-Identifier: Apache-2.0
// Launchers that stand by their jobs: asked before light goes dark, waited for, but not for ever.
#include "tests/unit/requests/request_bench.hpp"

using namespace loom;
using namespace loom::test;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

/// Says that the job is attended and quiet up to `quiet_for`; its row.
JobReport attend(RequestBench& bench, JobId job, Revision quiet_for = {}) {
  const OperatorReply reply = bench.ask(AttendJob{job, quiet_for});
  REQUIRE(reply.outcome.ok());
  const auto& rows = std::get<std::vector<JobReport>>(reply.rows);
  REQUIRE(rows.size() == 1);
  return rows.front();
}

bool has_alarm(const RequestBench& bench, AlarmCode code) {
  const auto& rows = bench.controller->alarms();
  return std::any_of(rows.begin(), rows.end(), [&](const StandingAlarm& row) { return row.alarm.code == code; });
}

void drain(RequestBench& bench, NodeId node) {
  REQUIRE(bench.ask(NodeRequest{node, NodeAction::drain, false, false}).outcome.ok());
}

}  // namespace

TEST_CASE("an attended job is asked to be quiet before its light goes dark, and is told when it is back") {
  RequestBench bench;
  const JobId job = bench.light(4);
  const Revision lit = bench.controller->confirmed();
  CHECK(attend(bench, job).quiesce == Revision{});
  drain(bench, bench.controller->jobs().facts_of(job).nodes.front());
  bench.run_for(seconds{1});
  const JobReport asked = attend(bench, job);
  CHECK(asked.attended);
  CHECK(asked.quiesce > lit);
  bench.run_for(seconds{2});
  CHECK(bench.controller->confirmed() == lit);  // nothing goes dark under a job that is not quiet
  attend(bench, job, asked.quiesce);
  bench.settle();
  CHECK(bench.controller->confirmed() > lit);
  CHECK(attend(bench, job, asked.quiesce).quiesce == Revision{});
  CHECK_FALSE(has_alarm(bench, AlarmCode::job_not_quiet));
}

TEST_CASE("a change that leaves the light of an attended job alone does not ask it") {
  RequestBench bench;
  const JobId kept = bench.light(2);
  attend(bench, kept);
  const JobId other = bench.light(2);
  drain(bench, bench.controller->jobs().facts_of(other).nodes.front());
  bench.settle();
  CHECK(attend(bench, kept).quiesce == Revision{});
}

TEST_CASE("a job that is attended and does not become quiet goes dark at the deadline, aloud") {
  RequestBench bench;
  const JobId job = bench.light(4);
  const Revision lit = bench.controller->confirmed();
  attend(bench, job);
  drain(bench, bench.controller->jobs().facts_of(job).nodes.front());
  for (Duration waited{}; waited < ControllerTimings{}.quiesce_deadline; waited += seconds{2}) {
    attend(bench, job);
    CHECK(bench.controller->confirmed() == lit);
    bench.run_for(seconds{2});
  }
  bench.settle();
  CHECK(bench.controller->confirmed() > lit);
  CHECK(has_alarm(bench, AlarmCode::job_not_quiet));
}

TEST_CASE("a launcher that has gone is not waited for") {
  RequestBench bench;
  const JobId job = bench.light(4);
  const Revision lit = bench.controller->confirmed();
  attend(bench, job);
  drain(bench, bench.controller->jobs().facts_of(job).nodes.front());
  bench.run_for(ControllerTimings{}.attend_lease + seconds{1});
  bench.settle();
  CHECK(bench.controller->confirmed() > lit);
  CHECK_FALSE(has_alarm(bench, AlarmCode::job_not_quiet));
}

TEST_CASE("a job that does not exist cannot be attended") {
  RequestBench bench;
  const OperatorReply reply = bench.ask(AttendJob{JobId{7}, {}});
  REQUIRE_FALSE(reply.outcome.ok());
  CHECK(reply.outcome.error->code == ErrorCode::not_found);
  CHECK(reply.outcome.error->message.find("job 7") != std::string::npos);
}

TEST_CASE("a job's row names its nodes in rank order") {
  RequestBench bench;
  JobSpec spec;
  spec.name = "placed";
  spec.node_count = 3;
  spec.placement = {NodeId{5}, NodeId{0}, NodeId{2}};
  spec.collectives = {{CollectiveKind::all_reduce, {}, Bytes{1'000}}};
  const OperatorReply reply = bench.ask(SubmitJob{spec, false});
  REQUIRE(reply.outcome.ok());
  bench.settle();
  CHECK(attend(bench, reply.job).nodes == spec.placement);
}
