// A job from what an operator names: a model of the zoo or a trace file.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/demand.hpp"
#include "core/result.hpp"

namespace loom::cli {

/// `nodes` 0: as the trace says. Errors: invalid_argument (unknown name with the nearest; nodes that contradict a trace),
/// malformed (the trace).
Result<JobSpec> load_job(const std::string& workload, std::uint32_t nodes, const std::map<std::string, std::string>& settings);

/// Does this name a file rather than a model?
bool is_trace_file(const std::string& workload);

}  // namespace loom::cli
