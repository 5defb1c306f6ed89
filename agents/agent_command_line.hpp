// SPDX-License-Identifier: Apache-2.0
// The command line of lightloom-agent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace loom {

struct AgentCommandLine {
  std::string scenario;
  std::string state = "run/lab";
  bool restore_journal = false;
  std::string controller;
  std::uint32_t process = 0;
  std::string host;                      ///< instead of the process: its name in the scenario
  std::optional<std::uint32_t> relay{};  ///< instead of a process with agents: which of the scenario's relays this is
  std::string listen;                    ///< of a relay; empty: where the scenario says
  std::string bundle;                    ///< keys of this host in one file; empty: they are in the state folder
  std::string clock = "auto";
  std::string inspector_dir;           ///< empty: nobody tells of traffic
  std::string training_dir;            ///< empty: training processes are stood in for
  std::string connections = "shared";  ///< or "each"
  bool realtime = false;               ///< its loop before everything else of the host
  std::optional<unsigned> cpu{};       ///< on which its loop runs alone
  bool faults = false;                 ///< the scenario's device faults happen
  std::string metrics;                 ///< where Prometheus finds them; empty: nowhere

  /// What starts this process again.
  std::string command() const;
};

/// Reads into `command_line`, which must outlive the parse.
void add_options(CLI::App& app, AgentCommandLine& command_line);

}  // namespace loom
