// Which way each pair of a job's servers takes through its topology: over rings where a collective is carried on them, over the
// shortest way otherwise, servers forwarding. What is left of it for everybody else are the pairs without a link of their own
// (ForwardingTable) and what each link carries. Pure.
#pragma once

#include <cstdint>
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

/// The same over links as they are, ascending, of which no topology is known: everybody takes the shortest way, groups in the
/// order of their members. Pairs that the links do not join are left out.
Result<JobRoutes> routes_over(const FinderDemand& demand, const std::vector<DirectLink>& links,
                              const std::vector<NodeId>& nodes, std::uint64_t seed);

}  // namespace loom
