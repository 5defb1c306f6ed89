// SPDX-License-Identifier: Apache-2.0
// Drawings of bars for papers and slides. Values in, a drawing out; nothing is measured or decided here.
#pragma once

#include <string>
#include <vector>

#include "cli/render/svg.hpp"

namespace loom::cli {

/// One bar of parts, drawn from left to right; a part of no length is left out.
struct BarPart {
  double value = 0;
  std::size_t series = 0;
};
struct Bar {
  std::string label;
  std::vector<BarPart> parts;
  std::string note;                  ///< behind the bar
  std::vector<std::string> cells{};  ///< of BarChart::columns
};
struct BarChart {
  std::string title;
  std::string unit;
  std::vector<std::string> series;  ///< names for the legend, in the order of colours
  std::vector<Bar> bars;
  std::vector<std::string> caption{};       ///< sentences below everything: assumptions
  std::vector<std::string_view> colours{};  ///< of the series; empty: svg::kColours
  std::vector<std::string> columns{};       ///< of the CSV, behind what is drawn
};

/// Where a scale ends that no outlier flattens: above all values but those that are more than `kOutlier` times as much as the
/// median (of two, the larger one).
double scale_end(std::vector<double> values);
double scale_end(const BarChart& bars);
inline constexpr double kOutlier = 3;

/// The values behind it: a row a bar, a column a series, then their sum and what is not drawn.
std::string csv_of(const BarChart& bars);

/// On one scale. A bar beyond its end is cut off there, and the caption says so. Colours are told apart by people who see none
/// of them: light, middle, dark.
svg::Drawing draw(const BarChart& bars);

}  // namespace loom::cli
