// One function a target.
#include "controller/schedule/reproduction.hpp"

#include <array>

#include "controller/schedule/arena.hpp"
#include "controller/workload/load_graph.hpp"
#include "controller/workload/topoopt_graph.hpp"

namespace loom {
namespace {

double milliseconds(Duration duration) { return static_cast<double>(duration.count()) / 1e6; }

Result<double> iteration_ms(const TaskGraph& graph, std::string_view fabric, BitRate rate, const Settings& settings) {
  auto contestant = make_contestant(fabric, graph, rate, settings);
  if (!contestant) {
    return std::unexpected(std::move(contestant).error());
  }
  const auto iteration = iteration_time(*contestant);
  return iteration ? Result<double>(milliseconds(*iteration)) : std::unexpected(iteration.error());
}

Result<TaskGraph> public_graph(const std::string& data, const std::string& name) {
  auto imported = import_topoopt_graph(data + "/traces/topoopt/" + name + "_16.fbuf");
  return imported ? Result<TaskGraph>(std::move(imported->graph)) : std::unexpected(std::move(imported).error());
}

Figure figure(std::string_view target, std::string_view label, std::string what, double published, double ours, double least,
              double most) {
  return {std::string(target), std::string(label), std::move(what), published, ours, least, most};
}

Figure within(std::string_view target, std::string_view label, std::string what, double published, double ours,
              double tolerance) {
  return figure(target, label, std::move(what), published, ours, published * (1 - tolerance), published * (1 + tolerance));
}

constexpr std::array<std::uint32_t, 4> kRates{100, 200, 400, 800};

/// B4.2: the authors' task graphs on an ideal switch.
Result<std::vector<Figure>> t4(const std::string& data) {
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
      figures.push_back(within("T4", "regression", std::string(row.name) + ", ideal switch, " + rate + " Gb/s, ms",
                               row.published[i], *ours, row.tolerance));
    }
  }
  return figures;
}

/// d links of 100 Gb/s, the topology that the released code finds.
Result<double> on_direct_connect(const std::string& data, const std::string& graph_name, std::uint32_t degree) {
  const auto graph = public_graph(data, graph_name);
  if (!graph) {
    return std::unexpected(graph.error());
  }
  return iteration_ms(*graph, "topoopt", gigabits(100LL * degree),
                      {{"degree", std::to_string(degree)}, {"variant", "as-in-code"}});
}

/// B4.2, B4.4: nearly all of it is compute, so it says little; the network-bound share is what exceeds 100.477 and 62.20 ms.
Result<std::vector<Figure>> t5(const std::string& data) {
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
    figures.push_back(within("T5", "regression, compute-bound",
                             std::string(row.name) + ", direct connect, " + std::to_string(row.degree) + " x 100 Gb/s, ms",
                             row.published, *ours, 0.01));
  }
  return figures;
}

/// The published seeds span a range (one outlier of 33.58 ms left out); any of the public strategies must fall into it, 10 %
/// more.
Result<std::vector<Figure>> t6(const std::string& data) {
  std::vector<Figure> figures;
  for (const auto& [degree, low, high] : {std::tuple{4U, 23.16, 25.15}, std::tuple{8U, 15.19, 20.92}}) {
    for (const char* graph : {"10dlrm", "25dlrm", "40dlrm", "100dlrm", "200dlrm", "400dlrm"}) {
      const auto ours = on_direct_connect(data, graph, degree);
      if (!ours) {
        return std::unexpected(ours.error());
      }
      figures.push_back(
          figure("T6", "regression",
                 "DLRM (" + std::string(graph) + "), direct connect, " + std::to_string(degree) + " x 100 Gb/s, ms",
                 (low + high) / 2, *ours, low * 0.9, high * 1.1));
    }
  }
  return figures;
}

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

/// B4.3, the 12-node testbed: TopoOpt's 4 x 25 Gb/s against a switch of 100 Gb/s, small configuration. The switch's efficiency
/// is fitted at l = 32; the other five are predicted.
Result<std::vector<Figure>> t9(const std::string&) {
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
    const std::string what = "DLRM testbed, l = " + std::to_string(batch) + ": TopoOpt / switch (efficiency " +
                             std::to_string(efficiency).substr(0, 5) + ")";
    if (batch == 32) {
      figures.push_back(figure("T9", "fitted", what, ratio, ours, 0, 1));
    } else {  // the sign where it is accepted, and never falling
      figures.push_back(figure("T9", "held out", what, ratio, ours, batch >= 256 ? std::max(before, 1.0) : before, 1e9));
    }
    before = ours;
  }
  return figures;
}

/// C4: two knobs (compute time, the fat-tree's efficiency) fitted to two numbers, and all four variants of SiP-Ring.
Result<std::vector<Figure>> t13(const std::string&) {
  const auto graph = make_task_graph("vgg19", {1024, {{"compute_ms", "100"}, {"overlap", "none"}}});
  if (!graph) {
    return std::unexpected(graph.error());
  }
  const auto oddl = iteration_ms(*graph, "oddl", gigabits(100), {});
  const auto tree = iteration_ms(*graph, "fat-tree", gigabits(100), {{"efficiency", "0.444"}, {"ways", "sprayed"}});
  if (!oddl || !tree) {
    return std::unexpected(!oddl ? oddl.error() : tree.error());
  }
  std::vector<Figure> figures;
  figures.push_back(figure("T13", "fitted", "VGG19, 1024 nodes: fat-tree (efficiency 0.444) / ODDL (reconstruction)", 1.6,
                           *tree / *oddl, 1.45, 1.75));
  for (const char* directions : {"one", "both"}) {
    for (const char* stops : {"always", "never"}) {
      const auto ring = iteration_ms(*graph, "sip-ring", gigabits(100), {{"directions", directions}, {"all_stop", stops}});
      if (!ring) {
        return std::unexpected(ring.error());
      }
      const bool is_published = std::string_view(directions) == "one" && std::string_view(stops) == "always";
      const std::string what = "VGG19, 1024 nodes: SiP-Ring (" + std::string(directions) + " direction" +
                               (std::string_view(directions) == "one" ? "" : "s") + ", all-stop " + stops +
                               ") / ODDL (reconstruction)";
      figures.push_back(is_published ? figure("T13", "fitted", what, 1.7, *ring / *oddl, 1.5, 1.9)
                                     : figure("T13", "for comparison", what, 0, *ring / *oddl, 0, 1e9));
    }
  }
  return figures;
}

struct Target {
  std::string_view name;
  Result<std::vector<Figure>> (*make)(const std::string& data);
};
constexpr std::array<Target, 5> kTargets{{{"T4", t4}, {"T5", t5}, {"T6", t6}, {"T9", t9}, {"T13", t13}}};

}  // namespace

std::vector<std::string_view> reproducible_targets() {
  std::vector<std::string_view> names;
  for (const Target& target : kTargets) {
    names.push_back(target.name);
  }
  return names;
}

Result<std::vector<Figure>> reproduce(std::string_view target, const std::string& data) {
  for (const Target& each : kTargets) {
    if (each.name == target) {
      return each.make(data);
    }
  }
  std::string known;
  for (const Target& each : kTargets) {
    known += (known.empty() ? "" : ", ") + std::string(each.name);
  }
  return fail(ErrorCode::not_found, "no target '" + std::string(target.substr(0, 32)) + "'; known: " + known);
}

}  // namespace loom
