// SPDX-License-Identifier: Apache-2.0
// Runs of cells as rectangles of one path a colour, so that 1024 nodes stay a file that a browser opens.
#include "cli/render/occupancy_plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>

#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

using svg::number;

constexpr double kPlane = 1'024;  ///< at most
constexpr double kCellMost = 40;
constexpr double kRowMost = 16;
constexpr double kRowLeast = 2;
constexpr double kRowsHeight = 960;  ///< aimed at, for all rows
constexpr double kTop = 84;
constexpr double kGap = 30;  ///< between buses, with the name of the next one
constexpr double kNarrow = 3;
constexpr double kMetresPerSecond = 299'792'458;
constexpr std::string_view kAxisWords =
    "nodes along the ring (a column is the segment to the next one); left: wavelengths, lowest frequency first";
constexpr std::string_view kFree = "#eeeeee";

/// Okabe and Ito's, each beside a paler shade of itself.
struct Shades {
  std::string_view full;
  std::string_view pale;
  std::string_view ink;  ///< readable on the full one; black is on the pale one
};
constexpr std::array<Shades, 6> kJobs{{{"#0072B2", "#6DB6E0", "#ffffff"},
                                       {"#E69F00", "#F6CF80", "#000000"},
                                       {"#009E73", "#7FD0B8", "#ffffff"},
                                       {"#D55E00", "#F0AC7C", "#ffffff"},
                                       {"#CC79A7", "#E8C1D7", "#000000"},
                                       {"#555555", "#AAAAAA", "#ffffff"}}};

struct Layout {
  double left = 70;
  double cell = 0;
  double row = 0;
  std::vector<double> tops;  ///< by bus
  double bottom = 0;

  double width(const RingOccupancy& map) const { return cell * static_cast<double>(map.nodes.size()); }
};

Layout layout_of(const RingOccupancy& map) {
  std::size_t rows = 0;
  for (const OccupancyBus& bus : map.buses) {
    rows += bus.slots.size();
  }
  Layout layout;
  layout.cell = std::min(kCellMost, kPlane / static_cast<double>(std::max<std::size_t>(map.nodes.size(), 1)));
  layout.row = std::clamp(kRowsHeight / static_cast<double>(std::max<std::size_t>(rows, 1)), kRowLeast, kRowMost);
  double y = kTop;
  for (const OccupancyBus& bus : map.buses) {
    layout.tops.push_back(y);
    y += layout.row * static_cast<double>(bus.slots.size()) + kGap;
  }
  layout.bottom = y - kGap;
  return layout;
}

std::string name_of(const OccupancyBus& bus) { return format_text("ring {}, {}", bus.ring, to_string(bus.direction)); }

/// A run of cells that have one colour.
struct Run {
  double first = 0;
  double last = 0;  ///< one past
};

/// Rectangles of one colour: relative commands, some 20 bytes each.
class Rectangles {
 public:
  void add(std::string_view colour, double x, double y, double width, double height) {
    paths_[colour] += format_text("M{} {}h{}v{}h-{}z", number(x), number(y), number(width), number(height), number(width));
  }
  std::string text() const {
    std::string text;
    for (const auto& [colour, path] : paths_) {
      text += format_text("<path class=\"held\" fill=\"{}\" d=\"{}\"/>\n", colour, path);
    }
    return text;
  }

 private:
  std::map<std::string_view, std::string> paths_;
};

class Map {
 public:
  explicit Map(const RingOccupancy& map) : map_(map), layout_(layout_of(map)) {
    for (const HeldArc& each : map.arcs) {
      colours_.try_emplace(each.job, kJobs[0]);
    }
    std::size_t next = 0;
    for (auto& [job, shades] : colours_) {
      shades = kJobs[next++ % kJobs.size()];
    }
  }

  svg::Drawing drawing(const std::string& title) {
    std::string body = svg::text({12, 26, "start", 15, "bold"}, title) + legend();
    double right = std::max(layout_.left + layout_.width(map_), 24 + 1.1 * svg::width_of(title, 15));
    right = std::max({right, legend_right_, layout_.left + svg::width_of(kAxisWords, 11)});
    for (std::size_t bus = 0; bus < map_.buses.size(); ++bus) {
      body += frame(bus);
      right = std::max(right, layout_.left + svg::width_of(name_of(map_.buses[bus]), 12));
    }
    body += held() + words_ + axis();
    std::vector<std::string> caption = sentences_of(map_);
    caption.push_back(has_narrow_ ? "Two shades tell neighbouring circuits apart; those narrower than 3 pixels run together."
                                  : "Two shades tell neighbouring circuits apart.");
    return {right + 24, layout_.bottom + 48, body, std::move(caption)};
  }

 private:
  double x(double segment) const { return layout_.left + layout_.cell * segment; }
  double y(std::uint32_t bus, std::uint32_t wavelength) const { return layout_.tops[bus] + layout_.row * wavelength; }

  std::string legend() {
    std::string text;
    double at = layout_.left;
    const auto entry = [&](std::string_view full, std::string_view pale, const std::string& name) {
      text += format_text("<rect x=\"{}\" y=\"40\" width=\"12\" height=\"12\" fill=\"{}\"/>\n", number(at), full);
      text += format_text("<rect x=\"{}\" y=\"40\" width=\"12\" height=\"12\" fill=\"{}\"/>\n", number(at + 12), pale);
      text += svg::text({at + 30, 50}, name);
      at += 46 + svg::width_of(name, 12);
    };
    entry(kFree, kFree, "free");
    std::size_t shown = 0;
    for (const auto& [job, shades] : colours_) {
      if (++shown > kJobs.size()) {
        entry(kFree, kFree, format_text("and {} more jobs, in the same colours again", colours_.size() - kJobs.size()));
        break;
      }
      entry(shades.full, shades.pale, format_text("job {}", job.value));
    }
    legend_right_ = at;
    return text;
  }

  /// The name, the free cells below everything, and which wavelength a row is.
  std::string frame(std::size_t bus) const {
    const OccupancyBus& of = map_.buses[bus];
    const double top = layout_.tops[bus];
    const double height = layout_.row * static_cast<double>(of.slots.size());
    std::string text = svg::text({layout_.left, top - 6}, name_of(of));
    text += format_text("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", number(layout_.left), number(top),
                        number(layout_.width(map_)), number(height), kFree);
    const auto step = static_cast<std::size_t>(std::max(1.0, std::ceil(13 / layout_.row)));
    for (std::size_t i = 0; i < of.slots.size(); i += step) {
      text +=
          svg::text({layout_.left - 6, top + layout_.row * (static_cast<double>(i) + 0.5) + 4, "end", 10}, std::to_string(i));
    }
    return text;
  }

  /// Row by row: wide circuits in alternating shades, narrow neighbours of one job together.
  std::string held() {
    Rectangles rectangles;
    for (std::size_t i = 0; i < map_.arcs.size();) {
      const HeldArc& first = map_.arcs[i];
      std::size_t end = i;
      while (end < map_.arcs.size() && map_.arcs[end].bus == first.bus && map_.arcs[end].wavelength == first.wavelength) {
        ++end;
      }
      row(std::span(map_.arcs).subspan(i, end - i), rectangles);
      i = end;
    }
    return rectangles.text();
  }

  void row(std::span<const HeldArc> arcs, Rectangles& rectangles) {
    const auto nodes = static_cast<double>(map_.nodes.size());
    std::map<std::string_view, std::vector<Run>> runs;
    for (std::size_t i = 0; i < arcs.size(); ++i) {
      const HeldArc& each = arcs[i];
      const Shades& shades = colours_.at(each.job);
      const bool is_narrow = each.arc.length * layout_.cell < kNarrow;
      has_narrow_ = has_narrow_ || is_narrow;
      const bool is_pale = !is_narrow && i % 2 == 1;
      auto& of = runs[is_pale ? shades.pale : shades.full];
      const double first = each.arc.first;
      const double last = first + each.arc.length;
      add(of, {first, std::min(last, nodes)});
      if (last > nodes) {
        add(of, {0, last - nodes});  // it goes on beyond the last node
      }
      write(each, std::min(last, nodes) - first, is_pale ? "#000000" : shades.ink);
    }
    for (const auto& [colour, of] : runs) {
      for (const Run& run : of) {
        rectangles.add(colour, x(run.first), y(arcs[0].bus, arcs[0].wavelength), layout_.cell * (run.last - run.first),
                       layout_.row > 6 ? layout_.row - 1 : layout_.row);
      }
    }
  }

  static void add(std::vector<Run>& runs, Run run) {
    if (!runs.empty() && runs.back().last >= run.first && runs.back().first <= run.first) {
      runs.back().last = std::max(runs.back().last, run.last);
    } else {
      runs.push_back(run);
    }
  }

  /// "3 to 7" into the circuit, where it has room.
  void write(const HeldArc& arc, double segments, std::string_view ink) {
    const std::string name = format_text("{} to {}", arc.source.value, arc.destination.value);
    if (layout_.row >= 12 && svg::width_of(name, 9) + 2 <= segments * layout_.cell) {
      words_ += format_text("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" font-size=\"9\" fill=\"{}\">{}</text>\n",
                            number(x(arc.arc.first + segments / 2)), number(y(arc.bus, arc.wavelength) + layout_.row / 2 + 3),
                            ink, name);
    }
  }

  std::string axis() const {
    const std::size_t nodes = map_.nodes.size();
    std::string text;
    const auto step = static_cast<std::size_t>(std::ceil(static_cast<double>(nodes) / 32));
    for (std::size_t i = 0; i < nodes; i += std::max<std::size_t>(step, 1)) {
      const double at = x(static_cast<double>(i));
      text += svg::line(at, layout_.bottom, at, layout_.bottom + 4, "#555555");
      text += svg::text({at, layout_.bottom + 16, "middle", 10}, std::to_string(map_.nodes[i].value));
    }
    const std::string words =
        "nodes along the ring (a column is the segment from one to the next); left: wavelengths, lowest "
        "frequency first";
    return text + svg::text({layout_.left, layout_.bottom + 36, "start", 11}, words);
  }

  const RingOccupancy& map_;
  Layout layout_;
  std::map<JobId, Shades> colours_;
  std::string words_;
  double legend_right_ = 0;
  bool has_narrow_ = false;
};

}  // namespace

Result<void> check(const RingOccupancy& map) {
  std::size_t rows = 0;
  for (const OccupancyBus& bus : map.buses) {
    rows += bus.slots.size();
  }
  if (map.nodes.size() > kOccupancyNodesMax || rows > kOccupancyRowsMax) {
    return fail(ErrorCode::unsupported,
                format_text("--occupancy: {} nodes and {} wavelengths of all rings and directions; a map has {} columns and {} "
                            "rows at most",
                            map.nodes.size(), rows, kOccupancyNodesMax, kOccupancyRowsMax));
  }
  return {};
}

svg::Drawing draw(const RingOccupancy& map, const std::string& title) { return Map(map).drawing(title); }

std::string csv_of(const RingOccupancy& map) {
  std::string text =
      "ring,direction,segment,segment_from,segment_to,wavelength,frequency_thz,wavelength_nm,job,circuit,source,destination\n";
  const auto nodes = static_cast<std::uint32_t>(map.nodes.size());
  for (const HeldArc& each : map.arcs) {
    const OccupancyBus& bus = map.buses[each.bus];
    const auto mhz = static_cast<double>(centre_of(bus.slots[each.wavelength]).mhz);
    for (std::uint32_t i = 0; i < each.arc.length; ++i) {
      const std::uint32_t segment = (each.arc.first + i) % nodes;
      text += format_text("{},{},{},{},{},{},{},{},{},{},{},{}\n", bus.ring, to_string(bus.direction), segment,
                          map.nodes[segment].value, map.nodes[(segment + 1) % nodes].value, each.wavelength,
                          svg::exact(mhz / 1e6), svg::exact(kMetresPerSecond / (mhz * 1e6) * 1e9), each.job.value,
                          each.circuit.value, each.source.value, each.destination.value);
    }
  }
  return text;
}

std::vector<std::string> sentences_of(const RingOccupancy& map) {
  const OccupancySums sums = sums_of(map);
  std::array<char, 16> share{};
  std::snprintf(share.data(), share.size(), "%.1f", 100 * sums.share());
  std::vector<std::string> sentences{format_text("{} circuits hold {} of {} cells (segment x wavelength): {} % in use.",
                                                 map.arcs.size(), sums.held, sums.cells, share.data())};
  if (sums.held > 0) {
    const OccupancyBus& bus = map.buses[sums.fullest_bus];
    sentences.push_back(format_text(
        "Fullest segment: between nodes {} and {} on {}: {} of {} wavelengths used.", map.nodes[sums.fullest_segment].value,
        map.nodes[(sums.fullest_segment + 1) % map.nodes.size()].value, name_of(bus), sums.fullest_held, sums.fullest_of));
  }
  return sentences;
}

}  // namespace loom::cli
