// SPDX-License-Identifier: Apache-2.0
// A figure against one of its assumptions: the values of some lines at the same places of an axis, to be printed or drawn.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace loom {

struct SweepLine {
  std::string name;
  std::vector<double> values;  ///< one a place
  std::size_t colour = 0;      ///< lines of one subject share it
  bool is_second = false;      ///< of the second family of lines, drawn dashed
};

struct Sweep {
  std::string target;  ///< "T13"
  std::string name;    ///< "compute-time", of a file too
  std::string title;
  std::string x_label;  ///< with its unit
  std::string y_label;
  bool has_log_x = false;
  bool has_log_y = false;
  double standing = 0;        ///< the place that everything else is held at elsewhere
  std::string standing_is{};  ///< "calibrated", "default"
  std::vector<double> places{};
  std::vector<SweepLine> lines{};
  double band_least = 0;  ///< what is accepted, if anything; both 0: nothing
  double band_most = 0;
  std::string band{};
  std::vector<std::string> assumptions{};  ///< what was held, one sentence each
};

}  // namespace loom
