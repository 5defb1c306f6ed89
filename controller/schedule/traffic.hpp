// SPDX-License-Identifier: Apache-2.0
// Traffic of one job: its collectives as rings (each rank sends to the next) and as bytes between pairs of ranks. Symbolic
// where the collective is symmetric; never a matrix unless somebody asks pair by pair.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "controller/workload/ring_groups.hpp"
#include "core/demand.hpp"
#include "core/result.hpp"

namespace loom {

class PairTraffic {
 public:
  explicit PairTraffic(std::uint32_t ranks) : ranks_(ranks) {}
  void add_all_to_all(const std::vector<std::uint32_t>& members, std::int64_t bytes);
  void add_pair(RankPair pair, std::int64_t bytes) { pairs_[pair] += bytes; }

  bool empty() const { return uniform_ == 0 && subsets_.empty() && pairs_.empty(); }
  /// Bytes of one iteration from rank to rank; 0 to itself.
  std::int64_t bytes(RankPair pair) const;
  /// Calls `each(pair, bytes)` for every pair with bytes, ascending.
  template <class Each>
  void for_each(const Each& each) const {
    if (uniform_ == 0 && subsets_.empty()) {
      for (const auto& [pair, bytes] : pairs_) {
        if (pair.source != pair.destination && bytes > 0) {
          each(pair, bytes);
        }
      }
      return;
    }
    for (RankPair pair; pair.source < ranks_; ++pair.source) {
      for (pair.destination = 0; pair.destination < ranks_; ++pair.destination) {
        if (const std::int64_t moved = bytes(pair); moved > 0) {
          each(pair, moved);
        }
      }
    }
  }

 private:
  struct Subset {
    std::vector<bool> member;
    std::int64_t bytes = 0;
  };

  std::uint32_t ranks_;
  std::int64_t uniform_ = 0;
  std::vector<Subset> subsets_;
  std::map<RankPair, std::int64_t> pairs_;
};

struct JobTraffic {
  std::vector<RingGroup> rings;
  PairTraffic pairs{0};
};

/// To how many others each rank of its largest even all-to-all sends; 0: it has none. It costs nothing: what a fabric can never
/// give so many peers is refused by it before a pair is listed.
std::uint32_t all_to_all_peers(const JobDemand& job);

/// Rings as ring_groups_of says, what goes directly by pairs. An all-to-all sends S/n to each rank.
/// Errors: out_of_range, naming the collective and the rank.
Result<JobTraffic> traffic_of(const JobDemand& job);

/// Bits of one iteration from rank to rank, rings and pairs alike.
struct PairLoad {
  RankPair pair;
  double bits = 0;
};

/// Every pair that moves anything, ascending.
std::vector<PairLoad> loads_of(const JobTraffic& traffic, std::uint32_t ranks);

}  // namespace loom
