// Axes, band, lines; each name at the end of its line.
#include "cli/line_plot.hpp"

#include <algorithm>

#include "cli/svg.hpp"

namespace loom::cli {
namespace {

constexpr double kWidth = 760;
constexpr double kHeight = 440;
constexpr double kLeft = 64;
constexpr double kRight = 140;  ///< room for names
constexpr double kTop = 48;
constexpr double kBottom = 56;
constexpr double kNameHeight = 14;

class Plane {
 public:
  Plane(std::size_t places, double most) : places_(places), most_(most) {}
  double x(std::size_t place) const {
    const double steps = static_cast<double>(std::max<std::size_t>(places_, 2) - 1);
    return kLeft + 12 + static_cast<double>(place) / steps * (kWidth - kLeft - kRight - 24);
  }
  double y(double value) const { return kHeight - kBottom - value / most_ * (kHeight - kTop - kBottom); }

 private:
  std::size_t places_;
  double most_;
};

double highest(const LineChart& chart) {
  double most = chart.band_most;
  for (const LineSeries& series : chart.series) {
    for (const double value : series.values) {
      most = std::max(most, value);
    }
  }
  return most > 0 ? most * 1.05 : 1;
}

std::string axes_of(const LineChart& chart, const Plane& plane, double most) {
  std::string body;
  for (double at = 0; at <= most; at += svg::step_for(most)) {
    body += svg::line(kLeft, plane.y(at), kWidth - kRight, plane.y(at), "#dddddd");
    body += svg::text({kLeft - 6, plane.y(at) + 4, "end", 11}, svg::number(at));
  }
  for (std::size_t i = 0; i < chart.places.size(); ++i) {
    body += svg::text({plane.x(i), kHeight - kBottom + 18, "middle", 11}, chart.places[i]);
  }
  body += svg::text({(kLeft + kWidth - kRight) / 2, kHeight - 14, "middle"}, chart.x_label);
  body += svg::text({12, kTop - 8}, chart.y_label);
  return body + svg::text({12, 22, "start", 15, "bold"}, chart.title);
}

std::string band_of(const LineChart& chart, const Plane& plane) {
  if (chart.band_most <= chart.band_least) {
    return {};
  }
  const double top = plane.y(chart.band_most);
  return "<rect x=\"" + svg::number(kLeft) + "\" y=\"" + svg::number(top) + "\" width=\"" +
         svg::number(kWidth - kLeft - kRight) + "\" height=\"" + svg::number(plane.y(chart.band_least) - top) +
         "\" fill=\"#f0f0e0\"/>\n" + svg::text({kLeft + 8, top + 16}, chart.band);
}

std::string line_of(const LineSeries& series, std::size_t index, const Plane& plane) {
  const std::string colour(svg::kColours[index % svg::kColours.size()]);
  std::string points;
  std::string dots;
  for (std::size_t i = 0; i < series.values.size(); ++i) {
    const std::string x = svg::number(plane.x(i));
    const std::string y = svg::number(plane.y(series.values[i]));
    points += (points.empty() ? "" : " ") + x + "," + y;
    dots += "<circle cx=\"" + x + "\" cy=\"" + y + "\" r=\"3.5\" fill=\"" + colour + "\"><title>" + svg::escaped(series.name) +
            ": " + svg::number(series.values[i]) + "</title></circle>\n";
  }
  return "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"" + colour + "\" points=\"" + points + "\"/>\n" + dots;
}

/// Names beside the ends of their lines, pushed apart where ends meet.
std::string names_of(const LineChart& chart, const Plane& plane) {
  std::vector<std::pair<double, std::size_t>> ends;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    if (!chart.series[i].values.empty()) {
      ends.emplace_back(plane.y(chart.series[i].values.back()) + 4, i);
    }
  }
  std::sort(ends.begin(), ends.end());
  std::string body;
  double last = 0;
  for (const auto& [wanted, i] : ends) {
    last = std::max(wanted, last + kNameHeight);
    body += svg::text({kWidth - kRight + 4, last}, chart.series[i].name);
  }
  return body;
}

}  // namespace

std::string draw(const LineChart& chart) {
  const double most = highest(chart);
  const Plane plane(chart.places.size(), most);
  std::string body = band_of(chart, plane) + axes_of(chart, plane, most);
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    body += line_of(chart.series[i], i, plane);
  }
  return svg::document(kWidth, kHeight, body + names_of(chart, plane));
}

}  // namespace loom::cli
