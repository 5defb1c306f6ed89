// SPDX-License-Identifier: Apache-2.0
// The table of targets, and what they share.
#include "controller/arena/reproduction/reproduction.hpp"

#include <array>
#include <filesystem>

#include "controller/arena/arena.hpp"
#include "controller/arena/reproduction/figures.hpp"
#include "controller/workload/import/topoopt_graph.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace reproduction {

Result<double> iteration_ms(const TaskGraph& graph, std::string_view fabric, BitRate rate, const Settings& settings) {
  auto entry = make_entry(fabric, graph, rate, settings);
  if (!entry) {
    return std::unexpected(std::move(entry).error());
  }
  const auto iteration = iteration_time(*entry);
  return iteration ? Result<double>(in_ms(*iteration)) : std::unexpected(iteration.error());
}

Result<std::string> file_in(const std::string& data, const std::string& file) {
  if (data.empty()) {
    return fail(ErrorCode::not_found, format_text("needs {}: give --data FOLDER or set LIGHTLOOM_DATA", file));
  }
  std::string path = format_text("{}/{}", data, file);
  std::error_code error;
  return std::filesystem::exists(path, error)
             ? Result<std::string>(std::move(path))
             : fail(ErrorCode::not_found,
                    format_text("needs {}, which is not there: give --data FOLDER or set LIGHTLOOM_DATA", path));
}

Result<TaskGraph> public_graph(const std::string& data, const std::string& name) {
  const auto path = file_in(data, format_text("traces/topoopt/{}_16.fbuf", name));
  if (!path) {
    return std::unexpected(path.error());
  }
  auto imported = import_topoopt_graph(*path);
  return imported ? Result<TaskGraph>(std::move(imported->graph)) : std::unexpected(std::move(imported).error());
}

}  // namespace reproduction

namespace {

struct Target {
  std::string_view name;
  reproduction::Figures (*make)(const std::string& data);
};
constexpr std::array<Target, 15> kTargets{{{"T1", reproduction::ring_jumps},
                                           {"T2", reproduction::hop_histograms},
                                           {"T3", reproduction::discounted_matchings},
                                           {"T4", reproduction::ideal_switches},
                                           {"T5", reproduction::compute_bound_direct},
                                           {"T6", reproduction::dlrm_direct},
                                           {"T7", reproduction::searched_candle},
                                           {"T8", reproduction::shared_cluster},
                                           {"T9", reproduction::all_to_all_crossover},
                                           {"T10", reproduction::sip_range},
                                           {"T11", reproduction::small_rings},
                                           {"T12", reproduction::small_switches},
                                           {"T13", reproduction::oddl_claims},
                                           {"T15", reproduction::switches_in_motion},
                                           {"T16", reproduction::reconfiguration_times}}};

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
  return fail(ErrorCode::invalid_argument, format_text("no target '{}'; known: {}", target.substr(0, 32), known));
}

}  // namespace loom
