// SPDX-License-Identifier: Apache-2.0
// One option a line of --help.
#include "agents/agent_command_line.hpp"

#include <CLI/CLI.hpp>

#include "core/text/format_text.hpp"

namespace loom {

std::string AgentCommandLine::command() const {
  if (relay) {
    return format_text("lightloom-agent --scenario {} --state {} --relay {}", scenario, state, *relay);
  }
  return host.empty() ? format_text("lightloom-agent --scenario {} --state {} --process {}", scenario, state, process)
                      : format_text("lightloom-agent --scenario {} --state {} --host {}", scenario, state, host);
}

void add_options(CLI::App& app, AgentCommandLine& command_line) {
  app.add_option("--scenario", command_line.scenario, "YAML file that names fabric and inventory")->required();
  app.add_option("--process", command_line.process, "Which of the scenario's agent processes this is, from 0")
      ->capture_default_str();
  app.add_option("--host", command_line.host, "Which of the scenario's hosts this is, instead of --process")
      ->excludes("--process");
  app.add_option("--relay", command_line.relay,
                 "Host no agents: be this one of the scenario's relays, from 0, which passes on what agents of other processes "
                 "and the controller say (docs/hosts.md)")
      ->excludes("--process")
      ->excludes("--host")
      ->type_name("UINT");
  app.add_option("--listen", command_line.listen, "ZeroMQ endpoint of this relay, instead of the scenario's")->needs("--relay");
  app.add_option("--keys", command_line.bundle,
                 "This host's (or relay's) key bundle (loom keys bundle HOST): unpacked into the state folder at the start and "
                 "at SIGHUP")
      ->type_name("FILE");
  app.add_option("--clock", command_line.clock,
                 "Of all instants: tai, monotonic, or auto (tai where the scenario is on several hosts; docs/hosts.md)")
      ->capture_default_str();
  app.add_option("--state", command_line.state, "Folder of keys, journals and address")->capture_default_str();
  app.add_option("--controller", command_line.controller,
                 "ZeroMQ endpoint of the controller, or of a relay, instead of the scenario's or the state folder's");
  app.add_option("--inspector-dir", command_line.inspector_dir,
                 "Folder of NCCL Inspector's dumps (NCCL_INSPECTOR_DUMP_DIR); {node} in it stands for the node's name");
  app.add_option("--training-dir", command_line.training_dir,
                 "Folder of sockets by which training processes say when an iteration begins: DIR/NODE.sock; without it a "
                 "stand-in computes as the model does (docs/training_processes.md)");
  app.add_option("--metrics", command_line.metrics,
                 "Serve Prometheus metrics there, on loopback: 127.0.0.1:9102; port 0 is any free one (docs/metrics.md)")
      ->type_name("ADDRESS:PORT");
  app.add_option("--connections", command_line.connections,
                 "To the controller: shared, one that carries all of this process's agents, or each, one an agent")
      ->check(CLI::IsMember({"shared", "each"}))
      ->capture_default_str();
  app.add_flag("--realtime", command_line.realtime,
               "Its loop at SCHED_FIFO and its memory locked, as far as the system permits it (docs/hosts.md)");
  app.add_option("--cpu", command_line.cpu, "The processor on which its loop runs and on no other, from 0")
      ->check(CLI::Range(0U, 4095U))
      ->type_name("UINT");
  app.add_flag("--faults", command_line.faults,
               "The scenario's device faults happen to simulated devices once a run has begun (lab run)");
  app.add_flag("--restore-journal", command_line.restore_journal,
               "Move what follows a damaged row aside and go on behind the sound part");
}

}  // namespace loom
