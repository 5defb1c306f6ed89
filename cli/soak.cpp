// Findings go to stderr as they come; the summary is the answer.
#include "cli/soak.hpp"

#include <array>
#include <cstdio>
#include <optional>

#include "cli/rows.hpp"
#include "cli/term.hpp"
#include "sim_backend/kill_points.hpp"
#include "sim_backend/swarm.hpp"

namespace loom::cli {
namespace {

constexpr std::uint64_t kProgressEvery = 100;
constexpr Duration kPowerGrid = std::chrono::milliseconds{5};  ///< between two instants of a power cycle

struct Sums {
  std::uint64_t seeds = 0;
  std::uint64_t failed = 0;
  std::uint64_t compared = 0;  ///< run twice
  std::uint64_t events = 0;
  std::uint64_t committed = 0;
  std::uint64_t returned = 0;
  Duration virtual_time{};
  Duration slowest{};  ///< from the end of the faults to rest
  std::array<std::uint64_t, kFaultClasses> faults{};
};

Result<std::array<bool, kFaultClasses>> classes_of(const std::vector<std::string>& words) {
  std::array<bool, kFaultClasses> allowed{};
  allowed.fill(words.empty());
  std::string known;
  for (std::size_t i = 0; i < kFaultClasses; ++i) {
    known += (i == 0 ? "" : ", ") + std::string(to_string(static_cast<FaultClass>(i)));
  }
  for (const std::string& word : words) {
    bool is_known = false;
    for (std::size_t i = 0; i < kFaultClasses; ++i) {
      if (word == to_string(static_cast<FaultClass>(i))) {
        allowed[i] = is_known = true;
      }
    }
    if (!is_known) {
      return fail(ErrorCode::invalid_argument, "there is no class of faults '" + word + "'; expected one of " + known);
    }
  }
  return allowed;
}

void add(Sums& sums, const SwarmResult& result) {
  ++sums.seeds;
  sums.events += result.events;
  sums.committed += result.committed;
  sums.returned += result.returned;
  sums.virtual_time += result.virtual_time;
  sums.slowest = result.settled_after == kForever ? sums.slowest : std::max(sums.slowest, result.settled_after);
  for (std::size_t i = 0; i < kFaultClasses; ++i) {
    sums.faults[i] += result.faults[i];
  }
}

void tell(const SwarmResult& result, const SoakOrder& order) {
  for (const Violation& violation : result.violations) {
    say("seed " + std::to_string(result.seed) + " at " + std::to_string(seconds_of(violation.at.time_since_epoch())) +
        " s: " + std::string(to_string(violation.rule)) + ": " + violation.evidence);
  }
  std::string replay = "  replay: loom sim soak --seeds 1 --first " + std::to_string(result.seed);
  for (const std::string& word : order.faults) {
    replay += " --faults " + word;
  }
  std::string work;
  for (const std::string& word : result.work) {
    work += (work.empty() ? "" : ", ") + word;
  }
  say("  work: " + work);
  say(replay);
}

void print_sums(const Globals& globals, const Sums& sums) {
  if (globals.json) {
    auto object = answer();
    object["seeds"] = sums.seeds;
    object["failed"] = sums.failed;
    object["compared"] = sums.compared;
    object["events"] = sums.events;
    object["virtual_s"] = seconds_of(sums.virtual_time);
    object["committed"] = sums.committed;
    object["returned"] = sums.returned;
    object["slowest_s"] = seconds_of(sums.slowest);
    for (std::size_t i = 0; i < kFaultClasses; ++i) {
      object["faults"][std::string(to_string(static_cast<FaultClass>(i)))] = sums.faults[i];
    }
    std::printf("%s\n", object.dump(2).c_str());
    return;
  }
  std::printf("seeds        %llu, %llu failed, %llu run twice with equal digests\n",
              static_cast<unsigned long long>(sums.seeds), static_cast<unsigned long long>(sums.failed),
              static_cast<unsigned long long>(sums.compared));
  std::printf("events       %llu in %.0f s of virtual time\n", static_cast<unsigned long long>(sums.events),
              seconds_of(sums.virtual_time));
  std::printf("revisions    %llu committed, %llu returned\n", static_cast<unsigned long long>(sums.committed),
              static_cast<unsigned long long>(sums.returned));
  std::printf("at rest      %.3f s after the last fault at the latest\n", seconds_of(sums.slowest));
  for (std::size_t i = 0; i < kFaultClasses; ++i) {
    std::printf("faults       %llu %s\n", static_cast<unsigned long long>(sums.faults[i]),
                std::string(to_string(static_cast<FaultClass>(i))).c_str());
  }
}

void print_kills(const KillReport& report, const std::string& machine, const KillExperiment& experiment) {
  std::printf("%s, %s: %llu of %llu kill points, %zu failed, slowest return %.3f s\n", machine.c_str(),
              std::string(to_string(experiment.change)).c_str(), static_cast<unsigned long long>(report.covered),
              static_cast<unsigned long long>(report.points), report.failures.size(), seconds_of(report.slowest));
  for (const KillTrial& trial : report.failures) {
    for (const std::string& finding : trial.findings) {
      say(machine + ", kill point " + std::to_string(trial.kill_point) + ": " + finding);
    }
  }
}

void print_power_cycles(const PowerReport& report, const KillExperiment& experiment) {
  const std::string& device = experiment.fabric->device(report.device).name;
  std::printf("%s of %zu, %s, %s: %llu of %llu power cycles, %zu failed, slowest return %.3f s\n",
              experiment.fabric->architecture.c_str(), experiment.fabric->nodes.size(), device.c_str(),
              std::string(to_string(experiment.change)).c_str(), static_cast<unsigned long long>(report.covered),
              static_cast<unsigned long long>(report.points), report.failures.size(), seconds_of(report.slowest));
  for (const KillTrial& trial : report.failures) {
    for (const std::string& finding : trial.findings) {
      say(device + ", instant " + std::to_string(trial.kill_point) + ": " + finding);
    }
  }
}

struct PowerSums {
  std::uint64_t tried = 0;
  std::size_t failed = 0;
};

/// Every device that the change writes.
Result<PowerSums> cycle_all_power(const KillExperiment& experiment, std::uint64_t every) {
  const auto devices = devices_of_change(experiment);
  if (!devices) {
    return std::unexpected(devices.error());
  }
  PowerSums sums;
  for (const DeviceId device : *devices) {
    const auto report = try_power_cycles(experiment, device, kPowerGrid, every);
    if (!report) {
      return std::unexpected(report.error());
    }
    print_power_cycles(*report, experiment);
    sums.tried += report->covered;
    sums.failed += report->failures.size();
  }
  return sums;
}

std::shared_ptr<const Fabric> circuit_switch_fabric() {
  SipOcsParameters parameters;
  parameters.nodes = 8;
  return std::make_shared<const Fabric>(make_sip_ocs(parameters));
}

std::shared_ptr<const Fabric> oddl_fabric(std::uint32_t nodes, std::uint32_t group_size) {
  OddlParameters parameters;
  parameters.nodes = nodes;
  parameters.group_size = group_size;
  parameters.channels = static_cast<std::int32_t>(group_size + group_size / 2);
  return std::make_shared<const Fabric>(make_oddl(parameters));
}

std::shared_ptr<const Fabric> kill_fabric() { return oddl_fabric(8, 4); }
/// Both jobs' light passes the same pair of switches.
std::shared_ptr<const Fabric> one_group_fabric() { return oddl_fabric(16, 8); }

}  // namespace

int soak(const Globals& globals, const SoakOrder& order) {
  const auto allowed = classes_of(order.faults);
  if (!allowed) {
    return give_up(allowed.error());
  }
  Sums sums;
  for (std::uint64_t seed = order.first; seed < order.first + order.seeds; seed += order.step) {
    auto result = run_swarm({seed, *allowed});
    if (!result) {
      return give_up(result.error());
    }
    if (order.twice_every > 0 && sums.seeds % order.twice_every == 0) {
      const auto again = run_swarm({seed, *allowed});
      ++sums.compared;
      if (!again || again->digest != result->digest || again->events != result->events) {
        result->violations.push_back({Instant{}, SafetyRule::unsettled, "the same seed was another run the second time"});
      }
    }
    add(sums, *result);
    if (!result->violations.empty()) {
      ++sums.failed;
      tell(*result, order);
    }
    if (sums.seeds % kProgressEvery == 0) {
      say(std::to_string(sums.seeds) + " seeds, " + std::to_string(sums.failed) + " failed");
    }
  }
  print_sums(globals, sums);
  return sums.failed == 0 ? kDone : kFailed;
}

int try_kills(const Globals&, const KillOrder& order) {
  KillExperiment experiment;
  experiment.fabric = kill_fabric();
  experiment.seed = order.seed;
  std::uint64_t points = 0;
  std::size_t failed = 0;
  for (const IntentChange change : {IntentChange::submit, IntentChange::cancel}) {
    experiment.change = change;
    for (std::size_t machine = 0; machine <= experiment.fabric->nodes.size(); ++machine) {
      const bool is_controller = machine == 0;
      const NodeId node{static_cast<std::uint32_t>(machine == 0 ? 0 : machine - 1)};
      const auto report = try_kill_points(experiment, is_controller ? controller_peer() : agent_peer(node),
                                          std::max<std::uint64_t>(1, order.every));
      if (!report) {
        return give_up(report.error());
      }
      print_kills(*report, is_controller ? "controller" : "agent " + std::to_string(node.value), experiment);
      points += report->covered;
      failed += report->failures.size();
    }
  }
  std::printf("%llu kill points tried, %zu failed\n", static_cast<unsigned long long>(points), failed);
  PowerSums power;
  for (const auto& fabric : {experiment.fabric, one_group_fabric(), circuit_switch_fabric()}) {
    experiment.fabric = fabric;
    for (const IntentChange change : {IntentChange::submit, IntentChange::cancel}) {
      experiment.change = change;
      const auto sums = cycle_all_power(experiment, std::max<std::uint64_t>(1, order.every));
      if (!sums) {
        return give_up(sums.error());
      }
      power.tried += sums->tried;
      power.failed += sums->failed;
    }
  }
  std::printf("%llu power cycles tried, %zu failed\n", static_cast<unsigned long long>(power.tried), power.failed);
  failed += power.failed;
  return failed == 0 ? kDone : kFailed;
}

}  // namespace loom::cli
