// SPDX-License-Identifier: Apache-2.0
// The compute time of a job: given, or inferred from a named source, and the sentence that says which. Never measured here.
#pragma once

#include <string>

#include "controller/workload/settings.hpp"
#include "core/result.hpp"
#include "core/time.hpp"

namespace loom {

struct ComputeTime {
  Duration total{};
  std::string assumption;
};

/// `compute_ms` of the settings if given, else `inferred_ms` with its `source`. Errors: as number().
Result<ComputeTime> compute_time(const Settings& settings, double inferred_ms, const std::string& source);

/// One number by a printf format.
std::string printed(const char* format, double value);

}  // namespace loom
