// SPDX-License-Identifier: Apache-2.0
// TopoOpt's static topology beside optical switches that are set anew while the job runs
// (docs/systems/topoopt.md#reconfigured-baselines): data-parallel DLRM on 16 servers, delays from 10 us to 100 ms, with and
// without forwarding by the servers. Reads LIGHTLOOM_DATA as topoopt_search.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "controller/architectures/ocs_reconfig/greedy_degree.hpp"
#include "controller/architectures/topoopt/network.hpp"
#include "controller/architectures/topoopt/search/alternating.hpp"
#include "controller/predict/engine/predictor.hpp"
#include "controller/schedule/pair_bytes.hpp"

using namespace loom;

namespace {

constexpr std::uint32_t kDegree = 4;

Result<double> reconfigured_ms(const TaskGraph& graph, const NetworkTerms& terms, Duration delay, bool is_forwarded) {
  const TopologyPolicy policy = greedy_degree_policy(terms, kDegree, is_forwarded);
  std::vector<Transfers::Left> all;
  for (const auto& [ends, bytes] : pair_bytes(graph)) {
    all.push_back({ends.first, ends.second, 0, 0, bytes});
  }
  auto first = policy(0, all);
  if (!first) {
    return std::unexpected(first.error());
  }
  auto changing = Reconfiguration::make(ocs_reconfig_terms(delay), *first, policy);
  if (!changing) {
    return std::unexpected(changing.error());
  }
  auto predictor = Predictor::make(graph, *first, {});
  if (!predictor) {
    return std::unexpected(predictor.error());
  }
  const auto iteration = predictor->run(&*changing);
  return iteration ? Result<double>{*iteration / 1e6} : Result<double>{std::unexpected(iteration.error())};
}

Result<void> sweep() {
  const char* folder = std::getenv("LIGHTLOOM_DATA");
  const std::string file =
      std::string(folder != nullptr ? folder : LOOM_SOURCE_DIR "/../shared/data") + "/measures/dlrm16.json";
  const auto measures = load_measures(file);
  if (!measures) {
    std::printf("skipped: %s\n", measures.error().message.c_str());
    return {};
  }
  SearchProblem problem;
  problem.graph = *topoopt_model("dlrm-16");
  auto times = times_of(problem.graph, *measures);
  if (!times) {
    return std::unexpected(times.error());
  }
  problem.times = std::move(*times);
  problem.terms.nodes = 16;
  problem.terms.rate = gigabits(100);
  problem.terms.link_latency = std::chrono::microseconds{1};
  const Strategy strategy = data_parallel(problem.graph, problem.times);
  const auto graph = graph_of(problem.graph, problem.times, strategy, {.one_reduce_an_operator = true});
  TaskGraph duplex = graph ? *graph : TaskGraph{};  // links that servers forward over are duplex
  carry_rings(duplex, {.algorithm = CollectiveAlgorithm::bidirectional_ring});
  const auto topology = find_topology(demand_of(problem.graph, strategy), as_in_code_release(kDegree));
  if (!graph || !topology) {
    return std::unexpected(graph ? topology.error() : graph.error());
  }
  const auto fixed = predicted_ms(problem, strategy, *topology);
  if (!fixed) {
    return std::unexpected(fixed.error());
  }
  std::printf("dlrm-16, %u links of 100 Gb/s a server; TopoOpt's static topology: %.2f ms\n", kDegree, *fixed);
  for (const std::int64_t delay_us : {100'000, 10'000, 1'000, 200, 50, 10}) {
    for (const bool is_forwarded : {true, false}) {
      const auto ms =
          reconfigured_ms(is_forwarded ? duplex : *graph, problem.terms, std::chrono::microseconds{delay_us}, is_forwarded);
      if (ms) {
        std::printf("delay %6lld us, %-18s %10.2f ms  x%.2f\n", static_cast<long long>(delay_us),
                    is_forwarded ? "servers forward" : "circuits only", *ms, *ms / *fixed);
      } else {
        std::printf("delay %6lld us, %-18s %s\n", static_cast<long long>(delay_us),
                    is_forwarded ? "servers forward" : "circuits only", ms.error().message.c_str());
      }
      std::fflush(stdout);
    }
  }
  return {};
}

}  // namespace

int main() {
  const auto done = sweep();
  if (!done) {
    std::printf("%s\n", done.error().message.c_str());
  }
  return done ? 0 : 1;
}
