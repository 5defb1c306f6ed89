// SPDX-License-Identifier: Apache-2.0
// Attributes and elements as text.
#include "cli/render/svg.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/text/format_text.hpp"

namespace loom::cli::svg {

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", value);
  return text.data();
}

std::string exact(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.12g", value);
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
      default:  // XML 1.0 has no other control characters
        safe += static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r' ? '?' : c;
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
  return format_text("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\" font-size=\"{}\" font-weight=\"{}\">{}</text>\n", number(at.x),
                     number(at.y), at.anchor, at.size, at.weight, escaped(words));
}

std::string line(double x1, double y1, double x2, double y2, std::string_view colour) {
  return format_text("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\"/>\n", number(x1), number(y1), number(x2),
                     number(y2), colour);
}

std::vector<std::string> wrapped(const std::vector<std::string>& sentences, double width) {
  constexpr double kLetter = 6;  ///< of size 11, on average
  const auto most = static_cast<std::size_t>(width / kLetter);
  std::vector<std::string> lines;
  for (const std::string& sentence : sentences) {
    std::string line;
    for (std::size_t at = 0; at < sentence.size();) {
      const std::size_t end = std::min(sentence.find(' ', at), sentence.size());
      const std::string word = sentence.substr(at, end - at);
      if (!line.empty() && line.size() + 1 + word.size() > most) {
        lines.push_back(line);
        line = "  ";
      }
      line += (line.empty() || line == "  " ? "" : " ") + word;
      at = end + 1;
    }
    lines.push_back(line);
  }
  return lines;
}

double width_of(std::string_view words, int size) {
  constexpr double kWide = 0.58;  ///< of the size: a letter of DejaVu Sans and Helvetica in the mean, with room
  const auto letters = std::ranges::count_if(words, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
  return kWide * size * static_cast<double>(letters);
}

std::string document(const Drawing& drawing, bool draws_caption) {
  constexpr double kLine = 15;
  constexpr double kMargin = 12;
  std::string text;
  for (const std::string& sentence : drawing.caption) {
    text += (text.empty() ? "" : "\n") + escaped(sentence);
  }
  double height = drawing.height;
  std::string caption;
  if (draws_caption && !drawing.caption.empty()) {
    for (const std::string& line : wrapped(drawing.caption, drawing.width - 2 * kMargin)) {
      caption += svg::text({line.starts_with("  ") ? 2 * kMargin : kMargin, height += kLine, "start", 11}, line);
    }
    height += kMargin;
    caption = "<g class=\"caption\">\n" + caption + "</g>\n";
  }
  const std::string size = format_text("{} {}", number(drawing.width), number(height));
  return format_text(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {}\" "
      "font-family=\"sans-serif\">\n{}<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{}{}</svg>\n",
      number(drawing.width), number(height), size, text.empty() ? "" : "<desc>" + text + "</desc>\n", drawing.body, caption);
}

}  // namespace loom::cli::svg
