// SPDX-License-Identifier: Apache-2.0
// Which rings of a job go together: rings that no rank is in twice move their bytes at once, the others one after the other.
// A scheduler gives each group light, and whoever replays the job moves the groups in that order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/demand.hpp"

namespace loom {

struct RankPair {
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  auto operator<=>(const RankPair&) const = default;
};

/// Rings that can be lit together: no rank sends twice and none receives twice.
struct RingGroup {
  std::vector<RankPair> edges;
  std::vector<double> bits;  ///< by edge, of all its collectives

  // Of the ring that needs most of each.
  double seconds_at_1_bps = 0;          ///< wire time of its collectives, times the bit rate
  std::uint64_t rounds = 0;             ///< of its collectives one after the other: each waits for a neighbour
  double filling_seconds_at_1_bps = 0;  ///< besides, until pipelines (broadcast, reduce) have reached their last rank

  std::vector<std::uint32_t> collectives;  ///< which ones, in issue order
};

/// Ring volume per rank (Patarasuk and Yuan 2009, section 3): all-reduce 2(n-1)/n S, all-gather and reduce-scatter (n-1)/n S,
/// broadcast and reduce S (pipelined along the ring). Collectives that move no bytes along a ring are left out. Ranks must
/// exist and be named once.
std::vector<RingGroup> ring_groups_of(std::span<const Collective> collectives, std::uint32_t node_count);

}  // namespace loom
