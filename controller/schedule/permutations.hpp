// SPDX-License-Identifier: Apache-2.0
// Circuits over parallel switches (docs/systems/sipml.md#circuits-over-switches): how many each pair gets so that the
// worst-served fares best, and on which switch each of them lies. Exact and polynomial; pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace loom {

/// `demand` > 0, below 2^50, in any unit.
struct SwitchPair {
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  std::int64_t demand = 0;
};

/// Max-min of circuits over demand when no node sends or receives more than `switches` circuits: the largest z for which
/// ceil(z demand) of every pair fits; what ports are then left go, one by one, to the worst-served pair that has both ends
/// free. Nothing: a node has more peers than switches, so no z > 0 fits.
std::optional<std::vector<std::uint32_t>> share_ports(std::uint32_t nodes, std::uint32_t switches,
                                                      const std::vector<SwitchPair>& pairs);

/// One circuit of pair `pair` on switch `on`.
struct SwitchGrant {
  std::uint32_t pair = 0;
  std::uint32_t on = 0;
  auto operator<=>(const SwitchGrant&) const = default;
};

/// Places `counts` circuits of each pair so that every switch is a matching (Koenig: a bipartite multigraph whose degrees are
/// at most Q has Q colours). Ascending (pair, on). Precondition: no node's circuits exceed `switches`.
/// `held`: circuits as they are lit, a matching on every switch; of each pair as many as its count stay where they are, but for
/// those that stand between a new circuit and its two ends, of which each new one moves as few as any two switches allow.
std::vector<SwitchGrant> into_permutations(std::uint32_t nodes, std::uint32_t switches, const std::vector<SwitchPair>& pairs,
                                           const std::vector<std::uint32_t>& counts, const std::vector<SwitchGrant>& held = {});

/// Multi-shot (docs/systems/sipml.md#circuits-over-switches), one interval's circuits: on every switch a matching, chosen for
/// the largest sum of demand x circuits. In the authors' objective (`carried` 0) nothing keeps the switches apart, so all of
/// them are set to the one matching of largest demand; with `carried` > 0, what one circuit carries in an interval in the
/// demand's unit, each switch sees what those before it have left. Pairs that get nothing wait for the next interval; none is
/// promised anything. Ascending (pair, on). Preconditions: no pair twice, ends below `nodes`. One exact matching a switch (O(n
/// m log n)).
std::vector<SwitchGrant> most_throughput(std::uint32_t nodes, std::uint32_t switches, const std::vector<SwitchPair>& pairs,
                                         std::int64_t carried);

}  // namespace loom
