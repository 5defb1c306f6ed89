// SPDX-License-Identifier: Apache-2.0
// ODDL's abstract (T13) and what it hangs on: its two ratios with and without the calibration, and each of them against the
// compute time, the fat-tree's efficiency and the lasers' tuning time. Every value is played by the predictor. oddl
// (reconstruction).
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "controller/arena/entries.hpp"
#include "controller/arena/reproduction/sweep.hpp"
#include "core/result.hpp"

namespace loom {

/// T13's knobs as settings of workload and fabrics: those of configs/calibration/oddl_paper.yaml.
const Settings& oddl_calibration();

/// SiP-Ring as T13 prints it, the published reading first.
struct SipRingVariant {
  std::string_view name;
  std::string_view directions;
  std::string_view all_stop;

  Settings settings() const { return {{"directions", std::string(directions)}, {"all_stop", std::string(all_stop)}}; }
};
inline constexpr std::array<SipRingVariant, 4> kSipRingVariants{{{"one direction, all-stop always", "one", "always"},
                                                                 {"one direction, all-stop never", "one", "never"},
                                                                 {"both directions, all-stop always", "both", "always"},
                                                                 {"both directions, all-stop never", "both", "never"}}};

/// The three jobs of the fast plane's figures: a ring that never retunes, two with all-to-alls.
inline constexpr std::array<std::string_view, 3> kGrantedWorkloads{"vgg19", "dlrm", "moe"};

/// "VGG19", "DLRM", "MoE".
std::string_view title_of(std::string_view workload);

/// One of kGrantedWorkloads without overlap; the mixture with an expert or more a node and one sequence a node. Errors: as
/// make_task_graph.
Result<TaskGraph> granted_workload(std::string_view name, std::uint32_t nodes, const Settings& settings);

/// Nodes of the sweeps whose jobs have all-to-alls: one group, so that no map changes and the fast plane is all there is.
inline constexpr std::uint32_t kGroupNodes = 32;

/// The same on one group: VGG19 with the compute time that was calibrated for it, the others with their own.
Result<TaskGraph> group_workload(std::string_view name);

/// Iterations on the calibrated fat-tree and the published SiP-Ring, ms. Errors: of the entries and of their play.
struct OddlRivals {
  double tree_ms = 0;
  double ring_ms = 0;
};
Result<OddlRivals> oddl_rivals(const TaskGraph& graph);

inline constexpr std::array<double, 6> kComputeTimes{20, 40, 70, 100, 150, 200};
inline constexpr std::array<double, 6> kTreeEfficiencies{0.3, 0.36, 0.444, 0.6, 0.8, 1};
/// us; 1 ns to 10 ms.
inline constexpr std::array<double, 15> kTuningTimes{0.001, 0.003, 0.01, 0.03, 0.1,  0.3,  1,    3,
                                                     10,    30,    100,  300,  1000, 3000, 10000};

/// VGG19 on 1024 nodes as calibrated, but for its compute time in ms: fat-tree and the four SiP-Rings over ODDL.
Result<Sweep> sweep_compute_time(std::span<const double> compute_ms = kComputeTimes);
/// The same against the fat-tree's efficiency.
Result<Sweep> sweep_tree_efficiency(std::span<const double> efficiencies = kTreeEfficiencies);
/// The three jobs on one group against the lasers' tuning time, ODDL's all-to-alls played in timeslots.
Result<Sweep> sweep_tuning_time(std::span<const double> tune_us = kTuningTimes);

}  // namespace loom
