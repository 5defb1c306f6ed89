// SPDX-License-Identifier: Apache-2.0
// Findings go to stderr as they come; the summary is the answer.
#include "cli/offline/soak.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <optional>

#include "cli/catalogue/shipped.hpp"
#include "cli/render/answer.hpp"
#include "cli/render/term.hpp"
#include "core/text/format_text.hpp"
#include "sim_backend/experiments/kill_points.hpp"
#include "sim_backend/experiments/shrink.hpp"
#include "sim_backend/experiments/swarm.hpp"

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
  std::uint64_t excused = 0;
  Duration virtual_time{};
  Duration slowest{};  ///< from the end of the faults to rest
  std::array<std::uint64_t, kFaultClasses> faults{};
  struct OfFamily {
    std::uint64_t seeds = 0;
    std::uint64_t failed = 0;
    std::uint64_t committed = 0;
    std::uint64_t faults = 0;  ///< messages lost, doubled or reordered aside
  };
  std::array<OfFamily, kFabricFamilies> families{};
  struct OfKind {
    std::uint64_t excused = 0;               ///< violations
    std::uint64_t never = 0;                 ///< faults of which nobody was told
    std::vector<Duration> reported_after{};  ///< the others, from their beginning
  };
  std::map<std::string, OfKind> kinds{};  ///< of faults that excused something
};

void add_excused(Sums& sums, const SwarmResult& result) {
  sums.excused += result.excused_count;
  for (const ExcusingFault& fault : result.excusing) {
    Sums::OfKind& kind = sums.kinds[kind_of_fault(fault.fault)];
    kind.excused += fault.excused;
    if (fault.reported_after == kForever) {
      ++kind.never;
    } else {
      kind.reported_after.push_back(fault.reported_after);
    }
  }
}

Duration median_of(std::vector<Duration> durations) {
  const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
  std::nth_element(durations.begin(), middle, durations.end());
  return *middle;
}

std::string text_of(Duration duration) { return format_text("{} ms", duration / std::chrono::milliseconds{1}); }

/// A table: what was excused by which kind of fault, and how long after its beginning an operator was told of it.
void print_excused(const Sums& sums) {
  std::printf(
      "excused      %llu violations, by kind of fault; reported: an alarm or a job's state named the device, its node or "
      "circuit\n",
      static_cast<unsigned long long>(sums.excused));
  for (const auto& [word, kind] : sums.kinds) {
    const bool any = !kind.reported_after.empty();
    std::printf("excused      %-14s %llu violations by %llu faults, reported after p50 %s, worst %s, never %llu\n",
                word.c_str(), static_cast<unsigned long long>(kind.excused),
                static_cast<unsigned long long>(kind.reported_after.size() + kind.never),
                any ? text_of(median_of(kind.reported_after)).c_str() : "-",
                any ? text_of(*std::max_element(kind.reported_after.begin(), kind.reported_after.end())).c_str() : "-",
                static_cast<unsigned long long>(kind.never));
  }
}

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
      return fail(ErrorCode::invalid_argument,
                  format_text("there is no class of faults '{}'; expected one of {}", word, known));
    }
  }
  return allowed;
}

Result<std::optional<FabricFamily>> family_of(const std::string& word) {
  std::string known;
  for (std::size_t i = 0; i < kFabricFamilies; ++i) {
    const auto family = static_cast<FabricFamily>(i);
    if (word == to_string(family)) {
      return std::optional{family};
    }
    known += (i == 0 ? "" : ", ") + std::string(to_string(family));
  }
  return word.empty() ? Result<std::optional<FabricFamily>>(std::nullopt)
                      : fail(ErrorCode::invalid_argument,
                             format_text("there is no family of fabrics '{}'; expected one of {}", word, known));
}

void add(Sums& sums, const SwarmResult& result) {
  ++sums.seeds;
  sums.events += result.events;
  sums.committed += result.committed;
  sums.returned += result.returned;
  sums.virtual_time += result.virtual_time;
  sums.slowest = result.settled_after == kForever ? sums.slowest : std::max(sums.slowest, result.settled_after);
  add_excused(sums, result);
  Sums::OfFamily& family = sums.families[static_cast<std::size_t>(result.draw.fabric.family)];
  ++family.seeds;
  family.failed += result.violations.empty() ? 0 : 1;
  family.committed += result.committed;
  for (std::size_t i = 0; i < kFaultClasses; ++i) {
    sums.faults[i] += result.faults[i];
    family.faults += i == static_cast<std::size_t>(FaultClass::network) ? 0 : result.faults[i];
  }
}

/// What failed, and the command that finds it again; made small first if that is wanted.
void tell(const SwarmResult& result, const SoakCommand& order) {
  const Scenario& scenario = result.draw.scenario;
  for (const Violation& violation : result.violations) {
    print_note(format_text("seed {}, {}, at {} s: {}: {}", scenario.seed, scenario.fabric->name,
                           std::to_string(seconds_of(violation.at.time_since_epoch())), to_string(violation.rule),
                           violation.evidence));
  }
  std::string replay = format_text("  replay: loom sim soak --seeds 1 --first {}", scenario.seed);
  replay += order.fault_files ? " --fault-files" : "";
  replay += order.fabric.empty() ? "" : " --fabric " + order.fabric;
  for (const std::string& word : order.faults) {
    replay += " --faults " + word;
  }
  print_note(replay);
  if (order.shrink.empty()) {
    return;
  }
  const auto shrunk = shrink(result.draw, {400, order.configs});
  const auto files =
      shrunk ? write_draw(shrunk->draw, order.configs, order.shrink) : Result<DrawFiles>(std::unexpected(shrunk.error()));
  if (!files) {
    print_note("  not shrunk: " + files.error().message);
    return;
  }
  print_note(format_text("  after {} runs: {}: {}", shrunk->runs, to_string(shrunk->rule), shrunk->evidence));
  print_note(format_text("  loom sim run {} --faults {} --seed {}", files->scenario, files->faults, scenario.seed));
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
    for (std::size_t i = 0; i < kFabricFamilies; ++i) {
      const Sums::OfFamily& family = sums.families[i];
      object["fabrics"][std::string(to_string(static_cast<FabricFamily>(i)))] = {
          {"seeds", family.seeds}, {"failed", family.failed}, {"committed", family.committed}, {"faults", family.faults}};
    }
    object["excused"] = sums.excused;
    for (const auto& [word, kind] : sums.kinds) {
      auto& row = object["excused_by"][word];
      row = {{"violations", kind.excused}, {"faults", kind.reported_after.size() + kind.never}, {"never_told", kind.never}};
      if (!kind.reported_after.empty()) {
        row["told_p50_ms"] = seconds_of(median_of(kind.reported_after)) * 1e3;
        row["told_worst_ms"] = seconds_of(*std::max_element(kind.reported_after.begin(), kind.reported_after.end())) * 1e3;
      }
    }
    print(object);
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
  for (std::size_t i = 0; i < kFabricFamilies; ++i) {
    const Sums::OfFamily& family = sums.families[i];
    std::printf("fabric       %-14s %llu seeds, %llu failed, %llu committed, %llu faults\n",
                std::string(to_string(static_cast<FabricFamily>(i))).c_str(), static_cast<unsigned long long>(family.seeds),
                static_cast<unsigned long long>(family.failed), static_cast<unsigned long long>(family.committed),
                static_cast<unsigned long long>(family.faults));
  }
  print_excused(sums);
}

void print_kills(const KillReport& report, const std::string& machine, const KillExperiment& experiment) {
  std::printf("%s, %s: %llu of %llu kill points, %zu failed, slowest return %.3f s\n", machine.c_str(),
              std::string(to_string(experiment.change)).c_str(), static_cast<unsigned long long>(report.covered),
              static_cast<unsigned long long>(report.points), report.failures.size(), seconds_of(report.slowest));
  for (const KillTrial& trial : report.failures) {
    for (const std::string& finding : trial.findings) {
      print_note(format_text("{}, kill point {}: {}", machine, trial.kill_point, finding));
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
      print_note(format_text("{}, instant {}: {}", device, trial.kill_point, finding));
    }
  }
}

struct PowerSums {
  std::uint64_t tried = 0;
  std::size_t failed = 0;
};

/// Every device that the change or its opposite writes.
Result<PowerSums> cycle_all_power(const KillExperiment& experiment, std::uint64_t every) {
  const auto devices = devices_of_changes(experiment);
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

struct KillSums {
  std::uint64_t points = 0;
  std::uint64_t power_cycles = 0;
  std::size_t failed = 0;
};

/// Every machine, and every device that the change or its opposite writes.
Result<void> try_change(const KillExperiment& experiment, std::uint64_t every, KillSums& sums) {
  for (std::size_t machine = 0; machine <= experiment.fabric->nodes.size(); ++machine) {
    const NodeId node{static_cast<std::uint32_t>(machine == 0 ? 0 : machine - 1)};
    const auto report = try_kill_points(experiment, machine == 0 ? controller_peer() : agent_peer(node), every);
    if (!report) {
      return std::unexpected(report.error());
    }
    print_kills(
        *report,
        format_text("{}, {}", experiment.fabric->name, machine == 0 ? "controller" : format_text("agent {}", node.value)),
        experiment);
    sums.points += report->covered;
    sums.failed += report->failures.size();
  }
  const auto power = cycle_all_power(experiment, every);
  if (!power) {
    return std::unexpected(power.error());
  }
  sums.power_cycles += power->tried;
  sums.failed += power->failed;
  return {};
}

std::string folder_of(const std::string& configs) {
  const std::string found = configs.empty() ? config_folder().string() : configs;
  return found.empty() ? "configs" : found;
}

}  // namespace

int soak(const Globals& globals, const SoakCommand& asked) {
  SoakCommand order = asked;
  order.configs = folder_of(asked.configs);
  const auto allowed = classes_of(order.faults);
  const auto family = family_of(order.fabric);
  if (!allowed || !family) {
    return give_up(!allowed ? allowed.error() : family.error());
  }
  Sums sums;
  for (std::uint64_t seed = order.first; seed < order.first + order.seeds; seed += order.step) {
    const SwarmOptions options{seed, *allowed, *family, order.configs};
    const auto draw = order.fault_files ? draw_fault_file(options) : draw_swarm(options);
    auto result = draw ? run_draw(*draw) : Result<SwarmResult>(std::unexpected(draw.error()));
    if (!result) {
      return give_up(result.error());
    }
    if (order.twice_every > 0 && sums.seeds % order.twice_every == 0) {
      const auto again = run_draw(*draw);
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
      print_note(format_text("{} seeds, {} failed", sums.seeds, sums.failed));
    }
  }
  print_sums(globals, sums);
  return sums.failed == 0 ? kDone : kFailed;
}

int try_kills(const Globals&, const KillCommand& order) {
  const auto only = family_of(order.fabric);
  if (!only) {
    return give_up(only.error());
  }
  KillSums all;
  for (std::size_t i = 0; i < kFabricFamilies; ++i) {
    const auto family = static_cast<FabricFamily>(i);
    for (std::uint32_t size = 0; size < std::min(2U, sizes_of(family)) && family == only->value_or(family); ++size) {
      KillExperiment experiment;
      experiment.seed = order.seed;
      const auto fabric = make_fabric({family, size}, folder_of(order.configs));
      if (!fabric) {
        return give_up(fabric.error());
      }
      experiment.fabric = *fabric;
      for (const IntentChange change : {IntentChange::submit, IntentChange::cancel}) {
        experiment.change = change;
        if (const auto done = try_change(experiment, std::max<std::uint64_t>(1, order.every), all); !done) {
          return give_up(done.error());
        }
      }
    }
  }
  std::printf("%llu kill points and %llu power cycles tried, %zu failed\n", static_cast<unsigned long long>(all.points),
              static_cast<unsigned long long>(all.power_cycles), all.failed);
  return all.failed == 0 ? kDone : kFailed;
}

}  // namespace loom::cli
