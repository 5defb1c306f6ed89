// SPDX-License-Identifier: Apache-2.0
// Rows to bars.
#include "cli/offline/arena_pictures.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "cli/render/bar_plot.hpp"
#include "cli/render/gantt_plot.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

double milliseconds(Duration duration) { return static_cast<double>(duration.count()) / 1e6; }

std::string fixed(double value, int digits) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

constexpr std::string_view kCompute = "#0072B2";
constexpr std::string_view kCommunicate = "#E69F00";
constexpr std::string_view kDark = "#222222";
constexpr std::string_view kWait = "#DDDDDD";
/// By NodeDoes: Okabe and Ito's, dark nearly black; compute is blue whatever is under way beside it.
constexpr std::array<std::string_view, kNodeDoings> kColours{kCompute, "#56B4E9", "#004466", kCommunicate, kDark, kWait};

Duration computed(const NodeLane& lane) {
  return lane.sum(NodeDoes::compute) + lane.sum(NodeDoes::compute_over) + lane.sum(NodeDoes::compute_dark);
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
  bars.series = {"compute", "pipeline bubbles", "exposed communication", "dark"};
  bars.colours = {kCompute, kWait, kCommunicate, kDark};
  bars.columns = {"dark behind compute (ms)", "node"};
  bars.caption = {
      "Bars: compute and bubbles are the iteration with communication for nothing; what is beyond them is exposed. Dark is the "
      "part of it in which the node that is dark longest had no light; of fabrics that are predicted from their own schedule, "
      "what light that is always there would save, and their bubbles are in compute."};
  for (const PicturedFabric& fabric : round.fabrics) {
    if (fabric.row == nullptr) {
      continue;
    }
    const ArenaRow& row = *fabric.row;
    Bar bar;
    bar.label = label_of(row.fabric, row.qualifier);
    bar.note =
        format_text("{} ms{}", fixed(milliseconds(row.iteration), 1),
                    round.ideal_ms > 0 ? format_text(", {}x", fixed(milliseconds(row.iteration) / round.ideal_ms, 2)) : "");
    const bool has_lane = row.is_played && !row.lane.spans.empty();
    const Duration bubbles = has_lane ? std::max(row.compute - computed(row.lane), Duration{}) : Duration{};
    const Duration dark = std::min(has_lane ? row.lane.sum(NodeDoes::dark) : row.dark, row.exposed);
    bar.parts = {{milliseconds(row.compute - bubbles), 0},
                 {milliseconds(bubbles), 1},
                 {milliseconds(row.exposed - dark), 2},
                 {milliseconds(dark), 3}};
    bar.cells = {svg::exact(milliseconds(row.dark - dark)), has_lane ? std::to_string(row.lane.node) : ""};
    bars.bars.push_back(std::move(bar));
  }
  const std::vector<std::string> assumptions = assumptions_of(round);
  bars.caption.insert(bars.caption.end(), assumptions.begin(), assumptions.end());
  return {draw(bars), csv_of(bars)};
}

Picture lanes_of(const PicturedRound& round) {
  GanttChart gantt;
  gantt.title = "One iteration of one node: " + round.title;
  gantt.unit = "ms";
  for (std::size_t i = 0; i < kNodeDoings; ++i) {
    gantt.series.push_back({std::string(to_string(NodeDoes{static_cast<std::uint8_t>(i)})), kColours[i]});
  }
  gantt.caption = {
      "Lanes: the node that is dark longest, of equals the busiest (the CSV names it), as it was played. Communicate: a "
      "collective is under way and nothing computes; dark: no light, or none for the bytes that it has to send or to receive, "
      "and nothing computes; wait: for other nodes."};
  const std::vector<std::string> assumptions = assumptions_of(round);
  gantt.caption.insert(gantt.caption.end(), assumptions.begin(), assumptions.end());
  std::string csv = "fabric,node,from_ms,to_ms,what\n";
  for (const PicturedFabric& fabric : round.fabrics) {
    GanttLane lane{fabric.name, {}, "", fabric.refusal};
    if (fabric.row != nullptr) {
      lane.label = label_of(fabric.row->fabric, fabric.row->qualifier);
      lane.note = fixed(milliseconds(fabric.row->iteration), 1) + " ms";
      lane.remark = "no lane: its time is a closed form, or its light changed too often to be kept";
      for (const LaneSpan& span : fabric.row->lane.spans) {
        lane.spans.push_back({milliseconds(span.from), milliseconds(span.to), static_cast<std::size_t>(span.what)});
        csv += format_text("{},{},{},{},{}\n", csv_cell(lane.label), fabric.row->lane.node, svg::exact(milliseconds(span.from)),
                           svg::exact(milliseconds(span.to)), csv_cell(std::string(to_string(span.what))));
      }
    }
    if (lane.spans.empty()) {
      csv += format_text("{},,,,{}\n", csv_cell(lane.label), csv_cell(lane.remark));
    }
    gantt.lanes.push_back(std::move(lane));
  }
  return {draw(gantt), std::move(csv)};
}

nlohmann::ordered_json lane_json(const NodeLane& lane) {
  if (lane.spans.empty()) {
    return {};
  }
  return {{"node", lane.node},
          {"compute_ms", milliseconds(computed(lane))},
          {"hidden_comm_ms", milliseconds(lane.sum(NodeDoes::compute_over))},
          {"exposed_comm_ms", milliseconds(lane.sum(NodeDoes::communicate))},
          {"dark_ms", milliseconds(lane.sum(NodeDoes::dark))},
          {"dark_behind_compute_ms", milliseconds(lane.sum(NodeDoes::compute_dark))},
          {"waiting_ms", milliseconds(lane.sum(NodeDoes::wait))}};
}

}  // namespace loom::cli
