// SPDX-License-Identifier: Apache-2.0
// A collective's rounds made ready to be played: by lane, with what each rank sends and how much it awaits.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "controller/workload/rounds.hpp"

namespace loom {

struct RoundPlan {
  struct Run {
    RoundPattern pattern = RoundPattern::shift;
    std::uint32_t parameter = 1;
    std::uint32_t repeats = 1;
    double bytes = 0;
    std::vector<std::uint32_t> first_of;  ///< pairs: by source, size + 1 entries into `pairs`
    std::vector<RoundTransfer> pairs;
    std::vector<std::uint32_t> awaited;  ///< pairs and exchange: transfers that a rank receives in a round
  };
  struct Lane {
    std::vector<Run> runs;
    std::uint32_t rounds = 0;
    bool is_ring = false;  ///< one run of shifts
  };

  std::uint32_t size = 0;
  std::vector<Lane> lanes;
  bool is_symmetric = false;  ///< every rank does the same in every round, lanes alike

  /// Of all lanes.
  std::size_t runs() const {
    return std::accumulate(lanes.begin(), lanes.end(), std::size_t{0},
                           [](std::size_t sum, const Lane& lane) { return sum + lane.runs.size(); });
  }
  /// Who sends to whom hangs on the bytes too: pipelines in pieces.
  bool is_spelled() const {
    return std::any_of(lanes.begin(), lanes.end(), [](const Lane& lane) {
      return std::any_of(lane.runs.begin(), lane.runs.end(), [](const Run& run) { return run.pattern == RoundPattern::pairs; });
    });
  }
};

/// Errors: invalid_argument (a rank that is not there).
Result<RoundPlan> plan_of(const CollectiveRounds& rounds);

std::uint32_t awaited_by(const RoundPlan& plan, const RoundPlan::Run& run, std::uint32_t rank);

/// Calls `each(destination, bytes)` for what `rank` sends in a round of `run`.
template <class Each>
void for_each_sent(const RoundPlan& plan, const RoundPlan::Run& run, std::uint32_t rank, const Each& each) {
  switch (run.pattern) {
    case RoundPattern::shift:
      each((rank + run.parameter) % plan.size, run.bytes);
      return;
    case RoundPattern::exchange:
      if ((rank ^ run.parameter) < plan.size) {
        each(rank ^ run.parameter, run.bytes);
      }
      return;
    case RoundPattern::all_pairs:
      for (std::uint32_t other = 0; other < plan.size; ++other) {
        if (other != rank) {
          each(other, run.bytes);
        }
      }
      return;
    case RoundPattern::pairs:
      for (std::uint32_t i = run.first_of[rank]; i < run.first_of[rank + 1]; ++i) {
        each(run.pairs[i].destination, run.pairs[i].bytes);
      }
      return;
  }
}

/// Nanoseconds that a symmetric plan takes when all ranks start together on private ports of `bytes_per_ns` and `latency_ns`,
/// `on_wire(bytes)` each. Patarasuk and Yuan 2009 for the ring: 2(n-1)/n S/B + 2(n-1) latency.
template <class OnWire>
double symmetric_ns(const RoundPlan& plan, double bytes_per_ns, double latency_ns, const OnWire& on_wire) {
  double sum = 0;
  for (const RoundPlan::Run& run : plan.lanes.empty() ? std::vector<RoundPlan::Run>{} : plan.lanes.front().runs) {
    const double transfers = run.pattern == RoundPattern::all_pairs ? plan.size - 1 : 1;
    const double port = static_cast<double>(plan.lanes.size()) * transfers * on_wire(run.bytes) / bytes_per_ns;
    sum += run.repeats * (port + latency_ns);
  }
  return sum;
}

}  // namespace loom
