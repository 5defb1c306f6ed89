// SPDX-License-Identifier: Apache-2.0
// Reach of a map, and who relays.
#include "controller/architectures/oddl/maps.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "core/forwarding/forwarding_builder.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

Result<void> check(const PlaceMap& map, const RankGrid& grid, const std::string& job) {
  if (map.size() != static_cast<std::size_t>(grid.places) * grid.ports) {
    return fail(ErrorCode::invalid_argument, format_text("{}: its map has {} entries; nearest: {} ({} groups x {} ports)", job,
                                                         map.size(), grid.places * grid.ports, grid.places, grid.ports));
  }
  for (std::uint32_t port = 0; port < grid.ports; ++port) {
    std::vector<std::int32_t> from(grid.places, -1);
    for (std::uint32_t place = 0; place < grid.places; ++place) {
      const std::uint32_t to = map[place * grid.ports + port];
      if (to >= grid.places) {
        return fail(ErrorCode::invalid_argument,
                    format_text("{}: its map leads port {} of group {} to group {}; it has the groups 0..{}", job, port, place,
                                to, grid.places - 1));
      }
      if (from[to] >= 0) {
        return fail(ErrorCode::conflict,
                    format_text("{}: its map leads port {} of group {} and of group {} to group {}, where they would meet", job,
                                port, from[to], place, to));
      }
      from[to] = static_cast<std::int32_t>(place);
    }
  }
  return {};
}

constexpr std::uint32_t kOutOfReach = ~0U;

/// [place x rank]: whom a rank of the place hands to what is for the other; that one itself, where it needs nobody.
using RelayMatrix = std::vector<std::uint32_t>;

/// Who has nothing to send needs no relay: what is out of reach is left out.
ForwardingTable table_of(const RelayMatrix& relays, const RankGrid& grid) {
  const auto ranks = static_cast<std::uint32_t>(grid.place_of.size());
  ForwardingBuilder table(ForwardingMode::store_and_forward, grid.nodes, grid.place_of);
  for (std::uint32_t place = 0; place < grid.places; ++place) {
    for (std::uint32_t destination = 0; destination < ranks; ++destination) {
      const std::uint32_t relay = relays[std::size_t{place} * ranks + destination];
      if (relay != destination && relay != kOutOfReach) {
        table.add(place, destination, {&relay, 1});
      }
    }
  }
  return table.take();
}

}  // namespace

RankGrid grid_of(const OddlShape& shape, const std::vector<NodeId>& nodes) {
  std::map<std::uint32_t, std::uint32_t> places;  // group -> place
  for (const NodeId node : nodes) {
    places.emplace(shape.positions[node.value].group, 0);
  }
  RankGrid grid;
  grid.ports = shape.ports;
  grid.nodes = nodes;
  for (auto& [group, place] : places) {
    place = grid.places++;
  }
  grid.rank_at.assign(static_cast<std::size_t>(grid.places) * grid.ports, RankGrid::kNobody);
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    const OddlPosition& position = shape.positions[nodes[rank].value];
    grid.place_of.push_back(places[position.group]);
    grid.port_of.push_back(position.port);
    grid.rank_at[grid.place_of[rank] * grid.ports + position.port] = static_cast<std::int32_t>(rank);
  }
  return grid;
}

Result<PlaceMap> place_map(MapChoice choice, const std::vector<std::uint32_t>& custom, const RankGrid& grid,
                           const std::string& job) {
  PlaceMap map = custom;
  if (choice != MapChoice::custom) {
    map.clear();
    for (std::uint32_t place = 0; place < grid.places; ++place) {
      for (std::uint32_t port = 0; port < grid.ports; ++port) {
        const std::uint32_t step = choice == MapChoice::latin ? port : port == 0 ? 1 : 0;
        map.push_back((place + step) % grid.places);
      }
    }
  }
  LOOM_TRY(check(map, grid, job));
  return map;
}

Result<ForwardingTable> forwarding_over(const PlaceMap& map, const RankGrid& grid, const PairTraffic& traffic,
                                        const std::string& job) {
  const auto ranks = static_cast<std::uint32_t>(grid.place_of.size());
  LOOM_ASSERT(ranks > 0);
  RelayMatrix relays(static_cast<std::size_t>(grid.places) * ranks, kOutOfReach);
  for (std::uint32_t place = 0; place < grid.places; ++place) {
    std::vector<std::uint32_t> load(grid.ports);  // destinations reached by each port
    for (std::uint32_t destination = 0; destination < ranks; ++destination) {
      const std::uint32_t port = grid.port_of[destination];
      std::uint32_t& via = relays[place * ranks + destination];
      if (map[place * grid.ports + port] == grid.place_of[destination]) {
        via = destination;
        ++load[port];
        continue;
      }
      std::uint32_t best = kOutOfReach;
      for (std::uint32_t first = 0; first < grid.ports; ++first) {
        const std::uint32_t through = map[place * grid.ports + first];
        if (grid.rank(through, first) != RankGrid::kNobody && map[through * grid.ports + port] == grid.place_of[destination] &&
            (best == kOutOfReach || load[first] < load[best])) {
          best = first;
        }
      }
      if (best != kOutOfReach) {
        via = static_cast<std::uint32_t>(grid.rank(map[place * grid.ports + best], best));
        ++load[best];
      }
    }
  }
  for (std::uint32_t source = 0; source < ranks; ++source) {
    for (std::uint32_t destination = 0; destination < ranks; ++destination) {
      if (relays[grid.place_of[source] * ranks + destination] == kOutOfReach && traffic.bytes({source, destination}) > 0) {
        return fail(ErrorCode::infeasible,
                    format_text("infeasible: {}: its map reaches rank {} from rank {} in no two hops; nearest: map = maps", job,
                                destination, source));
      }
    }
  }
  return table_of(relays, grid);
}

Result<ForwardingTable> forwarding_by_partners(const OddlShape& shape, const RankGrid& grid, const PairTraffic& traffic,
                                               const std::string& job) {
  const auto ranks = static_cast<std::uint32_t>(grid.place_of.size());
  RelayMatrix relays;
  for (std::uint32_t place = 0; place < grid.places; ++place) {
    for (std::uint32_t destination = 0; destination < ranks; ++destination) {
      const bool is_inside = grid.place_of[destination] == place;
      const PortNumber port = shape.partner(static_cast<PortNumber>(grid.port_of[destination]));
      const std::int32_t relay = is_inside || port >= grid.ports ? RankGrid::kNobody : grid.rank(place, port);
      relays.push_back(relay == RankGrid::kNobody ? destination : static_cast<std::uint32_t>(relay));
    }
  }
  bool is_needed = false;
  std::optional<RankPair> lost;
  traffic.for_each([&](RankPair pair, std::int64_t) {
    const bool is_inside = grid.place_of[pair.source] == grid.place_of[pair.destination];
    const std::uint32_t relay = relays[grid.place_of[pair.source] * ranks + pair.destination];
    if (!is_inside && relay == pair.destination && !lost) {
      lost = pair;
    }
    is_needed = is_needed || (relay != pair.destination && relay != pair.source);
  });
  if (lost) {
    return fail(ErrorCode::infeasible,
                format_text("infeasible: {}: behind routers nobody in the group of rank {} is the partner of rank {} in its "
                            "group; nearest: {} nodes in {} whole groups",
                            job, lost->source, lost->destination, grid.places * grid.ports, grid.places));
  }
  return is_needed ? table_of(relays, grid) : ForwardingTable{};
}

PairTraffic hops_over(const ForwardingTable& forwarding, const PairTraffic& traffic) {
  PairTraffic hops(forwarding.ranks());
  traffic.for_each([&](RankPair pair, std::int64_t bytes) {
    std::uint32_t at = pair.source;
    for (const std::uint32_t relay : forwarding.through(pair.source, pair.destination)) {
      hops.add_pair({at, relay}, bytes);
      at = relay;
    }
    hops.add_pair({at, pair.destination}, bytes);
  });
  return hops;
}

std::uint32_t fan_out_of(const RankGrid& grid, const PairTraffic& traffic) {
  const auto ranks = static_cast<std::uint32_t>(grid.place_of.size());
  std::uint32_t most = 0;
  for (std::uint32_t source = 0; source < ranks; ++source) {
    std::uint32_t peers = 0;
    for (std::uint32_t destination = 0; destination < ranks; ++destination) {
      peers += traffic.bytes({source, destination}) > 0 ? 1 : 0;
    }
    most = std::max(most, peers);
  }
  return most;
}

RelayLoads loads_over(const ForwardingTable& forwarding, const RankGrid& grid, const PairTraffic& traffic) {
  const auto ranks = static_cast<std::uint32_t>(grid.place_of.size());
  const std::size_t entries = static_cast<std::size_t>(ranks) * grid.ports;
  RelayLoads loads{std::vector<std::int64_t>(entries), std::vector<std::int64_t>(entries)};
  for (std::uint32_t source = 0; source < ranks; ++source) {
    for (std::uint32_t destination = 0; destination < ranks; ++destination) {
      const std::int64_t bytes = traffic.bytes({source, destination});
      if (bytes == 0) {
        continue;
      }
      const std::uint32_t via = forwarding.next(source, destination);
      loads.first[source * grid.ports + grid.port_of[via]] += bytes;
      if (via != destination) {
        loads.second[via * grid.ports + grid.port_of[destination]] += bytes;
      }
    }
  }
  return loads;
}

}  // namespace loom
