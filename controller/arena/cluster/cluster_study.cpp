// SPDX-License-Identifier: Apache-2.0
// Plays, then sums.
#include "controller/arena/cluster/cluster_study.hpp"

#include <algorithm>
#include <cmath>

#include "controller/arena/cluster/draws.hpp"
#include "controller/workload/models/compute_time.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// One seed; where a set takes long round by round, all of them anew as fluids.
Result<ClusterOutcome> played(const ClusterSpec& spec, ClusterFabric& fabric, const std::function<void(std::uint32_t)>& tell) {
  ClusterPlay play;
  play.iteration_ns = [&](std::span<const RunningJob> running) { return fabric.iteration_ns(running); };
  play.lighting = fabric.lighting();
  play.progress = tell;
  auto outcome = play_cluster(spec, play);
  if (!outcome && outcome.error().code == ErrorCode::timed_out && !fabric.is_fluid()) {
    fabric.use_fluids();
    outcome = play_cluster(spec, play);
  }
  return outcome;
}

struct Sums {
  std::vector<double> iteration_ms;
  std::vector<double> waiting_s;
  std::vector<double> completion_s;
  std::vector<double> seed_means_ms;
  double makespan_ns = 0;
  double server_time = 0;
  double useful_time = 0;

  void add(const ClusterOutcome& outcome) {
    double sum = 0;
    for (const PlayedJob& job : outcome.jobs) {
      iteration_ms.push_back(job.iteration() / 1e6);
      waiting_s.push_back(job.waiting / 1e9);
      completion_s.push_back((job.finish - job.arrival) / 1e9);
      sum += iteration_ms.back();
    }
    seed_means_ms.push_back(sum / static_cast<double>(outcome.jobs.size()));
    makespan_ns += outcome.makespan;
    server_time += outcome.server_time;
    useful_time += outcome.useful_time;
  }
};

void add_kinds(const ClusterSpec& spec, const ClusterFabric& fabric, ClusterRow& row) {
  for (std::uint32_t kind = 0; kind < spec.kinds.size(); ++kind) {
    ClusterKindRow of{spec.kinds[kind].name, 0, fabric.alone_ns()[kind] / 1e6, 0};
    for (const ClusterJobRow& each : row.jobs) {
      if (each.job.kind == kind) {
        ++of.jobs;
        of.iteration_ms += each.job.iteration() / 1e6;
      }
    }
    of.iteration_ms = of.jobs > 0 ? of.iteration_ms / of.jobs : 0;
    row.kinds.push_back(std::move(of));
  }
}

void add_assumptions(const ClusterSpec& spec, const ClusterFabric& fabric, ClusterRow& row) {
  const std::string name = row.fabric;
  if (row.is_shared) {
    row.assumptions.push_back(name +
                              ": jobs share one network of all servers; behind a change, a set of running jobs is played "
                              "from a common start, short jobs up to four iterations, and each takes its mean");
  } else {
    row.assumptions.push_back(name +
                              ": each job has a shard of its own among any servers, and takes what it takes there alone");
    Duration longest{};
    for (const Duration each : fabric.lighting()) {
      longest = std::max(longest, each);
    }
    row.assumptions.push_back(format_text("{}: {} ms are charged for lighting a job's circuits, at worst, whenever it begins",
                                          name, printed("%g", static_cast<double>(longest.count()) / 1e6)));
  }
  if (fabric.is_fluid()) {
    row.assumptions.push_back(name +
                              ": collectives are played as fluids, not round by round (docs/predictor.md); --exact plays "
                              "every round");
  }
  if (spec.failures && !row.is_shared) {
    row.assumptions.push_back(name + ": a shard that lost a server is lit anew elsewhere");
  }
  row.assumptions.insert(row.assumptions.end(), fabric.assumptions().begin(), fabric.assumptions().end());
}

}  // namespace

ClusterFigures figures_of(const std::vector<double>& values) {
  return {mean(values), percentile(values, 0.5), percentile(values, 0.9), percentile(values, 0.99)};
}

Result<ClusterRow> study_cluster(const ClusterSpec& spec, const ClusterStudy& study) {
  auto fabric = ClusterFabric::make(spec, study.fabric);
  if (!fabric) {
    return std::unexpected(std::move(fabric).error());
  }
  ClusterRow row;
  row.fabric = study.fabric.fabric;
  row.qualifier = fabric->qualifier();
  row.rate = study.fabric.rate;
  row.is_shared = fabric->is_shared();
  Sums sums;
  for (std::uint32_t i = 0; i < study.seeds; ++i) {
    ClusterSpec own = spec;
    own.seed = spec.seed + i;
    if (study.seeds > 1) {
      fabric->use_seed(own.seed);
    }
    const auto outcome = played(own, *fabric, [&](std::uint32_t ended) {
      if (study.progress) {
        study.progress(std::uint64_t{i} * spec.count + ended, std::uint64_t{study.seeds} * spec.count);
      }
    });
    if (!outcome) {
      return std::unexpected(outcome.error());
    }
    sums.add(*outcome);
    row.failures += outcome->failures;
    row.sets += outcome->sets;
    for (const PlayedJob& job : outcome->jobs) {
      row.restarts += job.failures;
      row.jobs.push_back({own.seed, job});
    }
  }
  row.iteration_ms = figures_of(sums.iteration_ms);
  row.waiting_s = figures_of(sums.waiting_s);
  row.completion_s = figures_of(sums.completion_s);
  row.makespan_s = sums.makespan_ns / study.seeds / 1e9;
  row.use = sums.server_time / (spec.servers * sums.makespan_ns);
  if (spec.failures) {
    row.goodput = sums.useful_time / sums.server_time;
  }
  if (study.seeds > 1) {
    row.seeds_ms = spread_of(sums.seed_means_ms);
  }
  row.is_approximate = fabric->is_approximate();
  add_kinds(spec, *fabric, row);
  add_assumptions(spec, *fabric, row);
  return row;
}

Result<void> set_load(ClusterSpec& spec) {
  if (spec.arrivals.load <= 0) {
    return {};
  }
  const auto fabric = ClusterFabric::make(spec, {"ideal-switch", spec.rate, {}, false});
  if (!fabric) {
    return std::unexpected(fabric.error());
  }
  double shares = 0;
  double work = 0;  // server time of a job, ns x shares
  for (std::size_t i = 0; i < spec.kinds.size(); ++i) {
    const ClusterKind& kind = spec.kinds[i];
    shares += kind.share;
    work += kind.share * kind.graph.nodes * static_cast<double>(kind.iterations) * fabric->alone_ns()[i];
  }
  const double interval = work / shares / spec.servers / spec.arrivals.load;
  spec.arrivals.interval = Duration{std::llround(std::clamp(interval, 1.0, static_cast<double>(limits::kDurationNs)))};
  return {};
}

std::vector<std::string> assumptions_of(const ClusterSpec& spec) {
  std::vector<std::string> all{
      "cluster: quasi-static: between two events (a job begins, ends, loses a server) the running jobs are constant, and so is "
      "what an iteration of each takes",
      "cluster: jobs wait first come first served; whoever is first and does not fit keeps the others waiting"};
  if (spec.arrivals.load > 0) {
    all.push_back(format_text(
        "cluster: a load of {} is a job every {} s in the mean: what fills that part of the servers behind "
        "an ideal switch",
        printed("%g", spec.arrivals.load), printed("%.4g", static_cast<double>(spec.arrivals.interval.count()) / 1e9)));
  }
  if (spec.failures) {
    all.emplace_back(
        "cluster: servers fail by themselves, busy or idle, at exponential intervals, and come back after a constant "
        "time; every fabric sees the same failures");
    all.emplace_back(
        "cluster: a job that loses a server gives all of them back, waits in its old place, pays the restart, and "
        "goes on from its last checkpoint; while it saves or restarts the others feel it as if it sent");
  }
  for (const ClusterKind& kind : spec.kinds) {
    for (const std::string& each : kind.graph.assumptions) {
      all.push_back(format_text("{}: {}", kind.name, each));
    }
  }
  return all;
}

}  // namespace loom
