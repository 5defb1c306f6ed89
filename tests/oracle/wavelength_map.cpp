// SPDX-License-Identifier: Apache-2.0
// Reach by breadth-first search over the map: node (g, a) reaches (map[g][j], j) for every j, whatever a.
#include "tests/oracle/wavelength_map.hpp"

namespace loom {
namespace {

constexpr std::uint32_t kFar = 0xffffffff;

Result<void> check_map(const WavelengthMap& map, std::uint32_t nodes) {
  const std::uint32_t size = map.group_size;
  if (size == 0 || nodes % size != 0 || map.destination_group.size() != nodes) {
    return fail(ErrorCode::invalid_argument, "network 'wavelength-map': " + std::to_string(map.destination_group.size()) +
                                                 " entries in groups of " + std::to_string(size) + " for " +
                                                 std::to_string(nodes) + " nodes; one a group and wavelength");
  }
  const std::uint32_t groups = nodes / size;
  std::vector<std::uint32_t> claimed(nodes, kFar);
  for (std::uint32_t group = 0; group < groups; ++group) {
    for (std::uint32_t wavelength = 0; wavelength < size; ++wavelength) {
      const std::uint32_t to = map.destination_group[group * size + wavelength];
      if (to == kDarkWavelength) {
        continue;
      }
      if (to >= groups || claimed[to * size + wavelength] != kFar) {
        return fail(ErrorCode::invalid_argument, "network 'wavelength-map': wavelength " + std::to_string(wavelength) +
                                                     " of group " + std::to_string(group) + " goes to group " +
                                                     std::to_string(to) +
                                                     ", which is not there or has that wavelength from another group");
      }
      claimed[to * size + wavelength] = group;
    }
  }
  return {};
}

/// The node before each node on a shortest way from `group`; kFar where out of reach, `nodes` where the source itself is.
struct Reach {
  std::vector<std::uint32_t> before;
};

Reach reach_of(const WavelengthMap& map, std::uint32_t nodes, std::uint32_t group, std::uint32_t relays_max) {
  Reach reach{std::vector<std::uint32_t>(nodes, kFar)};
  std::vector<std::uint32_t> front{nodes};
  for (std::uint32_t hop = 0; hop <= relays_max && !front.empty(); ++hop) {
    std::vector<std::uint32_t> next;
    for (const std::uint32_t at : front) {
      const std::uint32_t from = at == nodes ? group : at / map.group_size;
      for (std::uint32_t wavelength = 0; wavelength < map.group_size; ++wavelength) {
        const std::uint32_t to_group = map.destination_group[from * map.group_size + wavelength];
        const std::uint32_t to = to_group == kDarkWavelength ? kFar : to_group * map.group_size + wavelength;
        if (to != kFar && reach.before[to] == kFar) {
          reach.before[to] = at;
          next.push_back(to);
        }
      }
    }
    front = std::move(next);
  }
  return reach;
}

/// All nodes of a group reach the same nodes over the same relays; only the first link differs.
PairRoutes routes_over(const WavelengthMap& map, std::uint32_t nodes, std::uint32_t relays_max) {
  PairRoutes routes;
  routes.first_destination = {0};
  routes.first_path = {0};
  routes.first_hop = {0};
  Reach reach;
  std::vector<std::uint32_t> way;
  for (std::uint32_t source = 0; source < nodes; ++source) {
    if (source % map.group_size == 0) {
      reach = reach_of(map, nodes, source / map.group_size, relays_max);
    }
    for (std::uint32_t destination = 0; destination < nodes; ++destination) {
      if (destination == source || reach.before[destination] == kFar) {
        continue;
      }
      way.clear();
      for (std::uint32_t at = destination; at != nodes && at != source; at = reach.before[at]) {
        way.push_back(at);
      }
      std::uint32_t from = source;
      for (std::size_t i = way.size(); i-- > 0;) {
        routes.hops.insert(routes.hops.end(), {from, nodes + way[i]});
        from = way[i];
      }
      routes.destinations.push_back(destination);
      routes.shares.push_back(1);
      routes.first_hop.push_back(static_cast<std::uint32_t>(routes.hops.size()));
      routes.first_path.push_back(static_cast<std::uint32_t>(routes.shares.size()));
    }
    routes.first_destination.push_back(static_cast<std::uint32_t>(routes.destinations.size()));
  }
  return routes;
}

}  // namespace

WavelengthMap ring_map(std::uint32_t groups, std::uint32_t group_size) {
  WavelengthMap map{group_size, {}};
  for (std::uint32_t group = 0; group < groups; ++group) {
    for (std::uint32_t wavelength = 0; wavelength < group_size; ++wavelength) {
      map.destination_group.push_back(wavelength == 0 ? (group + 1) % groups : group);
    }
  }
  return map;
}

WavelengthMap latin_map(std::uint32_t groups, std::uint32_t group_size) {
  WavelengthMap map{group_size, {}};
  for (std::uint32_t group = 0; group < groups; ++group) {
    for (std::uint32_t wavelength = 0; wavelength < group_size; ++wavelength) {
      map.destination_group.push_back((group + wavelength) % groups);
    }
  }
  return map;
}

Result<Network> make_wavelength_network(const NetworkTerms& terms, const WavelengthMap& map, std::uint32_t relays_max) {
  auto network = begin_network("wavelength-map", terms);
  if (!network) {
    return network;
  }
  LOOM_TRY(check_map(map, terms.nodes));
  if (relays_max >= limits::kHopsPerPath / 2 || terms.nodes > 4096) {
    return fail(ErrorCode::out_of_range, "network 'wavelength-map': " + std::to_string(relays_max) + " relays among " +
                                             std::to_string(terms.nodes) + " nodes: at most " +
                                             std::to_string(limits::kHopsPerPath / 2 - 1) + " relays and 4096 nodes");
  }
  network->vertices = terms.nodes + 1;
  network->waits_for_path = true;
  for (const bool is_up : {true, false}) {
    for (std::uint32_t node = 0; node < terms.nodes; ++node) {
      network->links.push_back({is_up ? node : terms.nodes, is_up ? terms.nodes : node, bytes_per_ns(terms),
                                is_up ? static_cast<double>(terms.link_latency.count()) : 0});
    }
  }
  network->routes = routes_over(map, terms.nodes, relays_max);
  network->assumptions.push_back("oddl (reconstruction): groups of " + std::to_string(map.group_size) + ", at most " +
                                 std::to_string(relays_max) + " relay(s); retuning between transfers is not charged here");
  LOOM_TRY(check(*network));
  return network;
}

}  // namespace loom
