// SPDX-License-Identifier: Apache-2.0
// Revisions as lanes: where each spends its time between its plan and its light.
#include <array>
#include <utility>

#include "cli/nouns/rows.hpp"
#include "cli/render/gantt_plot.hpp"
#include "core/text/commit_trace.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

constexpr std::array<std::string_view, kCommitStages.size()> kColours{"#56B4E9", "#009E73", "#DDDDDD",
                                                                      "#555555", "#222222", "#E69F00"};

double milliseconds(Duration time) { return static_cast<double>(time.count()) / 1e6; }

}  // namespace

Picture picture_of(const std::vector<CommitReport>& revisions) {
  GanttChart gantt;
  gantt.title = "Revisions, from the plan to proven light";
  gantt.unit = "ms";
  for (std::size_t i = 0; i < kCommitStages.size(); ++i) {
    gantt.series.push_back({std::string(kCommitStages[i].name), kColours[i]});
  }
  gantt.caption = {
      "Every agent prepares and arms while the light before still shines. At the instant those lasers that are touched go dark "
      "(darken), devices move, and light returns when it is proven (relight). Times are the controller's."};
  std::string csv = "revision,outcome,from_ms,to_ms,what\n";
  for (const CommitReport& row : revisions) {
    GanttLane lane{format_text("{}: {}", row.revision.value, loom::to_string(row.outcome)),
                   {},
                   format_text("{}, {} touched", text_of(row.total), row.touched),
                   "nothing moved"};
    Duration at{};
    for (std::size_t i = 0; i < kCommitStages.size(); ++i) {
      const Duration time = row.*kCommitStages[i].length;
      if (time > Duration{}) {
        lane.spans.push_back({milliseconds(at), milliseconds(at + time), i});
        csv += format_text("{},{},{},{},{}\n", row.revision.value, loom::to_string(row.outcome), svg::exact(milliseconds(at)),
                           svg::exact(milliseconds(at + time)), kCommitStages[i].name);
      }
      at += time;
    }
    gantt.lanes.push_back(std::move(lane));
  }
  return {draw(gantt), std::move(csv)};
}

}  // namespace loom::cli
