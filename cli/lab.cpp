// Starting and stopping a lab's processes.
#include "cli/lab.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "cli/connection.hpp"
#include "cli/lab_faults.hpp"
#include "cli/lab_files.hpp"
#include "cli/lab_session.hpp"
#include "cli/process.hpp"
#include "cli/term.hpp"
#include "core/config/scenario_file.hpp"

namespace loom::cli {
namespace fs = std::filesystem;
namespace {

constexpr auto kPollInterval = std::chrono::milliseconds{20};
constexpr auto kStartPatience = std::chrono::seconds{10};
constexpr auto kJoinPatience = std::chrono::seconds{60};
constexpr int kStopPatienceMs = 3'000;

std::string port_of(const std::string& endpoint) {
  const auto colon = endpoint.rfind(':');
  return colon == std::string::npos ? std::string() : endpoint.substr(colon + 1);
}

/// An emulator is up when it says its port: agents that ask it earlier would report a device that does not answer.
Result<void> start_emulator(const LabSession& lab, const ProcessOrder& order, const std::string& port) {
  const auto pid = start_process(lab.files.folder(), order);
  if (!pid) {
    return std::unexpected(pid.error());
  }
  const auto deadline = std::chrono::steady_clock::now() + kStartPatience;
  while (tail_of_log(lab.files.folder(), order.name).find("port " + port) == std::string::npos) {
    if (!is_running(*pid) || std::chrono::steady_clock::now() > deadline) {
      return fail(ErrorCode::unreachable, "the emulator of " + order.name +
                                              " did not start; its last words:" + tail_of_log(lab.files.folder(), order.name));
    }
    std::this_thread::sleep_for(kPollInterval);
  }
  return {};
}

/// Emulated heater banks: every Modbus/TCP bus of the inventory that lies on this host's loopback.
Result<void> start_heaters(const LabSession& lab) {
  std::set<std::string> ports;
  for (const Bus& bus : lab.scenario.fabric->buses) {
    if (bus.endpoint.starts_with("modbus-tcp://127.0.0.1:")) {
      ports.insert(port_of(bus.endpoint));
    }
  }
  for (const std::string& port : ports) {
    LOOM_TRY(
        start_emulator(lab, {"heater-" + port, {program_folder() + "/lightloom-emulate", "heater", "--port", port}}, port));
    say("  emulated heater bank at modbus-tcp://127.0.0.1:" + port);
  }
  return {};
}

/// An emulator of a switch, of the size and slowness that the fabric gives it.
Result<void> start_switch(const LabSession& lab, const Device& device, const std::string& port) {
  const Element& element = lab.scenario.fabric->element(device.elements.front());
  const auto* wss = std::get_if<WavelengthSelectiveSwitch>(&element.kind);
  const auto* ocs = std::get_if<OpticalCircuitSwitch>(&element.kind);
  if (wss == nullptr && ocs == nullptr) {
    return fail(ErrorCode::unsupported, device.name + " is on a tcp:// bus of this host; only switches are emulated there");
  }
  const std::string kind = wss != nullptr ? "wss" : "ocs";
  const Duration settle = wss != nullptr ? wss->settle_max : ocs->settle_max;
  const std::vector<std::string> command{program_folder() + "/lightloom-emulate",
                                         kind,
                                         "--port",
                                         port,
                                         "--inputs",
                                         std::to_string(element.inputs),
                                         "--outputs",
                                         std::to_string(element.outputs),
                                         "--settle-us",
                                         std::to_string(settle / std::chrono::microseconds{1}),
                                         "--seed",
                                         std::to_string(device.id.value + 1),
                                         "--light-id",
                                         std::to_string(device.id.value),
                                         "--light-log",
                                         lab.files.light_log(device)};
  LOOM_TRY(start_emulator(lab, {kind + "-" + port, command}, port));
  say("  emulated " + device.name + " at tcp://127.0.0.1:" + port);
  return {};
}

Result<void> start_emulators(const LabSession& lab) {
  LOOM_TRY(start_heaters(lab));
  const Fabric& fabric = *lab.scenario.fabric;
  std::map<std::string, std::string> device_of_port;
  for (const Device& device : fabric.devices) {
    const std::string& endpoint = fabric.buses[device.bus.value].endpoint;
    if (!is_emulated_switch(fabric, device)) {
      continue;
    }
    const auto [place, is_new] = device_of_port.emplace(port_of(endpoint), device.name);
    if (!is_new) {
      return fail(ErrorCode::invalid_config,
                  place->second + " and " + device.name + " are both at " + endpoint + "; a port has one switch");
    }
    LOOM_TRY(start_switch(lab, device, place->first));
  }
  return {};
}

Result<void> start_agents(LabSession& lab) {
  lab.agent_pids.assign(lab.scenario.agents.processes, 0);
  for (std::uint32_t process = 0; process < lab.scenario.agents.processes; ++process) {
    LOOM_TRY(start_agent_process(lab, process));
  }
  return {};
}

/// Journals and logs of an earlier lab would speak of devices that are gone; keys are kept.
void forget_earlier_lab(const LabFiles& files) {
  std::error_code ignored;
  fs::create_directories(files.folder(), ignored);
  std::vector<fs::path> old;
  for (const auto& entry : fs::directory_iterator(files.folder(), ignored)) {
    if (entry.is_regular_file(ignored)) {
      old.push_back(entry.path());
    }
  }
  for (const fs::path& file : old) {
    fs::remove(file, ignored);
  }
}

Result<void> wait_for_agents(LabSession& lab) {
  const std::uint64_t nodes = lab.scenario.fabric->nodes.size();
  const auto begin = std::chrono::steady_clock::now();
  Progress progress;
  while (true) {
    const auto reply = lab.connection->ask(Query{Noun::status, {}});
    if (!reply) {
      return std::unexpected(reply.error());
    }
    const auto& status = std::get<StatusReport>(reply->rows);
    progress.show("agents joined", status.live, nodes);
    if (status.live == nodes) {
      lab.join_time = std::chrono::steady_clock::now() - begin;
      progress.finish(std::to_string(nodes) + " agents joined in " + text_of(lab.join_time));
      return {};
    }
    for (std::size_t i = 0; i < lab.agent_pids.size(); ++i) {
      if (!is_running(lab.agent_pids[i])) {
        const std::string name = "agents-" + std::to_string(i);
        return fail(ErrorCode::unreachable, name + " ended; its last words:" + tail_of_log(lab.files.folder(), name));
      }
    }
    if (std::chrono::steady_clock::now() - begin > kJoinPatience) {
      return fail(ErrorCode::timed_out, std::to_string(status.live) + " of " + std::to_string(nodes) +
                                            " agents joined within " + text_of(Duration{kJoinPatience}));
    }
    std::this_thread::sleep_for(kPollInterval);
  }
}

Result<void> start_everything(LabSession& lab, const Globals& globals) {
  LOOM_TRY(lab.files.make_keys(lab.scenario));
  LOOM_TRY(start_emulators(lab));
  LOOM_TRY(start_controller(lab));
  LOOM_TRY(start_agents(lab));
  auto connection = Connection::open(globals);
  if (!connection) {
    return std::unexpected(connection.error());
  }
  lab.connection = std::make_unique<Connection>(std::move(*connection));
  return wait_for_agents(lab);
}

/// The mode of its processes: its own, or soft where that is the simulation.
Result<Scenario> load_for_lab(const std::string& path) {
  auto scenario = load_scenario(path);
  if (scenario && scenario.value->mode == Mode::sim) {
    if (std::ranges::find(scenario.value->modes, Mode::soft) == scenario.value->modes.end()) {
      return fail(ErrorCode::invalid_argument, path + " runs in: " + modes_text(*scenario.value) +
                                                   "; a lab has processes, which are mode soft, mixed or hard; use loom sim run");
    }
    scenario = load_scenario(path, Mode::soft);
  }
  if (!scenario) {
    for (const ConfigError& error : scenario.errors) {
      say(to_string(error));
    }
    return fail(ErrorCode::invalid_config, path + " has errors");
  }
  return std::move(*scenario.value);
}

}  // namespace

Result<void> start_controller(LabSession& lab) {
  ProcessOrder order{"lightloomd",
                     {program_folder() + "/lightloomd", "--scenario", lab.scenario_path, "--state", lab.files.folder()}};
  if (lab.record) {
    order.command.push_back("--record");
  }
  if (const auto address = lab.files.read_address()) {  // it was killed: whoever knew it looks for it there
    order.command.insert(order.command.end(), {"--listen", *address});
  }
  auto pid = start_process(lab.files.folder(), order);
  if (!pid) {
    return std::unexpected(pid.error());
  }
  lab.controller_pid = *pid;
  const auto deadline = std::chrono::steady_clock::now() + kStartPatience;
  while (!lab.files.read_address()) {
    if (!is_running(*pid) || std::chrono::steady_clock::now() > deadline) {
      return fail(ErrorCode::unreachable,
                  "lightloomd did not start; its last words:" + tail_of_log(lab.files.folder(), "lightloomd"));
    }
    std::this_thread::sleep_for(kPollInterval);
  }
  return {};
}

Result<void> start_agent_process(LabSession& lab, std::uint32_t process) {
  ProcessOrder order{"agents-" + std::to_string(process),
                     {program_folder() + "/lightloom-agent", "--scenario", lab.scenario_path, "--process",
                      std::to_string(process), "--state", lab.files.folder(), "--faults"}};
  if (!lab.inspector_dir.empty()) {
    order.command.insert(order.command.end(), {"--inspector-dir", lab.inspector_dir});
  }
  auto pid = start_process(lab.files.folder(), order);
  if (!pid) {
    return std::unexpected(pid.error());
  }
  lab.agent_pids[process] = *pid;
  return {};
}

Result<LabSession> open_lab(const Globals& globals, const LabOrder& order) {
  const std::string& scenario_path = order.scenario;
  auto scenario = load_for_lab(scenario_path);
  if (!scenario) {
    return std::unexpected(scenario.error());
  }
  if (order.runs_jobs) {
    std::string all;
    for (const std::string& sentence : not_in_a_lab(*scenario)) {
      all += "\n  " + sentence;
    }
    if (!all.empty()) {
      return fail(ErrorCode::unsupported, scenario_path + " asks for what a lab does not do:" + all);
    }
  }
  LabSession lab{LabFiles(globals.state_dir), scenario_path, std::move(*scenario), order.record, order.inspector_dir};
  if (stop_processes(lab.files.folder(), kStopPatienceMs) > 0) {
    say("  stopped an earlier lab in " + lab.files.folder());
  }
  forget_earlier_lab(lab.files);
  if (const auto started = start_everything(lab, globals); !started) {
    stop_processes(lab.files.folder(), kStopPatienceMs);
    return std::unexpected(started.error());
  }
  return lab;
}

int lab_up(const Globals& globals, const LabOrder& order) {
  const auto lab = open_lab(globals, order);
  if (!lab) {
    return give_up(lab.error());
  }
  say("  the lab runs; loom status, loom job submit ..., loom lab down");
  return kDone;
}

int lab_down(const Globals& globals) {
  const int stopped = stop_processes(globals.state_dir, kStopPatienceMs);
  say(stopped == 0 ? "nothing was running in " + globals.state_dir : "stopped " + std::to_string(stopped) + " processes");
  return kDone;
}

int run_lab(const Globals& globals, LabOrder order) {
  order.runs_jobs = true;
  auto lab = open_lab(globals, order);
  if (!lab) {
    return give_up(lab.error());
  }
  const int code = run_jobs(*lab, globals);
  if (order.keep) {
    say("  the lab runs on; loom status, loom schedule history, loom lab down");
  } else {
    stop_processes(lab->files.folder(), kStopPatienceMs);
  }
  return code;
}

}  // namespace loom::cli
