// SPDX-License-Identifier: Apache-2.0
// The testbed of twelve nodes: when forwarding over rings loses against a switch (docs/systems/topoopt.md#testbed).
#include <algorithm>
#include <array>

#include "controller/arena/reproduction/figures.hpp"
#include "controller/workload/models/zoo.hpp"
#include "core/text/format_text.hpp"

namespace loom::reproduction {
namespace {

/// The share of its rate at which an ideal switch of 100 Gb/s takes `wanted_ms`, by bisection.
Result<double> fit_efficiency(const TaskGraph& graph, double wanted_ms) {
  double low = 0.05;
  double high = 1;
  for (int i = 0; i < 24; ++i) {
    const double middle = (low + high) / 2;
    const auto ours = iteration_ms(graph, "ideal-switch", gigabits(100), {{"efficiency", std::to_string(middle)}});
    if (!ours) {
      return std::unexpected(ours.error());
    }
    (*ours > wanted_ms ? low : high) = middle;
  }
  return high;
}

}  // namespace

/// The 12-node testbed: TopoOpt's 4 x 25 Gb/s against a switch of 100 Gb/s, small configuration. The switch's efficiency
/// is fitted at l = 32; the other five are predicted.
Figures all_to_all_crossover(const std::string&) {
  static constexpr std::array<std::pair<std::uint32_t, double>, 6> kMeasured{{{32, 60.2 / 80.9},
                                                                              {64, 88.3 / 99.7},
                                                                              {128, 108.8 / 99.8},
                                                                              {256, 179.9 / 112.6},
                                                                              {512, 294.6 / 179.2},
                                                                              {1024, 469.9 / 316.7}}};
  std::vector<Figure> figures;
  double efficiency = 1;
  double before = 0;
  for (const auto& [batch, ratio] : kMeasured) {
    const auto graph = make_task_graph("dlrm", {12,
                                                {{"tables", "12"},
                                                 {"dim", "4096"},
                                                 {"bottom", "4096-4096-4096"},
                                                 {"top", "1024-1024-1024-1024-1"},
                                                 {"l", std::to_string(batch)}}});
    if (!graph) {
      return std::unexpected(graph.error());
    }
    const auto direct = iteration_ms(*graph, "topoopt", gigabits(100), {{"degree", "4"}, {"variant", "as-in-code"}});
    if (!direct) {
      return std::unexpected(direct.error());
    }
    if (batch == 32) {
      const auto fitted = fit_efficiency(*graph, *direct / ratio);
      if (!fitted) {
        return std::unexpected(fitted.error());
      }
      efficiency = *fitted;
    }
    const auto real = iteration_ms(*graph, "ideal-switch", gigabits(100), {{"efficiency", std::to_string(efficiency)}});
    if (!real) {
      return std::unexpected(real.error());
    }
    const double ours = *direct / *real;
    const std::string what =
        format_text("DLRM testbed, l = {}: TopoOpt / switch (efficiency {})", batch, std::to_string(efficiency).substr(0, 5));
    if (batch == 32) {
      figures.push_back(Rows{"T9", "fitted"}.between(what, ratio, ours, 0, 1));
    } else {  // the sign where it is accepted, and never falling
      figures.push_back(
          Rows{"T9", "held out"}.between(what, ratio, ours, batch >= 256 ? std::max(before, 1.0) : before, kUnbounded));
    }
    before = ours;
  }
  return figures;
}

}  // namespace loom::reproduction
