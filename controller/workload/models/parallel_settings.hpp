// SPDX-License-Identifier: Apache-2.0
// The settings that every model of layers takes: how it is spread over nodes and GPUs, in which precision, and how fast it is
// computed. Each that does not apply is refused; all that holds unsaid is in the assumptions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "controller/workload/models/model.hpp"
#include "controller/workload/models/zoo.hpp"
#include "controller/workload/parallel.hpp"
#include "core/result.hpp"

namespace loom {

/// Ascending. docs/workloads.md#settings-of-models-of-layers has what each means.
std::span<const std::string_view> parallel_keys();

struct SpreadModel {
  Parallelism spread;
  std::string compute;  ///< the sentence on its compute time
};

/// Also puts `precision` into the model. Errors: invalid_argument and out_of_range (settings, degrees that do not fit),
/// not_found and unsupported (gpu).
Result<SpreadModel> read_parallelism(Model& model, const WorkloadSettings& settings);

/// Sentences for who reads the figures, the compute time first.
std::vector<std::string> assumptions_of(const Model& model, const Parallelism& parallelism, const std::string& compute);

}  // namespace loom
