// loom: the operator's tool. Noun, then verb; data on stdout, words on stderr; exit codes as --help says.
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "cli/lab.hpp"
#include "cli/offline.hpp"
#include "cli/options.hpp"
#include "cli/remote.hpp"
#include "cli/soak.hpp"
#include "cli/term.hpp"

namespace loom::cli {
namespace {

constexpr const char* kFooter =
    "Exit codes: 0 ok, 1 failed, 2 usage, 3 refused, 4 partial, 5 no connection, 124 timed out, 130 interrupted.\n"
    "Start here: ./dev run --keep, then loom status.";

/// What the parsed command line asks for; set by the callback of the subcommand that was named.
struct Session {
  Globals globals;
  std::string timeout = "10s";
  std::function<int()> command;

  std::uint64_t id = 0;
  PredictOrder predict;
  SimOrder sim;
  SoakOrder soak;
  KillOrder kills;
  JobOrder job;
  LabOrder lab;
  std::string path;
  std::vector<std::string> paths;
  std::vector<std::string> job_settings;
};

void add_reading(CLI::App& app, Session& session, const char* noun_word, const char* plural, Noun noun) {
  CLI::App* group = app.add_subcommand(noun_word, std::string("The controller's ") + plural);
  group->require_subcommand(1);
  group->add_subcommand("list", std::string("All ") + plural)->callback([&session, noun] {
    session.command = [&session, noun] { return show(session.globals, noun, {}); };
  });
  CLI::App* one = group->add_subcommand("show", std::string("One of the ") + plural);
  one->add_option("ID", session.id, "Its number")->required();
  one->callback([&session, noun] { session.command = [&session, noun] { return show(session.globals, noun, session.id); }; });
}

void add_job(CLI::App& app, Session& session) {
  CLI::App* job = app.get_subcommand("job");
  CLI::App* submit = job->add_subcommand("submit", "Ask for a job's circuits: a model of the zoo or a trace file");
  submit->add_option("WORKLOAD", session.job.workload, "vgg16, vgg19, resnet50, dlrm, or a PyTorch execution trace")
      ->required();
  submit->add_option("--nodes", session.job.nodes, "How many nodes; a trace brings its own");
  submit->add_option("--name", session.job.name, "What to call it");
  submit->add_option("--set", session.job_settings, "Workload parameter key=value, repeatable");
  submit->add_flag("--wait", session.job.wait, "Return when its light is confirmed");
  submit->add_flag("--dry-run", session.globals.dry_run, "Plan only: say what would change");
  submit->callback([&session] {
    session.command = [&session] {
      auto settings = parse_settings(session.job_settings);
      if (!settings) {
        return give_up(settings.error(), "loom job submit --help");
      }
      session.job.settings = std::move(*settings);
      return submit_job(session.globals, session.job);
    };
  });
  CLI::App* cancel = job->add_subcommand("cancel", "End a job and its light");
  cancel->add_option("ID", session.id, "The job's number")->required();
  cancel->add_flag("--dry-run", session.globals.dry_run, "Say what would change");
  cancel->callback([&session] { session.command = [&session] { return cancel_job(session.globals, session.id); }; });
}

void add_controller_commands(CLI::App& app, Session& session) {
  app.add_subcommand("status", "Term, revision, agents, jobs, drift")->callback([&session] {
    session.command = [&session] { return show(session.globals, Noun::status, {}); };
  });
  add_reading(app, session, "node", "nodes and their agents", Noun::nodes);
  add_reading(app, session, "device", "devices and what they were last seen to be", Noun::devices);
  add_reading(app, session, "circuit", "circuits of the confirmed revision", Noun::circuits);
  add_reading(app, session, "job", "jobs", Noun::jobs);
  add_job(app, session);
  CLI::App* schedule = app.add_subcommand("schedule", "The light that is confirmed, and how it came");
  schedule->require_subcommand(1);
  schedule->add_subcommand("show", "Circuits by job and timeslot")->callback([&session] {
    session.command = [&session] { return show_schedule(session.globals); };
  });
  schedule->add_subcommand("history", "Every revision: outcome, stages, reason")->callback([&session] {
    session.command = [&session] { return show(session.globals, Noun::history, {}); };
  });
  CLI::App* wait = app.add_subcommand("wait", "Until a revision is confirmed (--timeout)");
  wait->add_option("REVISION", session.id, "Its number")->required();
  wait->callback([&session] { session.command = [&session] { return wait_for_revision(session.globals, session.id); }; });
  CLI::App* lasers = app.add_subcommand("lasers", "Darken everything, or lift that");
  lasers->require_subcommand(1);
  for (const bool on : {false, true}) {
    CLI::App* verb = on ? lasers->add_subcommand("rearm", "Lift the latch; light returns with the next revision")
                        : lasers->add_subcommand("off", "Darken every laser at once, latched");
    verb->add_flag("--dry-run", session.globals.dry_run, "Say what would happen");
    verb->callback([&session, on] { session.command = [&session, on] { return switch_lasers(session.globals, on); }; });
  }
  CLI::App* alarm = app.add_subcommand("alarm", "What went wrong, and what to type next");
  alarm->require_subcommand(1);
  alarm->add_subcommand("list", "All alarms, oldest first")->callback([&session] {
    session.command = [&session] { return show(session.globals, Noun::alarms, {}); };
  });
}

void add_soak(CLI::App& sim, Session& session) {
  CLI::App* swarm = sim.add_subcommand("soak", "Runs drawn from seeds, under faults that the seeds choose");
  swarm->add_option("--seeds", session.soak.seeds, "How many")->check(CLI::PositiveNumber)->capture_default_str();
  swarm->add_option("--first", session.soak.first, "The first seed")->capture_default_str();
  swarm->add_option("--step", session.soak.step, "Every so-manieth seed only")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  swarm->add_option("--twice-every", session.soak.twice_every, "Of so many seeds one is run twice; 0: none")
      ->capture_default_str();
  swarm->add_option("--faults", session.soak.faults, "Only these classes, repeatable: network, partition, ...");
  swarm->callback([&session] { session.command = [&session] { return soak(session.globals, session.soak); }; });
  CLI::App* kills = sim.add_subcommand("kill-points", "One change, with a machine killed at each of its steps");
  kills->add_option("--seed", session.kills.seed, "Of every trial")->capture_default_str();
  kills->add_option("--every", session.kills.every, "Try every so-manieth point")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  kills->callback([&session] { session.command = [&session] { return try_kills(session.globals, session.kills); }; });
}

void add_pure_commands(CLI::App& app, Session& session) {
  CLI::App* guess = app.add_subcommand("predict", "One training iteration: total, compute, exposed communication");
  guess->add_option("--workload", session.predict.workload, "Model of the zoo or trace file")->required();
  guess->add_option("--fabric", session.predict.fabric, "oddl, ideal-switch or fat-tree")->required();
  guess->add_option("--nodes", session.predict.nodes, "How many nodes; a trace brings its own");
  guess->add_option("--bandwidth", session.predict.bandwidth, "A node's total per direction, e.g. 100G")->capture_default_str();
  guess->add_option("--set", session.predict.settings, "Parameter key=value or fabric.key=value, repeatable");
  guess->callback([&session] { session.command = [&session] { return predict(session.globals, session.predict); }; });
  CLI::App* trace = app.add_subcommand("import", "Summary of a trace's task graph");
  trace->add_option("TRACE", session.path, "PyTorch execution trace: .json, .json.gz, .tar.gz with a file a rank")->required();
  trace->callback([&session] { session.command = [&session] { return import(session.globals, session.path); }; });
  CLI::App* sim = app.add_subcommand("sim", "The whole system in virtual time");
  sim->require_subcommand(1);
  CLI::App* run = sim->add_subcommand("run", "Run a scenario; prints a digest of everything that happened");
  run->add_option("SCENARIO", session.sim.scenario, "YAML file")->required();
  run->add_option("--seed", session.sim.seed, "Instead of the scenario's");
  run->add_option("--for", session.sim.run_for, "Virtual time, e.g. 10s");
  run->add_option("--trace", session.sim.trace_path, "Write a Perfetto trace");
  run->callback([&session] { session.command = [&session] { return simulate(session.globals, session.sim); }; });
  add_soak(*sim, session);
  CLI::App* config = app.add_subcommand("config", "Configuration files");
  config->require_subcommand(1);
  CLI::App* check = config->add_subcommand("check", "Every error of every file, as file:line:column");
  check->add_option("FILE", session.paths, "YAML files")->required();
  check->callback([&session] { session.command = [&session] { return check_configs(session.globals, session.paths); }; });
  CLI::App* keys = app.add_subcommand("keys", "CURVE keys");
  keys->require_subcommand(1);
  CLI::App* generate =
      keys->add_subcommand("generate", "Keys of a controller, its agent processes and an operator, where missing");
  generate->add_option("SCENARIO", session.path, "YAML file: says how many agent processes there are")->required();
  generate->callback([&session] { session.command = [&session] { return generate_keys(session.globals, session.path); }; });
}

void add_lab(CLI::App& app, Session& session) {
  CLI::App* lab = app.add_subcommand("lab", "Controller, agents and emulators of a scenario, together");
  lab->require_subcommand(1);
  CLI::App* run = lab->add_subcommand("run", "Start, submit the scenario's jobs, follow them into light, replay, print, stop");
  run->add_option("SCENARIO", session.lab.scenario, "YAML file")->required();
  run->add_flag("--keep", session.lab.keep, "Leave everything running");
  run->callback([&session] { session.command = [&session] { return run_lab(session.globals, session.lab); }; });
  CLI::App* up = lab->add_subcommand("up", "Start and wait until every agent has joined");
  up->add_option("SCENARIO", session.lab.scenario, "YAML file")->required();
  up->callback([&session] { session.command = [&session] { return lab_up(session.globals, session.lab.scenario); }; });
  lab->add_subcommand("down", "Stop what a lab left running")->callback([&session] {
    session.command = [&session] { return lab_down(session.globals); };
  });
}

/// `loom staus`: the word that nobody knows, and the nearest one that somebody does.
void suggest(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* here = &app;
  for (const std::string& word : words) {
    if (word.starts_with("-")) {
      continue;
    }
    std::vector<std::string> known;
    const CLI::App* next = nullptr;
    for (const CLI::App* sub : here->get_subcommands([](const CLI::App*) { return true; })) {
      known.push_back(sub->get_name());
      next = sub->get_name() == word ? sub : next;
    }
    if (known.empty()) {
      return;
    }
    if (next == nullptr) {
      if (const std::string near = nearest(word, known); !near.empty()) {
        say("  did you mean: " + near);
      }
      return;
    }
    here = next;
  }
}

int run(int argc, char** argv) {
  Session session;
  CLI::App app{"Operate an optical testbed that trains neural networks"};
  app.name("loom");
  app.footer(kFooter);
  app.set_version_flag("--version", "loom " LOOM_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  app.add_flag("--json", session.globals.json, "One JSON object with api_version");
  const char* state = std::getenv("LIGHTLOOM_STATE");
  session.globals.state_dir = state == nullptr ? "run/lab" : state;
  app.add_option("--state", session.globals.state_dir, "Folder of keys, journal and address (also LIGHTLOOM_STATE)")
      ->capture_default_str();
  app.add_option("--endpoint", session.globals.endpoint, "Address of the controller, instead of the state folder's");
  app.add_option("--timeout", session.timeout, "How long to wait, e.g. 250ms, 10s, 2m")->capture_default_str();
  add_controller_commands(app, session);
  add_pure_commands(app, session);
  add_lab(app, session);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      return app.exit(error);
    }
    complain(error.what());
    suggest(app, std::vector<std::string>(argv + 1, argv + argc));
    say("  loom --help lists the commands");
    return kUsage;
  }
  const auto timeout = parse_duration(session.timeout);
  if (!timeout) {
    return give_up(timeout.error());
  }
  session.globals.timeout = *timeout;
  return session.command();
}

}  // namespace
}  // namespace loom::cli

int main(int argc, char** argv) { return loom::cli::run(argc, argv); }
