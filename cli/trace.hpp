// SPDX-License-Identifier: Apache-2.0
// loom trace: where revisions spent their time, for ui.perfetto.dev; and how other commands hand out what they trace.
#pragma once

#include <string>

#include "core/result.hpp"

namespace CLI {
class App;
}

namespace loom::cli {

class CommandLine;

void add_trace(CLI::App& app, CommandLine& line);

/// The text of a trace where --trace says: nowhere if `path` is empty. Errors: storage.
Result<void> hand_out_trace(const std::string& path, const std::string& text);

}  // namespace loom::cli
