// SPDX-License-Identifier: Apache-2.0
// How a node's links are shared out (docs/systems/topoopt.md#topology-finder, steps 1 and 2): between all-reduce rings and
// model-parallel pairs, and among the rings of different group sizes. Each in the variants of the paper and of the authors'
// code. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/architectures/topoopt/finder/totient.hpp"

namespace loom {

enum class DegreeSplit : std::uint8_t {
  as_in_paper,         ///< rings max(1, ceil(d A / (A + M))), pairs the rest
  as_in_code_2021,     ///< 2021-08 to 2022-03: both rounded to nearest
  as_in_code_release,  ///< from 2022-06-14 on, so in the published artifact: all to rings
};

struct DegreeShares {
  std::uint32_t rings = 0;
  std::uint32_t pairs = 0;
};

/// `ring_traffic`: A, the sum of bytes x (2 g - 1) over all-reduces among g nodes; `pair_traffic`: M, bytes between pairs. Of
/// rings both ways the ring share is even: an odd one is rounded up, at the cost of pairs, or down where nothing is left. Rings
/// always get a first ring, so the topology is connected. Precondition: degree >= links_of_ring(directions). Without traffic,
/// all to rings.
DegreeShares split_degree(DegreeSplit how, std::uint32_t degree, double ring_traffic, double pair_traffic,
                          RingDirections directions);

enum class RingShare : std::uint8_t {
  as_in_paper,  ///< ceil(d_A T_k / sum T), the largest traffic first, until none is left
  as_in_code,   ///< d_A sum T / T_k: inverted, so that the largest traffic takes all
};

/// All-reduces among `size` nodes. `traffic` as in split_degree.
struct RingClass {
  std::uint32_t size = 0;
  double traffic = 0;
  std::uint32_t rings = 0;  ///< the answer
};

/// Shares `links` out among classes (sizes distinct, each a divisor of `nodes` and >= 2); the answer has one entry a class,
/// most traffic first, and one for `nodes` itself. Where that would get no ring, one is taken from the last class that has one.
/// What no class asks for goes to `nodes`. Precondition: links >= links_of_ring(directions).
std::vector<RingClass> share_rings(RingShare how, std::uint32_t nodes, std::uint32_t links, std::vector<RingClass> classes,
                                   RingDirections directions);

}  // namespace loom
