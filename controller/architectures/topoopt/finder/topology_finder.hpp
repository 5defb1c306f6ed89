// SPDX-License-Identifier: Apache-2.0
// TopologyFinder (docs/systems/topoopt.md#topology-finder): from a job's all-reduces and model-parallel transfers to a
// direct-connect topology of degree d, its rings, and who forwards for whom. Symbolic wherever the topology looks the same from
// every node. Pure; the same demand, options and seed give the same topology. Times nothing: controller/predict does.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "controller/architectures/topoopt/finder/coin_change.hpp"
#include "controller/architectures/topoopt/finder/degree_split.hpp"
#include "controller/architectures/topoopt/finder/host_routes.hpp"
#include "controller/architectures/topoopt/finder/pair_links.hpp"
#include "controller/architectures/topoopt/finder/totient.hpp"
#include "controller/workload/task_graph.hpp"
#include "core/demand.hpp"
#include "core/result.hpp"

namespace loom {

/// All-reduces of one group in one iteration, in sum.
struct ReduceDemand {
  std::vector<std::uint32_t> members;
  std::int64_t bytes = 0;
};

struct FinderDemand {
  std::uint32_t nodes = 0;
  std::vector<ReduceDemand> reduces;
  std::vector<PairDemand> pairs;
};

/// What a task graph moves among its nodes in one iteration. All-reduce, all-gather and reduce-scatter are rings (the latter
/// two of half the bytes: they go round once); everything else is pairs.
FinderDemand finder_demand(const TaskGraph& graph);

/// The same of a job's collectives, by rank. Errors: out_of_range (a collective that cannot be moved, as fault_of says).
Result<FinderDemand> finder_demand(const JobDemand& job);

/// What a matching knows beside the demand.
enum class MatchingSees : std::uint8_t {
  demand,  ///< nothing: as in the paper and in the code; equal demands go by their place in the list, so that uniform demand
           ///< makes cliques, and a pair may get what a ring joins already
  rings,   ///< ours: a pair that a ring joins is discounted as if it had that link, and near ties (1/1024) go by seed
};

struct FinderOptions {
  std::uint32_t degree = 4;  ///< interfaces of a node
  RingDirections directions = RingDirections::both_ways;
  DegreeSplit split = DegreeSplit::as_in_paper;
  RingShare share = RingShare::as_in_paper;
  LinkDiscount discount = LinkDiscount::halving;
  MatchingMethod matching = MatchingMethod::exact;
  MatchingSees sees = MatchingSees::demand;
  std::uint32_t primes_beyond = ~0U;  ///< nodes; see ring_candidates
  std::uint32_t paths_of_a_pair = 1;  ///< k of the k shortest paths; 1: one, ties by seed
  std::uint64_t seed = 1;
};

/// The variants whole. The paper's k is not known; 1 unless said.
FinderOptions as_in_paper(std::uint32_t degree);
FinderOptions as_in_code_2021(std::uint32_t degree);
FinderOptions as_in_code_release(std::uint32_t degree);

/// Each member of a regular group of `group_size` reaches the next by these jumps, hop by hop. One jump: the ring has links of
/// its own.
struct RingPath {
  std::uint32_t group_size = 0;
  std::vector<std::uint32_t> jumps;
  bool operator==(const RingPath&) const = default;
};

struct DirectTopology {
  std::uint32_t nodes = 0;
  DegreeShares shares;
  /// A link from every node i to i + jump (mod nodes); twice in the list: two parallel links. Both ways: p and nodes - p each.
  std::vector<std::uint32_t> jumps;
  std::vector<PairLinks> pairs;
  /// For every divisor of `nodes` from 2 on, largest first: its rings, both directions where rings go both ways.
  std::vector<RingPath> rings;
  CoinTable ring_routes;  ///< over `jumps`; every pair
  /// With pair links: ways over all links, for the sources and pairs that have demand. Else nothing: ring_routes are shortest.
  RouteTrees pair_trees;
  struct RoutedPair {
    std::uint32_t source = 0;
    std::uint32_t destination = 0;
    std::vector<std::vector<std::uint32_t>> paths;
  };
  std::vector<RoutedPair> pair_routes;  ///< with paths_of_a_pair > 1; ascending (source, destination)

  /// All links, ascending, one way each; a duplex link is two. O(nodes x degree).
  std::vector<DirectLink> links() const;
  /// The ring paths of a group size.
  std::span<const RingPath> rings_of(std::uint32_t group_size) const;
  /// The ways that a model-parallel transfer takes, shortest first. Both ends included; empty where the ends are one.
  std::vector<std::vector<std::uint32_t>> paths(std::uint32_t source, std::uint32_t destination) const;
};

/// Traffic by group size, ascending; groups that are not regular count for the ring of all. `rings` is left at 0.
std::vector<RingClass> ring_classes(const FinderDemand& demand);

/// How regular the members of a group are: the stride n / g when they are {i + (n / g) j}, in any order; 0 otherwise.
std::uint32_t stride_of_group(std::uint32_t nodes, std::span<const std::uint32_t> members);

/// The demand of pairs as a matching that sees rings weighs it.
struct WeighedDemand {
  std::vector<PairDemand> pairs;
  double unit = 1;  ///< bytes that one of them stands for: scaled, so that ties are whole numbers
};
WeighedDemand weigh_beside_rings(const FinderDemand& demand, const std::vector<std::uint32_t>& jumps,
                                 const FinderOptions& options);

/// Groups that are not regular have no jump of their own; their traffic counts for the rings of all nodes, over which it is
/// forwarded. Groups of one are ignored.
/// Errors: invalid_argument (fewer than 2 nodes; degree 0, or 1 with rings both ways; no paths a pair; a node that is not
/// there, or twice in a group; a node's demand on itself), out_of_range (nodes, degree, bytes, paths a pair, the size of the
/// routing tables; each names its limit).
Result<DirectTopology> find_topology(const FinderDemand& demand, const FinderOptions& options);

}  // namespace loom
