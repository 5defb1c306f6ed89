// SPDX-License-Identifier: Apache-2.0
// CoinChangeMod (docs/systems/topoopt.md#topology-finder, step 4): the fewest jumps from any node to any other where every node
// i has links to i + coin. One table of n entries serves all pairs, because the links look the same from every node. Never sees
// a demand. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace loom {

inline constexpr std::uint32_t kUnreachable = ~0U;

class CoinTable {
 public:
  CoinTable() = default;
  /// `coins`: jumps in 1..nodes-1, each way named on its own; repeats change nothing. Where the last jump of a shortest way may
  /// be one of several coins, `seed` picks. O(nodes x coins).
  CoinTable(std::uint32_t nodes, std::span<const std::uint32_t> coins, std::uint64_t seed);

  std::uint32_t nodes() const { return static_cast<std::uint32_t>(hops_.size()); }
  /// Jumps from i to i + distance; 0 for distance 0, kUnreachable where no coins lead.
  std::uint32_t hops(std::uint32_t distance) const { return hops_[distance]; }
  /// The coins that sum to `distance` modulo n, in the order of travel; empty where there is no way, or none is needed.
  std::vector<std::uint32_t> jumps_to(std::uint32_t distance) const;
  /// The nodes of the way from `source` to `destination`, both included; empty where there is none.
  std::vector<std::uint32_t> path(std::uint32_t source, std::uint32_t destination) const;

  /// How many distances take 1, 2, .. jumps; entry 0 is of one jump.
  std::vector<std::uint32_t> histogram() const;
  /// Most jumps, and mean jumps, over all distances but 0; kUnreachable and infinity where one cannot be reached.
  std::uint32_t diameter() const;
  double mean_hops() const;

 private:
  std::vector<std::uint32_t> hops_;
  std::vector<std::uint32_t> last_;  ///< by distance: the coin of the last jump
};

}  // namespace loom
