// SPDX-License-Identifier: Apache-2.0
// What a search found, for others: the strategy as a job that can be submitted and as a task graph for TopoOpt's simulators,
// and its topology in light on a fabric.
#pragma once

#include <memory>
#include <string>

#include "cli/plan/inputs.hpp"
#include "cli/plan/search.hpp"
#include "controller/workload/import/topoopt_graph.hpp"
#include "core/result.hpp"

namespace loom::cli {

/// One iteration of the strategy, with what it assumes. Errors: as graph_of and job_of.
Result<PlannedJob> job_of_search(const Search& search, const SearchProblem& problem, const SearchPoint& found);

/// Inputs of a plan that lights the found topology on `fabric`. Errors: as job_of_search.
Result<PlanInputs> inputs_of_search(const Search& search, const SearchProblem& problem, const SearchPoint& found,
                                    std::shared_ptr<const Fabric> fabric);

/// A task graph as a file of TopoOpt's form (.fbuf). Errors: storage, and as write_topoopt_graph.
Result<void> write_task_graph(const std::string& path, const TaskGraph& graph, const TopooptNetwork& network);

/// The strategy's task graph as a file of TopoOpt's form (.fbuf), with the network that it was found with. Errors: storage, and
/// as write_topoopt_graph.
Result<void> write_graph(const std::string& path, const Search& search, const SearchProblem& problem, const SearchPoint& found);

}  // namespace loom::cli
