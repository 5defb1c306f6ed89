// SPDX-License-Identifier: Apache-2.0
// Maps in turn: pairs of ranks into as few maps of the WSS as their groups allow, and each map into timeslots in which nobody
// sends or receives twice. Pure; knows ports and groups, no wavelengths.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/architectures/oddl/maps.hpp"
#include "controller/schedule/traffic.hpp"

namespace loom {

/// Bytes that go in one timeslot.
struct SequencedTransfer {
  RankPair pair;
  std::int64_t bytes = 0;
  std::uint32_t way = 0;  ///< which of the ways to its receiver's port, below RankGrid's ways; 0 where no WSS is passed
};

struct SequencedMap {
  std::vector<std::vector<SequencedTransfer>> timeslots;
};

/// What maps can do: `ways` [port]: from how many groups at once one map leads light to that port of a group, and to how many
/// groups it leads a group's light for that port (orders of the AWG); each at least 1. `inside_by_map`: neighbours need a map
/// too. Else they come first, in the first turn.
struct SequenceRules {
  std::vector<std::uint32_t> ways;
  bool inside_by_map = true;
};

/// For each port an edge colouring of who has bytes for it (groups to groups), heaviest first, into as many colours as the
/// busiest group has peers (Koenig); a turn plays as many colours of a port as it has ways. So the number of turns is the least
/// that there is: max over ports of peers / ways. O(pairs + ports groups^3).
std::vector<SequencedMap> map_sequence(const RankGrid& grid, const PairTraffic& traffic, const SequenceRules& rules);

/// The number of turns alone.
std::uint32_t sequence_of(const RankGrid& grid, const PairTraffic& traffic, const SequenceRules& rules);

}  // namespace loom
