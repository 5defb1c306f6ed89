// SPDX-License-Identifier: Apache-2.0
// The door for whoever wants a task graph: a name of the zoo, a TopoOpt task graph, a model file, a demand, or a trace.
#pragma once

#include <string_view>

#include "controller/workload/models/zoo.hpp"

namespace loom {

/// `name_or_path`: a name of the zoo; the path of a task graph (.fbuf), which brings nodes and compute times of its own and
/// takes no settings; that of a model file, a demand or a trace. Errors: those of make_task_graph, import_topoopt_graph,
/// graph_of_model_file and load_workload;
/// invalid_argument where `settings.nodes` contradicts the file.
Result<TaskGraph> load_task_graph(std::string_view name_or_path, const WorkloadSettings& settings);

}  // namespace loom
