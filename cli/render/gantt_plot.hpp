// SPDX-License-Identifier: Apache-2.0
// Drawings of lanes over one scale of time: what somebody does from when to when. Values in, a drawing out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/render/svg.hpp"

namespace loom::cli {

struct GanttSpan {
  double begin = 0;
  double end = 0;
  std::size_t series = 0;
};

/// Spans follow each other.
struct GanttLane {
  std::string label;
  std::vector<GanttSpan> spans;
  std::string note{};    ///< behind its end
  std::string remark{};  ///< without spans: why
};

struct GanttSeries {
  std::string name;
  std::string_view colour;
};

struct GanttChart {
  std::string title;
  std::string unit;
  std::vector<GanttSeries> series;
  std::vector<GanttLane> lanes;
  std::vector<std::string> caption{};
};

/// A lane that is finer than the drawing is divided column by column: of a pixel's height each series has its share of time, so
/// that areas stay true. A lane beyond the scale's end (scale_end of all ends) is cut off there. The caption says either.
svg::Drawing draw(const GanttChart& gantt);

}  // namespace loom::cli
