// SPDX-License-Identifier: Apache-2.0
// Any model as an operator graph for a strategy search: the zoo's, and a user's own layers. Times are not measured ones: each
// operator has its share of the model's pace, linear in the samples, and the assumptions say so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "controller/workload/import/tables.hpp"
#include "controller/workload/models/model.hpp"
#include "controller/workload/models/op_graph.hpp"
#include "controller/workload/models/op_times.hpp"
#include "controller/workload/models/zoo.hpp"
#include "core/result.hpp"

namespace loom {

struct ModelOperators {
  OpGraph graph;
  OpTimes times;
  std::vector<std::string> assumptions;
};

/// A model of blocks, its own or a file's, with batch, precision and pace as the settings say: what searches begin with.
/// Errors: not_found, invalid_argument (a model of tables, a key that says what a search finds), out_of_range, and as
/// read_model_file.
Result<Model> paced_model(std::string_view name_or_path, const WorkloadSettings& settings);

/// Blocks in a chain, one operator each, the samples divided by any divisor of `nodes`; `batch` samples a node. The experts of
/// a block are an operator each, which see routed / experts of the samples (routing as even as can be) and stand beside the
/// block's own path. Errors: those of check(graph).
Result<ModelOperators> operators_of(const Model& model, std::uint32_t nodes, std::int64_t batch);
/// Each table whole on one node; the two perceptrons divided. Lookups take no time. Errors: as above.
Result<ModelOperators> operators_of(const TableModel& model, std::uint32_t nodes);

/// Settings that model_operators() obeys for `name`: the model's own, batch, compute_ms (of one node and `batch` samples),
/// flops (TFLOP/s), gpu, mfu, precision. Ascending.
std::vector<std::string_view> model_operator_keys(std::string_view name);

/// A model of the zoo or a model file, on settings.nodes nodes. Errors: not_found, invalid_argument (a key that the search does
/// not obey: what it searches is not said beforehand), out_of_range, and as read_model_file.
Result<ModelOperators> model_operators(std::string_view name_or_path, const WorkloadSettings& settings);

}  // namespace loom
