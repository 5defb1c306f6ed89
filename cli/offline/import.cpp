// SPDX-License-Identifier: Apache-2.0
// loom import: a trace in a few lines.
#include <cstdio>

#include "cli/command_line.hpp"
#include "cli/offline/offline.hpp"
#include "cli/render/answer.hpp"
#include "controller/workload/import/trace_text.hpp"

namespace loom::cli {
namespace {

int import_file(const Globals& globals, const std::string& path) {
  const auto summary = import_trace(path);
  if (!summary) {
    return give_up(summary.error());
  }
  if (globals.json) {
    print(import_json(*summary));
  } else {
    std::fputs(import_table(*summary).c_str(), stdout);
  }
  return kDone;
}

}  // namespace

void add_import(CLI::App& app, CommandLine& line) {
  CLI::App* trace = app.add_subcommand("import", "Summary of a trace's task graph");
  auto& path = line.keep<std::string>();
  trace->add_option("TRACE", path, "PyTorch execution trace: .json, .json.gz, .tar.gz with a file a rank")->required();
  line.when(*trace, import_file, path);
}

}  // namespace loom::cli
