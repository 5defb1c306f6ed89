// SPDX-License-Identifier: Apache-2.0
// Collectives to flows: which algorithm carries a collective, what its transfers are. Symbolic until somebody asks: a
// 1024-node ring is one CollectivePlan, and flows_of spells out who sends how many bytes to whom in sum.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/demand.hpp"

namespace loom {

enum class Movement : std::uint8_t {
  nothing,  ///< one rank alone, or no bytes and nobody to wait for
  ring,     ///< rank i to rank i+1, step after step: a chunk leaves when the one before it has arrived
  chain,    ///< the ring's links but one: pieces in a pipeline from the first rank (broadcast) or to it (reduce)
  direct,   ///< every rank to every other
  single,   ///< one rank to one other
};

/// How one collective moves. Ring: `steps` rounds in which every rank sends a `chunk_of`; chain: `pieces` over size-1 links.
struct CollectivePlan {
  Movement movement = Movement::nothing;
  std::uint32_t size = 0;    ///< ranks that take part
  std::uint32_t steps = 0;   ///< ring: 2(n-1) for all-reduce, n-1 for all-gather and reduce-scatter
  std::uint32_t pieces = 1;  ///< chain: into how many the buffer is cut
};

/// `node_count`: of the job, for a collective whose ranks are "all".
CollectivePlan plan_of(const Collective& collective, std::uint32_t node_count);

/// The ranks that take part, spelled out.
std::vector<std::uint32_t> ranks_of(const Collective& collective, std::uint32_t node_count);

/// Bytes of part `index` of `total` cut into `parts` nearly equal parts; the parts sum to `total` exactly.
constexpr std::int64_t part_of(std::int64_t total, std::int64_t parts, std::int64_t index) {
  return total / parts + (index % parts < total % parts ? 1 : 0);
}

/// Bytes that the i-th of the ranks sends to the j-th in an all-to-all.
std::int64_t all_to_all_bytes(const Collective& collective, std::uint32_t size, std::uint32_t i, std::uint32_t j);

/// From one rank to another, all steps together.
struct Flow {
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  std::int64_t bytes = 0;
  bool operator==(const Flow&) const = default;
};

/// Every flow of one repetition, ascending (source, destination); flows of no bytes are left out. O(N) for rings, O(N^2)
/// for an all-to-all.
std::vector<Flow> flows_of(const Collective& collective, std::uint32_t node_count);

/// Why `collective` cannot be moved among `node_count` ranks (rank beyond it, rank twice, splits of the wrong shape, a
/// size or count beyond any real one); empty when it can.
std::string fault_of(const Collective& collective, std::uint32_t node_count);

}  // namespace loom
