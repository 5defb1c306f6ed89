// SVG drawings of sweeps: lines over a few given places, and a band of what was published. Values in, text out.
#pragma once

#include <string>
#include <vector>

namespace loom::cli {

struct LineSeries {
  std::string name;
  std::vector<double> values;  ///< one a place
};

struct LineChart {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<std::string> places;  ///< evenly spaced, in order
  std::vector<LineSeries> series;   ///< all as long as `places`
  double band_least = 0;            ///< shaded, with `band` written into it; both 0: none
  double band_most = 0;
  std::string band;
};

/// A whole SVG document, from 0 to above the highest value.
std::string draw(const LineChart& chart);

}  // namespace loom::cli
