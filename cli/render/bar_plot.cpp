// Rectangles, row by row.
#include "cli/render/bar_plot.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "cli/render/figure.hpp"
#include "cli/render/svg.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

using svg::escaped;
using svg::kColours;
using svg::number;
using svg::step_for;

constexpr double kWidth = 960;
constexpr double kLeft = 170;   ///< room for labels
constexpr double kRight = 150;  ///< room for notes
constexpr double kRow = 24;
constexpr double kBar = 16;
constexpr double kTitle = 34;
constexpr double kLegend = 26;
constexpr double kAxis = 30;
constexpr double kCaption = 15;
constexpr double kBreak = 0.93;  ///< of the scale: where a bar that is too long is broken

class Drawing {
 public:
  explicit Drawing(double most) : most_(most > 0 ? most : 1) {}

  void title(const std::string& text) {
    y_ += kTitle;
    write(12, y_ - 12, "start", text, 15, "bold");
  }

  void legend(const std::vector<std::string>& series) {
    double x = kLeft;
    for (std::size_t i = 0; i < series.size(); ++i) {
      rectangle(x, y_, 12, 12, kColours[i % kColours.size()], {});
      write(x + 18, y_ + 10, "start", series[i], 12);
      x += 30 + 7.0 * static_cast<double>(series[i].size());
    }
    y_ += kLegend;
  }

  void row(const std::string& label) { write(kLeft - 8, y_ + kBar - 4, "end", label, 12); }
  void part(double begin, double end, std::size_t series, const std::string& name) {
    rectangle(place(begin), y_, std::max(place(end) - place(begin), 0.5), kBar, kColours[series % kColours.size()], name);
  }
  /// Two slanted white cuts: what is behind them is not to scale.
  void cut() {
    const double x = place(most_ * kBreak);
    for (const double shift : {0.0, 6.0}) {
      body_ +=
          format_text("<line class=\"cut\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"#ffffff\" stroke-width=\"3\"/>\n",
                      number(x + shift - 3), number(y_ + kBar + 2), number(x + shift + 3), number(y_ - 2));
    }
  }
  void caption(const std::vector<std::string>& sentences) {
    for (const std::string& line : svg::wrapped(sentences, kWidth - 24)) {
      write(line.starts_with("  ") ? 24 : 12, y_ += kCaption, "start", line, 11);
    }
  }
  void note(double at, const std::string& text) { write(place(at) + 6, y_ + kBar - 4, "start", text, 12); }
  void next_row() { y_ += kRow; }

  void axis(double top, const std::string& unit) {
    const double step = step_for(most_);
    for (double at = 0; at <= most_ * 1.0001; at += step) {
      lines_ += svg::line(place(at), top, place(at), y_, "#dddddd");
      write(place(at), y_ + 16, "middle", number(at) + (at + step > most_ * 1.0001 ? " " + unit : ""), 11);
    }
    y_ += kAxis;
  }

  double y() const { return y_; }

  std::string text() const { return svg::document(kWidth, y_ + 8, lines_ + body_); }

 private:
  double place(double value) const { return kLeft + std::min(value / most_, 1.0) * (kWidth - kLeft - kRight); }

  void rectangle(double x, double y, double width, double height, std::string_view colour, const std::string& name) {
    body_ +=
        format_text("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"{}", number(x), number(y), number(width),
                    number(height), colour, name.empty() ? "/>\n" : format_text("><title>{}</title></rect>\n", escaped(name)));
  }
  void write(double x, double y, std::string_view anchor, std::string_view text, int size, std::string_view weight = "normal") {
    body_ += svg::text({x, y, anchor, size, weight}, text);
  }

  double most_;
  double y_ = 0;
  std::string lines_;  ///< below everything else
  std::string body_;
};

double sum_of(const Bar& bar) {
  double sum = 0;
  for (const BarPart& part : bar.parts) {
    sum += part.value;
  }
  return sum;
}

void draw_bars(const BarChart& bars, double most, Drawing& drawing) {
  drawing.title(bars.title);
  drawing.legend(bars.series);
  const double top = drawing.y();
  for (const Bar& bar : bars.bars) {
    drawing.row(bar.label);
    double at = 0;
    for (const BarPart& part : bar.parts) {
      if (part.value > 0 && at < most) {
        drawing.part(at, at + part.value, part.series,
                     format_text("{}: {} {}", bars.series[part.series], number(part.value), bars.unit));
      }
      at += std::max(part.value, 0.0);
    }
    if (at > most) {
      const auto last =
          std::ranges::find_if(bar.parts.rbegin(), bar.parts.rend(), [](const BarPart& part) { return part.value > 0; });
      drawing.part(most * kBreak, most, last->series,
                   format_text("{}: {} {}", bars.series[last->series], number(last->value), bars.unit));
      drawing.cut();
    }
    drawing.note(at, bar.note);
    drawing.next_row();
  }
  drawing.axis(top, bars.unit);
}

void draw_lanes(const GanttChart& gantt, double most, Drawing& drawing) {
  drawing.title(gantt.title);
  const double top = drawing.y();
  for (const GanttLane& lane : gantt.lanes) {
    drawing.row(lane.label);
    bool is_cut = false;
    for (const GanttSpan& span : lane.spans) {
      is_cut = is_cut || span.end > most;
      if (span.begin < most) {
        drawing.part(span.begin, span.end, span.series, span.name);
      }
    }
    if (is_cut) {
      drawing.cut();
    }
    drawing.next_row();
  }
  drawing.axis(top, gantt.unit);
}

/// Which bars are broken, if any.
std::vector<std::string> caption_of(const BarChart& bars, double most) {
  std::vector<std::string> caption;
  std::string names;
  for (const Bar& bar : bars.bars) {
    names += sum_of(bar) > most ? (names.empty() ? "" : ", ") + bar.label : "";
  }
  if (!names.empty()) {
    caption.push_back(
        format_text("The scale ends at {} {}; cut off there (two slanted lines; behind them the colour of the bar's last "
                    "part), their length is written: {}.",
                    number(most), bars.unit, names));
  }
  caption.insert(caption.end(), bars.caption.begin(), bars.caption.end());
  return caption;
}

}  // namespace

double scale_end(const BarChart& bars) {
  std::vector<double> sums;
  for (const Bar& bar : bars.bars) {
    sums.push_back(sum_of(bar));
  }
  std::ranges::sort(sums);
  if (sums.empty()) {
    return 0;
  }
  const double fair = kOutlier * sums[sums.size() / 2];
  const auto outlier = std::ranges::upper_bound(sums, fair);
  return fair > 0 && outlier != sums.end() ? 1.25 * *std::prev(outlier) : sums.back();
}

std::string csv_of(const BarChart& bars) {
  std::string text = "name";
  for (const std::string& series : bars.series) {
    text += "," + csv_cell(bars.unit.empty() ? series : format_text("{} ({})", series, bars.unit));
  }
  text += ",sum\n";
  for (const Bar& bar : bars.bars) {
    text += csv_cell(bar.label);
    for (std::size_t i = 0; i < bars.series.size(); ++i) {
      double value = 0;
      for (const BarPart& part : bar.parts) {
        value += part.series == i ? part.value : 0;
      }
      text += "," + number(value);
    }
    text += "," + number(sum_of(bar)) + "\n";
  }
  return text;
}

std::string draw(const BarChart& bars, const GanttChart& gantt) {
  double most = scale_end(bars);
  if (bars.bars.empty()) {
    for (const GanttLane& lane : gantt.lanes) {
      for (const GanttSpan& span : lane.spans) {
        most = std::max(most, span.end);
      }
    }
  }
  Drawing drawing(most);
  draw_bars(bars, most, drawing);
  if (!gantt.lanes.empty()) {
    draw_lanes(gantt, most, drawing);
  }
  drawing.caption(caption_of(bars, most));
  return drawing.text();
}

}  // namespace loom::cli
