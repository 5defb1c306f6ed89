// SPDX-License-Identifier: Apache-2.0
// Circles: node 0 at the top, clockwise.
#include "cli/render/topology_plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <numbers>
#include <string_view>
#include <tuple>

#include "cli/render/figure.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

constexpr double kSize = 760;    ///< of the square that the circle lies in
constexpr double kLegend = 250;  ///< to its right
constexpr double kTop = 44;
constexpr double kRadius = 330;
constexpr std::uint32_t kLabelled = 64;  ///< nodes; of more every so-manieth has its number
/// Okabe and Ito's palette without yellow.
constexpr std::array<std::string_view, 7> kColours{"#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#555555"};

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f", value);
  return text.data();
}

using svg::escaped;

struct Point {
  double x = 0;
  double y = 0;
};

/// Position `at` of `of` on a circle.
Point on_circle(double at, double of, double radius) {
  const double angle = 2 * std::numbers::pi * at / of;
  return {kSize / 2 + radius * std::sin(angle), kTop + kSize / 2 - radius * std::cos(angle)};
}

class Canvas {
 public:
  explicit Canvas(const std::string& title) : width_(std::max(kSize + kLegend, 24 + 1.1 * svg::width_of(title, 16))) {
    write({12, 26}, "start", title, 16, "bold");
  }

  void write(Point at, std::string_view anchor, std::string_view text, int size, std::string_view weight = "normal") {
    body_ += format_text("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\" font-size=\"{}\" font-weight=\"{}\">{}</text>\n",
                         number(at.x), number(at.y), anchor, size, weight, escaped(text));
  }
  void legend(std::string_view colour, const std::string& text, bool is_dashed) {
    const double y = kTop + 30 + 24 * static_cast<double>(entries_++);
    body_ += format_text("<line class=\"legend\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\" stroke-width=\"4\"{}",
                         number(kSize + 6), number(y), number(kSize + 34), number(y), colour,
                         is_dashed ? " stroke-dasharray=\"7 4\"/>\n" : "/>\n");
    write({kSize + 42, y + 5}, "start", text, 13);
    width_ = std::max(width_, kSize + 54 + svg::width_of(text, 13));
  }
  void add(const std::string& svg) { body_ += svg; }

  /// Numbers of nodes around the circle.
  void number_nodes(std::uint32_t nodes, double radius, bool is_dotted) {
    const std::uint32_t step = nodes <= kLabelled ? 1 : (nodes + 31) / 32;
    for (std::uint32_t node = 0; node < nodes; ++node) {
      const Point at = on_circle(node, nodes, radius);
      if (is_dotted) {
        body_ += format_text("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"#222222\"/>\n", number(at.x), number(at.y),
                             nodes <= kLabelled ? "5" : "1.5");
      }
      if (node % step == 0) {
        Point label = on_circle(node, nodes, radius + 18);
        label.y += 4;
        write(label, "middle", std::to_string(node), 11);
      }
    }
  }

  svg::Drawing drawing(std::vector<std::string> caption) const {
    const double bottom = kTop + 30 + 24 * static_cast<double>(entries_);
    return {width_, std::max(kTop + kSize, bottom), body_, std::move(caption)};
  }

 private:
  std::string body_;
  std::size_t entries_ = 0;
  double width_;
};

/// A chord that bends towards the centre, so that neighbours' and parallel ones stay apart.
std::string curve(const Chord& chord, std::uint32_t nodes, std::string_view colour, bool is_dashed) {
  const Point from = on_circle(chord.from, nodes, kRadius);
  const Point to = on_circle(chord.to, nodes, kRadius);
  const Point centre{kSize / 2, kTop + kSize / 2};
  const double pull = 0.25;
  const Point control{(from.x + to.x) / 2 * (1 - pull) + centre.x * pull, (from.y + to.y) / 2 * (1 - pull) + centre.y * pull};
  const double thin = nodes > 256 ? 0.4 : nodes > kLabelled ? 0.9 : 1.8;
  return format_text(
      "<path class=\"chord\" d=\"M{} {} Q{} {} {} {}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{}><title>{} - "
      "{}{}</title></path>\n",
      number(from.x), number(from.y), number(control.x), number(control.y), number(to.x), number(to.y), colour,
      number(thin * chord.thickness), is_dashed ? " stroke-dasharray=\"7 4\"" : "", chord.from, chord.to,
      chord.count > 1 ? format_text(", {} links", chord.count) : "");
}

/// Light grey for none, then from pale to dark blue.
std::string shade(std::uint32_t lit, std::uint32_t channels) {
  if (lit == 0) {
    return "#e6e6e6";
  }
  const double share = static_cast<double>(std::min(lit, channels)) / channels;
  const auto mix = [&](int pale, int dark) { return static_cast<int>(std::lround(pale + share * (dark - pale))); };
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "#%02x%02x%02x", static_cast<unsigned>(mix(0xc6, 0x08) & 0xff),
                static_cast<unsigned>(mix(0xdb, 0x30) & 0xff), static_cast<unsigned>(mix(0xef, 0x6b) & 0xff));
  return text.data();
}

/// Segments `first` .. `last` (one past) of one ring.
std::string stretch(double first, double last, std::uint32_t nodes, double radius, double width, std::uint32_t lit,
                    std::uint32_t channels) {
  const Point from = on_circle(first, nodes, radius);
  const Point middle = on_circle((first + last) / 2, nodes, radius);
  const Point to = on_circle(last, nodes, radius);
  const std::string r = number(radius);
  return format_text(
      "<path class=\"segment\" d=\"M{} {} A{} {} 0 0 1 {} {} A{} {} 0 0 1 {} {}\" fill=\"none\" stroke=\"{}\" "
      "stroke-width=\"{}\"><title>{} of {} wavelengths from {} to {}</title></path>\n",
      number(from.x), number(from.y), r, r, number(middle.x), number(middle.y), r, r, number(to.x), number(to.y),
      shade(lit, channels), number(width), lit, channels, static_cast<std::uint32_t>(first),
      static_cast<std::uint32_t>(last) % nodes);
}

}  // namespace

svg::Drawing draw(const CircleDrawing& circle) {
  Canvas canvas(circle.title);
  const auto colour = [](std::size_t series) { return kColours[series % kColours.size()]; };
  const auto is_dashed = [&](std::size_t series) { return series < circle.is_dashed.size() && circle.is_dashed[series]; };
  for (const Chord& chord : circle.chords) {
    canvas.add(curve(chord, circle.nodes, colour(chord.series), is_dashed(chord.series)));
  }
  canvas.number_nodes(circle.nodes, kRadius, true);
  for (std::size_t i = 0; i < circle.series.size(); ++i) {
    canvas.legend(colour(i), circle.series[i], is_dashed(i));
  }
  return canvas.drawing(circle.caption);
}

svg::Drawing draw(const RingsDrawing& rings) {
  Canvas canvas(rings.title);
  const auto count = static_cast<double>(std::max<std::size_t>(rings.lit.size(), 1));
  const double width = std::min(24.0, 250.0 / count);
  std::uint32_t nodes = 0;
  std::uint32_t most = 0;
  for (std::size_t ring = 0; ring < rings.lit.size(); ++ring) {
    const auto& lit = rings.lit[ring];
    nodes = static_cast<std::uint32_t>(lit.size());
    most = std::max(most, rings.channels[ring]);
    const double radius = kRadius - width * static_cast<double>(ring) - width / 2;
    for (std::uint32_t first = 0; first < nodes;) {
      std::uint32_t last = first + 1;
      while (last < nodes && lit[last] == lit[first]) {
        ++last;
      }
      canvas.add(stretch(first, last, nodes, radius, width - 2, lit[first], rings.channels[ring]));
      first = last;
    }
  }
  canvas.number_nodes(nodes, kRadius, false);
  for (std::uint32_t lit = 0; lit <= most; lit += std::max(1U, most / 8)) {
    canvas.legend(shade(lit, most), lit == 0 ? "no wavelength lit" : format_text("{} of {} lit", lit, most), false);
  }
  for (const std::string& name : rings.rings) {
    canvas.legend("#ffffff", name, false);
  }
  return canvas.drawing(rings.caption);
}

std::string csv_of(const CircleDrawing& circle) {
  std::string text = "from,to,links,kind\n";
  for (const Chord& chord : circle.chords) {
    text += format_text("{},{},{},{}\n", chord.from, chord.to, chord.count, csv_cell(circle.series[chord.series]));
  }
  return text;
}

std::string csv_of(const RingsDrawing& rings) {
  std::string text = "ring,segment,lit,wavelengths\n";
  for (std::size_t ring = 0; ring < rings.lit.size(); ++ring) {
    for (std::size_t segment = 0; segment < rings.lit[ring].size(); ++segment) {
      text +=
          format_text("{},{},{},{}\n", csv_cell(rings.rings[ring]), segment, rings.lit[ring][segment], rings.channels[ring]);
    }
  }
  return text;
}

Picture picture_of(const CircleDrawing& circle) { return {draw(circle), csv_of(circle)}; }

Picture picture_of(const RingsDrawing& rings) { return {draw(rings), csv_of(rings)}; }

CircleDrawing drawing_of(const DirectTopology& topology, const std::string& title) {
  CircleDrawing circle{title, {}, {}, topology.nodes, {}};
  std::map<std::uint32_t, std::uint32_t> times;  // by the shorter way of the jump
  std::map<std::uint32_t, std::uint32_t> ways;
  for (const std::uint32_t jump : topology.jumps) {
    const std::uint32_t shorter = std::min(jump, topology.nodes - jump);
    ++times[shorter];
    ways[shorter] |= jump == shorter ? 1U : 2U;
  }
  for (const auto& [jump, count] : times) {
    const auto series = static_cast<std::uint32_t>(circle.series.size());
    const bool both = ways[jump] == 3;
    const std::uint32_t links = both ? count / 2 : count;
    circle.series.push_back(format_text("jump {}{}{}", both ? "+-" : "+", jump, links > 1 ? format_text(" x {}", links) : ""));
    circle.is_dashed.push_back(false);
    // Half way round, i and i + jump name each link twice.
    const std::uint32_t starts = 2 * jump == topology.nodes ? jump : topology.nodes;
    for (std::uint32_t node = 0; node < starts; ++node) {
      circle.chords.push_back({node, (node + jump) % topology.nodes, series, links, static_cast<double>(links)});
    }
  }
  if (!topology.pairs.empty()) {
    const auto series = static_cast<std::uint32_t>(circle.series.size());
    circle.series.emplace_back("matched pairs");
    circle.is_dashed.push_back(true);
    for (const PairLinks& pair : topology.pairs) {
      circle.chords.push_back({pair.u, pair.v, series, pair.count, static_cast<double>(pair.count)});
    }
  }
  return circle;
}

CircleDrawing drawing_of(const std::vector<Circuit>& circuits, std::uint32_t nodes, const std::string& title) {
  CircleDrawing circle{title, {}, {}, nodes, {}};
  std::map<std::tuple<JobId, NodeId, NodeId>, std::uint32_t> parallel;
  for (const Circuit& circuit : circuits) {
    ++parallel[{circuit.job, circuit.source, circuit.destination}];
  }
  std::uint32_t most = 1;
  for (const auto& [ends, count] : parallel) {
    most = std::max(most, count);
  }
  std::map<JobId, std::uint32_t> series;
  for (const auto& [ends, count] : parallel) {
    const auto& [job, source, destination] = ends;
    if (series.emplace(job, static_cast<std::uint32_t>(series.size())).second) {
      circle.series.push_back(format_text("circuits of job {}", job.value));
      circle.is_dashed.push_back(false);
    }
    circle.chords.push_back({source.value, destination.value, series[job], count, 1 + 2.0 * (count - 1) / most});
  }
  return circle;
}

}  // namespace loom::cli
