// SPDX-License-Identifier: Apache-2.0
// Which way each pair of a job's servers takes through its topology: over rings where a collective is carried on them, over the
// shortest way otherwise, servers forwarding. What is left of it for everybody else are the pairs without a link of their own
// (ForwardingTable) and what each link carries. Pure.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "controller/architectures/topoopt/finder/topology_finder.hpp"
#include "core/schedule.hpp"

namespace loom {

struct JobRoutes {
  ForwardingTable forwarded;  ///< cut through; a row a rank
  /// Of the busiest link, parallel ones counted together and divided: bits of one iteration. All-reduces 2 (g - 1) / g of
  /// their bytes over the rings of their group in equal shares.
  double busiest_bits = 0;
  /// Of the server that sends most: bits of one iteration that begin there.
  double sent_bits = 0;
};

/// `nodes`: rank -> node. Groups without a ring of their own take the ring of the finder with the fewest hops; groups that are
/// not regular go round in the order of their members. Errors: out_of_range (more than kRoutesPerJob forwarded pairs).
Result<JobRoutes> routes_of_job(const FinderDemand& demand, const DirectTopology& topology, const std::vector<NodeId>& nodes,
                                std::uint64_t seed);

/// Strides of the rings of a group, each prime to its size, all of whose pairs `has` (of two ranks).
template <class Has>
std::vector<std::uint32_t> ring_strides_over(std::span<const std::uint32_t> members, const Has& has) {
  const auto size = static_cast<std::uint32_t>(members.size());
  std::vector<std::uint32_t> strides;
  for (std::uint32_t stride = 1; stride < size; ++stride) {
    bool fits = std::gcd(stride, size) == 1;
    for (std::uint32_t i = 0; fits && i < size; ++i) {
      fits = has(members[i], members[(i + stride) % size]);
    }
    if (fits) {
      strides.push_back(stride);
    }
  }
  return strides;
}

/// Whether there is a link; `links` ascending.
bool has_link(const std::vector<DirectLink>& links, std::uint32_t from, std::uint32_t to);

/// The same over links as they are, ascending, of which no topology is known: everybody takes the shortest way, groups go round
/// all rings that are lit whole, without one in the order of their members. Pairs that the links do not join are left out.
Result<JobRoutes> routes_over(const FinderDemand& demand, const std::vector<DirectLink>& links,
                              const std::vector<NodeId>& nodes, std::uint64_t seed);

}  // namespace loom
