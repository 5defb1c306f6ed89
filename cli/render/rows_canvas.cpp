// SPDX-License-Identifier: Apache-2.0
// Rectangles, row by row.
#include "cli/render/rows_canvas.hpp"

#include <algorithm>

#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

using svg::number;

constexpr double kLeftLeast = 120;
constexpr double kRightLeast = 60;
constexpr double kRow = 24;
constexpr double kTitle = 22;
constexpr double kLegend = 22;
constexpr double kAxis = 30;
constexpr int kTitleSize = 15;

double widest(const std::vector<std::string>& texts, double least) {
  for (const std::string& text : texts) {
    least = std::max(least, 22 + svg::width_of(text, 12));
  }
  return least;
}

}  // namespace

RowsCanvas::RowsCanvas(double most, const std::vector<std::string>& labels, const std::vector<std::string>& notes)
    : most_(most > 0 ? most : 1), left_(widest(labels, kLeftLeast)), right_(widest(notes, kRightLeast)) {}

void RowsCanvas::title(const std::string& text) {
  // Bold letters of 15 are nearly twice as wide as those that wrapped() counts.
  for (const std::string& line : svg::wrapped({text}, (left_ + kPlane + right_ - 24) * 0.6)) {
    body_ += svg::text({12, y_ += kTitle, "start", kTitleSize, "bold"}, line);
  }
  y_ += 14;
}

void RowsCanvas::legend(const std::vector<std::pair<std::string, std::string_view>>& series) {
  double x = left_;
  for (const auto& [name, colour] : series) {
    const double width = 34 + svg::width_of(name, 12);
    if (x > left_ && x + width > left_ + kPlane + right_) {
      x = left_;
      y_ += kLegend;
    }
    body_ += format_text("<rect class=\"legend\" x=\"{}\" y=\"{}\" width=\"12\" height=\"12\" fill=\"{}\"/>\n", number(x),
                         number(y_), colour);
    body_ += svg::text({x + 18, y_ + 10}, name);
    x += width;
  }
  y_ += kLegend + 6;
}

void RowsCanvas::label(const std::string& text) { body_ += svg::text({left_ - 8, y_ + kBar - 4, "end"}, text); }

void RowsCanvas::part(double begin, double end, std::string_view colour, const std::string& name) {
  body_ += format_text("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"{}", number(x(begin)), number(y_),
                       number(std::max(x(end) - x(begin), 0.5)), number(kBar), colour,
                       name.empty() ? "/>\n" : format_text("><title>{}</title></rect>\n", svg::escaped(name)));
}

void RowsCanvas::cut() {
  const double at = x(most_ * kBreak);
  for (const double shift : {0.0, 6.0}) {
    body_ +=
        format_text("<line class=\"cut\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"#ffffff\" stroke-width=\"3\"/>\n",
                    number(at + shift - 3), number(y_ + kBar + 2), number(at + shift + 3), number(y_ - 2));
  }
}

void RowsCanvas::note(double at, const std::string& text) { body_ += svg::text({x(at) + 6, y_ + kBar - 4}, text); }

void RowsCanvas::remark(const std::string& text) {
  const auto room = static_cast<std::size_t>((kPlane + right_ - 12) / svg::width_of("x", 11));
  body_ += svg::text({left_ + 4, y_ + kBar - 4, "start", 11},
                     text.size() <= room ? text : text.substr(0, text.rfind(' ', room - 4)) + " ...");
}

void RowsCanvas::next_row() { y_ += kRow; }

void RowsCanvas::axis(double top, const std::string& unit) {
  const double step = svg::step_for(most_);
  for (double at = 0; at <= most_ * 1.0001; at += step) {
    lines_ += svg::line(x(at), top - 4, x(at), y_, "#dddddd");
    body_ += svg::text({x(at), y_ + 14, "middle", 11}, number(at) + (at + step > most_ * 1.0001 ? " " + unit : ""));
  }
  y_ += kAxis;
}

double RowsCanvas::x(double value) const { return left_ + std::min(value / most_, 1.0) * kPlane; }

svg::Drawing RowsCanvas::drawing(std::vector<std::string> caption) const {
  return {left_ + kPlane + right_, y_, lines_ + body_, std::move(caption)};
}

}  // namespace loom::cli
