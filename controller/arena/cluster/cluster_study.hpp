// SPDX-License-Identifier: Apache-2.0
// A cluster under one or several seeds on one fabric, summed up: what iterations take, how long jobs wait and take, how much of
// the servers' time is used, and how much of that is not lost to failures.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "controller/arena/cluster/cluster_fabric.hpp"
#include "controller/arena/cluster/cluster_play.hpp"
#include "controller/arena/seeds.hpp"

namespace loom {

/// Over jobs; percentiles by nearest rank.
struct ClusterFigures {
  double mean = 0;
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
};
/// `values` not empty.
ClusterFigures figures_of(const std::vector<double>& values);

struct ClusterKindRow {
  std::string name;
  std::uint32_t jobs = 0;
  double alone_ms = 0;      ///< see ClusterFabric::alone_ns()
  double iteration_ms = 0;  ///< mean of its jobs; 0: none was drawn
};

struct ClusterJobRow {
  std::uint64_t seed = 0;
  PlayedJob job;
};

struct ClusterRow {
  std::string fabric;
  std::string qualifier;
  BitRate rate{};
  bool is_shared = false;
  bool is_approximate = false;
  ClusterFigures iteration_ms;  ///< a job's is the mean of its iterations
  ClusterFigures waiting_s;
  ClusterFigures completion_s;         ///< from arrival to end
  double makespan_s = 0;               ///< mean of the seeds
  double use = 0;                      ///< of servers x makespan: the part that jobs held, 0 .. 1
  std::optional<double> goodput;       ///< of what they held: the part in useful iterations; none: no failures are studied
  std::uint64_t failures = 0;          ///< of servers, all seeds
  std::uint64_t restarts = 0;          ///< of jobs
  std::uint64_t sets = 0;              ///< of running jobs, one after the other
  std::optional<SeedSpread> seeds_ms;  ///< of the seeds' mean iterations; none: one seed
  std::vector<ClusterKindRow> kinds;
  std::vector<ClusterJobRow> jobs;  ///< of all seeds
  std::vector<std::string> assumptions;
};

struct ClusterStudy {
  ClusterFabricTerms fabric;
  std::uint32_t seeds = 1;  ///< from the spec's on; the fabric's own chance goes with them where there are several
  /// Jobs that ended and all of the study's; may be empty.
  std::function<void(std::uint64_t ended, std::uint64_t all)> progress{};
};

/// Errors: those of ClusterFabric and play_cluster().
Result<ClusterRow> study_cluster(const ClusterSpec& spec, const ClusterStudy& study);

/// The interval of arrivals that are given as a load; others stay as they are. Errors: those of ClusterFabric.
Result<void> set_load(ClusterSpec& spec);

/// What every answer of a study assumes.
std::vector<std::string> assumptions_of(const ClusterSpec& spec);

}  // namespace loom
