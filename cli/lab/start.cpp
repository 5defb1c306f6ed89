// SPDX-License-Identifier: Apache-2.0
// Orders of processes out of a scenario, and patience.
#include "cli/lab/start.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

#include "cli/lab/emulators.hpp"
#include "cli/render/term.hpp"
#include "controller/architectures/registry.hpp"
#include "core/config/scenario/scenario_file.hpp"
#include "core/text/format_text.hpp"
#include "runtime/journal/fold.hpp"
#include "sim_backend/devices/registry.hpp"
#include "sim_backend/light/local_light.hpp"

namespace loom::cli {
namespace fs = std::filesystem;
namespace {

constexpr auto kPollInterval = std::chrono::milliseconds{20};
constexpr auto kStartPatience = std::chrono::seconds{10};
constexpr std::string_view kController = "lightloomd";

std::string agents_name(std::uint32_t process) { return format_text("agents-{}", process); }

std::uint32_t relays_of(const LabRecord& lab) { return static_cast<std::uint32_t>(lab.scenario.agents.relays.size()); }

struct Emulator {
  ProcessSpec order;
  EmulatedPlace place;
  std::string sentence;  ///< that says what it is
};

/// Whatever it stands for, the scenario says: ports and rings, times, profiles, serial numbers, faults.
Emulator emulator_at(const LabRecord& lab, const EmulatedPlace& place) {
  const Fabric& fabric = *lab.scenario.fabric;
  const Device& first = fabric.device(place.devices.front());
  std::vector<std::string> command{program_folder() + "/lightloom-emulate",
                                   std::string(place.program),
                                   "--scenario",
                                   lab.scenario_path,
                                   "--faults-of",
                                   lab.files.folder(),
                                   "--seed",
                                   std::to_string(first.id.value + 1),
                                   "--light-log",
                                   lab.files.light_log(first)};
  if (place.is_file()) {
    command.insert(command.end(), {"--mount", place.folder});
  } else {
    command.insert(command.end(), {"--bind", place.host, "--port", place.port});
  }
  const auto is_ours = [&](const Device& device) {
    const std::string& endpoint = fabric.buses[device.bus.value].endpoint;
    return endpoint == "sim" || is_emulated(fabric, device);
  };
  if (first.role == DeviceRole::monitor ||  // it measures what everybody else's log says, and darkness where nobody logs
      (measures_light(first) && stranger_upstream(fabric, first.elements, is_ours) == nullptr)) {
    command.insert(command.end(), {"--light-logs", lab.files.folder()});
  }
  std::string names;
  for (const BusId bus : place.buses) {
    command.insert(command.end(), {"--bus", fabric.buses[bus.value].name});
  }
  for (const DeviceId device : place.devices) {
    names += (names.empty() ? "" : ", ") + fabric.device(device).name;
  }
  return {{place.name, std::move(command)}, place, format_text("  emulated {} at {}", names, place.endpoint)};
}

Result<std::vector<Emulator>> emulators_of(const LabRecord& lab) {
  if (!lab.emulates) {
    return {};
  }
  const auto places = emulated_places(*lab.scenario.fabric);
  if (!places) {
    return std::unexpected(places.error());
  }
  std::vector<Emulator> emulators;
  for (const EmulatedPlace& place : *places) {
    emulators.push_back(emulator_at(lab, place));
  }
  return emulators;
}

Result<void> check_interrupt(const LabRecord& lab) {
  return lab.is_interrupted() ? fail(ErrorCode::timed_out, "interrupted") : Result<void>{};
}

/// Into the manifest, which whoever ends the lab later goes by.
Result<void> note_process(LabRecord& lab, const LabProcess& process) {
  if (!lab.started->note(process)) {
    return fail(ErrorCode::timed_out, "interrupted");
  }
  const bool was_taken = lab.folder.is_taken();
  if (!was_taken) {
    LOOM_TRY(lab.folder.take("loom, starting " + process.name));
  }
  LabManifest manifest = lab.folder.manifest().value_or(LabManifest{});
  manifest.note(process);
  const auto saved = lab.folder.save(std::move(manifest));
  if (!was_taken) {
    lab.folder.release();
  }
  return saved;
}

Result<int> start(LabRecord& lab, const ProcessSpec& order) {
  const auto process = start_process(lab.files.folder(), order, lab.lifetime,
                                     [&](const LabProcess& started) { return note_process(lab, started); });
  return process ? Result<int>(process->pid) : std::unexpected(process.error());
}

/// A module's file appears in a folder of its own, which stays when the emulator has ended, and which nobody else may change.
/// Errors: storage, refused (another user's, or not empty).
Result<void> make_mount_point(const EmulatedPlace& place) {
  if (!place.is_file()) {
    return {};
  }
  std::error_code error;
  fs::create_directories(place.folder, error);
  const fs::path folder = error ? fs::path() : fs::canonical(place.folder, error);
  struct stat facts = {};
  if (error || stat(folder.c_str(), &facts) != 0) {
    return fail(ErrorCode::storage, format_text("{}: the folder {} cannot be made: {}", place.name, place.folder,
                                                error ? error.message() : "it went away"));
  }
  if (facts.st_uid != geteuid() || !fs::is_empty(folder, error)) {
    return fail(ErrorCode::refused,
                format_text("{}: the folder {} is {}; an emulated module needs an empty one of its own", place.name,
                            place.folder, facts.st_uid != geteuid() ? "another user's" : "not empty"));
  }
  fs::permissions(folder, fs::perms::owner_all, error);
  return {};
}

/// An emulator is up when it says its place: agents that ask it earlier would report a device that does not answer.
Result<void> start_emulator(LabRecord& lab, const Emulator& emulator) {
  const std::string& name = emulator.order.name;
  LOOM_TRY(make_mount_point(emulator.place));
  const auto pid = start(lab, emulator.order);
  if (!pid) {
    return std::unexpected(pid.error());
  }
  const auto deadline = std::chrono::steady_clock::now() + kStartPatience;
  while (tail_of_log(lab.files.folder(), name).find(emulator.place.announcement()) == std::string::npos) {
    LOOM_TRY(check_interrupt(lab));
    if (!is_running(*pid) || std::chrono::steady_clock::now() > deadline) {
      return fail(ErrorCode::unreachable, format_text("the emulator of {} did not start; it said last:{}", name,
                                                      tail_of_log(lab.files.folder(), name)));
    }
    std::this_thread::sleep_for(kPollInterval);
  }
  print_note(emulator.sentence);
  return {};
}

void add(std::vector<std::string>& files, const std::string& path, std::initializer_list<const char*> suffixes) {
  const std::string name = fs::path(path).filename().string();
  for (const char* suffix : suffixes) {
    files.push_back(name + suffix);
  }
}

/// With what SQLite lays beside it, and the copies that the account of a run reads.
void add_journal(std::vector<std::string>& files, const std::string& path) {
  add(files, path, {"", "-wal", "-shm", "-journal", ".lock", ".read", ".read.loom-draft", ".read.loom-draft-journal"});
}

/// Empty: such a process has none.
std::string metrics_file_of(const LabRecord& lab, const std::string& name) {
  if (name == kController) {
    return lab.files.controller_metrics();
  }
  for (std::uint32_t process = 0; process < lab.scenario.agents.processes; ++process) {
    if (name == agents_name(process)) {
      return lab.files.agents_metrics(process);
    }
  }
  for (std::uint32_t relay = 0; relay < relays_of(lab); ++relay) {
    if (name == RelayFiles(lab.files, relay).name()) {
      return RelayFiles(lab.files, relay).metrics();
    }
  }
  return {};
}

/// Where whoever scraped an earlier incarnation finds this one; else any free port.
void serve_metrics(const LabRecord& lab, ProcessSpec& order) {
  if (!lab.metrics) {
    return;
  }
  const LabProcess* earlier = lab.folder.manifest() ? lab.folder.manifest()->process(order.name) : nullptr;
  const std::string url = earlier == nullptr ? "" : earlier->metrics;  // http://127.0.0.1:9101/metrics
  const auto host = url.find("//");
  const auto path = url.rfind('/');
  const bool is_known = host != std::string::npos && path > host + 2;
  order.command.insert(order.command.end(),
                       {"--metrics", is_known ? url.substr(host + 2, path - host - 2) : std::string("127.0.0.1:0")});
}

/// Errors: as note_metrics().
Result<std::string> await_url(const LabRecord& lab, const LabProcess& process, const std::string& file) {
  const auto deadline = std::chrono::steady_clock::now() + kStartPatience;
  while (true) {
    std::ifstream written(file);
    if (std::string url; std::getline(written, url)) {
      return url;
    }
    LOOM_TRY(check_interrupt(lab));
    if (!is_running(process.pid) || std::chrono::steady_clock::now() > deadline) {
      return fail(ErrorCode::unreachable, format_text("{} serves no metrics; it said last:{}", process.name,
                                                      tail_of_log(lab.files.folder(), process.name)));
    }
    std::this_thread::sleep_for(kPollInterval);
  }
}

/// Where a process listens, once it does. Errors: unreachable (it ended, or did not say so in time), timed_out (interrupted).
template <class Read>
Result<std::string> await_address(const LabRecord& lab, const std::string& name, int pid, Read read) {
  const auto deadline = std::chrono::steady_clock::now() + kStartPatience;
  auto address = read();
  for (; !address; address = read()) {
    LOOM_TRY(check_interrupt(lab));
    if (!is_running(pid) || std::chrono::steady_clock::now() > deadline) {
      return fail(ErrorCode::unreachable,
                  format_text("{} did not start; it said last:{}", name, tail_of_log(lab.files.folder(), name)));
    }
    std::this_thread::sleep_for(kPollInterval);
  }
  return address;
}

/// Whatever the programs of a lab write, beside their logs; keys are not forgotten with a lab.
std::vector<std::string> files_of(const LabRecord& lab) {
  std::vector<std::string> files;
  add_journal(files, lab.files.controller_journal());
  add(files, lab.files.address(), {"", ".new"});
  add(files, lab.files.controller_metrics(), {"", ".new"});
  add(files, lab.files.start(), {""});
  add(files, lab.files.tape(), {""});
  for (std::uint32_t process = 0; process < lab.scenario.agents.processes; ++process) {
    add_journal(files, lab.files.agents_journal(process));
    add(files, lab.files.light_log(process), {"", ".whole", ".whole.new"});
    add(files, lab.files.grant_log(process), {""});
    add(files, lab.files.agents_address(process), {""});
    add(files, lab.files.agents_metrics(process), {"", ".new"});
  }
  for (std::uint32_t relay = 0; relay < relays_of(lab); ++relay) {
    add(files, RelayFiles(lab.files, relay).address(), {"", ".new"});
    add(files, RelayFiles(lab.files, relay).metrics(), {"", ".new"});
    add(files, RelayFiles(lab.files, relay).lock(), {""});
  }
  for (const Device& device : lab.scenario.fabric->devices) {
    if (is_emulated(*lab.scenario.fabric, device)) {
      add(files, lab.files.light_log(device), {""});
    }
  }
  return files;
}

}  // namespace

bool StartedProcesses::note(const LabProcess& process) {
  const std::lock_guard lock(mutex_);
  if (!is_stopped_) {
    started_.note(process);
  }
  return !is_stopped_;
}

bool StartedProcesses::has(const LabProcess& process) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::find(started_.processes, process) != started_.processes.end();
}

std::vector<LabProcess> StartedProcesses::named(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const LabProcess* process = started_.process(name);
  return process == nullptr ? std::vector<LabProcess>{} : std::vector{*process};
}

Stopped StartedProcesses::stop(int patience_ms) {
  const std::lock_guard lock(mutex_);
  is_stopped_ = true;
  return stop_processes(started_.processes, patience_ms);
}

Result<Scenario> load_for_lab(const std::string& path) {
  auto scenario = load_scenario(path, all_fabric_kinds());
  if (scenario && scenario.value->mode == Mode::sim) {
    if (std::ranges::find(scenario.value->modes, Mode::soft) == scenario.value->modes.end()) {
      return fail(ErrorCode::invalid_argument,
                  format_text("{} runs in: {}; a lab has processes, which are mode soft, mixed or hard", path,
                              modes_text(*scenario.value)),
                  format_text("loom sim run {}", path));
    }
    scenario = load_scenario(path, all_fabric_kinds(), Mode::soft);
  }
  if (!scenario) {
    for (const ConfigError& error : scenario.errors) {
      print_note(to_string(error));
    }
    return fail(ErrorCode::invalid_config, path + " has errors");
  }
  if (is_on_several_hosts(*scenario.value)) {
    return fail(ErrorCode::unsupported,
                format_text("{} is on {} hosts beside the controller's; a lab has all its processes on this one", path,
                            scenario.value->agents.hosts.size()),
                "lightloomd --scenario SCENARIO here, and lightloom-agent --host HOST --keys FILE on each (docs/hosts.md)");
  }
  return std::move(*scenario.value);
}

LabManifest manifest_of(const LabRecord& lab) {
  std::error_code problem;
  LabManifest manifest;
  manifest.scenario = fs::weakly_canonical(lab.scenario_path, problem).string();
  manifest.fabric = lab.scenario.fabric->name;
  manifest.fabric_digest = setup_digest(*lab.scenario.fabric, lab.scenario.algorithm);
  manifest.agent_processes = lab.scenario.agents.processes;
  manifest.record = lab.record;
  manifest.inspector_dir = lab.inspector_dir;
  manifest.training_dir = lab.training_dir;
  manifest.emulates = lab.emulates;
  manifest.metrics = lab.metrics;
  manifest.connections = lab.connections;
  manifest.realtime = lab.realtime;
  manifest.files = files_of(lab);
  if (const auto processes = processes_of(lab)) {
    for (const std::string& name : *processes) {
      manifest.files.push_back(name + ".log");
    }
  }
  return manifest;
}

Result<std::vector<std::string>> processes_of(const LabRecord& lab) {
  const auto emulators = emulators_of(lab);
  if (!emulators) {
    return std::unexpected(emulators.error());
  }
  std::vector<std::string> names;
  for (const Emulator& emulator : *emulators) {
    names.push_back(emulator.order.name);
  }
  names.emplace_back(kController);
  for (std::uint32_t relay = 0; relay < relays_of(lab); ++relay) {
    names.push_back(RelayFiles(lab.files, relay).name());
  }
  for (std::uint32_t process = 0; process < lab.scenario.agents.processes; ++process) {
    names.push_back(agents_name(process));
  }
  return names;
}

Result<void> start_by_name(LabRecord& lab, const std::string& name) {
  if (name == kController) {
    return start_controller(lab);
  }
  for (std::uint32_t relay = 0; relay < relays_of(lab); ++relay) {
    if (name == RelayFiles(lab.files, relay).name()) {
      return start_relay(lab, relay);
    }
  }
  for (std::uint32_t process = 0; process < lab.scenario.agents.processes; ++process) {
    if (name == agents_name(process)) {
      return start_agent_process(lab, process);
    }
  }
  const auto emulators = emulators_of(lab);
  if (!emulators) {
    return std::unexpected(emulators.error());
  }
  for (const Emulator& emulator : *emulators) {
    if (name == emulator.order.name) {
      return start_emulator(lab, emulator);
    }
  }
  return fail(ErrorCode::not_found, "the lab has no process " + name, "loom lab status");
}

Result<void> start_controller(LabRecord& lab) {
  const std::string name(kController);
  ProcessSpec order{name, {program_folder() + "/lightloomd", "--scenario", lab.scenario_path, "--state", lab.files.folder()}};
  order.extends_log = true;  // the audit is in it
  if (lab.record) {
    order.command.emplace_back("--record");
  }
  if (!lab.address.empty()) {  // whoever knew it looks for it there
    order.command.insert(order.command.end(), {"--listen", lab.address});
  }
  serve_metrics(lab, order);
  std::remove(lab.files.controller_metrics().c_str());
  std::remove(lab.files.address().c_str());  // of an earlier one that was killed: it does not speak for this one
  auto pid = start(lab, order);
  if (!pid) {
    return std::unexpected(pid.error());
  }
  lab.controller_pid = *pid;
  auto address = await_address(lab, order.name, *pid, [&lab] { return lab.files.read_address(); });
  if (!address) {
    return std::unexpected(std::move(address).error());
  }
  lab.address = *std::move(address);
  return {};
}

Result<void> start_relay(LabRecord& lab, std::uint32_t relay) {
  ProcessSpec order{RelayFiles(lab.files, relay).name(),
                    {program_folder() + "/lightloom-agent", "--scenario", lab.scenario_path, "--relay", std::to_string(relay),
                     "--state", lab.files.folder()}};
  order.extends_log = true;
  if (const auto earlier = RelayFiles(lab.files, relay).read_address()) {  // agents look for it there
    order.command.insert(order.command.end(), {"--listen", *earlier});
  }
  serve_metrics(lab, order);
  std::remove(RelayFiles(lab.files, relay).metrics().c_str());
  std::remove(RelayFiles(lab.files, relay).address().c_str());
  const auto pid = start(lab, order);
  if (!pid) {
    return std::unexpected(pid.error());
  }
  const auto address = await_address(lab, order.name, *pid, [&] { return RelayFiles(lab.files, relay).read_address(); });
  return address ? Result<void>{} : std::unexpected(address.error());
}

Result<void> start_agent_process(LabRecord& lab, std::uint32_t process) {
  ProcessSpec order{agents_name(process),
                    {program_folder() + "/lightloom-agent", "--scenario", lab.scenario_path, "--process",
                     std::to_string(process), "--state", lab.files.folder(), "--faults"}};
  order.extends_log = true;
  if (!lab.inspector_dir.empty()) {
    order.command.insert(order.command.end(), {"--inspector-dir", lab.inspector_dir});
  }
  if (!lab.training_dir.empty()) {
    order.command.insert(order.command.end(), {"--training-dir", lab.training_dir});
  }
  order.command.insert(order.command.end(), {"--connections", lab.connections});
  if (lab.realtime) {
    order.command.emplace_back("--realtime");
  }
  serve_metrics(lab, order);
  std::remove(lab.files.agents_metrics(process).c_str());
  auto pid = start(lab, order);
  if (!pid) {
    return std::unexpected(pid.error());
  }
  lab.agent_pids.resize(lab.scenario.agents.processes, 0);
  lab.agent_pids[process] = *pid;
  return {};
}

Result<void> note_metrics(LabRecord& lab, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::string file = lab.metrics ? metrics_file_of(lab, name) : std::string{};
    if (file.empty()) {
      continue;
    }
    LabProcess process = *lab.folder.manifest()->process(name);
    auto url = await_url(lab, process, file);
    if (!url) {
      return std::unexpected(url.error());
    }
    process.metrics = std::move(*url);
    LOOM_TRY(note_process(lab, process));
    print_note(format_text("  metrics of {} at {}", name, process.metrics));
  }
  return {};
}

Result<void> wait_for_agents(LabRecord& lab, const Joining& joining) {
  const auto begin = std::chrono::steady_clock::now();
  Progress progress;
  while (true) {
    LOOM_TRY(check_interrupt(lab));
    const auto reply = lab.connection->ask(Query{Noun::status, {}});
    if (!reply) {
      return std::unexpected(reply.error());
    }
    const auto& status = std::get<StatusReport>(reply->rows);
    progress.show(joining.label, status.live, joining.nodes);
    if (status.live >= joining.nodes) {
      lab.join_time = std::chrono::steady_clock::now() - begin;
      progress.finish(format_text("{} {} in {}", status.live, joining.label, text_of(lab.join_time)));
      return {};
    }
    for (std::size_t i = 0; i < lab.agent_pids.size(); ++i) {
      if (lab.agent_pids[i] != 0 && !is_running(lab.agent_pids[i])) {
        const std::string name = agents_name(static_cast<std::uint32_t>(i));
        return fail(ErrorCode::unreachable,
                    format_text("{} ended; it said last:{}", name, tail_of_log(lab.files.folder(), name)));
      }
    }
    if (std::chrono::steady_clock::now() - begin > joining.patience) {
      return fail(ErrorCode::timed_out,
                  format_text("{} of {} agents joined within {}", status.live, joining.nodes, text_of(joining.patience)));
    }
    std::this_thread::sleep_for(kPollInterval);
  }
}

Result<void> start_everything(LabRecord& lab, const Globals& globals) {
  LOOM_TRY(lab.files.make_keys(lab.scenario));
  const auto names = processes_of(lab);
  if (!names) {
    return std::unexpected(names.error());
  }
  for (const std::string& name : *names) {
    LOOM_TRY(check_interrupt(lab));
    LOOM_TRY(start_by_name(lab, name));
  }
  LOOM_TRY(note_metrics(lab, *names));
  auto connection = Connection::open(globals);
  if (!connection) {
    return std::unexpected(connection.error());
  }
  lab.connection = std::make_unique<Connection>(std::move(*connection));
  return wait_for_agents(lab, {lab.scenario.fabric->nodes.size()});
}

}  // namespace loom::cli
