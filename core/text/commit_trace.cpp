// SPDX-License-Identifier: Apache-2.0
// Five threads of one process.
#include "core/text/commit_trace.hpp"

#include <algorithm>
#include <string>

#include "core/text/format_text.hpp"
#include "core/text/json_text.hpp"

namespace loom {
namespace {

enum Thread : std::uint8_t { kCommits, kStages, kPlans, kAnswers, kDarkness };

std::string nanoseconds(Duration time) { return std::to_string(time.count()); }

}  // namespace

void name_commits(std::uint64_t process, TraceEvents& trace) {
  trace.name_process(process, "commits");
  trace.name_thread(process, kCommits, "revisions");
  trace.name_thread(process, kStages, "stages");
  trace.name_thread(process, kPlans, "plans (before their commit)");
  trace.name_thread(process, kAnswers, "until the last agent answered");
  trace.name_thread(process, kDarkness, "darkness of the agent that was dark longest");
}

Duration between_stages(const CommitReport& report) {
  Duration sum{};
  for (const CommitStage& stage : kCommitStages) {
    sum += report.*stage.length;
  }
  return report.total - sum;
}

void add_commit(const CommitReport& report, std::uint64_t process, TraceEvents& trace) {
  const std::string name = format_text("revision {} {}", report.revision.value, to_string(report.outcome));
  trace.add({name,
             "commit",
             process,
             kCommits,
             report.started,
             report.total,
             {{"reason", json_text(report.reason)},
              {"agents", std::to_string(report.agents)},
              {"touched", std::to_string(report.touched)},
              {"resent", std::to_string(report.resent)},
              {"between_stages_ns", nanoseconds(between_stages(report))}}});
  if (report.plan > Duration{}) {
    trace.add({"plan", "plan", process, kPlans, report.started - report.plan, report.plan});
  }
  Instant begin = report.started;
  for (const CommitStage& stage : kCommitStages) {
    const Duration length = report.*stage.length;
    if (length > Duration{}) {
      trace.add({stage.name, "stage", process, kStages, begin, length});
    }
    begin += length;
  }
  const auto answers = [&](std::string_view what, Instant from, const Spread& spread) {
    if (spread.count > 0) {
      trace.add({what,
                 "answers",
                 process,
                 kAnswers,
                 from,
                 spread.max,
                 {{"p50_ns", nanoseconds(spread.p50)},
                  {"p99_ns", nanoseconds(spread.p99)},
                  {"count", std::to_string(spread.count)}}});
    }
  };
  answers("prepare", report.started, report.prepare_ack);
  answers("arm", report.started + report.prepare, report.arm_ack);
  if (report.dark.count > 0) {
    trace.add(
        {"dark", "dark", process, kDarkness, report.started + report.prepare + report.arm + report.wait, report.dark.max});
  }
}

}  // namespace loom
