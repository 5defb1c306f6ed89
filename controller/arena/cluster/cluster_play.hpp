// SPDX-License-Identifier: Apache-2.0
// A cluster in time: jobs arrive, wait first come first served, run on servers of their own, lose them to failures, and end.
// Between two events the set of running jobs is constant, and so is what an iteration of each takes (quasi-static); whoever
// calls says what that is. Knows no networks. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "controller/arena/cluster/cluster_spec.hpp"
#include "core/result.hpp"
#include "core/time.hpp"

namespace loom {

struct RunningJob {
  std::uint32_t kind = 0;
  std::vector<std::uint32_t> servers;  ///< by node of the job
};

/// What an iteration of each of `running` takes while just these run, ns, above 0.
using IterationTimes = std::function<Result<std::vector<double>>(std::span<const RunningJob> running)>;

struct ClusterPlay {
  IterationTimes iteration_ns;
  /// By kind: from a job's having servers to its first iteration, light and all; empty: none.
  std::vector<Duration> lighting{};
  /// Called as jobs end; may be empty.
  std::function<void(std::uint32_t ended)> progress{};
};

/// One job. Times in ns from the beginning of the study.
struct PlayedJob {
  std::uint32_t kind = 0;
  double arrival = 0;
  double start = 0;  ///< when it first had servers
  double finish = 0;
  double waiting = 0;  ///< without servers, all in all
  double held = 0;     ///< with servers: iterations, lighting, checkpoints, restarts, and what was lost
  double useful = 0;   ///< iterations that were not lost
  std::int64_t iterations = 0;
  std::uint32_t failures = 0;  ///< of servers that it ran on

  double iteration() const { return useful / static_cast<double>(iterations); }
};

struct ClusterOutcome {
  std::vector<PlayedJob> jobs;  ///< in order of arrival
  double makespan = 0;          ///< from the first arrival to the last end
  double server_time = 0;       ///< servers x time that jobs held them
  double useful_time = 0;       ///< the part of it in which iterations went on that were not lost
  std::uint32_t failures = 0;   ///< of servers, idle ones too
  std::uint64_t sets = 0;       ///< of running jobs, one after the other
};

/// Events of one play. One that needs more may never end: servers can fail faster than jobs save what they did.
inline constexpr std::uint64_t kClusterEvents = 20'000'000;

/// The whole study under one seed: `spec`.seed draws mix and arrivals, servers and failures, each from a stream of its own, so
/// that every fabric has the same jobs and the same failures. Errors: those of `iteration_ns`; infeasible (kClusterEvents).
/// Preconditions: what read_cluster_file() guarantees.
Result<ClusterOutcome> play_cluster(const ClusterSpec& spec, const ClusterPlay& play);

}  // namespace loom
