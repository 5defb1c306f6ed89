// SPDX-License-Identifier: Apache-2.0
// T13's ratios against one assumption at a time; all others stand as calibrated.
#include <array>
#include <cstdio>

#include "controller/arena/reproduction/figures.hpp"
#include "controller/arena/reproduction/oddl_claims.hpp"
#include "controller/workload/fabric_settings.hpp"
#include "controller/workload/models/zoo.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

using reproduction::iteration_ms;

constexpr BitRate kRate = gigabits(100);
constexpr std::uint32_t kClaimNodes = 1024;

std::string printed(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.10g", value);
  return text.data();
}

Result<TaskGraph> claimed_job(const std::string& compute_ms) {
  Settings workload = split_settings(oddl_calibration()).workload;
  workload["compute_ms"] = compute_ms;
  return make_task_graph("vgg19", {kClaimNodes, workload});
}

/// What every sweep of the claim holds, but for the `swept` key.
std::vector<std::string> held(std::string_view swept) {
  std::string knobs;
  for (const auto& [key, value] : oddl_calibration()) {
    knobs += key == swept ? "" : format_text("{}{} = {}", knobs.empty() ? "" : ", ", key, value);
  }
  return {"calibrated reconstruction: " + knobs,
          "VGG19 (574.67 MB of gradients, fp32) on 1024 nodes of 100 Gb/s, ring all-reduce, ODDL one circuit a neighbour",
          "fitted: compute time and fat-tree efficiency were chosen so that 1.6 and 1.7 come out; the authors' models are not "
          "public"};
}

std::vector<SweepLine> claim_lines() {
  std::vector<SweepLine> lines{{"fat-tree", {}}};
  for (const SipRingVariant& variant : kSipRingVariants) {
    lines.push_back({format_text("SiP-Ring, {}", variant.name), {}, lines.size(), true});
  }
  return lines;
}

Result<void> add_claim(Sweep& sweep, const TaskGraph& graph, const Settings& tree) {
  const auto oddl = iteration_ms(graph, "oddl", kRate, {});
  const auto rival = iteration_ms(graph, "fat-tree", kRate, tree);
  if (!oddl || !rival) {
    return std::unexpected(!oddl ? oddl.error() : rival.error());
  }
  sweep.lines[0].values.push_back(*rival / *oddl);
  for (std::size_t i = 0; i < kSipRingVariants.size(); ++i) {
    const auto ring = iteration_ms(graph, "sip-ring", kRate, kSipRingVariants[i].settings());
    if (!ring) {
      return std::unexpected(ring.error());
    }
    sweep.lines[1 + i].values.push_back(*ring / *oddl);
  }
  return {};
}

Settings calibrated(std::string_view fabric) { return settings_for(fabric, split_settings(oddl_calibration()).fabric); }

/// Lasers of the fast plane: they settle in `tune_us`, and nothing else of a guard is slow.
Settings fast_lasers(double tune_us) {
  return {{"retune_us", printed(tune_us)}, {"blank_us", "0.002"}, {"control_us", "0.01"}, {"acquisition_us", "0.05"}};
}

}  // namespace

std::string_view title_of(std::string_view workload) {
  return workload == "vgg19" ? "VGG19" : workload == "dlrm" ? "DLRM" : workload == "moe" ? "MoE" : workload;
}

Result<TaskGraph> granted_workload(std::string_view name, std::uint32_t nodes, const Settings& settings) {
  Settings all = settings;
  all["overlap"] = "none";
  if (name == "moe") {
    all["batch"] = "1";
    all["experts"] = std::to_string(std::max(nodes, 8U));
    all["ep"] = std::to_string(nodes);
  }
  return make_task_graph(name, {nodes, all});
}

Result<TaskGraph> group_workload(std::string_view name) {
  const Settings& knobs = oddl_calibration();
  return granted_workload(name, kGroupNodes, name == "vgg19" ? Settings{{"compute_ms", knobs.at("compute_ms")}} : Settings{});
}

Result<OddlRivals> oddl_rivals(const TaskGraph& graph) {
  const auto tree = iteration_ms(graph, "fat-tree", kRate, calibrated("fat-tree"));
  Settings shared = calibrated("sip-ring");
  shared["light"] = "shared";  // as on T13's 1024 nodes: episodes of a mixture's all-to-alls take minutes to play
  const auto ring = iteration_ms(graph, "sip-ring", kRate, shared);
  if (!tree || !ring) {
    return std::unexpected(!tree ? tree.error() : ring.error());
  }
  return OddlRivals{*tree, *ring};
}

Result<Sweep> sweep_compute_time(std::span<const double> compute_ms) {
  Sweep sweep{"T13", "compute-time", "ODDL's claim against compute time", "compute time of an iteration, ms",
              "iteration on each fabric / on ODDL (reconstruction)"};
  sweep.standing = 100;
  sweep.standing_is = "calibrated";
  sweep.lines = claim_lines();
  sweep.assumptions = held("compute_ms");
  for (const double compute : compute_ms) {
    const auto graph = claimed_job(printed(compute));
    if (!graph) {
      return std::unexpected(graph.error());
    }
    LOOM_TRY(add_claim(sweep, *graph, calibrated("fat-tree")));
    sweep.places.push_back(compute);
  }
  return sweep;
}

Result<Sweep> sweep_tree_efficiency(std::span<const double> efficiencies) {
  Sweep sweep{"T13", "fat-tree-efficiency", "ODDL's claim against the fat-tree's penalty",
              "efficiency of the fat-tree (part of its rate that a flow gets)",
              "iteration on each fabric / on ODDL (reconstruction)"};
  sweep.standing = 0.444;
  sweep.standing_is = "calibrated";
  sweep.lines = claim_lines();
  sweep.assumptions = held("fabric.fat-tree.efficiency");
  const auto graph = claimed_job(oddl_calibration().at("compute_ms"));
  if (!graph) {
    return std::unexpected(graph.error());
  }
  for (const double efficiency : efficiencies) {
    Settings tree = calibrated("fat-tree");
    tree["efficiency"] = printed(efficiency);
    LOOM_TRY(add_claim(sweep, *graph, tree));
    sweep.places.push_back(efficiency);
  }
  return sweep;
}

Result<Sweep> sweep_tuning_time(std::span<const double> tune_us) {
  Sweep sweep{"T13", "tuning-time", "ODDL against the tuning time of its lasers, 32 nodes", "tuning time t_tune, us (log)",
              "iteration on each fabric / on ODDL (reconstruction), log"};
  sweep.has_log_x = sweep.has_log_y = true;
  sweep.standing = 0.1;
  sweep.standing_is = "default";
  sweep.places.assign(tune_us.begin(), tune_us.end());
  for (const std::string_view name : kGrantedWorkloads) {
    const auto graph = group_workload(name);
    const auto rivals = graph ? oddl_rivals(*graph) : Result<OddlRivals>(std::unexpected(graph.error()));
    if (!rivals) {
      return std::unexpected(rivals.error());
    }
    SweepLine tree{format_text("{}, fat-tree", title_of(name)), {}, sweep.lines.size() / 2};
    SweepLine ring{format_text("{}, SiP-Ring", title_of(name)), {}, sweep.lines.size() / 2, true};
    for (const double tune : tune_us) {
      const auto oddl = iteration_ms(*graph, "oddl", kRate, fast_lasers(tune));
      if (!oddl) {
        return std::unexpected(oddl.error());
      }
      tree.values.push_back(rivals->tree_ms / *oddl);
      ring.values.push_back(rivals->ring_ms / *oddl);
    }
    sweep.lines.push_back(std::move(tree));
    sweep.lines.push_back(std::move(ring));
    sweep.assumptions.push_back(graph->assumptions.empty() ? ""
                                                           : format_text("{}: {}", title_of(name), graph->assumptions.front()));
  }
  sweep.assumptions.emplace_back(
      "one group of 32 nodes of 100 Gb/s, no overlap: VGG19's ring never retunes, so its lines are flat; an all-to-all is 31 "
      "timeslots, each after a guard of t_tune + 62 ns");
  sweep.assumptions.emplace_back(
      "fat-tree efficiency 0.444, sprayed; SiP-Ring one direction, all-stop always: fitted to VGG19, held for the others");
  return sweep;
}

}  // namespace loom
