// SPDX-License-Identifier: Apache-2.0
// The phases of a run: script, calm, verdict.
#include "sim_backend/simulation.hpp"

#include <algorithm>
#include <utility>

#include "controller/architectures/registry.hpp"
#include "controller/workload/models/zoo.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr Duration kLook = std::chrono::milliseconds{20};    ///< between two looks at whether something is over
constexpr Duration kSettleBound = std::chrono::seconds{60};  ///< faults stopped; longer than every stage's deadline together
constexpr Duration kScriptBound = std::chrono::hours{1};     ///< a scenario without a duration ends here at the latest

/// All that the operator wants is asked and answered, and what shall run runs.
bool is_over(const World& world, Instant last_action) {
  return world.script().is_done() && world.loop_now() >= last_action && world.unsettled().empty();
}

Instant last_action_of(const Scenario& scenario) {
  Instant last{};
  for (const ScenarioFault& fault : scenario.device_faults) {
    last = std::max(last, Instant{fault.at});
  }
  for (const MachineFault& fault : scenario.machine_faults) {
    last = std::max(last, Instant{fault.at + fault.lasts});
  }
  for (const ScenarioAction& action : scenario.actions) {
    last = std::max(last, Instant{action.at});
  }
  return last;
}

void run_script(World& world, const Scenario& scenario, Duration run_for) {
  if (run_for != kForever) {
    world.run_until(Instant{run_for});
    return;
  }
  const Instant last_action = last_action_of(scenario);
  while (world.loop_now() < Instant{kScriptBound} && !is_over(world, last_action)) {
    world.run_until(world.loop_now() + kLook);
  }
}

/// Faults stopped: it must converge. Answers what did not.
std::vector<std::string> settle(World& world) {
  world.calm();
  const Instant bound = world.loop_now() + kSettleBound;
  std::vector<std::string> unsettled = world.unsettled();
  while (!unsettled.empty() && world.loop_now() < bound) {
    world.run_until(world.loop_now() + kLook);
    unsettled = world.unsettled();
  }
  return unsettled;
}

/// What the job's nodes will tell, group by group.
Result<std::vector<PlayedTraffic>> played_traffic(const JobSubmission& job) {
  std::vector<PlayedTraffic> played;
  for (const TrueTraffic& entry : job.traffic) {
    WorkloadSettings settings;
    settings.nodes = job.nodes / entry.groups;
    settings.values.insert(entry.settings.begin(), entry.settings.end());
    Result<JobSpec> spec = load_workload(entry.workload, settings);
    if (!spec) {
      return fail(spec.error().code, format_text("traffic of job {}: {}", job.name, spec.error().message));
    }
    played.push_back({entry.at, entry.groups, entry.every, std::move(spec->collectives), settings.nodes});
  }
  return played;
}

}  // namespace

Result<std::vector<ScriptedJob>> script_of(const Scenario& scenario) {
  std::vector<ScriptedJob> jobs;
  for (JobSubmission& submission : submissions_of(scenario)) {
    WorkloadSettings settings;
    settings.nodes = submission.nodes;
    settings.option_keys = all_option_keys();
    settings.values.insert(submission.settings.begin(), submission.settings.end());
    Result<JobSpec> spec = load_workload(submission.workload, settings);
    if (!spec) {
      return fail(spec.error().code, format_text("job {}: {}", submission.name, spec.error().message));
    }
    spec->name = submission.name;
    spec->transmit = submission.transmit;
    spec->adapt = submission.adapt;
    spec->paced_by = submission.paced_by;
    auto traffic = played_traffic(submission);
    if (!traffic) {
      return std::unexpected(std::move(traffic).error());
    }
    jobs.push_back({std::move(submission), std::move(*spec), std::move(*traffic)});
  }
  return jobs;
}

Result<SimResult> run_simulation(const Scenario& scenario, const SimOptions& options) {
  Result<std::vector<ScriptedJob>> jobs = script_of(scenario);
  if (!jobs) {
    return std::unexpected(std::move(jobs).error());
  }
  WorldOptions world_options;
  world_options.seed = options.seed;
  world_options.pulses = options.pulses;
  World world(scenario, std::move(*jobs), world_options);
  LOOM_TRY(world.start());
  run_script(world, scenario, options.run_for != kForever ? options.run_for : scenario.duration);
  const Instant faults_end = world.loop_now();
  const std::vector<std::string> unsettled = settle(world);

  SimResult result;
  result.seed = options.seed;
  result.digest = world.digest();
  result.counters = world.counters();
  result.events = result.counters.events;
  result.virtual_time = world.loop_now().time_since_epoch();
  result.revisions = {world.confirmed(), world.returned(), world.checker().mixed()};
  result.settled_after = unsettled.empty() ? world.loop_now() - faults_end : kForever;
  result.network = world.network().counters();
  result.violations = world.checker().violations();
  for (const std::string& sentence : unsettled) {
    result.violations.push_back({world.loop_now(), SafetyRule::unsettled, sentence});
  }
  for (const OperatorScript::Entry& entry : world.script().entries()) {
    if (entry.state == OperatorScript::State::refused) {
      result.refusals.push_back(format_text("{}: {}", entry.scripted.submission.name, entry.reason));
    }
  }
  for (std::string& refused : world.refused_jobs()) {
    result.refusals.push_back(std::move(refused));
  }
  result.excused = world.checker().excused();
  result.excused_count = world.checker().excused_count();
  result.excusing = world.notices().excusing(result.excused);
  result.underflows = world.underflows();
  result.light = world.light().timeline();
  result.account = run_account(world.history(), {scenario, world.script(), result.light, world.loop_now(),
                                                 [&](JobId job) { return world.word_of(job); }});
  if (!options.trace_path.empty()) {
    result.trace = to_trace(world);
  }
  return result;
}

}  // namespace loom
