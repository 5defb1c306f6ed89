// SPDX-License-Identifier: Apache-2.0
// Operator graph: a model as operators and the tensors between them, before anybody has decided who computes what. What
// TopoOpt's strategy search starts from; docs/systems/topoopt.md#models has its models. Holds no times: those are measured
// (op_times.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "core/units.hpp"

namespace loom {

/// The only dimension that is divided is the samples: the authors measured no other.
struct Operator {
  std::string name;                   ///< what its times were measured under, e.g. "Dense_942_4096"
  std::vector<std::uint32_t> shape;   ///< output of one sample, without the samples
  std::vector<std::uint32_t> inputs;  ///< earlier operators, one entry a tensor; data from outside is not listed
  std::vector<Bytes> parameters;      ///< one entry a tensor: weights, bias
  std::uint32_t copies = 1;           ///< the output counts so often when it is moved
  std::uint32_t element_bytes = 4;    ///< of the output
  double sees = 1;                    ///< part of the samples that pass it: an expert's, of a mixture
  bool is_divisible = true;           ///< otherwise one node computes it whole
  bool knows_dimensions = true;       ///< false: `shape` is a count of elements, as a model of layers has it
};

/// Operators in an order in which each comes after its inputs; the last one is the loss's.
struct OpGraph {
  std::string name;
  std::uint32_t nodes = 0;    ///< servers that the setting is for
  std::uint32_t samples = 0;  ///< of one iteration, all nodes together
  std::vector<Operator> operators;
};

/// Bytes of the output of one sample that passes it.
Bytes output_bytes(const Operator& of);
/// Bytes that a sample of the iteration moves from an operator to one behind it: copies counted, and of experts the part of the
/// samples that they see.
std::int64_t moved_bytes(const OpGraph& graph, std::uint32_t producer, std::uint32_t consumer);
Bytes parameter_bytes(const Operator& of);

/// Errors, each naming the operator: invalid_argument (no operators, no samples, an input that is not earlier, no shape),
/// out_of_range (kNodes, elements or parameters beyond kCollectiveBytes, a part of the samples outside 0 .. 1).
Result<void> check(const OpGraph& graph);

/// docs/systems/topoopt.md#models: "candle-16", "dlrm-16", "bert-16", "vgg16-16" (shared cluster, 16 servers) and the same with
/// -128 (dedicated). Errors: not_found, listing the names.
Result<OpGraph> topoopt_model(std::string_view name);
/// Ascending.
std::vector<std::string_view> topoopt_model_names();

}  // namespace loom
