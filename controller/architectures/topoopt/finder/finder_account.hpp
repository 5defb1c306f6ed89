// SPDX-License-Identifier: Apache-2.0
// Why the topology finder chose what it chose, step by step (docs/systems/topoopt.md#topology-finder): the traffic it weighed,
// the degree split, the candidates and the jumps taken from them, the rounds of matching; and how long the busiest link works
// for one iteration. Follows the finder's own functions on the same demand; decides nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/architectures/topoopt/finder/topology_finder.hpp"
#include "core/result.hpp"
#include "core/units.hpp"

namespace loom {

/// Rings of one group size, most traffic first.
struct RingAccountOfSize {
  std::uint32_t size = 0;
  double traffic = 0;                     ///< bytes x (2 g - 1)
  std::uint32_t rings = 0;                ///< that it got
  std::vector<std::uint32_t> candidates;  ///< jumps, ascending
  std::vector<std::uint32_t> selected;
};

struct RoundAccount {
  std::uint32_t pairs = 0;  ///< that were joined
  double weight = 0;        ///< discounted bytes of the demand that was matched
  std::uint32_t u = 0;      ///< the heaviest of them, by bytes both ways before any discount
  std::uint32_t v = 0;
  std::int64_t bytes = 0;
};

/// Most that one link carries in one iteration, and whose it is.
struct WireAccount {
  double seconds = 0;
  double bound = 0;  ///< s: what the busiest node sends or receives itself over all of its links; no topology is faster
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t parallel = 0;  ///< links between the two
  double forwarded = 0;        ///< bytes x hops carried over bytes that were sent: the bandwidth tax, 1: none
};

struct FinderAccount {
  double ring_traffic = 0;  ///< A: bytes x (2 g - 1) over all-reduces among g
  double pair_traffic = 0;  ///< M: bytes between pairs
  DegreeShares shares;
  std::uint32_t irregular = 0;  ///< all-reduces whose members are no coset: carried by the ring of all
  std::vector<RingAccountOfSize> rings;
  std::vector<RoundAccount> rounds;
  std::uint32_t diameter = 0;  ///< hops, over all links
  double mean_hops = 0;
  WireAccount wire;
};

/// `topology`: find_topology's for this demand and these options; `link`: rate of one link, each way. Errors: those of
/// match_rounds; invalid_argument (no rate). O(nodes^2 degree) and the hops of all demanded pairs.
Result<FinderAccount> account_of(const FinderDemand& demand, const DirectTopology& topology, const FinderOptions& options,
                                 BitRate link);

}  // namespace loom
