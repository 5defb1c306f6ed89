// SPDX-License-Identifier: Apache-2.0
// Entries of the arena by name: every architecture of the registry that can be compared, made for one job.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "controller/schedule/arena_entry.hpp"
#include "controller/workload/settings.hpp"
#include "controller/workload/task_graph.hpp"
#include "core/result.hpp"
#include "core/units.hpp"

namespace loom {

/// In the order of printing; the ideal switch first.
std::span<const std::string_view> arena_names();
/// Keys of `--set fabric.KEY=VALUE` that `fabric` understands.
std::span<const std::string_view> arena_keys(std::string_view fabric);
/// Those of `settings` that `fabric` understands: one command line serves many fabrics. "NAME.key" is for the fabric of that
/// name alone and goes before "key".
Settings settings_for(std::string_view fabric, const Settings& settings);

/// Errors: invalid_argument, naming the first key of `settings` that none of `fabrics` understands, with the nearest.
Result<void> check_arena_keys(const Settings& settings, std::span<const std::string> fabrics);

/// `rate`: a node's total, each direction; direct connections and circuits divide it among a node's links. Errors: not_found
/// (the nearest name), invalid_argument (a key, a job that the fabric cannot carry), infeasible (SiP-OCS: more peers than
/// switches; an expander of odd degree), and those of the network.
Result<ArenaEntry> make_entry(std::string_view fabric, const TaskGraph& graph, BitRate rate, const Settings& settings);

}  // namespace loom
