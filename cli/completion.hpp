// Shell completion, generated from the tree of commands itself, so that it never speaks of a command that is not there.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "core/result.hpp"

namespace loom::cli {

/// The script that a shell sources: `source <(loom completion bash)`. Errors: invalid_argument (another shell).
Result<std::string> completion_script(const CLI::App& app, const std::string& shell);

}  // namespace loom::cli
