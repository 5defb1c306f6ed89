// SPDX-License-Identifier: Apache-2.0
// Bits of SVG 1.1 that every drawing needs: numbers, text, colours, steps of an axis. No script, no style sheet, so that every
// viewer and LaTeX reads it.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace loom::cli::svg {

/// Okabe and Ito's palette, ordered by lightness.
inline constexpr std::array<std::string_view, 5> kColours{"#0072B2", "#E69F00", "#555555", "#56B4E9", "#D55E00"};

/// Six digits: as fine as a drawing needs it.
std::string number(double value);
/// Twelve digits, for figures that others go on with.
std::string exact(double value);
std::string escaped(std::string_view text);
/// 1, 2 or 5 times a power of ten, so that at most eight steps cover `most`.
double step_for(double most);

struct Text {
  double x = 0;
  double y = 0;
  std::string_view anchor = "start";
  int size = 12;
  std::string_view weight = "normal";
};
std::string text(const Text& at, std::string_view words);
std::string line(double x1, double y1, double x2, double y2, std::string_view colour);
/// Words of size 11 into lines that fit; every sentence begins a line, further ones begin with two spaces.
std::vector<std::string> wrapped(const std::vector<std::string>& sentences, double width);
/// About as wide as `words` are in the drawings' font.
double width_of(std::string_view words, int size);

/// What is drawn, and what is said of it: sentences that no viewer needs in order to read the drawing.
struct Drawing {
  double width = 0;
  double height = 0;
  std::string body;
  std::vector<std::string> caption;
};

/// The whole document on white. The caption is in its <desc>; drawn, it also stands below as text, in a group of its own that
/// can be taken out without touching the drawing.
std::string document(const Drawing& drawing, bool draws_caption = true);

}  // namespace loom::cli::svg
