// SPDX-License-Identifier: Apache-2.0
// Bars, one a row.
#include "cli/render/bar_plot.hpp"

#include <algorithm>
#include <iterator>

#include "cli/render/figure.hpp"
#include "cli/render/rows_canvas.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

using svg::number;

double sum_of(const Bar& bar) {
  double sum = 0;
  for (const BarPart& part : bar.parts) {
    sum += part.value;
  }
  return sum;
}

std::string_view colour_of(const BarChart& bars, std::size_t series) {
  return series < bars.colours.size() ? bars.colours[series] : svg::kColours[series % svg::kColours.size()];
}

void draw_bar(const BarChart& bars, const Bar& bar, RowsCanvas& canvas) {
  const auto add = [&](double begin, double end, const BarPart& part) {
    canvas.part(begin, end, colour_of(bars, part.series),
                format_text("{}: {} {}", bars.series[part.series], number(part.value), bars.unit));
  };
  canvas.label(bar.label);
  double at = 0;
  for (const BarPart& part : bar.parts) {
    if (part.value > 0 && at < canvas.most()) {
      add(at, at + part.value, part);
    }
    at += std::max(part.value, 0.0);
  }
  if (at > canvas.most()) {
    const auto last =
        std::ranges::find_if(bar.parts.rbegin(), bar.parts.rend(), [](const BarPart& part) { return part.value > 0; });
    add(canvas.most() * RowsCanvas::kBreak, canvas.most(), *last);
    canvas.cut();
  }
  canvas.note(at, bar.note);
  canvas.next_row();
}

/// Which bars are cut off, if any.
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

double scale_end(std::vector<double> values) {
  std::ranges::sort(values);
  if (values.empty()) {
    return 0;
  }
  const double fair = kOutlier * values[values.size() / 2];
  const auto outlier = std::ranges::upper_bound(values, fair);
  return fair > 0 && outlier != values.end() ? 1.25 * *std::prev(outlier) : values.back();
}

double scale_end(const BarChart& bars) {
  std::vector<double> sums;
  for (const Bar& bar : bars.bars) {
    sums.push_back(sum_of(bar));
  }
  return scale_end(std::move(sums));
}

std::string csv_of(const BarChart& bars) {
  std::string text = "name";
  for (const std::string& series : bars.series) {
    text += "," + csv_cell(bars.unit.empty() ? series : format_text("{} ({})", series, bars.unit));
  }
  text += ",sum";
  for (const std::string& column : bars.columns) {
    text += "," + csv_cell(column);
  }
  text += "\n";
  for (const Bar& bar : bars.bars) {
    text += csv_cell(bar.label);
    for (std::size_t i = 0; i < bars.series.size(); ++i) {
      double value = 0;
      for (const BarPart& part : bar.parts) {
        value += part.series == i ? part.value : 0;
      }
      text += "," + svg::exact(value);
    }
    text += "," + svg::exact(sum_of(bar));
    for (std::size_t i = 0; i < bars.columns.size(); ++i) {
      text += "," + (i < bar.cells.size() ? csv_cell(bar.cells[i]) : "");
    }
    text += "\n";
  }
  return text;
}

svg::Drawing draw(const BarChart& bars) {
  const double most = scale_end(bars);
  std::vector<std::string> labels;
  std::vector<std::string> notes;
  for (const Bar& bar : bars.bars) {
    labels.push_back(bar.label);
    notes.push_back(bar.note);
  }
  RowsCanvas canvas(most, labels, notes);
  canvas.title(bars.title);
  std::vector<std::pair<std::string, std::string_view>> legend;
  for (std::size_t i = 0; i < bars.series.size(); ++i) {
    legend.emplace_back(bars.series[i], colour_of(bars, i));
  }
  canvas.legend(legend);
  const double top = canvas.y();
  for (const Bar& bar : bars.bars) {
    draw_bar(bars, bar, canvas);
  }
  canvas.axis(top, bars.unit);
  return canvas.drawing(caption_of(bars, most));
}

}  // namespace loom::cli
