// SPDX-License-Identifier: Apache-2.0
// Axes, band, lines; each name at the end of its line.
#include "cli/render/line_plot.hpp"

#include <algorithm>
#include <cmath>

#include "cli/render/figure.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

constexpr double kPlaneWidth = 556;
constexpr double kLeft = 64;
constexpr double kNamesLeast = 140;
constexpr double kTop = 62;
constexpr double kFloor = 398;  ///< where the values' axis begins
constexpr double kBottom = 60;  ///< room for places and the axis' name
constexpr double kNameHeight = 15;
constexpr double kSample = 22;   ///< of a line, before its name
constexpr double kLetter = 6.6;  ///< width of one at 12 points, in the mean

/// From the lowest to the highest value that is drawn.
struct Scale {
  bool is_log = false;
  double least = 0;
  double most = 1;

  double part(double value) const {
    if (!is_log) {
      return value / most;
    }
    return value <= least ? 0 : std::log10(value / least) / std::log10(most / least);
  }
};

Scale scale_of(const LineChart& chart) {
  double most = chart.band_most;
  double least = chart.band_least > 0 ? chart.band_least : HUGE_VAL;
  for (const LineSeries& series : chart.series) {
    for (const double value : series.values) {
      most = std::max(most, value);
      least = value > 0 ? std::min(least, value) : least;
    }
  }
  if (!chart.has_log_y || most <= 0) {
    return {false, 0, most > 0 ? most * 1.05 : 1};
  }
  const double floor = std::pow(10, std::floor(std::log10(least)));
  return {true, floor, std::max(most * 1.3, floor * 10)};
}

/// Where things lie.
class Plane {
 public:
  explicit Plane(const LineChart& chart) : chart_(chart), scale_(scale_of(chart)) {
    std::size_t longest = 0;
    for (const LineSeries& series : chart.series) {
      longest = std::max(longest, series.name.size());
    }
    width_ = right() + std::max(kNamesLeast, 12 + kSample + kLetter * static_cast<double>(longest));
  }
  double x(std::size_t place) const {
    return chart_.positions.empty() ? at(static_cast<double>(place), 0, static_cast<double>(chart_.places.size()) - 1)
                                    : position(chart_.positions[place]);
  }
  double position(double value) const { return at(value, chart_.positions.front(), chart_.positions.back()); }
  double y(double value) const { return kFloor - scale_.part(value) * (kFloor - kTop); }
  double right() const { return kLeft + kPlaneWidth; }
  double width() const { return width_; }
  const Scale& scale() const { return scale_; }

 private:
  double at(double value, double first, double last) const {
    return kLeft + 12 + (last > first ? (value - first) / (last - first) : 0) * (kPlaneWidth - 24);
  }

  const LineChart& chart_;
  Scale scale_;
  double width_ = 0;
};

std::string level_of(const Plane& plane, double value) {
  return svg::line(kLeft, plane.y(value), plane.right(), plane.y(value), "#dddddd") +
         svg::text({kLeft - 6, plane.y(value) + 4, "end", 11}, svg::number(value));
}

std::string levels_of(const Plane& plane) {
  const Scale& scale = plane.scale();
  std::string body;
  if (!scale.is_log) {
    for (double at = 0; at <= scale.most; at += svg::step_for(scale.most)) {
      body += level_of(plane, at);
    }
    return body;
  }
  const bool is_short = scale.most / scale.least < 1'000;
  for (double power = scale.least; power <= scale.most; power *= 10) {
    body += level_of(plane, power);
    for (const double factor : {2.0, 5.0}) {
      body += is_short && power * factor <= scale.most ? level_of(plane, power * factor) : "";
    }
  }
  return body;
}

std::string axes_of(const LineChart& chart, const Plane& plane) {
  std::string body = levels_of(plane);
  for (std::size_t i = 0; i < chart.places.size(); ++i) {
    body += svg::line(plane.x(i), kFloor, plane.x(i), kFloor + (chart.places[i].empty() ? 3 : 6), "#555555");
    body += chart.places[i].empty() ? "" : svg::text({plane.x(i), kFloor + 19, "middle", 11}, chart.places[i]);
  }
  body += svg::line(kLeft, kFloor, plane.right(), kFloor, "#555555");
  body += svg::text({(kLeft + plane.right()) / 2, kFloor + 42, "middle"}, chart.x_label);
  body += svg::text({12, kTop - 14}, chart.y_label);
  return body + svg::text({12, 24, "start", 15, "bold"}, chart.title);
}

std::string band_of(const LineChart& chart, const Plane& plane) {
  if (chart.band_most <= chart.band_least) {
    return {};
  }
  const double top = plane.y(chart.band_most);
  const double bottom = plane.y(chart.band_least);
  const svg::Text at = chart.has_log_y ? svg::Text{plane.right() - 8, bottom - 8, "end"} : svg::Text{kLeft + 8, top + 16};
  return format_text("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#f0f0e0\"/>\n{}", svg::number(kLeft),
                     svg::number(top), svg::number(kPlaneWidth), svg::number(bottom - top), svg::text(at, chart.band));
}

std::string mark_of(const LineChart& chart, const Plane& plane) {
  if (!chart.mark_at || chart.positions.empty()) {
    return {};
  }
  const double x = plane.position(*chart.mark_at);
  const bool is_right = x > (kLeft + plane.right()) / 2;
  return svg::line(x, kTop - 6, x, kFloor, "#999999") +
         svg::text({x + (is_right ? -5.0 : 5.0), kTop + 4, is_right ? "end" : "start", 11}, chart.mark);
}

std::string stroke_of(const LineSeries& series, std::size_t index) {
  return format_text(" fill=\"none\" stroke-width=\"2\" stroke=\"{}{}",
                     svg::kColours[series.colour.value_or(index) % svg::kColours.size()],
                     series.is_dashed ? "\" stroke-dasharray=\"6 4\"" : "\"");
}

std::string line_of(const LineChart& chart, std::size_t index, const Plane& plane) {
  const LineSeries& series = chart.series[index];
  const std::string colour(svg::kColours[series.colour.value_or(index) % svg::kColours.size()]);
  std::string points;
  std::string dots;
  for (std::size_t i = 0; i < series.values.size(); ++i) {
    const std::string x = svg::number(plane.x(i));
    const std::string y = svg::number(plane.y(series.values[i]));
    points += format_text("{}{},{}", points.empty() ? "" : " ", x, y);
    dots += format_text("<circle cx=\"{}\" cy=\"{}\" r=\"3.5\" fill=\"{}\"><title>{}: {}</title></circle>\n", x, y, colour,
                        svg::escaped(series.name), svg::number(series.values[i]));
  }
  return format_text("<polyline{} points=\"{}\"/>\n{}", stroke_of(series, index), points, dots);
}

/// Names beside the ends of their lines, each after a piece of it, pushed apart where ends meet and up where the floor is.
std::string names_of(const LineChart& chart, const Plane& plane) {
  std::vector<std::pair<double, std::size_t>> ends;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    if (!chart.series[i].values.empty()) {
      ends.emplace_back(plane.y(chart.series[i].values.back()), i);
    }
  }
  std::sort(ends.begin(), ends.end());
  double last = -kNameHeight;
  for (auto& [y, i] : ends) {
    y = last = std::max(y, last + kNameHeight);
  }
  double next = kFloor + kNameHeight;
  for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
    end->first = next = std::min(end->first, next - kNameHeight);
  }
  std::string body;
  for (const auto& [y, i] : ends) {
    const std::string sample = format_text("{},{} {},{}", svg::number(plane.right() + 4), svg::number(y),
                                           svg::number(plane.right() + kSample), svg::number(y));
    body += format_text("<polyline{} points=\"{}\"/>\n", stroke_of(chart.series[i], i), sample);
    body += svg::text({plane.right() + kSample + 5, y + 4}, chart.series[i].name);
  }
  return body;
}

}  // namespace

svg::Drawing draw(const LineChart& chart) {
  const Plane plane(chart);
  std::string body = band_of(chart, plane) + axes_of(chart, plane) + mark_of(chart, plane);
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    body += line_of(chart, i, plane);
  }
  return {plane.width(), kFloor + kBottom, body + names_of(chart, plane), chart.caption};
}

std::string csv_of(const LineChart& chart, const std::vector<std::string>& places) {
  std::string text = csv_cell(chart.x_label);
  for (const LineSeries& series : chart.series) {
    text += "," + csv_cell(series.name);
  }
  text += "\n";
  for (std::size_t i = 0; i < chart.places.size(); ++i) {
    text += csv_cell(i < places.size() ? places[i] : chart.places[i]);
    for (const LineSeries& series : chart.series) {
      text += "," + (i < series.values.size() ? svg::exact(series.values[i]) : "");
    }
    text += "\n";
  }
  return text;
}

}  // namespace loom::cli
