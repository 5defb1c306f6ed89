// SPDX-License-Identifier: Apache-2.0
// A three-tier fat-tree of equal switches: full bisection or oversubscribed above the edge, with flows hashed to one of the
// equal ways (real collisions on real links) or sprayed over all of them.
#pragma once

#include "controller/predict/networks/network_terms.hpp"

namespace loom {

struct FatTreeShape {
  std::uint32_t radix = 0;      ///< ports of a switch, even; 0: the smallest with radix^3 / 4 nodes or more
  double oversubscription = 1;  ///< every link above the edge switches has rate / this
  double cost_ratio = 1;        ///< every link has rate x this: a fat-tree bought for the money of something cheaper
  std::uint64_t seed = 1;       ///< of the hash
  bool sprayed = false;         ///< a transfer is split over all equal ways
  double segment_bytes = 0;     ///< TreeRoutes::segment_bytes
};

/// Errors: begin_network; invalid_argument (an odd radix, too few ports for the nodes), out_of_range (an oversubscription
/// outside 1 .. 1000, a cost ratio outside 0 .. 1).
Result<Network> make_fat_tree(const NetworkTerms& terms, const FatTreeShape& shape);

}  // namespace loom
