// SPDX-License-Identifier: Apache-2.0
// Names first, then what a file's name says that it is.
#include "controller/workload/load_graph.hpp"

#include <algorithm>
#include <string>

#include "controller/workload/import/model_file.hpp"
#include "controller/workload/import/topoopt_graph.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

Result<TaskGraph> load_topoopt(const std::string& path, const WorkloadSettings& settings) {
  LOOM_TRY(check_keys(settings.values, path, {}));
  auto imported = import_topoopt_graph(path);
  if (!imported) {
    return std::unexpected(std::move(imported).error());
  }
  if (settings.nodes != 0 && settings.nodes != imported->graph.nodes) {
    return fail(ErrorCode::invalid_argument,
                format_text("{} is a task graph of {} servers, not of {}", path, imported->graph.nodes, settings.nodes));
  }
  return std::move(imported->graph);
}

}  // namespace

Result<TaskGraph> load_task_graph(std::string_view name_or_path, const WorkloadSettings& settings) {
  const auto names = workload_names();
  if (std::find(names.begin(), names.end(), name_or_path) != names.end()) {
    return make_task_graph(name_or_path, settings);
  }
  if (name_or_path.ends_with(".fbuf")) {
    return load_topoopt(std::string{name_or_path}, settings);
  }
  if (is_model_file(name_or_path)) {
    return graph_of_model_file(name_or_path, settings);
  }
  const auto job = load_workload(name_or_path, settings);
  return job ? graph_of(*job) : Result<TaskGraph>(std::unexpected(job.error()));
}

}  // namespace loom
