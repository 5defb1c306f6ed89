// SPDX-License-Identifier: Apache-2.0
// A parallelisation strategy: into how many parts each operator of a graph is divided, and which nodes compute them; and the
// task graph of one iteration that follows from it, as FlexFlow's simulator builds it (docs/systems/topoopt.md#task-graphs).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "controller/workload/models/op_times.hpp"
#include "controller/workload/task_graph.hpp"

namespace loom {

/// Part k (the k-th equal share of the samples) is computed by node first + k * stride, stride = nodes / parts.
struct OpPlacement {
  std::uint32_t parts = 1;
  std::uint32_t first = 0;  ///< below the stride
  auto operator<=>(const OpPlacement&) const = default;
};

/// One entry an operator.
using Strategy = std::vector<OpPlacement>;

/// Every operator on as many nodes as were measured; what cannot be divided, on one node, in turn. Where TopoOpt's search
/// starts.
Strategy data_parallel(const OpGraph& graph, const OpTimes& times);

/// Errors, each naming the operator: invalid_argument (another number of operators, parts that do not divide the nodes or were
/// not measured, a first node at or beyond the stride).
Result<void> check(const OpGraph& graph, const OpTimes& times, const Strategy& strategy);

/// "operator parts@first" for every operator, equal neighbours counted together: for people.
std::string describe(const OpGraph& graph, const Strategy& strategy);

/// Samples that part `a` of the producer and part `b` of the consumer have in common.
std::uint32_t shared_samples(std::uint32_t samples, std::uint32_t producer_parts, std::uint32_t a, std::uint32_t consumer_parts,
                             std::uint32_t b);

struct InServer {
  std::uint32_t gpus = 4;         ///< of a node; each operator part keeps all of them busy
  BitRate rate{200'000'000'000};  ///< between two of them
  bool operator==(const InServer&) const = default;
};

/// How long a node's own GPUs take over an all-reduce before the nodes begin: 2 bytes / gpus / rate, nothing with one. Source:
/// FlexFlow's simulator.cc, and the run times in the public task graphs.
Duration in_server_reduce(Bytes bytes, const InServer& server);

struct StrategyGraphOptions {
  InServer server{};
  bool one_reduce_an_operator = false;  ///< weights and bias together; FlexFlow reduces each tensor by itself
};

/// Workers: the GPUs of node i are worker i, its in-server all-reduces worker nodes + i. Forward and backward are a task a
/// part; a tensor whose samples lie elsewhere is a point-to-point task a pair of parts, both ways of the iteration; where parts
/// are several, each parameter tensor is reduced in the server and then among the nodes. Updates take no time and are left out,
/// as in the public files. Dependence is whole. Errors: those of check(strategy).
Result<TaskGraph> graph_of(const OpGraph& graph, const OpTimes& times, const Strategy& strategy,
                           const StrategyGraphOptions& options = {});

}  // namespace loom
