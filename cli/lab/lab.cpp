// SPDX-License-Identifier: Apache-2.0
// Starting and stopping a lab's processes, within what its manifest allows.
#include "cli/lab/lab.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "cli/command_line.hpp"
#include "cli/lab/interrupt.hpp"
#include "cli/lab/policy.hpp"
#include "cli/lab/run/faults.hpp"
#include "cli/lab/session.hpp"
#include "cli/lab/start.hpp"
#include "cli/render/term.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

constexpr int kStopPatienceMs = 3'000;
constexpr const char* kTrainingHelp =
    "Folder of sockets by which training processes pace jobs that are paced by training: DIR/NODE.sock";
constexpr const char* kMetricsHelp =
    "Controller and agents serve Prometheus metrics on loopback, each on a free port (lab status)";

std::string with_number(const LabProcess& process) { return format_text("{} (process {})", process.name, process.pid); }

std::vector<std::string> running_in(const LabFolder& folder) {
  std::vector<std::string> names;
  for (const LabProcess& process : folder.manifest() ? folder.manifest()->processes : std::vector<LabProcess>{}) {
    if (state_of(process) == ProcessState::running) {
      names.push_back(with_number(process));
    }
  }
  return names;
}

void print_what_stayed(const Stopped& stopped) {
  for (const std::string& name : stopped.not_ours) {
    print_note(format_text("  {} has ended; its number is another process's now, which was left alone", name));
  }
  for (const std::string& name : stopped.would_not) {
    print_note(format_text("  {} was killed and is still there: it waits for the kernel", name));
  }
}

/// Of devices and runs that end with their processes: a lab that starts again from its journals does not go on with them.
bool is_of_the_processes(std::string_view file) {
  return file.ends_with(".light") || file.ends_with(".whole") || file.ends_with(".grants") || file.ends_with(".address") ||
         file.ends_with(".metrics") || file.ends_with(".new") || file.ends_with("-draft") || file == "run.start";
}

/// What was there, stopped and forgotten as far as `beginning` allows; then the manifest of what is about to begin.
Result<void> prepare(LabRecord& lab, const LabBeginning& beginning) {
  LabManifest manifest = manifest_of(lab);
  LOOM_TRY(lab.folder.may_make(manifest.files));
  if (beginning.stops_what_runs) {
    const Stopped stopped = stop_processes(lab.folder.manifest()->processes, kStopPatienceMs);
    print_note(format_text("  stopped {} in {}", listing(stopped.stopped), lab.files.folder()));
    print_what_stayed(stopped);
  }
  if (!beginning.sentence.empty()) {
    print_note(beginning.sentence);
  }
  const auto forgotten =
      lab.folder.forget([&](const std::string& file) { return !beginning.keeps_journals || is_of_the_processes(file); });
  if (!forgotten) {
    return std::unexpected(forgotten.error());
  }
  if (beginning.keeps_journals) {
    const LabManifest& earlier = *lab.folder.manifest();
    manifest.use = earlier.use;
    manifest.files.insert(manifest.files.end(), earlier.files.begin(), earlier.files.end());
    LOOM_TRY(lab.folder.tighten());
  }
  return lab.folder.save(std::move(manifest));  // use none until everybody has joined: nothing of worth is in it before
}

Result<LabRecord> load_lab_record(const Globals& globals, const LabCommand& order) {
  auto scenario = load_for_lab(order.scenario);
  if (!scenario) {
    return std::unexpected(scenario.error());
  }
  if (order.runs_jobs) {
    std::string all;
    for (const std::string& sentence : not_in_a_lab(*scenario)) {
      all += "\n  " + sentence;
    }
    if (!all.empty()) {
      return fail(ErrorCode::unsupported, format_text("{} asks for what a lab does not do:{}", order.scenario, all));
    }
  }
  auto folder = LabFolder::look(globals.state_dir);
  if (!folder) {
    return std::unexpected(folder.error());
  }
  LabRecord lab{StateFolder(folder->path()), std::move(*folder), order.scenario,
                std::move(*scenario),        order.record,       order.inspector_dir};
  lab.training_dir = order.training_dir;
  lab.emulates = !order.no_emulators;
  lab.metrics = order.metrics;
  lab.connections = order.connections;
  lab.realtime = order.realtime;
  return lab;
}

LabUse use_of(const LabCommand& order) { return !order.runs_jobs ? LabUse::up : order.keep ? LabUse::run_kept : LabUse::run; }

/// Starts everything in `lab`; on an error what was started runs on, for the caller to end.
Result<void> open_lab(LabRecord& lab, const Globals& globals, const LabCommand& order) {
  const LabUse use = use_of(order);
  LOOM_TRY(lab.folder.take(format_text("loom {} {}", to_string(use), order.scenario)));
  const auto beginning = decide_beginning(lab.folder.manifest(), running_in(lab.folder),
                                          {use, manifest_of(lab), lab.files.folder(), order.replace, order.fresh});
  if (!beginning) {
    return std::unexpected(beginning.error());
  }
  LOOM_TRY(prepare(lab, *beginning));
  LOOM_TRY(start_everything(lab, globals));
  LabManifest manifest = *lab.folder.manifest();
  manifest.use = use;
  manifest.address = lab.address;
  LOOM_TRY(lab.folder.save(std::move(manifest)));
  lab.folder.release();
  return {};
}

/// Everything of this lab: what was started here, and what another command started in its place since (`lab restart`). A lab
/// that replaced this one shares no process with it and is left alone.
Stopped stop_lab(const LabRecord& lab) {
  Stopped stopped;
  const auto folder = LabFolder::look(lab.files.folder());
  if (folder && folder->manifest() && std::ranges::any_of(folder->manifest()->processes, [&](const LabProcess& process) {
        return lab.started->has(process);
      })) {
    stopped = stop_processes(folder->manifest()->processes, kStopPatienceMs);
  }
  const Stopped own = lab.started->stop(kStopPatienceMs);
  stopped.stopped.insert(stopped.stopped.end(), own.stopped.begin(), own.stopped.end());
  stopped.would_not = own.would_not;
  return stopped;
}

/// Runs `work` on a lab of `order`'s; whatever interrupts it, nothing that was started is left running.
int with_lab(Globals globals, const LabCommand& order, const std::function<int(LabRecord&, const Globals&)>& work) {
  auto session = load_lab_record(globals, order);
  if (!session) {
    return give_up(session.error());
  }
  LabRecord& lab = *session;
  Interrupt interrupt(
      [started = lab.started](bool at_once) { print_what_stayed(started->stop(at_once ? 0 : kStopPatienceMs)); });
  lab.is_interrupted = globals.is_interrupted = [&interrupt] { return interrupt.is_raised(); };
  lab.lifetime = order.runs_jobs && !order.keep ? Lifetime::ours : Lifetime::outlasts;
  const auto opened = open_lab(lab, globals, order);
  const int code = opened ? work(lab, globals) : kFailed;
  const bool was_interrupted = interrupt.is_raised();
  if (was_interrupted) {
    interrupt.take_over();
  }
  if (was_interrupted || !opened || lab.lifetime == Lifetime::ours) {
    const Stopped stopped = stop_lab(lab);
    print_what_stayed(stopped);
    if (was_interrupted) {
      print_note(format_text("  stopped {} processes; nothing of this lab runs", stopped.stopped.size()));
      return kInterrupted;
    }
  }
  return opened ? code : give_up(opened.error());
}

}  // namespace

int lab_up(const Globals& globals, const LabCommand& order) {
  return with_lab(globals, order, [](LabRecord&, const Globals&) {
    print_note("  the lab runs; loom status, loom job submit ..., loom lab down");
    return static_cast<int>(kDone);
  });
}

int run_lab(const Globals& globals, LabCommand order) {
  order.runs_jobs = true;
  return with_lab(globals, order, [&](LabRecord& lab, const Globals& used) {
    const int code = run_jobs(lab, used);
    if (order.keep) {
      print_note("  the lab runs on; loom status, loom schedule history, loom lab down");
    }
    return code;
  });
}

int lab_down(const Globals& globals) {
  auto folder = LabFolder::look(globals.state_dir);
  if (!folder) {
    return give_up(folder.error());
  }
  if (!folder->manifest()) {
    print_note(format_text("nothing was running in {}: {}", folder->path(),
                           folder->is_there() ? "it is empty" : "there is no such folder"));
    return kDone;
  }
  if (const auto taken = folder->take("loom lab down"); !taken) {
    return give_up(taken.error());
  }
  LabManifest manifest = *folder->manifest();
  const Stopped stopped = stop_processes(manifest.processes, kStopPatienceMs);
  print_note(stopped.stopped.empty()
                 ? "nothing was running in " + folder->path()
                 : format_text("stopped {}{}{}", stopped.stopped.size(),
                               stopped.stopped.size() == 1 ? " process: " : " processes: ", listing(stopped.stopped)));
  print_what_stayed(stopped);
  std::erase_if(manifest.processes, [&](const LabProcess& process) {
    return std::ranges::find(stopped.would_not, process.name) == stopped.would_not.end();
  });
  const bool goes_on = manifest.use == LabUse::up || manifest.use == LabUse::run_kept;
  const std::string scenario = manifest.scenario;
  if (const auto saved = folder->save(std::move(manifest)); !saved) {
    return give_up(saved.error());
  }
  if (goes_on) {
    print_note(format_text("  journals, logs and keys stay in {}; go on from them: loom lab up {} --state {}", folder->path(),
                           scenario, folder->path()));
  }
  return stopped.would_not.empty() ? kDone : kFailed;
}

Result<void> mark_key_folder(const std::string& state_dir) {
  auto folder = LabFolder::look(state_dir);
  if (!folder || folder->manifest()) {
    return {};  // ours already, or somebody's whose folder has room for keys and nothing else of ours
  }
  LOOM_TRY(folder->take("loom keys generate"));
  return folder->manifest() ? Result<void>{} : folder->save({});
}

static void add_beginning(CLI::App& verb, LabCommand& order) {
  verb.add_flag("--replace", order.replace, "Stop the lab that runs in the state folder, if one does");
  verb.add_flag("--fresh", order.fresh, "Forget the journals and logs of an earlier lab; keys stay");
}

/// What its daemons are told.
static void add_daemons(CLI::App& verb, LabCommand& order) {
  verb.add_flag("--record", order.record, "The controller keeps a tape, for loom sim replay");
  verb.add_flag("--metrics", order.metrics, kMetricsHelp);
  verb.add_option("--inspector-dir", order.inspector_dir, "NCCL Inspector's dumps, a folder a node: DIR/{node}");
  verb.add_option("--training-dir", order.training_dir, kTrainingHelp);
  verb.add_option("--connections", order.connections,
                  "Of agents to the controller: shared, one a process, or each, one an agent")
      ->check(CLI::IsMember({"shared", "each"}))
      ->capture_default_str();
  verb.add_flag("--realtime", order.realtime, "Agents' loops at SCHED_FIFO, their memory locked, where the system permits it");
}

void add_lab(CLI::App& app, CommandLine& line) {
  CLI::App* lab = app.add_subcommand("lab", "Controller, agents and emulators of a scenario, together");
  lab->require_subcommand(1);
  auto& order = line.keep<LabCommand>();
  lab->footer(
      "A lab touches nothing in --state but what STATE/lab.json says that a lab made: a folder of other files is refused (3).\n"
      "lab up goes on from the journals of an earlier lab up; lab run plays its scenario from the beginning.");
  CLI::App* run = lab->add_subcommand(
      "run", "Start, do what the scenario says when it says it, account for its jobs, replay, stop. Exit 1: not as it expects");
  run->add_option("SCENARIO", order.scenario, "YAML file")->required();
  run->add_flag("--keep", order.keep, "Leave everything running");
  add_beginning(*run, order);
  add_daemons(*run, order);
  line.when(*run, [&order](const Globals& globals) { return run_lab(globals, order); });
  CLI::App* up = lab->add_subcommand("up", "Start and wait until every agent has joined");
  up->add_option("SCENARIO", order.scenario, "YAML file")->required();
  add_beginning(*up, order);
  add_daemons(*up, order);
  up->add_flag("--no-emulators", order.no_emulators,
               "Devices at this host's loopback, and modules' files outside of /sys, are there already (behind a tunnel, say): "
               "start no emulators");
  line.when(*up, lab_up, order);
  line.when(*lab->add_subcommand("down", "Stop what a lab left running; journals, logs and keys stay"), lab_down);
  line.when(*lab->add_subcommand("status", "Its processes: number, state, since when, memory. Exit 4: some have ended"),
            lab_status);
  CLI::App* restart = lab->add_subcommand(
      "restart", "Stop a process and start it again; agents keep their light, and have 60 s or --timeout to join again");
  restart->add_option("PROCESS", order.process, "controller, agents-0, heater-5020, ... (loom lab status)")->required();
  line.when(*restart, restart_in_lab, order);
}

}  // namespace loom::cli
