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

std::string number(double value);
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
/// The whole document around `body`, on white.
std::string document(double width, double height, const std::string& body);

}  // namespace loom::cli::svg
