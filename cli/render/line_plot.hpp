// SPDX-License-Identifier: Apache-2.0
// SVG drawings of sweeps: lines over a few given places, and a band of what was published. Values in, text out.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/render/svg.hpp"

namespace loom::cli {

struct LineSeries {
  std::string name;
  std::vector<double> values;           ///< one a place
  std::optional<std::size_t> colour{};  ///< of svg::kColours; none: its own
  bool is_dashed = false;
};

struct LineChart {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<std::string> places;  ///< their names, in order; an empty one is not written
  std::vector<LineSeries> series;   ///< all as long as `places`
  double band_least = 0;            ///< shaded, with `band` written into it; both 0: none
  double band_most = 0;
  std::string band;
  std::vector<double> positions{};  ///< of the places, rising, on a scale of their own; empty: evenly spaced
  bool has_log_y = false;           ///< values <= 0 lie on the floor
  std::optional<double> mark_at{};  ///< a position, with `mark` beside it
  std::string mark{};
  std::vector<std::string> caption{};  ///< sentences below, broken where they must be
};

/// From 0 to above the highest value; on a log scale from the power of ten below the lowest.
svg::Drawing draw(const LineChart& chart);

/// The values behind it: a row a place, a column a series. `places`: as they shall stand there; empty: the chart's.
std::string csv_of(const LineChart& chart, const std::vector<std::string>& places = {});

}  // namespace loom::cli
