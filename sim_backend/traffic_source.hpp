// SPDX-License-Identifier: Apache-2.0
// TrafficSource: the training processes of a simulated run, as far as they tell of their collectives. It plays each job's true
// traffic iteration by iteration and hands every node what its Inspector would have told; what becomes of that is the agents'
// and the network's. It knows where a job's ranks are, as a launcher does, and nothing else of the controller.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/config/scenario/scenario.hpp"
#include "core/traffic.hpp"

namespace loom {

/// One entry of a job's true traffic, with what its workload makes.
struct PlayedTraffic {
  Duration at{};  ///< since the job's submission
  std::uint32_t groups = 1;
  Duration every{};
  std::vector<Collective> collectives{};  ///< of one group
  std::uint32_t ranks = 0;                ///< of one group
};

class TrafficSource {
 public:
  /// By name of the job; ascending `at`.
  explicit TrafficSource(std::map<std::string, std::vector<PlayedTraffic>> jobs) : jobs_(std::move(jobs)) {}

  bool empty() const { return jobs_.empty(); }
  bool has(const std::string& job) const { return jobs_.contains(job); }
  /// What each rank of the job has told when the iteration that ends at `now` is over, and how long the next one takes. Empty:
  /// the job's first entry is still to come.
  struct Iteration {
    std::vector<TrafficReported> by_rank{};
    Duration next{};
  };
  Iteration play(const std::string& job, Instant submitted, Instant now);

 private:
  std::map<std::string, std::vector<PlayedTraffic>> jobs_;
  std::map<std::pair<std::uint64_t, CollectiveKind>, std::uint64_t> sequences_;  ///< by communicator and kind
};

}  // namespace loom
