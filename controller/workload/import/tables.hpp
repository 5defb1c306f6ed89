// SPDX-License-Identifier: Apache-2.0
// Recommendation models: embedding tables spread over the nodes, whose rows travel by all-to-all, and perceptrons that every
// node holds. DLRM (Naumov et al. 2019) and NCF (He et al. 2017, in TopoOpt's shape).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "controller/workload/settings.hpp"
#include "controller/workload/task_graph.hpp"
#include "core/result.hpp"

namespace loom {

struct TableModel {
  std::string name;
  std::int64_t batch = 0;  ///< of one node
  std::int64_t tables = 0;
  std::int64_t rows = 0;  ///< of one table
  std::int64_t dimension = 0;
  std::int64_t bottom_parameters = 0;  ///< of the perceptron beside the lookups; 0: none
  std::int64_t top_parameters = 0;     ///< of the perceptron behind them
  double interaction_flops = 0;        ///< forward, one sample
  bool overlapped = true;
  double flops_per_second = 0;
  std::string source;  ///< of the rate

  std::int64_t parameters() const { return bottom_parameters + top_parameters + tables * rows * dimension; }
  /// Forward and backward of an iteration: three times 2 FLOP a parameter and sample.
  double bottom_flops() const { return 3 * 2.0 * static_cast<double>(bottom_parameters * batch); }
  double top_flops() const {
    return 3 * static_cast<double>(batch) * (2.0 * static_cast<double>(top_parameters) + interaction_flops);
  }
};

std::span<const std::string_view> table_model_names();
std::span<const std::string_view> table_model_keys();

/// Errors: invalid_argument (unknown key; batch and l both given), out_of_range.
Result<TableModel> table_model_of(std::string_view name, const Settings& settings);

/// One iteration on `nodes` nodes: lookups, all-to-all while the bottom perceptron runs; the top one needs both. Backward: the
/// top one first, then the rows' gradients travel back while the bottom one goes on; the perceptrons are all-reduced.
/// Errors: as compute_time() and check().
Result<TaskGraph> table_graph(const TableModel& model, const Settings& settings, std::uint32_t nodes);

}  // namespace loom
