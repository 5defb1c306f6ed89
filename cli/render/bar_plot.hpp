// SVG drawings for papers and slides: bars and Gantt charts. Values in, text out; nothing is measured or decided here.
#pragma once

#include <string>
#include <vector>

namespace loom::cli {

/// One bar of parts, drawn from left to right; a part of no length is left out.
struct BarPart {
  double value = 0;
  std::size_t series = 0;
};
struct Bar {
  std::string label;
  std::vector<BarPart> parts;
  std::string note;  ///< behind the bar
};
struct BarChart {
  std::string title;
  std::string unit;
  std::vector<std::string> series;  ///< names for the legend, in the order of colours
  std::vector<Bar> bars;
  std::vector<std::string> caption{};  ///< sentences below everything: assumptions
};

struct GanttSpan {
  double begin = 0;
  double end = 0;
  std::size_t series = 0;
  std::string name;  ///< shown on hovering
};
struct GanttLane {
  std::string label;
  std::vector<GanttSpan> spans;
};
struct GanttChart {
  std::string title;
  std::string unit;
  std::vector<GanttLane> lanes;
};

/// Where the scale ends: above all bars but those that are more than `kOutlier` times as long as the median (of two, the longer
/// one); these are broken off there.
double scale_end(const BarChart& bars);
inline constexpr double kOutlier = 3;

/// The values behind it: a row a bar, a column a series, then their sum.
std::string csv_of(const BarChart& bars);

/// A whole SVG document: the bars above, the Gantt chart (if it has lanes) below, on one scale of time when both have the same
/// unit. A scale that is broken for an outlier is said so in the caption. Colours are told apart by people who see none of
/// them: light, middle, dark.
std::string draw(const BarChart& bars, const GanttChart& gantt);

}  // namespace loom::cli
