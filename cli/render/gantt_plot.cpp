// SPDX-License-Identifier: Apache-2.0
// One path a series of each lane.
#include "cli/render/gantt_plot.hpp"

#include <algorithm>
#include <cmath>

#include "cli/render/bar_plot.hpp"
#include "cli/render/rows_canvas.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

using svg::number;

constexpr auto kColumns = static_cast<std::size_t>(RowsCanvas::kPlane);  ///< a pixel each
constexpr std::size_t kSpansMax = 300;                                   ///< drawn one by one

/// Rectangles of one lane, joined by series.
class LanePaths {
 public:
  explicit LanePaths(std::size_t series) : paths_(series) {}
  void add(std::size_t series, double x, double y, double width, double height) {
    paths_[series] += format_text("M{} {}h{}v{}h-{}z", number(x), number(y), number(width), number(height), number(width));
  }
  std::string text(const GanttChart& gantt) const {
    std::string text;
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      text += paths_[i].empty() ? ""
                                : format_text("<path class=\"span\" fill=\"{}\" d=\"{}\"><title>{}</title></path>\n",
                                              gantt.series[i].colour, paths_[i], svg::escaped(gantt.series[i].name));
    }
    return text;
  }

 private:
  std::vector<std::string> paths_;
};

using Shares = std::vector<std::vector<double>>;  ///< [column][series], 0 .. 1

Shares shares_of(const GanttChart& gantt, const GanttLane& lane, double most) {
  Shares shares(kColumns, std::vector<double>(gantt.series.size()));
  const double wide = most / static_cast<double>(kColumns);
  for (const GanttSpan& span : lane.spans) {
    const auto first = static_cast<std::size_t>(std::max(0.0, std::floor(span.begin / wide)));
    for (std::size_t i = first; i < kColumns && static_cast<double>(i) * wide < span.end; ++i) {
      const double from = std::max(span.begin, static_cast<double>(i) * wide);
      const double to = std::min(span.end, static_cast<double>(i + 1) * wide);
      shares[i][span.series] += std::max(0.0, to - from) / wide;
    }
  }
  return shares;
}

/// Columns that look alike are one rectangle a series.
void draw_shares(const Shares& shares, RowsCanvas& canvas, LanePaths& paths) {
  const auto alike = [](const std::vector<double>& a, const std::vector<double>& b) {
    return std::ranges::equal(a, b, [](double x, double y) { return std::abs(x - y) < 0.01; });
  };
  const double wide = canvas.most() / static_cast<double>(kColumns);
  for (std::size_t first = 0; first < kColumns;) {
    std::size_t last = first + 1;
    while (last < kColumns && alike(shares[last], shares[first])) {
      ++last;
    }
    double y = canvas.y();
    for (std::size_t series = 0; series < shares[first].size(); ++series) {
      const double height = shares[first][series] * RowsCanvas::kBar;
      if (height > 0) {
        const double x = canvas.x(static_cast<double>(first) * wide);
        paths.add(series, x, y, canvas.x(static_cast<double>(last) * wide) - x, height);
      }
      y += height;
    }
    first = last;
  }
}

/// True: drawn by shares.
bool draw_lane(const GanttChart& gantt, const GanttLane& lane, RowsCanvas& canvas) {
  const double most = canvas.most();
  const bool is_cut = !lane.spans.empty() && lane.spans.back().end > most;
  LanePaths paths(gantt.series.size());
  const bool is_fine = lane.spans.size() > kSpansMax;
  if (is_fine) {
    draw_shares(shares_of(gantt, lane, most), canvas, paths);
  }
  for (const GanttSpan& span : is_fine ? std::vector<GanttSpan>{} : lane.spans) {
    if (span.begin < most) {
      paths.add(span.series, canvas.x(span.begin), canvas.y(), canvas.x(span.end) - canvas.x(span.begin), RowsCanvas::kBar);
    }
  }
  canvas.add(paths.text(gantt));
  if (is_cut) {
    canvas.part(most * RowsCanvas::kBreak, most, gantt.series[lane.spans.back().series].colour, "");
    canvas.cut();
  }
  return is_fine;
}

std::vector<std::string> caption_of(const GanttChart& gantt, double most, bool has_fine) {
  std::vector<std::string> caption;
  std::string names;
  for (const GanttLane& lane : gantt.lanes) {
    names += !lane.spans.empty() && lane.spans.back().end > most ? (names.empty() ? "" : ", ") + lane.label : "";
  }
  if (!names.empty()) {
    caption.push_back(
        format_text("The scale ends at {} {}; cut off there (two slanted lines; behind them the lane's last "
                    "state), their length is written: {}.",
                    number(most), gantt.unit, names));
  }
  if (has_fine) {
    caption.emplace_back("Where states change faster than a pixel can show, its height is divided by their shares of time.");
  }
  caption.insert(caption.end(), gantt.caption.begin(), gantt.caption.end());
  return caption;
}

}  // namespace

svg::Drawing draw(const GanttChart& gantt) {
  std::vector<double> ends;
  std::vector<std::string> labels;
  std::vector<std::string> notes;
  for (const GanttLane& lane : gantt.lanes) {
    if (!lane.spans.empty()) {
      ends.push_back(lane.spans.back().end);
    }
    labels.push_back(lane.label);
    notes.push_back(lane.note);
  }
  RowsCanvas canvas(scale_end(std::move(ends)), labels, notes);
  canvas.title(gantt.title);
  std::vector<std::pair<std::string, std::string_view>> legend;
  for (std::size_t i = 0; i < gantt.series.size(); ++i) {
    const auto is_used = [i](const GanttLane& lane) {
      return std::ranges::find(lane.spans, i, &GanttSpan::series) != lane.spans.end();
    };
    if (std::ranges::any_of(gantt.lanes, is_used)) {
      legend.emplace_back(gantt.series[i].name, gantt.series[i].colour);
    }
  }
  canvas.legend(legend);
  const double top = canvas.y();
  bool has_fine = false;
  for (const GanttLane& lane : gantt.lanes) {
    canvas.label(lane.label);
    if (lane.spans.empty()) {
      canvas.remark(lane.remark);
    } else {
      has_fine = draw_lane(gantt, lane, canvas) || has_fine;
      canvas.note(lane.spans.back().end, lane.note);
    }
    canvas.next_row();
  }
  canvas.axis(top, gantt.unit);
  return canvas.drawing(caption_of(gantt, canvas.most(), has_fine));
}

}  // namespace loom::cli
