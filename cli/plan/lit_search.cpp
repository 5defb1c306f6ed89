// SPDX-License-Identifier: Apache-2.0
// Strategy to job, topology to links.
#include "cli/plan/lit_search.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cli/output_file.hpp"
#include "controller/architectures/topoopt/schedule.hpp"
#include "controller/workload/import/topoopt_graph.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

Result<TaskGraph> graph_of_search(const SearchProblem& problem, const SearchPoint& found) {
  return graph_of(problem.graph, problem.times, found.strategy, {problem.server, false});
}

/// Duplex links once, the higher number first, as public files have them; links of one way as they are.
std::vector<TopooptLink> links_of(const DirectTopology& topology) {
  std::vector<TopooptLink> links;
  const std::vector<DirectLink> all = topology.links();
  for (const DirectLink& link : all) {
    const auto back = std::ranges::find_if(all, [&](const DirectLink& other) {
      return other.from == link.to && other.to == link.from && other.count == link.count;
    });
    if (link.from > link.to || back == all.end()) {
      links.push_back({link.from, link.to, link.count});
    }
  }
  return links;
}

}  // namespace

Result<PlannedJob> job_of_search(const Search& search, const SearchProblem& problem, const SearchPoint& found) {
  auto graph = graph_of_search(problem, found);
  if (!graph) {
    return std::unexpected(std::move(graph).error());
  }
  graph->assumptions.push_back(
      format_text("{}: the strategy is a search's ({} proposals a chain)", search.model, search.options.steps));
  auto spec = job_of(*graph);
  if (!spec) {
    return std::unexpected(std::move(spec).error());
  }
  return PlannedJob{*std::move(graph), *std::move(spec)};
}

Result<PlanInputs> inputs_of_search(const Search& search, const SearchProblem& problem, const SearchPoint& found,
                                    std::shared_ptr<const Fabric> fabric) {
  auto job = job_of_search(search, problem, found);
  if (!job) {
    return std::unexpected(std::move(job).error());
  }
  PlanInputs inputs;
  inputs.algorithm = "topoopt";
  inputs.fabric = std::move(fabric);
  inputs.jobs.push_back(*std::move(job));
  inputs.lay = [topology = found.topology](const Fabric& on, const JobDemand& demand) {
    return lay_topology(on, demand, topology);
  };
  return inputs;
}

Result<void> write_task_graph(const std::string& path, const TaskGraph& graph, const TopooptNetwork& network) {
  const auto bytes = write_topoopt_graph(graph, network);
  if (!bytes) {
    return std::unexpected(bytes.error());
  }
  return write_text(path, std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()), "--graph");
}

Result<void> write_graph(const std::string& path, const Search& search, const SearchProblem& problem,
                         const SearchPoint& found) {
  const auto graph = graph_of_search(problem, found);
  if (!graph) {
    return std::unexpected(graph.error());
  }
  TopooptNetwork network;
  network.link_rate = search.link;
  network.links = links_of(found.topology);
  for (const RingPath& ring : found.topology.rings) {
    network.rings.push_back({ring.group_size, {ring.jumps.begin(), ring.jumps.end()}});
  }
  return write_task_graph(path, *graph, network);
}

}  // namespace loom::cli
