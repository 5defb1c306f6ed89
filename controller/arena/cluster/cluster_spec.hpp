// SPDX-License-Identifier: Apache-2.0
// A shared cluster to be studied: servers, kinds of jobs and how often each comes, when they arrive, and how servers fail.
// Plain values; cluster_file.hpp reads them, cluster_play.hpp plays them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/workload/task_graph.hpp"
#include "core/time.hpp"
#include "core/units.hpp"

namespace loom {

struct ClusterKind {
  std::string name;
  TaskGraph graph;              ///< of one iteration; its nodes are the servers that a job takes
  double share = 1;             ///< of the mix, to the sum of all
  std::int64_t iterations = 1;  ///< of a job
};

/// random: any free servers. packed: the free servers with the lowest numbers, ranks in their order.
enum class ServerPlacement : std::uint8_t { random, packed };

/// together: all at 0. regular: one each `interval`, the first at 0. poisson: `interval` is the mean of exponential gaps.
enum class ArrivalKind : std::uint8_t { together, regular, poisson };

struct Arrivals {
  ArrivalKind kind = ArrivalKind::together;
  Duration interval{};
  /// poisson, above 0: `interval` is to be such that jobs behind an ideal switch would hold this part of the servers; see
  /// set_load().
  double load = 0;
};

/// Each server fails by itself, busy or idle, at exponential intervals, and is back after `repair`. A job that loses a server
/// gives all of them back, waits in its old place, and goes on from its last checkpoint.
struct ServerFailures {
  Duration mtbf{};  ///< of one server, while it is up
  Duration repair{};
  std::int64_t checkpoint_every = 0;  ///< iterations; 0: none, a job that fails begins anew
  Duration checkpoint{};              ///< what one takes; nothing else goes on in it
  Duration restart{};                 ///< from having servers again to the first iteration
};

struct ClusterSpec {
  std::string name;
  std::uint32_t servers = 0;
  BitRate rate{};  ///< a server's total, each direction
  ServerPlacement placement = ServerPlacement::random;
  std::vector<ClusterKind> kinds;
  std::uint32_t count = 0;  ///< of jobs
  Arrivals arrivals;
  std::uint64_t seed = 1;
  std::optional<ServerFailures> failures;
};

}  // namespace loom
