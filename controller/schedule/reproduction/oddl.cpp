// ODDL's abstract (SYSTEMS.md C4), a reconstruction whose knobs were fitted to it.
#include "controller/predict/fabric_model.hpp"
#include "controller/schedule/reproduction/figures.hpp"
#include "controller/workload/zoo.hpp"

namespace loom {

const Settings& oddl_calibration() {
  static const Settings kKnobs{{"compute_ms", "100"},
                               {"overlap", "none"},
                               {"fabric.fat-tree.efficiency", "0.444"},
                               {"fabric.fat-tree.ways", "sprayed"},
                               {"fabric.sip-ring.directions", "one"},
                               {"fabric.sip-ring.all_stop", "always"}};
  return kKnobs;
}

namespace reproduction {

/// Two knobs (compute time, the fat-tree's efficiency) fitted to two numbers, and all four variants of SiP-Ring.
Figures oddl_claims(const std::string&) {
  const SplitSettings knobs = split_settings(oddl_calibration());
  const auto graph = make_task_graph("vgg19", {1024, knobs.workload});
  if (!graph) {
    return std::unexpected(graph.error());
  }
  const auto oddl = iteration_ms(*graph, "oddl", gigabits(100), {});
  const auto tree = iteration_ms(*graph, "fat-tree", gigabits(100), settings_for("fat-tree", knobs.fabric));
  if (!oddl || !tree) {
    return std::unexpected(!oddl ? oddl.error() : tree.error());
  }
  const Settings published = settings_for("sip-ring", knobs.fabric);
  constexpr Rows kRows{"T13", "fitted"};
  std::vector<Figure> figures;
  figures.push_back(kRows.between(
      "VGG19, 1024 nodes: fat-tree (efficiency " + knobs.fabric.at("fat-tree.efficiency") + ") / ODDL (reconstruction)", 1.6,
      *tree / *oddl, 1.45, 1.75));
  for (const char* directions : {"one", "both"}) {
    for (const char* stops : {"always", "never"}) {
      const Settings variant{{"directions", directions}, {"all_stop", stops}};
      const auto ring = iteration_ms(*graph, "sip-ring", gigabits(100), variant);
      if (!ring) {
        return std::unexpected(ring.error());
      }
      const std::string what = "VGG19, 1024 nodes: SiP-Ring (" + std::string(directions) + " direction" +
                               (std::string_view(directions) == "one" ? "" : "s") + ", all-stop " + stops +
                               ") / ODDL (reconstruction)";
      figures.push_back(variant == published ? kRows.between(what, 1.7, *ring / *oddl, 1.5, 1.9)
                                             : kRows.unjudged(what, {}, *ring / *oddl));
    }
  }
  return figures;
}

}  // namespace reproduction
}  // namespace loom
