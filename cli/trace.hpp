// SPDX-License-Identifier: Apache-2.0
// loom trace: where revisions spent their time, for ui.perfetto.dev.
#pragma once

namespace CLI {
class App;
}

namespace loom::cli {

class CommandLine;

void add_trace(CLI::App& app, CommandLine& line);

}  // namespace loom::cli
