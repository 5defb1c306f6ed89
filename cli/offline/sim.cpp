// SPDX-License-Identifier: Apache-2.0
// loom sim run|replay|soak|kill-points: the whole system in virtual time.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/offline/offline.hpp"
#include "cli/offline/replay.hpp"
#include "cli/offline/soak.hpp"
#include "cli/output_file.hpp"
#include "cli/render/term.hpp"
#include "cli/trace.hpp"
#include "controller/architectures/registry.hpp"
#include "core/config/scenario/fault_file.hpp"
#include "core/config/scenario/scenario_file.hpp"
#include "core/text/format_text.hpp"
#include "sim_backend/simulation.hpp"

namespace loom::cli {
namespace {

struct SimWords {
  std::string scenario;
  std::optional<std::uint64_t> seed;
  std::string run_for;              ///< virtual time; empty: as the scenario says
  std::string trace_path;           ///< Perfetto/Chrome trace
  std::vector<std::string> faults;  ///< fault files, beside the scenario's own
};

/// Before anything runs.
Result<void> check_files(const Globals& globals, const SimWords& order) {
  LOOM_TRY(check_printed(order.trace_path, "--trace", globals.json));
  std::vector<NamedFile> read{{"SCENARIO", order.scenario}};
  for (const std::string& path : order.faults) {
    read.push_back({"--faults", path});
  }
  return check_apart(read, {{"--trace", order.trace_path}});
}

/// `into`: stdout, or stderr where the trace is on stdout.
void print_result(const SimResult& result, std::FILE* into) {
  const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  std::fprintf(into, "digest       %016llx\n", number(result.digest));
  std::fprintf(into, "seed         %llu\n", number(result.seed));
  std::fprintf(into, "events       %llu, %.2f million a second\n", number(result.events),
               static_cast<double>(result.events) / result.wall_s * 1e-6);
  std::fprintf(into, "time         %.3f s virtual, %.3f s wall\n", seconds_of(result.virtual_time), result.wall_s);
  std::fprintf(into, "revisions    %llu committed, %llu returned, %llu mixed\n", number(result.revisions.committed),
               number(result.revisions.returned), number(result.revisions.mixed));
  std::fprintf(into, "underflows   %llu\n", number(result.underflows));
  std::fprintf(into, "violations   %zu, and %llu that injected faults excuse\n", result.violations.size(),
               number(result.excused_count));
  std::fputs(text_of(result.account).c_str(), into);
}

void print_violations(const SimResult& result) {
  for (const Violation& violation : result.violations) {
    print_note(format_text("violation at {} s: {}: {}", std::to_string(seconds_of(violation.at.time_since_epoch())),
                           to_string(violation.rule), violation.evidence));
  }
  for (const ExcusedViolation& excused : result.excused) {
    print_note(format_text("excused by {} at {} s: {}: {}", excused.fault,
                           std::to_string(seconds_of(excused.violation.at.time_since_epoch())),
                           to_string(excused.violation.rule), excused.violation.evidence));
  }
}

int simulate(const Globals& globals, const SimWords& order) {
  if (const auto lawful = check_files(globals, order); !lawful) {
    return give_up(lawful.error(), "loom sim run --help");
  }
  auto scenario = load_scenario(order.scenario, all_fabric_kinds(), Mode::sim);
  if (!scenario) {
    return complain_of(scenario.errors);
  }
  for (const std::string& path : order.faults) {
    if (const auto errors = add_faults(path, *scenario.value); !errors.empty()) {
      return complain_of(errors);
    }
  }
  SimOptions options;
  options.seed = order.seed.value_or(scenario.value->seed);
  options.trace_path = order.trace_path;
  if (!order.run_for.empty()) {
    const auto duration = parse_duration(order.run_for, "--for");
    if (!duration) {
      return give_up(duration.error(), format_text("loom sim run {} --for 10s", order.scenario));
    }
    options.run_for = *duration;
  }
  const auto begin = std::chrono::steady_clock::now();
  auto result = run_simulation(*scenario.value, options);
  if (!result) {
    return give_up(result.error());
  }
  result->wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (globals.json) {
    std::printf("%s\n", to_json(*result).c_str());
  } else {
    print_result(*result, order.trace_path == kStandardOutput ? stderr : stdout);
  }
  print_violations(*result);
  if (const auto written = hand_out_trace(order.trace_path, result->trace); !written) {
    return give_up(written.error());
  }
  return result->is_as_expected() ? kDone : kFailed;
}

void add_soak(CLI::App& sim, CommandLine& line) {
  auto& options = line.keep<SoakCommand>();
  CLI::App* swarm = sim.add_subcommand("soak", "Runs drawn from seeds, under faults that the seeds choose");
  swarm->add_option("--seeds", options.seeds, "How many")
      ->check(number_check<std::uint64_t>("number of seeds", 1))
      ->capture_default_str();
  swarm->add_option("--first", options.first, "The first seed")
      ->check(number_check<std::uint64_t>("seed", 0))
      ->capture_default_str();
  swarm->add_option("--step", options.step, "Every n-th seed only")
      ->check(number_check<std::uint64_t>("number of seeds", 1))
      ->capture_default_str();
  swarm->add_option("--twice-every", options.twice_every, "Of so many seeds one is run twice; 0: none")
      ->check(number_check<std::uint64_t>("number of seeds", 0))
      ->capture_default_str();
  swarm->add_option("--faults", options.faults, "Only these classes, repeatable: network, partition, ...");
  swarm->add_option("--fabric", options.fabric, "Only this family: oddl, sip_ring, ...");
  swarm->add_flag("--fault-files", options.fault_files, "Plain jobs under random fault files of any kinds");
  swarm->add_option("--shrink", options.shrink, "Folder: write what fails there, made small, as scenario and fault file");
  swarm->add_option("--configs", options.configs, "Where fabrics/all_elements.yaml is, if not where `loom config list` has it");
  line.when(*swarm, soak, options);
  auto& points = line.keep<KillCommand>();
  CLI::App* kills = sim.add_subcommand("kill-points", "One change: machines killed at each step, devices power-cycled");
  kills->add_option("--seed", points.seed, "Of every trial")
      ->check(number_check<std::uint64_t>("seed", 0))
      ->capture_default_str();
  kills->add_option("--every", points.every, "Try every n-th point")
      ->check(number_check<std::uint64_t>("number of points", 1))
      ->capture_default_str();
  kills->add_option("--fabric", points.fabric, "Only this family: oddl, sip_ring, ...");
  line.when(*kills, try_kills, points);
}

}  // namespace

void add_sim(CLI::App& app, CommandLine& line) {
  CLI::App* sim = app.add_subcommand("sim", "The whole system in virtual time");
  sim->require_subcommand(1);
  auto& options = line.keep<SimWords>();
  CLI::App* run =
      sim->add_subcommand("run", "Run a scenario: when each job was lit, dark, and why. Exit 1: not as it expects (expect:)");
  run->add_option("SCENARIO", options.scenario, "YAML file")->required();
  run->add_option("--seed", options.seed, "Instead of the scenario's")->check(number_check<std::uint64_t>("seed", 0));
  run->add_option("--faults", options.faults, "Fault file beside the scenario's own, e.g. configs/faults/everything.yaml");
  run->add_option("--for", options.run_for, "Virtual time, e.g. 10s");
  run->add_option("--trace", options.trace_path, "Write a Perfetto trace into this file; -: to stdout");
  line.when(*run, simulate, options);
  auto& tape = line.keep<ReplayCommand>();
  CLI::App* again =
      sim->add_subcommand("replay", "A recorded controller once more: must decide the same from what it received");
  again->add_option("TAPE", tape.tape, "Of lightloomd --record, e.g. run/lab/controller.tape")->required();
  again->add_option("--scenario", tape.scenario, "Instead of the one that the tape names");
  line.when(*again, replay_recording, tape);
  add_soak(*sim, line);
}

}  // namespace loom::cli
