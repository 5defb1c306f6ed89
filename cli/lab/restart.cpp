// SPDX-License-Identifier: Apache-2.0
// One process of a running lab stopped and started again, and what runs at all.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/lab/lab.hpp"
#include "cli/lab/policy.hpp"
#include "cli/lab/session.hpp"
#include "cli/lab/start.hpp"
#include "cli/render/answer.hpp"
#include "cli/render/term.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kStopPatienceMs = 3'000;
constexpr const char* kController = "lightloomd";
constexpr auto kPollInterval = std::chrono::milliseconds{20};

std::string word_of(ProcessState state) {
  return state == ProcessState::running ? "running" : state == ProcessState::ended ? "ended" : "ended, number given away";
}

std::string age_of(const LabProcess& process) {
  const double seconds = age_seconds(process);
  return seconds < 0 ? "-" : text_of(std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds)));
}

/// The nodes whose agent processes run.
std::uint64_t nodes_alive(const LabRecord& lab) {
  std::uint64_t nodes = 0;
  for (std::uint32_t process = 0; process < lab.scenario.agents.processes; ++process) {
    const LabProcess* record = lab.folder.manifest()->process(format_text("agents-{}", process));
    if (record != nullptr && state_of(*record) == ProcessState::running) {
      nodes += nodes_of_process(lab.scenario, process).size();
    }
  }
  return nodes;
}

/// The lab that the folder's manifest describes.
Result<LabRecord> session_of(const Globals& globals) {
  auto folder = LabFolder::look(globals.state_dir);
  if (!folder) {
    return std::unexpected(folder.error());
  }
  if (!folder->manifest() || folder->manifest()->processes.empty()) {
    return fail(ErrorCode::not_found, "no lab runs in " + folder->path(), "loom lab up SCENARIO --state " + folder->path());
  }
  const LabManifest manifest = *folder->manifest();
  auto scenario = load_for_lab(manifest.scenario);
  if (!scenario) {
    return std::unexpected(scenario.error());
  }
  LabRecord lab{StateFolder(folder->path()), std::move(*folder), manifest.scenario, std::move(*scenario), manifest.record,
                manifest.inspector_dir,      manifest.address};
  lab.training_dir = manifest.training_dir;
  lab.emulates = manifest.emulates;
  lab.metrics = manifest.metrics;
  lab.connections = manifest.connections;
  lab.realtime = manifest.realtime;
  const LabManifest now = manifest_of(lab);
  if (now.fabric_digest != manifest.fabric_digest || now.agent_processes != manifest.agent_processes) {
    return fail(ErrorCode::refused,
                now.scenario +
                    " has changed since this lab began, fabric, algorithm or agent processes: a process of "
                    "it as it is now does not fit the others",
                format_text("loom lab up {} --replace --fresh --state {}", now.scenario, lab.files.folder()));
  }
  return lab;
}

/// Simulated devices live in their agent's process.
std::size_t simulated_devices(const LabRecord& lab, std::uint32_t process) {
  const std::vector<NodeId> nodes = nodes_of_process(lab.scenario, process);
  const Fabric& fabric = *lab.scenario.fabric;
  return static_cast<std::size_t>(std::ranges::count_if(fabric.devices, [&](const Device& device) {
    return fabric.buses[device.bus.value].endpoint == "sim" && std::ranges::binary_search(nodes, device.agent);
  }));
}

void print_what_dies_with(const LabRecord& lab, const std::string& name) {
  for (std::uint32_t process = 0; process < lab.scenario.agents.processes; ++process) {
    const std::size_t devices = name == format_text("agents-{}", process) ? simulated_devices(lab, process) : 0;
    if (devices > 0) {
      print_note(
          format_text("  its {} simulated devices, and their light, end with it; the controller lights them again", devices));
    }
  }
}

/// Until the controller has heard every agent of that process since `start`, when no earlier incarnation lived.
Result<void> wait_for_process(LabRecord& lab, std::uint32_t process, Clock::time_point start, Duration patience) {
  const std::vector<NodeId> nodes = nodes_of_process(lab.scenario, process);
  while (Clock::now() - start < patience) {
    const auto reply = lab.connection->ask(Query{Noun::nodes, {}});
    if (!reply) {
      return std::unexpected(reply.error());
    }
    const Duration since = Clock::now() - start;
    const auto& rows = std::get<std::vector<NodeReport>>(reply->rows);
    const auto is_back = [&](const NodeReport& row) {
      const bool is_its = std::ranges::binary_search(nodes, row.node);
      return !is_its || (row.session == "live" && row.silence >= Duration{} && row.silence < since);
    };
    if (std::ranges::all_of(rows, is_back)) {
      return {};
    }
    std::this_thread::sleep_for(kPollInterval);
  }
  return fail(ErrorCode::timed_out,
              format_text("the agents of agents-{} did not join within {}; it said last:{}", process, text_of(patience),
                          tail_of_log(lab.files.folder(), format_text("agents-{}", process))));
}

/// The agent processes that run and that nobody heard while this one did not: itself, or those behind a relay.
std::vector<std::uint32_t> processes_behind(const LabRecord& lab, const std::string& name) {
  std::vector<std::uint32_t> behind;
  for (std::uint32_t process = 0; process < lab.scenario.agents.processes; ++process) {
    const std::string own = format_text("agents-{}", process);
    const auto relay = relay_of_process(lab.scenario, process);
    const LabProcess* record = lab.folder.manifest()->process(own);
    const bool is_meant = name == own || (relay && name == RelayFiles(lab.files, *relay).name());
    if (is_meant && record != nullptr && state_of(*record) == ProcessState::running) {
      behind.push_back(process);
    }
  }
  return behind;
}

struct Restart {
  std::string name;
  bool was_running = false;
  std::uint64_t nodes = 0;
  Duration unattended{};  ///< from its stop until every agent had joined
};

Result<Restart> restart(LabRecord& lab, const Globals& globals, const std::string& name) {
  Restart done{name};
  LOOM_TRY(lab.folder.take("loom lab restart " + name));
  const LabProcess* record = lab.folder.manifest()->process(name);
  const auto known = processes_of(lab);
  if (!known) {
    return std::unexpected(known.error());
  }
  if (std::ranges::find(*known, name) == known->end()) {
    const std::string near = nearest(name, *known);
    return fail(ErrorCode::not_found,
                format_text("the lab has no process '{}'{}. It has controller, {}", name,
                            near.empty() ? "" : "; did you mean: " + near, listing(*known)),
                "loom lab status");
  }
  print_what_dies_with(lab, name);
  const auto begin = Clock::now();
  if (record != nullptr) {
    const Stopped stopped = stop_processes({*record}, kStopPatienceMs);
    done.was_running = !stopped.stopped.empty();
    if (!stopped.would_not.empty()) {
      return fail(ErrorCode::internal, name + " was killed and is still there: it waits for the kernel");
    }
  }
  const auto start = Clock::now();
  LOOM_TRY(start_by_name(lab, name));
  LOOM_TRY(note_metrics(lab, {name}));
  LabManifest manifest = *lab.folder.manifest();
  manifest.address = lab.address;
  LOOM_TRY(lab.folder.save(std::move(manifest)));
  lab.folder.release();
  const LabProcess* controller = lab.folder.manifest()->process(kController);
  if (controller == nullptr || state_of(*controller) != ProcessState::running) {
    return fail(ErrorCode::unreachable, name + " runs, but the controller does not", "loom lab restart controller");
  }
  auto connection = Connection::open(globals);
  if (!connection) {
    return std::unexpected(connection.error());
  }
  lab.connection = std::make_unique<Connection>(std::move(*connection));
  done.nodes = nodes_alive(lab);
  const Duration patience = globals.has_own_timeout ? globals.timeout : kJoinPatience;
  for (const std::uint32_t process : processes_behind(lab, name)) {
    LOOM_TRY(wait_for_process(lab, process, start, patience));
  }
  LOOM_TRY(wait_for_agents(lab, {done.nodes, "agents joined again", patience}));
  done.unattended = Clock::now() - begin;
  return done;
}

}  // namespace

int restart_in_lab(const Globals& globals, const LabCommand& order) {
  auto lab = session_of(globals);
  if (!lab) {
    return give_up(lab.error());
  }
  const std::string name = order.process == "controller" ? kController : order.process;
  const auto done = restart(*lab, globals, name);
  if (!done) {
    return give_up(done.error());
  }
  if (globals.json) {
    auto object = answer();
    object["process"] = done->name;
    object["was_running"] = done->was_running;
    object["agents"] = done->nodes;
    object["unattended_ms"] = seconds_of(done->unattended) * 1e3;
    print(object);
  }
  const bool is_controller = name == kController;
  print_note(format_text("{}{}; {}{}{}", name,
                         done->was_running ? " was stopped and runs again" : " did not run, and runs again",
                         is_controller ? "light was unattended for " : "every agent was back after ", text_of(done->unattended),
                         is_controller ? ", as it was all the while" : ""));
  const std::uint64_t missing = lab->scenario.fabric->nodes.size() - done->nodes;
  if (missing > 0) {
    complain(ErrorCode::unreachable, format_text("agents of {} nodes do not run", missing), "loom lab status");
    return kPartial;
  }
  return kDone;
}

int lab_status(const Globals& globals) {
  const auto folder = LabFolder::look(globals.state_dir);
  if (!folder) {
    return give_up(folder.error());
  }
  const LabManifest manifest = folder->manifest().value_or(LabManifest{});
  std::vector<std::string> columns{"NAME", "PID", "STATE", "SINCE", "FOR", "MEMORY"};
  if (manifest.metrics) {
    columns.emplace_back("METRICS");
  }
  Table table(columns);
  auto rows = nlohmann::ordered_json::array();
  std::size_t ended = 0;
  for (const LabProcess& process : manifest.processes) {
    const ProcessState state = state_of(process);
    const bool runs = state == ProcessState::running;
    ended += runs ? 0 : 1;
    const long long bytes = runs ? resident_bytes(process.pid) : 0;
    std::vector<std::string> cells{process.name,    std::to_string(process.pid),       word_of(state), process.started,
                                   age_of(process), runs ? text_of(Bytes{bytes}) : "-"};
    if (manifest.metrics) {
      cells.push_back(runs && !process.metrics.empty() ? process.metrics : "-");
    }
    table.add(std::move(cells));
    rows.push_back({{"name", process.name},
                    {"pid", process.pid},
                    {"state", runs ? "running" : "ended"},
                    {"started", process.started},
                    {"resident_bytes", bytes},
                    {"metrics", runs ? process.metrics : ""}});
  }
  if (globals.json) {
    auto object = answer();
    object["state_dir"] = folder->path();
    object["scenario"] = manifest.scenario;
    object["fabric"] = manifest.fabric;
    object["begun_by"] = to_string(manifest.use);
    object["address"] = manifest.address;
    object["processes"] = std::move(rows);
    print(object);
  } else if (!table.empty()) {
    std::fputs(table.text().c_str(), stdout);
  }
  if (manifest.processes.empty()) {
    print_note("no lab runs in " + folder->path());
  } else if (ended > 0) {
    print_note(format_text("  {} of {} processes have ended; loom lab restart NAME starts one again, loom lab up all of them",
                           ended, manifest.processes.size()));
  }
  return ended == 0 ? kDone : kPartial;
}

}  // namespace loom::cli
