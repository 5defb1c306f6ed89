// SPDX-License-Identifier: Apache-2.0
// SVG drawings of who is joined to whom: nodes on a circle with chords, and rings of fibre with the wavelengths that are lit on
// each segment. Values in, a drawing out, as cli/render/bar_plot.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/render/figure.hpp"
#include "controller/architectures/topoopt/finder/topology_finder.hpp"
#include "core/circuit.hpp"

namespace loom::cli {

struct Chord {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t series = 0;
  std::uint32_t count = 1;  ///< parallel links
  double thickness = 1;     ///< as it is drawn
};

struct CircleDrawing {
  std::string title;
  std::vector<std::string> series;  ///< names, in the order of colours
  std::vector<bool> is_dashed;      ///< by series
  std::uint32_t nodes = 0;
  std::vector<Chord> chords;
  std::vector<std::string> caption{};
};

svg::Drawing draw(const CircleDrawing& circle);
/// A row a chord.
std::string csv_of(const CircleDrawing& circle);
Picture picture_of(const CircleDrawing& circle);

struct RingsDrawing {
  std::string title;
  std::vector<std::string> rings;               ///< names, outermost first
  std::vector<std::vector<std::uint32_t>> lit;  ///< [ring][segment k, between nodes k and k + 1]
  std::vector<std::uint32_t> channels;          ///< by ring
  std::vector<std::string> caption{};
};

svg::Drawing draw(const RingsDrawing& rings);
/// A row a segment of a ring.
std::string csv_of(const RingsDrawing& rings);
Picture picture_of(const RingsDrawing& rings);

/// Ring jumps each in a colour of its own (both ways of a jump in one), matched pairs dashed.
CircleDrawing drawing_of(const DirectTopology& topology, const std::string& title);
/// Circuits as chords, a colour a job.
CircleDrawing drawing_of(const std::vector<Circuit>& circuits, std::uint32_t nodes, const std::string& title);

}  // namespace loom::cli
