// SPDX-License-Identifier: Apache-2.0
// The command line while it is parsed: what every command understands, what was asked for, and each command's own options,
// which must outlive the parse. Every noun adds itself to the tree (add_... of nouns.hpp, keys.hpp, lab.hpp, plan.hpp,
// offline.hpp).
#pragma once

#include <CLI/CLI.hpp>
#include <any>
#include <deque>
#include <functional>
#include <string>
#include <utility>

#include "cli/options.hpp"

namespace loom::cli {

class CommandLine {
 public:
  Globals globals;
  std::string timeout = "10s";
  std::string colour = "auto";
  std::function<int()> command;  ///< set by the callback of the subcommand that was named

  CommandLine() = default;
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// Options for a subcommand to write into; they live as long as the command line.
  template <class Options>
  Options& keep() {
    return *std::any_cast<Options>(&kept_.emplace_back(std::in_place_type<Options>));
  }

  /// `run(globals)` is the command if `verb` is named.
  template <class Run>
  void when(CLI::App& verb, Run run) {
    verb.callback([this, run] { command = [this, run] { return run(std::as_const(globals)); }; });
  }
  /// The same for a command that takes options.
  template <class Options>
  void when(CLI::App& verb, int (*run)(const Globals&, const Options&), const Options& options) {
    when(verb, [run, &options](const Globals& these) { return run(these, options); });
  }

 private:
  std::deque<std::any> kept_;  ///< grows without moving what it has
};

}  // namespace loom::cli
