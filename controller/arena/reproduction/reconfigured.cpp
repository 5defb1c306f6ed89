// SPDX-License-Identifier: Apache-2.0
// Optical switches that are set anew while a job runs, beside TopoOpt's static topology
// (docs/systems/topoopt.md#reconfigured-baselines, T15), and what forwarding by servers costs in bandwidth. DLRM on the
// dedicated cluster of 128 servers, data parallel.
#include <algorithm>
#include <array>

#include "controller/architectures/ocs_reconfig/greedy_degree.hpp"
#include "controller/architectures/topoopt/network.hpp"
#include "controller/arena/reproduction/figures.hpp"
#include "controller/arena/reproduction/topoopt_jobs.hpp"
#include "controller/predict/engine/predictor.hpp"
#include "controller/schedule/pair_bytes.hpp"
#include "core/text/format_text.hpp"

namespace loom::reproduction {
namespace {

using std::chrono::microseconds;

constexpr std::uint32_t kDegree = 4;

Result<double> played_ms(const TaskGraph& graph, const Network& network, Reconfiguration* changing) {
  auto predictor = Predictor::make(graph, network, {});
  if (!predictor) {
    return std::unexpected(std::move(predictor).error());
  }
  const auto iteration = predictor->run(changing);
  return iteration ? Result<double>(*iteration / 1e6) : std::unexpected(iteration.error());
}

Result<double> reconfigured_ms(const TaskGraph& graph, const NetworkTerms& terms, Duration delay, bool is_forwarded) {
  const TopologyPolicy policy = greedy_degree_policy(terms, kDegree, is_forwarded);
  std::vector<Transfers::Left> all;
  for (const auto& [ends, bytes] : pair_bytes(graph)) {
    all.push_back({ends.first, ends.second, 0, 0, bytes});
  }
  auto first = policy(0, all);
  if (!first) {
    return std::unexpected(std::move(first).error());
  }
  auto changing = Reconfiguration::make(ocs_reconfig_terms(delay), *first, policy);
  return changing ? played_ms(graph, *first, &*changing) : Result<double>(std::unexpected(changing.error()));
}

/// Bytes on links over bytes sent, all transfers but the rings' included.
double bandwidth_tax(const DirectTopology& topology, const FinderDemand& demand) {
  double sent = 0;
  double carried = 0;
  for (const PairDemand& pair : demand.pairs) {
    const auto paths = topology.paths(pair.source, pair.destination);
    for (const auto& path : paths) {
      const double part = static_cast<double>(pair.bytes) / static_cast<double>(paths.size());
      sent += part;
      carried += part * static_cast<double>(path.size() - 1);
    }
  }
  return sent > 0 ? carried / sent : 1;
}

}  // namespace

/// T15, a trend: worse than static from 1 ms on, within a quarter of it at 10 and 50 us.
Figures switches_in_motion(const std::string& data) {
  const auto problem = topoopt_problem(data, "dlrm-128", gigabits(100));
  if (!problem) {
    return std::unexpected(problem.error());
  }
  const Strategy strategy = data_parallel(problem->graph, problem->times);
  const auto graph = graph_of(problem->graph, problem->times, strategy, {.one_reduce_an_operator = true});
  const FinderDemand demand = demand_of(problem->graph, strategy);
  const auto topology = find_topology(demand, as_in_code_release(kDegree));
  if (!graph || !topology) {
    return std::unexpected(graph ? topology.error() : graph.error());
  }
  const auto shard = network_of(problem->terms, *topology);
  const auto fixed = shard ? played_ms(fluid_rings(*graph, ring_strides(*topology, problem->terms.nodes, 1)), *shard, nullptr)
                           : Result<double>(std::unexpected(shard.error()));
  if (!fixed) {
    return std::unexpected(fixed.error());
  }
  const TaskGraph duplex = fluid_rings(*graph, {1, problem->terms.nodes - 1});  // links that servers forward over are duplex
  const TaskGraph simplex = fluid_rings(*graph, {1});
  constexpr Rows kRows{"T15", "consistency"};
  std::vector<Figure> figures;
  figures.push_back(kRows.unjudged("DLRM on 128 servers, 4 x 100 Gb/s: TopoOpt's static topology, ms", {}, *fixed));
  for (const std::int64_t delay_us : {10, 50, 200, 1'000, 10'000, 100'000}) {
    for (const bool is_forwarded : {true, false}) {
      const auto ms = reconfigured_ms(is_forwarded ? duplex : simplex, problem->terms, microseconds{delay_us}, is_forwarded);
      if (!ms) {
        return std::unexpected(ms.error());
      }
      const std::string what = format_text("switches set anew, delay {} us, {}: x static", delay_us,
                                           is_forwarded ? "servers forward" : "circuits only");
      const double ratio = *ms / *fixed;
      figures.push_back(delay_us >= 1'000 ? kRows.bounded(what, ratio, 1, kUnbounded)
                        : delay_us <= 50  ? kRows.bounded(what, ratio, -kUnbounded, 1.25)
                                          : kRows.unjudged(what, {}, ratio));
    }
  }
  for (const std::uint32_t degree : {4U, 8U}) {
    const auto found = find_topology(demand, as_in_code_release(degree));
    if (!found) {
      return std::unexpected(found.error());
    }
    figures.push_back(kRows.unjudged(format_text("bandwidth tax of forwarding on TopoOpt's rings, degree {}", degree), {},
                                     bandwidth_tax(*found, demand)));
  }
  return figures;
}

}  // namespace loom::reproduction
