// The door for whoever wants a task graph: a name of the zoo, a TopoOpt task graph, or a trace.
#pragma once

#include <string_view>

#include "controller/workload/models/zoo.hpp"

namespace loom {

/// `name_or_path`: a name of the zoo; the path of a task graph (.fbuf), which brings nodes and compute times of its own and
/// takes no settings; or that of a trace. Errors: those of make_task_graph, import_topoopt_graph and load_workload;
/// invalid_argument where `settings.nodes` contradicts the file.
Result<TaskGraph> load_task_graph(std::string_view name_or_path, const WorkloadSettings& settings);

}  // namespace loom
