// Attributes and elements as text.
#include "cli/render/svg.hpp"

#include <cmath>
#include <cstdio>

namespace loom::cli::svg {

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", value);
  return text.data();
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '&':
        safe += "&amp;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

double step_for(double most) {
  const double power = std::pow(10, std::floor(std::log10(most / 8)));
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    if (most / (factor * power) <= 8) {
      return factor * power;
    }
  }
  return 10 * power;
}

std::string text(const Text& at, std::string_view words) {
  return "<text x=\"" + number(at.x) + "\" y=\"" + number(at.y) + "\" text-anchor=\"" + std::string(at.anchor) +
         "\" font-size=\"" + std::to_string(at.size) + "\" font-weight=\"" + std::string(at.weight) + "\">" + escaped(words) +
         "</text>\n";
}

std::string line(double x1, double y1, double x2, double y2, std::string_view colour) {
  return "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) + "\" y2=\"" + number(y2) +
         "\" stroke=\"" + std::string(colour) + "\"/>\n";
}

std::string document(double width, double height, const std::string& body) {
  const std::string size = number(width) + " " + number(height);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(width) + "\" height=\"" + number(height) +
         "\" viewBox=\"0 0 " + size +
         "\" font-family=\"sans-serif\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n" + body + "</svg>\n";
}

}  // namespace loom::cli::svg
