// SPDX-License-Identifier: Apache-2.0
// A revision as a trace: JSON that a reader takes, stages that add up, times without loss.
#include "core/text/commit_trace.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace loom {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

CommitReport report() {
  CommitReport row;
  row.revision = Revision{7};
  row.outcome = CommitOutcome::committed;
  row.reason = "job \"one\"\n submitted";
  row.agents = 4;
  row.started = Instant{nanoseconds{1'234'567'891}};
  row.plan = milliseconds{3};
  row.prepare = milliseconds{10};
  row.arm = milliseconds{2};
  row.wait = milliseconds{20};
  row.darken = milliseconds{1};
  row.move = milliseconds{100};
  row.relight = milliseconds{5};
  row.total = milliseconds{139};
  row.prepare_ack = {milliseconds{1}, milliseconds{2}, milliseconds{9}, milliseconds{10}, 4};
  return row;
}

TEST_CASE("the stages of a traced revision follow each other and add up to its total but for what lies between them") {
  TraceEvents trace;
  name_commits(1, trace);
  add_commit(report(), 1, trace);
  const auto events = nlohmann::json::parse(trace.text())["traceEvents"];
  double end = 0;
  double sum = 0;
  double total = 0;
  for (const auto& event : events) {
    if (event.value("cat", "") == "commit") {
      total = event["dur"];
      end = event["ts"];
      CHECK(event["args"]["reason"] == "job \"one\"\n submitted");
      CHECK(event["args"]["between_stages_ns"] == 1'000'000);
    } else if (event.value("cat", "") == "stage") {
      CHECK(event["ts"].get<double>() == Approx(end).margin(1e-3));
      end = event["ts"].get<double>() + event["dur"].get<double>();
      sum += event["dur"].get<double>();
    }
  }
  CHECK(total == 139'000.0);
  CHECK(sum == Approx(138'000.0));
  CHECK(between_stages(report()) == milliseconds{1});
}

TEST_CASE("a trace keeps nanoseconds and says nothing of stages that were not reached") {
  CommitReport row = report();
  row.outcome = CommitOutcome::refused;
  row.plan = row.prepare = row.arm = row.wait = row.darken = row.move = row.relight = row.total = Duration{};
  row.prepare_ack = {};
  TraceEvents trace;
  add_commit(row, 1, trace);
  CHECK(trace.text().find("\"ts\":1234567.891,") != std::string::npos);
  CHECK(nlohmann::json::parse(trace.text())["traceEvents"].size() == 1);
}

}  // namespace
}  // namespace loom
