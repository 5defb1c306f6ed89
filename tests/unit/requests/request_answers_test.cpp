// SPDX-License-Identifier: Apache-2.0
// Requests that come again: after hundreds of others, after a long time, after more than can be remembered.
#include "core/limits.hpp"
#include "tests/unit/requests/request_bench.hpp"

namespace loom::test {
namespace {

JobSpec pair_of_nodes(std::uint64_t number) {
  JobSpec spec;
  spec.name = "job-" + std::to_string(number);
  spec.node_count = 2;
  spec.collectives = {{CollectiveKind::all_reduce, {}, Bytes{1'000'000}}};
  return spec;
}

constexpr Duration kRepeats{limits::kRequestRepeatNs};

}  // namespace

TEST_CASE("hundreds of requests in flight, each of which comes again, become one job each") {
  constexpr std::uint64_t kRequests = 600;
  RequestBench bench;
  std::map<std::uint64_t, JobId> jobs;
  for (std::uint64_t number = 1; number <= kRequests; ++number) {
    jobs[number] = bench.ask_as(RequestId{number}, SubmitJob{pair_of_nodes(number), false}).job;
  }
  for (int repetition = 0; repetition < 2; ++repetition) {
    for (const auto& [number, job] : jobs) {
      CHECK(bench.ask_as(RequestId{number}, SubmitJob{pair_of_nodes(number), false}).job == job);
    }
  }
  std::set<JobId> distinct;
  for (const auto& [number, job] : jobs) {
    distinct.insert(job);
  }
  CHECK(distinct.size() == kRequests);
  CHECK(bench.controller->jobs().records().size() == kRequests);
}

TEST_CASE("a request is known again for as long as its sender may repeat it, and every repetition puts that off") {
  RequestBench bench;
  const OperatorReply first = bench.ask_as(RequestId{9}, SubmitJob{pair_of_nodes(9), false});
  bench.settle();
  for (int i = 0; i < 4; ++i) {
    bench.now += kRepeats + kRepeats / 2;
    CHECK(bench.ask_as(RequestId{9}, SubmitJob{pair_of_nodes(9), false}).job == first.job);
  }
  bench.now += 2 * kRepeats;
  CHECK(bench.ask_as(RequestId{9}, SubmitJob{pair_of_nodes(9), false}).job != first.job);
}

TEST_CASE("a refusal is repeated as it was given, whatever has changed since") {
  RequestBench bench;
  const OperatorReply refused = bench.ask_as(RequestId{5}, CancelJob{JobId{1}, false});
  CHECK(mentions(refusal_of(refused).message, "was never submitted"));
  REQUIRE(bench.light(2) == JobId{1});
  CHECK(refusal_of(bench.ask_as(RequestId{5}, CancelJob{JobId{1}, false})) == refusal_of(refused));
  CHECK(bench.controller->intent().jobs.size() == 1);
}

TEST_CASE("a dry run is answered anew each time, for nothing comes of it") {
  RequestBench bench;
  const OperatorReply empty = bench.ask_as(RequestId{5}, SubmitJob{pair_of_nodes(5), true});
  REQUIRE(std::holds_alternative<ChangeReport>(empty.rows));
  bench.light(4);
  const OperatorReply beside = bench.ask_as(RequestId{5}, SubmitJob{pair_of_nodes(5), true});
  REQUIRE(std::holds_alternative<ChangeReport>(beside.rows));
  CHECK(std::get<ChangeReport>(beside.rows).circuits > std::get<ChangeReport>(empty.rows).circuits);
}

TEST_CASE("a request that cannot be remembered is not carried out, and says so with the limit") {
  RequestBench bench;
  JobSpec nowhere = pair_of_nodes(0);
  nowhere.node_count = 0;
  for (std::size_t i = 0; i < limits::kRequestsRemembered; ++i) {
    REQUIRE_FALSE(bench.ask(SubmitJob{nowhere, false}).outcome.ok());
  }
  const OperatorReply refused = bench.ask(SubmitJob{pair_of_nodes(1), false});
  CHECK(refused.outcome.error->code == ErrorCode::busy);
  CHECK(mentions(refusal_of(refused).message, "65536"));
  CHECK(mentions(refusal_of(refused).message, "not carried out"));
  CHECK(bench.controller->intent().jobs.empty());
  bench.now += 2 * kRepeats;
  CHECK(bench.ask(SubmitJob{pair_of_nodes(1), false}).outcome.ok());
}

}  // namespace loom::test
