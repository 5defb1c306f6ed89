// Contestants: every fabric that the arena knows, made for one job: a network, the circuits or rings that its own algorithm
// chooses from the job's task graph, and how it changes while the job runs. It plays nothing; controller/predict does.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "controller/predict/fabric_model.hpp"
#include "controller/predict/network.hpp"
#include "controller/predict/reconfiguration.hpp"
#include "controller/workload/settings.hpp"
#include "controller/workload/task_graph.hpp"
#include "core/result.hpp"
#include "core/units.hpp"

namespace loom {

struct Contestant {
  std::string fabric;     ///< its name in the arena
  std::string scheduler;  ///< whose algorithm chose circuits, rings or ways; "-": nothing to choose
  TaskGraph graph;        ///< the job's, its collectives carried as this fabric does it best
  Network network;
  std::optional<Reconfiguration> changing;  ///< the network is what this says instead
  std::optional<FabricModel> symbolic;      ///< no network: closed forms of the graph's job
  std::uint32_t circuits = 0;               ///< one way, set up before the iteration
  std::vector<std::string> assumptions;     ///< beside the graph's and the network's
};

/// In the order of printing; the ideal switch first.
std::span<const std::string_view> contestant_names();
/// Keys of `--set fabric.KEY=VALUE` that `fabric` understands.
std::span<const std::string_view> contestant_keys(std::string_view fabric);
/// Those of `settings` that `fabric` understands: one command line serves many fabrics. "NAME.key" is for the fabric of that
/// name alone and goes before "key".
Settings settings_for(std::string_view fabric, const Settings& settings);

/// Errors: invalid_argument, naming the first key of `settings` that none of `fabrics` understands, with the nearest.
Result<void> check_arena_keys(const Settings& settings, std::span<const std::string> fabrics);

/// `rate`: a node's total, each direction; direct connections and circuits divide it among a node's links. Errors: not_found
/// (the nearest name), invalid_argument (a key, a job that the fabric cannot carry), infeasible (SiP-OCS: more peers than
/// switches; an expander of odd degree), and those of the network.
Result<Contestant> make_contestant(std::string_view fabric, const TaskGraph& graph, BitRate rate, const Settings& settings);

}  // namespace loom
