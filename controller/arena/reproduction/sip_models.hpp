// SPDX-License-Identifier: Apache-2.0
// SiP-ML's three models (docs/systems/sipml.md#models-and-figures) on synthetic profiles: the group that is played, the closed
// form that is added for gradients, and the sweeps over bandwidth and reconfiguration time that T10 and T16 read. Pure, and
// alike on every machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controller/architectures/sip_ml/episode.hpp"
#include "controller/architectures/sip_ml/strategy.hpp"

namespace loom {

/// dp x mp is 128 x 8 for all of them.
struct SipModel {
  std::string name;
  std::string zoo;
  Settings settings;
  Bytes weights;  ///< the authors' constant, not the model's size
  Duration single{};
  std::uint32_t batch = 0;  ///< of one group
  Duration quantum{};       ///< of the partitioner
  AccuracyPoint accuracy;
};

inline constexpr std::uint32_t kSipGroup = 8;  ///< mp

std::vector<SipModel> sip_models();

/// Synthetic, stretched to the published single-GPU step. Errors: those of model_of and scaled_to.
Result<SipProfile> profile_of(const SipModel& of, std::uint32_t half_batch = 0);
/// One group of 8, partitioned and placed as in the authors' code. Errors: of every step.
Result<TaskGraph> group_of(const SipModel& of);

/// One bandwidth of one model; iterations in ms.
struct SipRangeRow {
  std::string model;
  double terabits = 0;        ///< of a GPU, SiP-ML
  double single_part = 0;     ///< single / 8: a group that divides perfectly
  double group = 0;           ///< T_MP, played at SiP-ML's rate
  double gradients = 0;       ///< at SiP-ML's rate
  double electric_group = 0;  ///< T_MP, played at 400 Gb/s
  double gradients_400 = 0;   ///< capped at 400 Gb/s
  double gradients_200 = 0;   ///< capped at 200 Gb/s
  double data_parallel = 0;   ///< compute of one GPU where all 1024 divide the batch and nothing else
  double electric_group_200 = 0;

  double sip() const { return group + gradients; }
};

/// Every model at 0.5, 1, 2, 4 and 8 Tb/s (20 to 320 wavelengths). Errors: as group_of, and of its play.
Result<std::vector<SipRangeRow>> sip_sweep();

/// The group on SiP-Ring of 40 wavelengths (1 Tb/s), episode after episode, ms; gradients are not in it. Errors: of its play.
Result<double> episodes_ms(const TaskGraph& group, const SipLoop& loop);
/// The best interval between 20 us and 100 ms, all-stop.
struct BestInterval {
  double ms = 0;
  Duration interval{};
};
Result<BestInterval> best_interval(const TaskGraph& group, Duration reconfiguration);

}  // namespace loom
