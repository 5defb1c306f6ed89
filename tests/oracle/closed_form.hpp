// SPDX-License-Identifier: Apache-2.0
// Closed forms of an iteration, as an oracle of the engine and of schedules: what symmetric collectives take on a fabric that
// is nothing but rates, latencies and dark times, by formulas that share no code with either. An approximation: no contention.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/predict/predict.hpp"
#include "controller/workload/settings.hpp"
#include "core/demand.hpp"
#include "core/result.hpp"
#include "core/time.hpp"
#include "core/units.hpp"

namespace loom {

/// Which closed forms.
enum class FabricForm : std::uint8_t { ideal_switch, fat_tree, timeslots };

struct FabricModel {
  FabricForm form = FabricForm::ideal_switch;
  std::string name;
  std::uint32_t nodes = 0;
  BitRate rate;                 ///< of a node, each direction
  Duration link_latency{};      ///< one link, transceivers and forwarding included
  std::uint32_t links = 1;      ///< on the longest path
  double oversubscription = 1;  ///< fat-tree: every transfer gets rate / this
  // timeslots:
  std::uint32_t group_size = 32;
  Duration guard{};       ///< before a timeslot: blank, retune, acquire
  Duration map_change{};  ///< a WSS map moves: blank, settle, acquire; the whole job is dark
  std::vector<std::string> assumptions;

  Duration path_latency() const { return link_latency * links; }
  BitRate transfer_rate() const {
    return {static_cast<std::int64_t>(static_cast<double>(rate.bits_per_second) / oversubscription)};
  }
};

std::span<const std::string_view> fabric_names();

/// `settings`: the keys of `--set fabric.KEY=VALUE` without "fabric.": latency_us (all), oversubscription (fat-tree). Errors:
/// not_found (nearest name), invalid_argument, out_of_range.
Result<FabricModel> make_fabric_model(std::string_view name, BitRate rate, std::uint32_t nodes, const Settings& settings);

/// What every closed form begins with: rate, nodes, and latency_us of `settings`; the other keys are not looked at. Errors:
/// invalid_argument, out_of_range.
Result<FabricModel> bare_model(std::string_view name, BitRate rate, std::uint32_t nodes, const Settings& settings);
/// A setting in microseconds, 0 .. a minute. Errors: invalid_argument, out_of_range.
Result<Duration> microseconds(const Settings& settings, std::string_view key, Duration absent);
/// "12.5 us".
std::string in_us(Duration duration);

/// `settings`: those of ODDL's entry in the arena. Errors: invalid_argument, out_of_range.
Result<FabricModel> make_oddl_model(BitRate rate, std::uint32_t nodes, const Settings& settings);

struct PredictOptions {
  FabricModel fabric;
};

/// Errors: invalid_argument (a collective that names ranks which the job does not have, no nodes), out_of_range.
Result<Prediction> predict(const JobSpec& job, const PredictOptions& options);

}  // namespace loom
