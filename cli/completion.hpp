// SPDX-License-Identifier: Apache-2.0
// Shell completion, generated from the tree of commands itself, so that it never speaks of a command that is not there.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.hpp"
#include "core/result.hpp"

namespace loom::cli {

/// The script that a shell sources: `source <(loom completion bash)`. Errors: invalid_argument (another shell).
Result<std::string> completion_script(const CLI::App& app, const std::string& shell);

/// What a word of this kind may be: nodes, devices, jobs, circuits and alarms of the running lab by name, workloads, fabrics,
/// scenarios. Empty where nobody answers within 300 ms, and of a kind that there is not: a shell shows no errors.
std::vector<std::string> completion_words(const Globals& globals, std::string_view kind);

}  // namespace loom::cli
