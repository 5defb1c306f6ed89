// SPDX-License-Identifier: Apache-2.0
// The four steps in their order.
#include "controller/architectures/topoopt/finder/topology_finder.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "controller/architectures/topoopt/finder/tie_break.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::uint32_t kDegreeMost = 256;
constexpr std::uint32_t kPathsMost = 64;
constexpr std::size_t kTreeEntries = 1U << 28;  ///< 1 GiB of routing trees

std::unexpected<Error> refuse(ErrorCode code, const std::string& what) { return fail(code, "topology finder: " + what); }

Result<void> check_group(std::uint32_t nodes, const ReduceDemand& group) {
  std::vector<std::uint32_t> members = group.members;
  std::sort(members.begin(), members.end());
  if (!members.empty() && members.back() >= nodes) {
    return refuse(ErrorCode::invalid_argument,
                  format_text("an all-reduce among node {}; there are {} nodes", members.back(), nodes));
  }
  const auto twin = std::adjacent_find(members.begin(), members.end());
  if (twin != members.end()) {
    return refuse(ErrorCode::invalid_argument, format_text("node {} is twice in an all-reduce", *twin));
  }
  if (group.bytes < 0 || group.bytes > limits::kTrafficBytes) {
    return refuse(ErrorCode::out_of_range,
                  format_text("an all-reduce of {} bytes; 0 to {} are lawful", group.bytes, limits::kTrafficBytes));
  }
  return {};
}

Result<void> check(const FinderDemand& demand, const FinderOptions& options) {
  if (demand.nodes < 2) {
    return refuse(ErrorCode::invalid_argument, format_text("{} nodes; at least 2 are needed", demand.nodes));
  }
  if (demand.nodes > limits::kNodes) {
    return refuse(ErrorCode::out_of_range, format_text("{} nodes; the limit is {}", demand.nodes, limits::kNodes));
  }
  if (options.degree < links_of_ring(options.directions)) {
    return refuse(
        ErrorCode::invalid_argument,
        format_text("degree {}; a ring needs {}{}; nearest: degree {}", options.degree, links_of_ring(options.directions),
                    options.directions == RingDirections::both_ways ? " links of a node, one each way" : " link of a node",
                    links_of_ring(options.directions)));
  }
  if (options.degree > kDegreeMost) {
    return refuse(ErrorCode::out_of_range, format_text("degree {}; the limit is {}", options.degree, kDegreeMost));
  }
  if (options.paths_of_a_pair == 0 || options.paths_of_a_pair > kPathsMost) {
    return refuse(options.paths_of_a_pair == 0 ? ErrorCode::invalid_argument : ErrorCode::out_of_range,
                  format_text("{} paths a pair; 1 to {} are lawful", options.paths_of_a_pair, kPathsMost));
  }
  for (const ReduceDemand& group : demand.reduces) {
    LOOM_TRY(check_group(demand.nodes, group));
  }
  return {};
}

/// `p` and, both ways, its reverse.
std::vector<std::uint32_t> both(std::uint32_t nodes, std::uint32_t p, RingDirections directions) {
  return directions == RingDirections::both_ways ? std::vector{p, nodes - p} : std::vector{p};
}

/// The ring of `size` that takes the fewest jumps over the links there are, and its reverse.
void add_forwarded_ring(DirectTopology& topology, std::uint32_t size, const FinderOptions& options) {
  const std::vector<std::uint32_t> candidates = ring_candidates(topology.nodes, size, options.primes_beyond);
  const std::uint32_t best = *std::min_element(candidates.begin(), candidates.end(), [&](std::uint32_t a, std::uint32_t b) {
    return topology.ring_routes.hops(a) < topology.ring_routes.hops(b);
  });
  RingPath ring{size, topology.ring_routes.jumps_to(best)};
  RingPath reverse = ring;
  topology.rings.push_back(std::move(ring));
  if (options.directions == RingDirections::both_ways) {
    for (std::uint32_t& jump : reverse.jumps) {
      jump = topology.nodes - jump;
    }
    topology.rings.push_back(std::move(reverse));
  }
}

void build_rings(DirectTopology& topology, std::vector<RingClass> classes, const FinderOptions& options) {
  const std::uint32_t nodes = topology.nodes;
  classes = share_rings(options.share, nodes, topology.shares.rings, std::move(classes), options.directions);
  std::map<std::uint32_t, std::vector<std::uint32_t>> own;
  for (const RingClass& each : classes) {
    const std::vector<std::uint32_t> candidates = ring_candidates(nodes, each.size, options.primes_beyond);
    for (const std::uint32_t p : select_geometrically(candidates, each.rings, options.directions)) {
      for (const std::uint32_t jump : both(nodes, p, options.directions)) {
        own[each.size].push_back(jump);
        topology.jumps.push_back(jump);
      }
    }
  }
  topology.ring_routes = CoinTable(nodes, topology.jumps, options.seed);
  for (std::uint32_t size = nodes; size >= 2; --size) {
    if (nodes % size != 0) {
      continue;
    }
    if (const auto jumps = own.find(size); jumps != own.end()) {
      for (const std::uint32_t jump : jumps->second) {
        topology.rings.push_back({size, {jump}});
      }
    } else {
      add_forwarded_ring(topology, size, options);
    }
  }
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> demanded_pairs(const FinderDemand& demand) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const PairDemand& each : demand.pairs) {
    if (each.bytes > 0) {
      pairs.emplace_back(each.source, each.destination);
    }
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

Result<void> route_pairs(DirectTopology& topology, const FinderDemand& demand, const FinderOptions& options) {
  if (topology.pairs.empty() && options.paths_of_a_pair == 1) {
    return {};  // the coins know
  }
  const std::vector<DirectLink> links = topology.links();
  const Neighbours neighbours(topology.nodes, links);
  if (options.paths_of_a_pair > 1) {
    for (const auto& [source, destination] : demanded_pairs(demand)) {
      topology.pair_routes.push_back(
          {source, destination, k_shortest_paths(neighbours, source, destination, options.paths_of_a_pair)});
    }
    return {};
  }
  std::vector<bool> sends(topology.nodes);
  for (const PairDemand& each : demand.pairs) {
    sends[each.source] = sends[each.source] || each.bytes > 0;
  }
  std::vector<std::uint32_t> sources;
  for (std::uint32_t node = 0; node < topology.nodes; ++node) {
    if (sends[node]) {
      sources.push_back(node);
    }
  }
  if (sources.size() * topology.nodes > kTreeEntries) {
    return refuse(ErrorCode::out_of_range, format_text("routes from {} sources to {} nodes; the limit is {} routes",
                                                       sources.size(), topology.nodes, kTreeEntries));
  }
  topology.pair_trees = RouteTrees(neighbours, sources, options.seed);
  return {};
}

}  // namespace

FinderOptions as_in_paper(std::uint32_t degree) {
  FinderOptions options;
  options.degree = degree;
  return options;
}

FinderOptions as_in_code_2021(std::uint32_t degree) {
  FinderOptions options;
  options.degree = degree;
  options.split = DegreeSplit::as_in_code_2021;
  options.share = RingShare::as_in_code;
  options.discount = LinkDiscount::harmonic;
  return options;
}

FinderOptions as_in_code_release(std::uint32_t degree) {
  FinderOptions options = as_in_code_2021(degree);
  options.split = DegreeSplit::as_in_code_release;
  return options;
}

std::vector<DirectLink> DirectTopology::links() const {
  std::vector<DirectLink> all;
  all.reserve(std::size_t{nodes} * jumps.size() + 2 * pairs.size());
  for (std::uint32_t node = 0; node < nodes; ++node) {
    for (const std::uint32_t jump : jumps) {
      all.push_back({node, (node + jump) % nodes, 1});
    }
  }
  for (const PairLinks& pair : pairs) {
    all.push_back({pair.u, pair.v, pair.count});
    all.push_back({pair.v, pair.u, pair.count});
  }
  std::sort(all.begin(), all.end());
  std::vector<DirectLink> merged;
  for (const DirectLink& link : all) {
    if (!merged.empty() && merged.back().from == link.from && merged.back().to == link.to) {
      merged.back().count += link.count;
    } else {
      merged.push_back(link);
    }
  }
  return merged;
}

std::span<const RingPath> DirectTopology::rings_of(std::uint32_t group_size) const {
  const auto first =
      std::find_if(rings.begin(), rings.end(), [&](const RingPath& ring) { return ring.group_size == group_size; });
  const auto last = std::find_if(first, rings.end(), [&](const RingPath& ring) { return ring.group_size != group_size; });
  return {first, last};
}

std::vector<std::vector<std::uint32_t>> DirectTopology::paths(std::uint32_t source, std::uint32_t destination) const {
  if (source == destination) {
    return {};
  }
  const auto routes = std::lower_bound(pair_routes.begin(), pair_routes.end(), std::pair{source, destination},
                                       [](const RoutedPair& each, const std::pair<std::uint32_t, std::uint32_t>& ends) {
                                         return std::pair{each.source, each.destination} < ends;
                                       });
  if (routes != pair_routes.end() && routes->source == source && routes->destination == destination) {
    return routes->paths;
  }
  if (pair_trees.has(source)) {
    return {pair_trees.path(source, destination)};
  }
  return {ring_routes.path(source, destination)};
}

std::uint32_t stride_of_group(std::uint32_t nodes, std::span<const std::uint32_t> members) {
  const auto size = static_cast<std::uint32_t>(members.size());
  if (size < 2 || nodes % size != 0) {
    return 0;
  }
  const std::uint32_t stride = nodes / size;
  std::vector<bool> is_there(size);
  for (const std::uint32_t member : members) {
    if (member >= nodes || member % stride != members.front() % stride || is_there[member / stride]) {
      return 0;
    }
    is_there[member / stride] = true;
  }
  return stride;
}

WeighedDemand weigh_beside_rings(const FinderDemand& demand, const std::vector<std::uint32_t>& jumps,
                                 const FinderOptions& options) {
  constexpr std::uint32_t kTies = 1'024;
  constexpr double kHeaviest = 1LL << 50;
  std::vector<double> left;
  for (const PairDemand& each : demand.pairs) {
    const std::uint32_t jump = (each.destination + demand.nodes - each.source) % demand.nodes;
    const auto links = static_cast<double>(std::ranges::count(jumps, jump));
    const auto [u, v] = std::minmax(each.source, each.destination);
    const double tie = pick(options.seed, std::uint64_t{u} * demand.nodes + v, kTies) * (1.0 / (1U << 20));
    left.push_back(static_cast<double>(each.bytes) * (1 - tie) /
                   (options.discount == LinkDiscount::halving ? std::exp2(links) : links + 1));
  }
  const double most = left.empty() ? 0 : std::ranges::max(left);
  WeighedDemand weighed{{}, most / kHeaviest};
  for (std::size_t i = 0; i < left.size() && most > 0; ++i) {
    weighed.pairs.push_back({demand.pairs[i].source, demand.pairs[i].destination, std::llround(left[i] / weighed.unit)});
  }
  return weighed;
}

std::vector<RingClass> ring_classes(const FinderDemand& demand) {
  std::map<std::uint32_t, double> traffic;
  for (const ReduceDemand& group : demand.reduces) {
    const auto size = static_cast<std::uint32_t>(group.members.size());
    if (size >= 2 && group.bytes > 0) {
      const bool is_regular = stride_of_group(demand.nodes, group.members) != 0;
      traffic[is_regular ? size : demand.nodes] += static_cast<double>(group.bytes) * (2.0 * size - 1);
    }
  }
  std::vector<RingClass> classes;
  for (const auto& [size, bytes] : traffic) {
    classes.push_back({size, bytes, 0});
  }
  return classes;
}

Result<DirectTopology> find_topology(const FinderDemand& demand, const FinderOptions& options) {
  LOOM_TRY(check(demand, options));
  std::vector<RingClass> classes = ring_classes(demand);
  double ring_traffic = 0;
  double pair_traffic = 0;
  for (const RingClass& each : classes) {
    ring_traffic += each.traffic;
  }
  for (const PairDemand& each : demand.pairs) {
    pair_traffic += static_cast<double>(each.bytes);
  }
  DirectTopology topology;
  topology.nodes = demand.nodes;
  topology.shares = split_degree(options.split, options.degree, ring_traffic, pair_traffic, options.directions);
  build_rings(topology, std::move(classes), options);
  const bool sees_rings = options.sees == MatchingSees::rings;
  const WeighedDemand weighed = sees_rings ? weigh_beside_rings(demand, topology.jumps, options) : WeighedDemand{};
  auto pairs = match_pairs(demand.nodes, sees_rings ? weighed.pairs : demand.pairs,
                           {topology.shares.pairs, options.discount, options.matching});
  if (!pairs) {
    return refuse(pairs.error().code, pairs.error().message);
  }
  topology.pairs = std::move(*pairs);
  LOOM_TRY(route_pairs(topology, demand, options));
  return topology;
}

}  // namespace loom
