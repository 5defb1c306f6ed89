// The model zoo: training jobs from a name and settings, and the one door through which a workload comes in, be it a name
// or a trace file. Compute time is always a named input that the job's assumptions print, never measured here.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "controller/workload/settings.hpp"
#include "core/demand.hpp"
#include "core/result.hpp"

namespace loom {

struct WorkloadSettings {
  std::uint32_t nodes = 0;  ///< 0: the trace says; a name of the zoo needs it
  Settings values;          ///< key=value; the keys of each workload are listed by workload_keys
};

/// Names that make_workload knows, in the order of printing.
std::span<const std::string_view> workload_names();
/// Keys that `name` understands; empty for an unknown name.
std::span<const std::string_view> workload_keys(std::string_view name);

/// One iteration of data-parallel training of vgg16, vgg19 or resnet50 (keys: batch, compute_ms, overlap=bucketed|none,
/// bucket_mb), or of dlrm (keys: batch or l = local batch, compute_ms, overlap, tables, dim, bottom, top).
/// Errors: not_found (no such name, with the nearest), invalid_argument (unknown key, with the nearest; not a number),
/// out_of_range. Source of the shapes and anchors: SYSTEMS.md part E and C4.
Result<JobSpec> make_workload(std::string_view name, const WorkloadSettings& settings);

/// A name of the zoo, or the path of a trace (whose node count must agree with `settings.nodes` where that is not 0; its
/// only key is compute_ms). Errors: as make_workload and import_trace.
Result<JobSpec> load_workload(std::string_view name_or_path, const WorkloadSettings& settings);

}  // namespace loom
