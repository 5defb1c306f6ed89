// Nouns, verbs, options.
#include "cli/tree.hpp"

#include <cstdio>
#include <cstdlib>

#include "cli/completion.hpp"
#include "cli/nouns/lasers.hpp"
#include "cli/render/term.hpp"

namespace loom::cli {
namespace {

constexpr const char* kFooter =
    "Exit codes: 0 ok, 1 failed (diff: they differ), 2 usage, 3 refused, 4 partial, 5 no connection, 124 timed out, 130 "
    "interrupted.\n"
    "Start here: ./dev run --keep, then loom status.";

/// What the states of its rows mean.
const char* states_of(Noun noun) {
  switch (noun) {
    case Noun::circuits:
      return "light, by the latest reading of every element of its way: lit, degraded (weak, beside its place), unknown (not "
             "read, "
             "or nobody is there to read it) or dark. oper_state is OCP's word for it.";
    case Noun::jobs:
      return "state: pending (being planned or committed), waiting (why says for whom), lit, degraded or dark (by its circuits "
             "and "
             "the laser latch), ended (played to the end, or gone), refused.";
    default:
      return "";
  }
}

void add_reading(CLI::App& app, Session& session, const char* noun_word, const char* plural, Noun noun) {
  CLI::App* group = app.add_subcommand(noun_word, std::string("The controller's ") + plural);
  group->require_subcommand(1);
  group->footer(states_of(noun));
  group->add_subcommand("list", std::string("All ") + plural)->callback([&session, noun] {
    session.command = [&session, noun] { return show(session.globals, noun, {}); };
  });
  CLI::App* one = group->add_subcommand("show", std::string("One of the ") + plural);
  one->add_option("ID", session.id, "Its number")->required();
  one->callback([&session, noun] { session.command = [&session, noun] { return show(session.globals, noun, session.id); }; });
}

void add_wait(CLI::App& verb, Session& session) {
  verb.add_flag("--wait", session.order.wait, "Return when the revision that carries it out is confirmed (--timeout)");
}

void add_change_flags(CLI::App& verb, Session& session) {
  verb.add_flag("--dry-run", session.globals.dry_run, "Say what would change, and do nothing");
  add_wait(verb, session);
}

void add_node_orders(CLI::App& group, Session& session) {
  const auto add = [&](const char* word, const char* what, NodeOrder order) {
    CLI::App* verb = group.add_subcommand(word, what);
    verb->add_option("NODE", session.number, "The node's number")->required();
    add_change_flags(*verb, session);
    verb->callback([&session, order] {
      session.command = [&session, order] { return order_node(session.globals, session.order, session.number, order); };
    });
    return verb;
  };
  add("drain", "No new jobs; running ones move to free nodes", NodeOrder::drain)
      ->add_flag("--force", session.order.force, "Drain it although a job finds no other node and stays");
  add("undrain", "It may get jobs again", NodeOrder::undrain);
  CLI::App* maintenance = group.add_subcommand("maintenance", "Drained, dark and latched: nothing repairs it until off");
  maintenance->add_option("NODE", session.number, "The node's number")->required();
  maintenance->add_option("ON_OR_OFF", session.word, "on or off")->required()->check(CLI::IsMember({"on", "off"}));
  maintenance->add_flag("--force", session.order.force, "Although it cannot be heard: you have seen that its lasers are dark");
  add_change_flags(*maintenance, session);
  maintenance->callback([&session] {
    session.command = [&session] {
      return order_node(session.globals, session.order, session.number,
                        session.word == "on" ? NodeOrder::maintain : NodeOrder::release);
    };
  });
}

void add_device_orders(CLI::App& group, Session& session) {
  CLI::App* set = group.add_subcommand("set", "Give a setpoint by hand; it holds until --clear");
  set->add_option("DEVICE", session.device.device, "The device's number")->required();
  set->add_option("KEY=VALUE", session.device.words,
                  "laser: frequency=193.1THz power=-1dBm emit=on; heater: ring.K=193.05THz; wss: route=N/M:IN-OUT; ocs: "
                  "connect=IN-OUT");
  set->add_flag("--clear", session.device.clear, "The plan decides again");
  add_change_flags(*set, session);
  set->callback(
      [&session] { session.command = [&session] { return set_device(session.globals, session.order, session.device); }; });
  CLI::App* reset = group.add_subcommand("reset", "Read it back and bring it to its setpoint again");
  reset->add_option("DEVICE", session.number, "The device's number")->required();
  reset->callback([&session] { session.command = [&session] { return reset_device(session.globals, session.number); }; });
}

void add_lasers(CLI::App& app, Session& session) {
  CLI::App* lasers = app.add_subcommand("lasers", "Darken everything, or lift that");
  lasers->require_subcommand(1);
  CLI::App* off = lasers->add_subcommand("off", "Darken every laser at once, latched");
  off->add_flag("--dry-run", session.globals.dry_run, "Say what would happen");
  off->add_flag("--direct", session.order.direct,
                "Ask the agents themselves, as is done where no controller answers; exit 4: some are not known to be dark");
  add_wait(*off, session);
  off->callback([&session] {
    session.command = [&session] { return lasers_off(session.globals, session.order.direct, session.order.wait); };
  });
  CLI::App* rearm = lasers->add_subcommand("rearm", "Lift the latch; light returns with the next revision");
  rearm->add_flag("--dry-run", session.globals.dry_run, "Say what would happen");
  add_wait(*rearm, session);
  rearm->callback([&session] { session.command = [&session] { return rearm_lasers(session.globals, session.order.wait); }; });
  lasers->add_subcommand("status", "What the agents themselves say of their latches, without a controller")
      ->callback([&session] { session.command = [&session] { return show_latches(session.globals); }; });
}

void add_alarm(CLI::App& app, Session& session) {
  CLI::App* alarm = app.add_subcommand("alarm", "What went wrong, and what to type next");
  alarm->require_subcommand(1);
  alarm->add_subcommand("list", "All alarms that stand, oldest first")->callback([&session] {
    session.command = [&session] { return show(session.globals, Noun::alarms, {}); };
  });
  CLI::App* acknowledge = alarm->add_subcommand("ack", "Somebody looks after it; it goes when its cause is gone");
  acknowledge->add_option("ID", session.id, "The alarm's number")->required();
  acknowledge->callback(
      [&session] { session.command = [&session] { return acknowledge_alarm(session.globals, session.id); }; });
}

void add_schedule_orders(CLI::App& group, Session& session) {
  CLI::App* diff = group.add_subcommand("diff", "Confirmed light against what would be planned now, a revision or a file");
  diff->add_option("REVISION_OR_FILE", session.schedule.target, "Nothing: what would be planned now. Exit 1: they differ");
  diff->callback([&session] { session.command = [&session] { return diff_schedule(session.globals, session.schedule); }; });
  CLI::App* apply = group.add_subcommand("apply", "Your own schedule, as loom schedule show --json prints one");
  apply->add_option("FILE", session.schedule.target, "YAML or JSON")->required();
  apply
      ->add_option("--mode", session.schedule.mode,
                   "safe: refused if light is disturbed; update: what it names changes; overwrite: exactly this")
      ->capture_default_str();
  apply->add_option("--confirm-within", session.schedule.confirm_within,
                    "Returns by itself unless confirmed in time, e.g. 120s");
  add_change_flags(*apply, session);
  apply->callback([&session] {
    session.command = [&session] { return apply_schedule(session.globals, session.order, session.schedule); };
  });
  group.add_subcommand("confirm", "What was applied with --confirm-within stays")->callback([&session] {
    session.command = [&session] { return confirm_schedule(session.globals); };
  });
  CLI::App* back = group.add_subcommand("rollback", "Back to the jobs and schedules of an earlier confirmed revision");
  back->add_option("REVISION", session.schedule.target, "Nothing: the one before the present one");
  add_change_flags(*back, session);
  back->callback([&session] {
    session.command = [&session] { return roll_back_schedule(session.globals, session.order, session.schedule); };
  });
}

void add_job_options(CLI::App& command, Session& session) {
  command.add_option("WORKLOAD", session.job.workload, "vgg16, vgg19, resnet50, dlrm, or a PyTorch execution trace")
      ->required();
  command.add_option("--nodes", session.job.nodes, "How many nodes; a trace brings its own");
  command.add_option("--ranks", session.job.ranks,
                     "Rank-to-node map: nodes in rank order (3,node-7,...) or a file, one a line");
  command.add_option("--name", session.job.name, "What to call it");
  command.add_flag("--adapt", session.job.adapt, "Its light follows its measured demand (lightloom-agent --inspector-dir)");
  command.add_option("--set", session.job_settings, "Workload parameter key=value, repeatable");
}

void add_launcher(CLI::App& job, Session& session) {
  CLI::App* env = job.add_subcommand("env", "What a launcher needs to know: rank -> node, for eval, as a host file or as JSON");
  env->add_option("ID", session.env.job, "The job's number")->required();
  env->add_flag("--hostfile", session.env.hostfile, "A node's name a line, in rank order");
  env->callback([&session] { session.command = [&session] { return print_job_env(session.globals, session.env); }; });

  CLI::App* run =
      job.add_subcommand("run", "Submit a job, run a command when its circuits are ready, cancel the job at its end");
  add_job_options(*run, session);
  run->add_option("--on-quiesce", session.launch.on_quiesce,
                  "Shell command that makes the job quiet; light of the job goes dark only after it has ended");
  run->add_option("--on-resume", session.launch.on_resume, "Shell command that is run when all light is back");
  run->add_flag("--keep", session.launch.keep, "Leave the job and its light when the command has ended");
  run->add_option("COMMAND", session.launch.command, "After --; it finds LOOM_JOB, LOOM_NODES, ... in its environment")
      ->required();
  run->callback([&session] {
    session.command = [&session] {
      auto settings = parse_settings(session.job_settings);
      if (!settings) {
        return give_up(settings.error(), "loom job run --help");
      }
      session.launch.job = session.job;
      session.launch.job.settings = std::move(*settings);
      return run_with_job(session.globals, session.launch);
    };
  });
}

void add_job(CLI::App& app, Session& session) {
  CLI::App* job = app.get_subcommand("job");
  add_launcher(*job, session);
  CLI::App* submit = job->add_subcommand("submit", "Ask for a job's circuits: a model of the zoo or a trace file");
  add_job_options(*submit, session);
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
  CLI::App* change = job->add_subcommand("change", "Other traffic for a job that runs, on its nodes: a model or a trace file");
  change->add_option("ID", session.id, "The job's number")->required();
  change->add_option("WORKLOAD", session.job.workload, "vgg16, vgg19, resnet50, dlrm, or a PyTorch execution trace")
      ->required();
  change->add_option("--set", session.job_settings, "Workload parameter key=value, repeatable");
  add_wait(*change, session);
  change->add_flag("--dry-run", session.globals.dry_run, "Say what would change");
  change->callback([&session] {
    session.command = [&session] {
      auto settings = parse_settings(session.job_settings);
      if (!settings) {
        return give_up(settings.error(), "loom job change --help");
      }
      session.job.settings = std::move(*settings);
      session.job.wait = session.order.wait;
      return change_job(session.globals, session.id, session.job);
    };
  });
  CLI::App* resize = job->add_subcommand("resize", "More or fewer nodes for a running job; others run on untouched");
  resize->add_option("ID", session.id, "The job's number")->required();
  resize->add_option("--nodes", session.job.nodes, "How many nodes from now on")->required();
  resize->add_flag("--wait", session.job.wait, "Return when its light is confirmed");
  resize->add_flag("--dry-run", session.globals.dry_run, "Say what would change");
  resize->callback(
      [&session] { session.command = [&session] { return resize_job(session.globals, session.id, session.job); }; });
  CLI::App* cancel = job->add_subcommand("cancel", "End a job and its light");
  cancel->add_option("ID", session.id, "The job's number")->required();
  add_wait(*cancel, session);
  cancel->add_flag("--dry-run", session.globals.dry_run, "Say what would change");
  cancel->callback(
      [&session] { session.command = [&session] { return cancel_job(session.globals, session.id, session.order.wait); }; });
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
  add_lasers(app, session);
  add_schedule_orders(*schedule, session);
  add_node_orders(*app.get_subcommand("node"), session);
  add_device_orders(*app.get_subcommand("device"), session);
  add_alarm(app, session);
  CLI::App* explain = app.get_subcommand("circuit")->add_subcommand(
      "explain", "Its way element by element, with powers, and the first thing that is wrong on it");
  explain->add_option("ID", session.id, "The circuit's number")->required();
  explain->callback([&session] { session.command = [&session] { return explain_circuit(session.globals, session.id); }; });
}

void add_soak(CLI::App& sim, Session& session) {
  CLI::App* swarm = sim.add_subcommand("soak", "Runs drawn from seeds, under faults that the seeds choose");
  swarm->add_option("--seeds", session.soak.seeds, "How many")->check(CLI::PositiveNumber)->capture_default_str();
  swarm->add_option("--first", session.soak.first, "The first seed")->capture_default_str();
  swarm->add_option("--step", session.soak.step, "Every n-th seed only")->check(CLI::PositiveNumber)->capture_default_str();
  swarm->add_option("--twice-every", session.soak.twice_every, "Of so many seeds one is run twice; 0: none")
      ->capture_default_str();
  swarm->add_option("--faults", session.soak.faults, "Only these classes, repeatable: network, partition, ...");
  swarm->add_option("--fabric", session.soak.fabric, "Only this family: oddl, sip_ring, ...");
  swarm->add_flag("--fault-files", session.soak.fault_files, "Plain jobs under random fault files of any kinds");
  swarm->add_option("--shrink", session.soak.shrink, "Folder: write what fails there, made small, as scenario and fault file");
  swarm->add_option("--configs", session.soak.configs, "Where fabrics/all_elements.yaml is")->capture_default_str();
  swarm->callback([&session] { session.command = [&session] { return soak(session.globals, session.soak); }; });
  CLI::App* kills = sim.add_subcommand("kill-points", "One change: machines killed at each step, devices power-cycled");
  kills->add_option("--seed", session.kills.seed, "Of every trial")->capture_default_str();
  kills->add_option("--every", session.kills.every, "Try every n-th point")->check(CLI::PositiveNumber)->capture_default_str();
  kills->add_option("--fabric", session.kills.fabric, "Only this family: oddl, sip_ring, ...");
  kills->callback([&session] { session.command = [&session] { return try_kills(session.globals, session.kills); }; });
}

void add_plan(CLI::App& app, Session& session) {
  PlanOrder& order = session.plan;
  CLI::App* plan_word =
      app.add_subcommand("plan", "A schedule made offline: bound, gap, touched circuits, certificate, and why");
  plan_word->add_option("WORKLOAD,--workload", order.workloads, "Models of the zoo, TopoOpt task graphs (.fbuf) or traces");
  plan_word->add_option("--nodes", order.nodes, "How many nodes: one count for all, or one a workload, e.g. 8,4")
      ->delimiter(',');
  plan_word->add_option("--scenario", order.scenario, "A scenario's fabric and all of its jobs at once, instead");
  plan_word->add_option("--algorithm", order.algorithm, "sip-ring, sip-ocs, oddl, topoopt; the fabric's own if not named");
  plan_word->add_option("--fabric", order.fabric, "Fabric file, or a template: sip-ring, sip-ocs, oddl, topoopt");
  plan_word->add_option("--bandwidth", order.bandwidth,
                        "TopoOpt without a fabric: a server's total per direction, shared by its links; 100G if not named");
  plan_word->add_option("--set", order.settings, "Workload parameter key=value, template's fabric.key=value; repeatable");
  plan_word->add_option("--memory", order.memory, "Of a node, e.g. 80 GB; SiP-ML's authors: 100 GB");
  plan_word->add_option("--base", order.base, "Plan a change of this: what -o or loom schedule show --json wrote");
  plan_word->add_option("-o,--output", order.output, "Save the circuits, for --base and loom schedule apply");
  plan_word->add_option("--plot", order.plot, "Write an SVG of the topology");
  plan_word->add_option("--deadline", order.deadline, "Stop then, e.g. 50ms; a search prints the best so far");
  plan_word->add_flag("--explain", order.explain, "Why this split, these jumps, this matching, these wavelengths; what binds");
  SearchOrder& search = order.search;
  plan_word->add_flag("--search", search.wanted, "TopoOpt: strategy and topology together, by a Markov chain");
  plan_word->add_option("--model", search.model, "candle-16, dlrm-16, bert-16, vgg16-16, or -128");
  plan_word->add_option("--measures", search.measures, "File of measured times, instead of the model's in --data");
  plan_word->add_option("--data", search.data, "Folder with measures/")->default_val("../shared/data")->envname("LOOM_DATA");
  plan_word->add_option("--steps", search.steps, "Proposals a chain")->check(CLI::PositiveNumber);
  plan_word->add_option("--chains", search.chains, "Chains, each with a seed of its own")->check(CLI::PositiveNumber);
  plan_word->add_option("--threads", search.threads, "Instead of the machine's number; changes no result");
  plan_word->add_option("--seed", search.seed, "Of the first chain");
  plan_word->add_option("--save", search.save, "Keep the search in this file");
  plan_word->add_option("--resume", search.resume, "Go on from such a file");
  plan_word->footer(
      "loom plan vgg19 --nodes 1024 --fabric configs/fabrics/sip_ring_1024.yaml --explain --plot rings.svg\n"
      "loom plan dlrm --nodes 16 --algorithm topoopt --bandwidth 400G --set fabric.degree=4 --explain\n"
      "loom plan --search --model candle-16 --bandwidth 400G --save candle.json --deadline 30s");
  plan_word->callback([&session] { session.command = [&session] { return plan(session.globals, session.plan); }; });
}

void add_keys(CLI::App& app, Session& session);

void add_pure_commands(CLI::App& app, Session& session) {
  add_plan(app, session);
  CLI::App* guess = app.add_subcommand("predict", "One training iteration: total, compute, exposed communication");
  guess->add_option("--workload", session.predict.workload, "Model of the zoo, TopoOpt task graph (.fbuf) or trace")
      ->required();
  guess->add_option("--fabric", session.predict.fabric, "One of " + arena_fabrics())->required();
  guess->add_option("--nodes", session.predict.nodes, "How many nodes; a trace brings its own");
  guess->add_option("--bandwidth", session.predict.bandwidth, "A node's total per direction, e.g. 100G")->capture_default_str();
  guess->add_option("--set", session.predict.settings, "Parameter key=value or fabric.key=value, repeatable");
  guess->add_option("--calibration", session.predict.calibration,
                    "File of fitted settings, e.g. configs/calibration/oddl_paper.yaml");
  guess->add_option("--trace", session.predict.trace_path, "Write a Perfetto trace of the iteration");
  guess->callback([&session] { session.command = [&session] { return predict(session.globals, session.predict); }; });
  CLI::App* contest = app.add_subcommand("arena", "One job on many fabrics, side by side, dark time charged");
  contest->add_option("--workload", session.arena.workload, "Model of the zoo, TopoOpt task graph (.fbuf) or trace")
      ->required();
  contest->add_option("--nodes", session.arena.nodes, "How many nodes; a file brings its own");
  contest->add_option("--bandwidth", session.arena.bandwidth, "A node's total per direction, e.g. 100G")->capture_default_str();
  contest->add_option("--fabrics", session.arena.fabrics, "Only these: " + arena_fabrics())->delimiter(',');
  contest->add_option("--set", session.arena.settings, "key=value, fabric.key=value or fabric.NAME.key=value, repeatable");
  contest->add_option("--calibration", session.arena.calibration, "File; its figures come after the uncalibrated ones");
  contest->add_option("--plot", session.arena.plot, "Write an SVG: bars, and a Gantt chart of one iteration");
  contest->callback([&session] { session.command = [&session] { return arena(session.globals, session.arena); }; });
  CLI::App* again_published = app.add_subcommand("reproduce", "Published figures beside ours, with the tolerance of each");
  again_published->add_option("TARGET", session.reproduce.targets, published_targets() + "; all if none is named");
  again_published->add_option("--data", session.reproduce.data, "Folder with traces/topoopt and measures; ./data if not named")
      ->envname("LOOM_DATA");
  again_published->add_option("--plot", session.reproduce.plot, "Write an SVG of T10: the sweep of model x bandwidth");
  again_published->add_option("--sweep", session.reproduce.sweep,
                              "T13 and T14 against what they assume: tables, and an SVG of each into this folder");
  again_published->callback(
      [&session] { session.command = [&session] { return reproduce(session.globals, session.reproduce); }; });
  CLI::App* trace = app.add_subcommand("import", "Summary of a trace's task graph");
  trace->add_option("TRACE", session.path, "PyTorch execution trace: .json, .json.gz, .tar.gz with a file a rank")->required();
  trace->callback([&session] { session.command = [&session] { return import(session.globals, session.path); }; });
  CLI::App* sim = app.add_subcommand("sim", "The whole system in virtual time");
  sim->require_subcommand(1);
  CLI::App* run =
      sim->add_subcommand("run", "Run a scenario: when each job was lit, dark, and why. Exit 1: not as it expects (expect:)");
  run->add_option("SCENARIO", session.sim.scenario, "YAML file")->required();
  run->add_option("--seed", session.sim.seed, "Instead of the scenario's");
  run->add_option("--faults", session.sim.faults, "Fault file beside the scenario's own, e.g. configs/faults/everything.yaml");
  run->add_option("--for", session.sim.run_for, "Virtual time, e.g. 10s");
  run->add_option("--trace", session.sim.trace_path, "Write a Perfetto trace");
  run->callback([&session] { session.command = [&session] { return simulate(session.globals, session.sim); }; });
  CLI::App* again = sim->add_subcommand("replay", "A recorded controller once more: must decide the same from what it heard");
  again->add_option("TAPE", session.replay.tape, "Of lightloomd --record, e.g. run/lab/controller.tape")->required();
  again->add_option("--scenario", session.replay.scenario, "Instead of the one that the tape names");
  again->callback([&session] { session.command = [&session] { return replay_session(session.globals, session.replay); }; });
  add_soak(*sim, session);
  CLI::App* config = app.add_subcommand("config", "Configuration files");
  config->require_subcommand(1);
  CLI::App* check = config->add_subcommand("check", "Every error of every file, as file:line:column");
  check->add_option("FILE", session.paths, "YAML files")->required();
  check->callback([&session] { session.command = [&session] { return check_configs(session.globals, session.paths); }; });
  add_keys(app, session);
}

void add_keys(CLI::App& app, Session& session) {
  CLI::App* keys = app.add_subcommand("keys", "Who may come in, and as what: in force without a restart");
  keys->require_subcommand(1);
  keys->add_subcommand("list", "Every key that is let in: whose it is, its role, its nodes, where its file is")
      ->callback([&session] { session.command = [&session] { return list_keys(session.globals); }; });
  CLI::App* grant = keys->add_subcommand("grant", "Let a key in, or give it another role or other nodes");
  grant->add_option("NAME", session.keys.name, "Whose it is: its principal in every answer and in the audit")->required();
  grant->add_option("--role", session.keys.role, "viewer, operator, admin or agent")->required();
  grant->add_option("--nodes", session.keys.nodes, "An agent's: nodes that it speaks for, e.g. 0-31,64");
  grant->add_option("--key", session.keys.key,
                    "Public key, or a file that has one; without it NAME's, or a new pair in STATE/keys/NAME");
  CLI::App* revoke = keys->add_subcommand("revoke", "Let a key in no more: its connections end at once");
  revoke->add_option("NAME_OR_KEY", session.keys.name, "A principal, a public key or its fingerprint")->required();
  CLI::App* rotate = keys->add_subcommand("rotate", "A new pair in the place of NAME's; the old key is revoked then");
  rotate->add_option("NAME", session.keys.name, "Whose pair in STATE/keys; agents take theirs over while they run")->required();
  const auto command = [&session](CLI::App* verb, int (*run)(const Globals&, const KeysOrder&)) {
    verb->add_flag("--dry-run", session.globals.dry_run, "Say what would change, and do nothing");
    verb->callback([&session, run] { session.command = [&session, run] { return run(session.globals, session.keys); }; });
  };
  command(grant, grant_key);
  command(revoke, revoke_key);
  command(rotate, rotate_key);
  for (CLI::App* verb : {grant, revoke}) {
    verb->add_flag("--force", session.keys.force, "Although nobody could order anything any more");
  }
  CLI::App* generate =
      keys->add_subcommand("generate", "Keys of a controller, its agent processes and an operator, where missing");
  generate->add_option("SCENARIO", session.path, "YAML file: says how many agent processes there are")->required();
  generate->callback([&session] { session.command = [&session] { return generate_keys(session.globals, session.path); }; });
}

void add_lab_beginning(CLI::App& verb, Session& session) {
  verb.add_flag("--replace", session.lab.replace, "Stop the lab that runs in the state folder, if one does");
  verb.add_flag("--fresh", session.lab.fresh, "Forget the journals and logs of an earlier lab; keys stay");
}

void add_lab(CLI::App& app, Session& session) {
  CLI::App* lab = app.add_subcommand("lab", "Controller, agents and emulators of a scenario, together");
  lab->require_subcommand(1);
  lab->footer(
      "A lab touches nothing in --state but what STATE/lab.json says that a lab made: a folder of other files is refused (3).\n"
      "lab up goes on from the journals of an earlier lab up; lab run plays its scenario from the beginning.");
  CLI::App* run = lab->add_subcommand(
      "run", "Start, do what the scenario says when it says it, account for its jobs, replay, stop. Exit 1: not as it expects");
  run->add_option("SCENARIO", session.lab.scenario, "YAML file")->required();
  run->add_flag("--keep", session.lab.keep, "Leave everything running");
  add_lab_beginning(*run, session);
  run->add_flag("--record", session.lab.record, "The controller keeps a tape, for loom sim replay");
  run->add_option("--inspector-dir", session.lab.inspector_dir, "NCCL Inspector's dumps, a folder a node: DIR/{node}");
  run->callback([&session] { session.command = [&session] { return run_lab(session.globals, session.lab); }; });
  CLI::App* up = lab->add_subcommand("up", "Start and wait until every agent has joined");
  up->add_option("SCENARIO", session.lab.scenario, "YAML file")->required();
  add_lab_beginning(*up, session);
  up->add_flag("--record", session.lab.record, "The controller keeps a tape, for loom sim replay");
  up->add_option("--inspector-dir", session.lab.inspector_dir, "NCCL Inspector's dumps, a folder a node: DIR/{node}");
  up->callback([&session] { session.command = [&session] { return lab_up(session.globals, session.lab); }; });
  lab->add_subcommand("down", "Stop what a lab left running; journals, logs and keys stay")->callback([&session] {
    session.command = [&session] { return lab_down(session.globals); };
  });
  lab->add_subcommand("status", "Its processes: number, state, since when, memory. Exit 4: some have ended")
      ->callback([&session] { session.command = [&session] { return lab_status(session.globals); }; });
  CLI::App* restart = lab->add_subcommand("restart", "Stop a process and start it again as it was; agents keep their light");
  restart->add_option("PROCESS", session.lab.process, "controller, agents-0, heater-5020, ... (loom lab status)")->required();
  restart->callback([&session] { session.command = [&session] { return restart_in_lab(session.globals, session.lab); }; });
}

void add_audit(CLI::App& app, Session& session) {
  CLI::App* audit = app.add_subcommand("audit", "Who asked what, when, and what was answered");
  audit->require_subcommand(0, 1);
  const auto add = [&session](CLI::App* verb) {
    verb->add_option("--since", session.audit.since, "Ago: 90s, 10m, 2h, 7d; or a time of UTC: 2026-11-22T15:04:05Z");
    verb->add_option("--principal", session.audit.principal, "Only what this one asked");
    verb->add_flag("--refused", session.audit.refused, "Only what was refused");
    verb->add_option("--journal", session.audit.journal, "Of this file: a controller's journal, or a backup of one");
    verb->callback([&session] { session.command = [&session] { return show_audit(session.globals, session.audit); }; });
  };
  add(audit);
  add(audit->add_subcommand("list", "The same"));
}

void add_backup(CLI::App& app, Session& session) {
  CLI::App* backup = app.add_subcommand("backup", "Copy the state folder's journals, proven, while the daemons run or not");
  backup->add_option("FILE", session.backup.file, "Of the controller's journal; those of agents become FILE.agents-N")
      ->required();
  backup->add_flag("--force", session.backup.force, "Replace what is there");
  backup->footer(
      "To go back to it: stop lightloomd, put FILE in place of STATE/controller.db, remove controller.db-wal,\n"
      "controller.db-shm and controller.db.lock beside it, start lightloomd. Agents: the same with agents-N.db.");
  backup->callback([&session] { session.command = [&session] { return back_up(session.globals, session.backup); }; });
}

}  // namespace

void build_tree(CLI::App& app, Session& session) {
  app.description("Operate an optical testbed that trains neural networks");
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
  app.add_option("--as", session.globals.as, "Whose key of the state folder's keys, instead of the operator's");
  app.add_option("--timeout", session.timeout, "How long to wait, e.g. 250ms, 10s, 2m")->capture_default_str();
  app.add_option("--color", session.colour, "auto, always or never; auto respects NO_COLOR")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "always", "never"}));
  add_controller_commands(app, session);
  add_pure_commands(app, session);
  add_lab(app, session);
  add_audit(app, session);
  add_backup(app, session);
  CLI::App* completion = app.add_subcommand("completion", "Completion for your shell: source <(loom completion bash)");
  completion->add_option("SHELL", session.word, "bash, zsh or fish")->required();
  completion->callback([&app, &session] {
    session.command = [&app, &session] {
      const auto script = completion_script(app, session.word);
      if (!script) {
        return give_up(script.error());
      }
      std::fputs(script->c_str(), stdout);
      return static_cast<int>(kDone);
    };
  });
}

}  // namespace loom::cli
