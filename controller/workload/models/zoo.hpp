// SPDX-License-Identifier: Apache-2.0
// The model zoo: training jobs from a name and settings, and the one door through which a workload comes in, be it a name
// or a trace file. Compute time is always a named input that the job's assumptions print, never measured here.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "controller/workload/settings.hpp"
#include "controller/workload/task_graph.hpp"
#include "core/demand.hpp"
#include "core/result.hpp"

namespace loom {

struct WorkloadSettings {
  std::uint32_t nodes = 0;                          ///< 0: the trace says; a name of the zoo needs it
  Settings values;                                  ///< key=value; the keys of each workload are listed by workload_keys
  std::span<const std::string_view> option_keys{};  ///< among them: what goes into JobSpec::options
};

/// Names that make_workload knows, in the order of printing.
std::span<const std::string_view> workload_names();
/// Keys that `name`, or a model file of that path, understands; empty for anything else.
std::span<const std::string_view> workload_keys(std::string_view name);

/// One iteration of a model of the zoo as a task graph. Models of layers (vgg, resnet, transformers, candle) take batch,
/// micro_batch, compute_ms or flops (TFLOP/s sustained), precision=fp16|fp32, overlap=bucketed|none, bucket_mb, tp, pp, ep, dp
/// (derived; checked if given), zero=0..3, schedule=1f1b|gpipe, collective and all_to_all (algorithms by name), strides
/// ("1-5"), local; and the keys of their shape. dlrm and ncf take batch or l = local batch, compute_ms or flops, overlap,
/// tables, rows, dim, bottom, top. docs/workloads.md lists all.
/// Errors: not_found (no such name, with the nearest), invalid_argument (unknown key, with the nearest; not a number; degrees
/// that do not fit the nodes or the model), out_of_range. Source of the shapes and anchors: docs/workloads.md#anchors and
/// docs/systems/oddl.md#calibration.
Result<TaskGraph> make_task_graph(std::string_view name, const WorkloadSettings& settings);

/// One iteration of a model file (import/model_file.hpp) with the settings of models of layers. Errors: as make_task_graph and
/// read_model_file.
Result<TaskGraph> graph_of_model_file(std::string_view path, const WorkloadSettings& settings);

/// What the controller schedules of it: job_of(make_task_graph(...)). Errors: as make_task_graph and job_of.
Result<JobSpec> make_workload(std::string_view name, const WorkloadSettings& settings);

/// Takes those of `keys` out of `values`: what is asked of the fabric's architecture, not of the workload.
JobOptions take_options(Settings& values, std::span<const std::string_view> keys);

/// A name of the zoo, or a path: of a model file; of a task graph (.fbuf); of a demand or of a trace, whose node count must
/// agree with `settings.nodes` where that is not 0 and whose only key is compute_ms. Errors: as make_workload,
/// graph_of_model_file, read_demand_file and import_trace.
Result<JobSpec> load_workload(std::string_view name_or_path, const WorkloadSettings& settings);

}  // namespace loom
