// Rows to bars.
#include "cli/offline/arena_pictures.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "cli/render/bar_plot.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

double milliseconds(Duration duration) { return static_cast<double>(duration.count()) / 1e6; }

std::string fixed(double value, int digits) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

/// Of the workload, of each fabric, and who was not played.
std::vector<std::string> assumptions_of(const PicturedRound& round) {
  std::vector<std::string> caption = round.assumptions;
  for (const PicturedFabric& fabric : round.fabrics) {
    if (fabric.row == nullptr) {
      caption.push_back(
          format_text("Not played: {}{}", fabric.refusal.starts_with(fabric.name) ? "" : fabric.name + ": ", fabric.refusal));
      continue;
    }
    for (const std::string& assumption : fabric.row->assumptions) {
      caption.push_back(assumption.starts_with(fabric.name) ? assumption : fabric.name + ": " + assumption);
    }
  }
  return caption;
}

}  // namespace

Picture bars_of(const PicturedRound& round) {
  BarChart bars;
  bars.title = round.title;
  bars.unit = "ms";
  bars.series = {"compute", "exposed communication", "dark"};
  bars.caption = assumptions_of(round);
  for (const PicturedFabric& fabric : round.fabrics) {
    if (fabric.row == nullptr) {
      continue;
    }
    const ArenaRow& row = *fabric.row;
    const double dark = milliseconds(std::min(row.dark, row.exposed));
    bars.bars.push_back(
        {label_of(row.fabric, row.qualifier),
         {{milliseconds(row.compute), 0}, {milliseconds(row.exposed) - dark, 1}, {dark, 2}},
         format_text("{} ms{}", fixed(milliseconds(row.iteration), 1),
                     round.ideal_ms > 0 ? format_text(", {}x", fixed(milliseconds(row.iteration) / round.ideal_ms, 2)) : "")});
  }
  return {draw(bars), csv_of(bars)};
}

}  // namespace loom::cli
