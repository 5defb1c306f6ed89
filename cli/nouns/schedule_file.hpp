// SPDX-License-Identifier: Apache-2.0
// An operator's own schedule as a file: YAML or JSON, a list of circuits as `loom schedule show --json` prints them, so that
// show -> edit -> apply goes round. What show and loom plan -o write beyond that (states, rates, jobs) is read and ignored.
#pragma once

#include <filesystem>
#include <vector>

#include "core/config/yaml/config_error.hpp"
#include "core/messages/operator.hpp"

namespace loom::cli {

/// Every error with its place in the file.
Loaded<std::vector<ScheduledCircuit>> read_schedule(const std::filesystem::path& path);

}  // namespace loom::cli
