// SPDX-License-Identifier: Apache-2.0
// An entry of the arena: one fabric made for one job. A network, the circuits or rings that the fabric's own algorithm chooses
// from the job's task graph, and how it changes while the job runs. It plays nothing; controller/predict does.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/predict/engine/network.hpp"
#include "controller/predict/engine/reconfiguration.hpp"
#include "controller/predict/networks/network_terms.hpp"
#include "controller/predict/predict.hpp"
#include "controller/workload/models/compute_time.hpp"
#include "controller/workload/settings.hpp"
#include "controller/workload/task_graph.hpp"
#include "core/result.hpp"
#include "core/units.hpp"

namespace loom {

struct ArenaEntry {
  std::string fabric;     ///< its name in the arena
  std::string qualifier;  ///< see Prediction
  std::string scheduler;  ///< whose algorithm chose circuits, rings or routes; "-": nothing to choose
  TaskGraph graph;        ///< the job's, its collectives carried as this fabric does it best
  Network network;
  std::optional<Reconfiguration> changing;  ///< the network is what this says instead
  std::optional<Prediction> predicted;      ///< no network: what the schedule takes that would be lit
  std::uint32_t circuits = 0;               ///< one way, set up before the iteration
  Duration lighting{};                      ///< until they are set up, at worst, before a job's first iteration
  Duration bound{};                         ///< no iteration is shorter: lower_bound() of `graph`
  std::vector<std::string> assumptions;     ///< beside the graph's and the network's
};

/// What the maker of an entry works with: settings are read through it, and the first error is kept.
struct ArenaBuilder {
  const TaskGraph& graph;
  BitRate rate;  ///< a node's total, each direction; direct connections and circuits divide it among a node's links
  const Settings& settings;
  ArenaEntry entry{};
  NetworkTerms terms{};
  std::optional<Error> error{};

  static constexpr double kMicrosecondsMax = 60e6;

  double read(std::string_view key, double absent, double least, double most);
  std::uint32_t count(std::string_view key, std::int64_t absent, std::int64_t least, std::int64_t most);
  std::string word(std::string_view key, std::string_view absent, std::span<const std::string_view> choices);
  Duration microseconds(std::string_view key, double absent);
  /// `light=lit | ...`: whose light it is. Lit unless a key of `others` is set, which is for the other ways: `otherwise` then.
  /// An error: lit, and such a key.
  std::string light(std::span<const std::string_view> choices, std::string_view otherwise,
                    std::span<const std::string_view> others);
  void assume(std::string sentence) { entry.assumptions.push_back(std::move(sentence)); }
  /// Keeps a network, or the error of it.
  void keep(Result<Network> made);
};

/// For links that are duplex: rings whose algorithm the job leaves open go both ways round, and the entry says so.
void carry_rings_both_ways(ArenaBuilder& builder);

BitRate part_of_rate(BitRate rate, double parts);

}  // namespace loom
