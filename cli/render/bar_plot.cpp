// Rectangles, row by row.
#include "cli/render/bar_plot.hpp"

#include <algorithm>
#include <string_view>

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
  double place(double value) const { return kLeft + value / most_ * (kWidth - kLeft - kRight); }

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

}  // namespace

std::string draw(const BarChart& bars, const GanttChart& gantt) {
  double most = 0;
  for (const Bar& bar : bars.bars) {
    double sum = 0;
    for (const BarPart& part : bar.parts) {
      sum += part.value;
    }
    most = std::max(most, sum);
  }
  for (const GanttLane& lane : gantt.lanes) {
    for (const GanttSpan& span : lane.spans) {
      most = std::max(most, span.end);
    }
  }
  Drawing drawing(most);
  drawing.title(bars.title);
  drawing.legend(bars.series);
  double top = drawing.y();
  for (const Bar& bar : bars.bars) {
    drawing.row(bar.label);
    double at = 0;
    for (const BarPart& part : bar.parts) {
      if (part.value > 0) {
        drawing.part(at, at + part.value, part.series,
                     format_text("{}: {} {}", bars.series[part.series], number(part.value), bars.unit));
        at += part.value;
      }
    }
    drawing.note(at, bar.note);
    drawing.next_row();
  }
  drawing.axis(top, bars.unit);
  if (!gantt.lanes.empty()) {
    drawing.title(gantt.title);
    top = drawing.y();
    for (const GanttLane& lane : gantt.lanes) {
      drawing.row(lane.label);
      for (const GanttSpan& span : lane.spans) {
        drawing.part(span.begin, span.end, span.series, span.name);
      }
      drawing.next_row();
    }
    drawing.axis(top, gantt.unit);
  }
  return drawing.text();
}

}  // namespace loom::cli
