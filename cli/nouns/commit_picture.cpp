// SPDX-License-Identifier: Apache-2.0
// Revisions as lanes: where each spends its time between its plan and its light.
#include <array>
#include <utility>

#include "cli/nouns/rows.hpp"
#include "cli/render/gantt_plot.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

struct Step {
  const char* name;
  Duration CommitReport::* time;
  std::string_view colour;
};

/// In their order; each begins when the one before it is over.
constexpr std::array<Step, 6> kSteps{{{"prepare", &CommitReport::prepare, "#56B4E9"},
                                      {"arm", &CommitReport::arm, "#009E73"},
                                      {"wait for the instant", &CommitReport::wait, "#DDDDDD"},
                                      {"darken", &CommitReport::darken, "#555555"},
                                      {"move", &CommitReport::move, "#222222"},
                                      {"relight", &CommitReport::relight, "#E69F00"}}};

double milliseconds(Duration time) { return static_cast<double>(time.count()) / 1e6; }

}  // namespace

Picture picture_of(const std::vector<CommitReport>& revisions) {
  GanttChart gantt;
  gantt.title = "Revisions, from the plan to proven light";
  gantt.unit = "ms";
  for (const Step& step : kSteps) {
    gantt.series.push_back({step.name, step.colour});
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
    for (std::size_t i = 0; i < kSteps.size(); ++i) {
      const Duration time = row.*kSteps[i].time;
      if (time > Duration{}) {
        lane.spans.push_back({milliseconds(at), milliseconds(at + time), i});
        csv += format_text("{},{},{},{},{}\n", row.revision.value, loom::to_string(row.outcome), svg::exact(milliseconds(at)),
                           svg::exact(milliseconds(at + time)), kSteps[i].name);
      }
      at += time;
    }
    gantt.lanes.push_back(std::move(lane));
  }
  return {draw(gantt), std::move(csv)};
}

}  // namespace loom::cli
