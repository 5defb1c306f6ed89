// Reach of a map, and who relays.
#include "controller/architectures/oddl/maps.hpp"

#include <algorithm>
#include <map>
#include <optional>

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

}  // namespace

RankGrid grid_of(const OddlShape& shape, const std::vector<NodeId>& nodes) {
  std::map<std::uint32_t, std::uint32_t> places;  // group -> place
  for (const NodeId node : nodes) {
    places.emplace(shape.positions[node.value].group, 0);
  }
  RankGrid grid;
  grid.ports = shape.ports;
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

Result<Forwarding> forwarding_over(const PlaceMap& map, const RankGrid& grid, const PairTraffic& traffic,
                                   const std::string& job) {
  const auto ranks = static_cast<std::uint32_t>(grid.place_of.size());
  LOOM_ASSERT(ranks > 0);
  constexpr std::uint32_t kOutOfReach = ~0U;
  Forwarding forwarding{grid.place_of, std::vector<std::uint32_t>(static_cast<std::size_t>(grid.places) * ranks, kOutOfReach)};
  for (std::uint32_t place = 0; place < grid.places; ++place) {
    std::vector<std::uint32_t> load(grid.ports);  // destinations reached by each port
    for (std::uint32_t destination = 0; destination < ranks; ++destination) {
      const std::uint32_t port = grid.port_of[destination];
      std::uint32_t& via = forwarding.via[place * ranks + destination];
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
      if (forwarding.next(source, destination) == kOutOfReach && traffic.bytes({source, destination}) > 0) {
        return fail(ErrorCode::infeasible,
                    format_text("infeasible: {}: its map reaches rank {} from rank {} in no two hops; nearest: map = maps", job,
                                destination, source));
      }
    }
  }
  for (std::size_t entry = 0; entry < forwarding.via.size(); ++entry) {  // who has nothing to send needs no way
    if (forwarding.via[entry] == kOutOfReach) {
      forwarding.via[entry] = static_cast<std::uint32_t>(entry % ranks);
    }
  }
  return forwarding;
}

Result<Forwarding> forwarding_by_partners(const OddlShape& shape, const RankGrid& grid, const PairTraffic& traffic,
                                          const std::string& job) {
  const auto ranks = static_cast<std::uint32_t>(grid.place_of.size());
  Forwarding forwarding{grid.place_of, {}};
  for (std::uint32_t place = 0; place < grid.places; ++place) {
    for (std::uint32_t destination = 0; destination < ranks; ++destination) {
      const bool is_inside = grid.place_of[destination] == place;
      const PortNumber port = shape.partner(static_cast<PortNumber>(grid.port_of[destination]));
      const std::int32_t relay = is_inside || port >= grid.ports ? RankGrid::kNobody : grid.rank(place, port);
      forwarding.via.push_back(relay == RankGrid::kNobody ? destination : static_cast<std::uint32_t>(relay));
    }
  }
  bool is_needed = false;
  std::optional<RankPair> lost;
  traffic.for_each([&](RankPair pair, std::int64_t) {
    const bool is_inside = grid.place_of[pair.source] == grid.place_of[pair.destination];
    const bool has_relay = forwarding.via[grid.place_of[pair.source] * ranks + pair.destination] != pair.destination;
    if (!is_inside && !has_relay && !lost) {
      lost = pair;
    }
    is_needed = is_needed || forwarding.next(pair.source, pair.destination) != pair.destination;
  });
  if (lost) {
    return fail(ErrorCode::infeasible,
                format_text("infeasible: {}: behind routers nobody in the group of rank {} is the partner of rank {} in its "
                            "group; nearest: {} nodes in {} whole groups",
                            job, lost->source, lost->destination, grid.places * grid.ports, grid.places));
  }
  return is_needed ? std::move(forwarding) : Forwarding{};
}

PairTraffic hops_over(const Forwarding& forwarding, const PairTraffic& traffic) {
  PairTraffic hops(static_cast<std::uint32_t>(forwarding.row_of.size()));
  traffic.for_each([&](RankPair pair, std::int64_t bytes) {
    const std::uint32_t via = forwarding.next(pair.source, pair.destination);
    hops.add_pair({pair.source, via}, bytes);
    if (via != pair.destination) {
      hops.add_pair({via, pair.destination}, bytes);
    }
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

RelayLoads loads_over(const Forwarding& forwarding, const RankGrid& grid, const PairTraffic& traffic) {
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
