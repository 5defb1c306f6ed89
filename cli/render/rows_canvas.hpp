// SPDX-License-Identifier: Apache-2.0
// What bars and lanes share: rows with a label on the left, one scale from left to right, a legend above.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/render/svg.hpp"

namespace loom::cli {

class RowsCanvas {
 public:
  static constexpr double kBar = 16;  ///< height of what is drawn in a row
  static constexpr double kPlane = 640;
  static constexpr double kBreak = 0.93;  ///< of the scale: where what is too long is cut

  /// `most`: where the scale ends. Room is made for the longest label and note.
  RowsCanvas(double most, const std::vector<std::string>& labels, const std::vector<std::string>& notes);

  void title(const std::string& text);
  void legend(const std::vector<std::pair<std::string, std::string_view>>& series);
  void label(const std::string& text);
  /// Of the row, from `begin` to `end` of the scale.
  void part(double begin, double end, std::string_view colour, const std::string& name);
  /// Two slanted white cuts: what is behind them is not to scale.
  void cut();
  void note(double at, const std::string& text);
  /// In the row's own place.
  void remark(const std::string& text);
  void next_row();
  /// Lines from `top` down to here, and their numbers.
  void axis(double top, const std::string& unit);
  void add(const std::string& svg) { body_ += svg; }

  double x(double value) const;
  double y() const { return y_; }
  double most() const { return most_; }
  svg::Drawing drawing(std::vector<std::string> caption) const;

 private:
  double most_;
  double left_;
  double right_;
  double y_ = 0;
  std::string lines_;  ///< below everything else
  std::string body_;
};

}  // namespace loom::cli
