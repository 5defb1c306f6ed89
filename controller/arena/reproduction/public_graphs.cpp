// SPDX-License-Identifier: Apache-2.0
// TopoOpt's public task graphs, their strategies and measured compute times taken as they are
// (docs/systems/topoopt.md#iteration-times, #public-graphs).
#include <algorithm>
#include <array>
#include <tuple>

#include "controller/arena/reproduction/figures.hpp"
#include "core/text/format_text.hpp"

namespace loom::reproduction {
namespace {

constexpr std::array<std::uint32_t, 4> kRates{100, 200, 400, 800};

/// d links of 100 Gb/s, the topology that the released code finds.
Result<double> on_direct_connect(const std::string& data, const std::string& graph_name, std::uint32_t degree) {
  const auto graph = public_graph(data, graph_name);
  if (!graph) {
    return std::unexpected(graph.error());
  }
  return iteration_ms(*graph, "topoopt", gigabits(100LL * degree),
                      {{"degree", std::to_string(degree)}, {"variant", "as-in-code"}});
}

}  // namespace

/// docs/systems/topoopt.md#iteration-times: the authors' task graphs on an ideal switch.
Figures ideal_switches(const std::string& data) {
  struct Row {
    const char* model;
    const char* name;
    double tolerance;
    std::array<double, 4> published;
  };
  static constexpr std::array<Row, 4> kRows{{{"vgg", "VGG16", 0.01, {210.404, 131.985, 100.481, 100.481}},
                                             {"transformer", "BERT", 0.03, {63.969, 63.240, 61.434, 60.266}},
                                             {"dlrm", "DLRM", 0.07, {61.155, 31.198, 20.779, 24.747}},
                                             {"candle", "CANDLE", 0.11, {512.880, 301.018, 180.968, 129.553}}}};
  std::vector<Figure> figures;
  for (const Row& row : kRows) {
    for (std::size_t i = 0; i < kRates.size(); ++i) {
      const std::string rate = std::to_string(kRates[i]);
      const auto graph = public_graph(data, rate + row.model);
      if (!graph) {
        return std::unexpected(graph.error());
      }
      const auto ours = iteration_ms(*graph, "ideal-switch", gigabits(kRates[i]), {});
      if (!ours) {
        return std::unexpected(ours.error());
      }
      figures.push_back(Rows{"T4", "regression"}.near(format_text("{}, ideal switch, {} Gb/s, ms", row.name, rate),
                                                      row.published[i], *ours, row.tolerance));
    }
  }
  return figures;
}

/// #iteration-times and #public-graphs: nearly all of it is compute, so it says little; the network-bound share is what exceeds
/// 100.477 and 62.20 ms.
Figures compute_bound_direct(const std::string& data) {
  struct Row {
    const char* graph;
    const char* name;
    std::uint32_t degree;
    double published;
  };
  static constexpr std::array<Row, 4> kRows{{{"100vgg", "VGG16", 4, 100.559},
                                             {"100vgg", "VGG16", 8, 100.559},
                                             {"100transformer", "BERT", 4, 62.815},
                                             {"100transformer", "BERT", 8, 62.644}}};
  std::vector<Figure> figures;
  for (const Row& row : kRows) {
    const auto ours = on_direct_connect(data, row.graph, row.degree);
    if (!ours) {
      return std::unexpected(ours.error());
    }
    figures.push_back(Rows{"T5", "regression, compute-bound"}.near(
        format_text("{}, direct connect, {} x 100 Gb/s, ms", row.name, row.degree), row.published, *ours, 0.01));
  }
  return figures;
}

/// The published seeds span a range (one outlier of 33.58 ms left out); any of the public strategies must fall into it, 10 %
/// more.
Figures dlrm_direct(const std::string& data) {
  std::vector<Figure> figures;
  for (const auto& [degree, low, high] : {std::tuple{4U, 23.16, 25.15}, std::tuple{8U, 15.19, 20.92}}) {
    for (const char* graph : {"10dlrm", "25dlrm", "40dlrm", "100dlrm", "200dlrm", "400dlrm"}) {
      const auto ours = on_direct_connect(data, graph, degree);
      if (!ours) {
        return std::unexpected(ours.error());
      }
      figures.push_back(
          Rows{"T6", "regression"}.between(format_text("DLRM ({}), direct connect, {} x 100 Gb/s, ms", graph, degree),
                                           (low + high) / 2, *ours, low * 0.9, high * 1.1));
    }
  }
  return figures;
}

}  // namespace loom::reproduction
