// SPDX-License-Identifier: Apache-2.0
// TotientPerms (docs/systems/topoopt.md#topology-finder, step 2): which "+p" rings join every regular group of g of n nodes,
// and which of them to build. Group theory and arithmetic only: no demand, no link. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace loom {

/// both_ways: a ring is cabled with duplex links and takes two of a node's links; one_way: one.
enum class RingDirections : std::uint8_t { one_way, both_ways };

constexpr std::uint32_t links_of_ring(RingDirections directions) { return directions == RingDirections::both_ways ? 2 : 1; }

/// Jumps p = (n / g) k with 1 <= k <= g and k prime to g, ascending: each alone makes a ring of every group {i + (n / g) j}.
/// phi(g) of them; with n > `primes_beyond` only those whose k is 1 or prime. Empty unless 2 <= g divides n.
std::vector<std::uint32_t> ring_candidates(std::uint32_t nodes, std::uint32_t group_size, std::uint32_t primes_beyond = ~0U);

/// `count` of the candidates (ascending) at geometrically growing jumps: the first at or above least * ratio^i that is not
/// yet taken, else the largest that is not; ratio = (most / least)^(1 / count), or ^(1 / (count - 1)) one way. One: the least.
/// When there are no more candidates, all of them once more: parallel links. Two of the jumps may be each other's reverse (p
/// and n - p), which is kept as parallel links, as the authors' code does. Empty without candidates.
std::vector<std::uint32_t> select_geometrically(std::span<const std::uint32_t> candidates, std::uint32_t count,
                                                RingDirections directions);

}  // namespace loom
