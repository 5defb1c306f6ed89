// SPDX-License-Identifier: Apache-2.0
// Edge colouring by port, then rotations of ports as timeslots.
#include "controller/architectures/oddl/turns.hpp"

#include <algorithm>

#include "controller/schedule/permutations.hpp"
#include "core/result.hpp"

namespace loom {
namespace {

constexpr std::uint32_t kNowhere = ~0U;

/// Who has bytes for one port of the groups, by pair of places.
class PortDemand {
 public:
  explicit PortDemand(std::uint32_t places) : places_(places), bytes_(std::size_t{places} * places) {}

  /// The longest of a map's transfers says how long it stands.
  void add(std::uint32_t from, std::uint32_t to, std::int64_t bytes) {
    std::int64_t& longest = bytes_[from * places_ + to];
    longest = std::max(longest, bytes);
  }

  std::uint32_t degree() const {
    std::vector<std::uint32_t> peers(2 * std::size_t{places_});
    for (std::uint32_t from = 0; from < places_; ++from) {
      for (std::uint32_t to = 0; to < places_; ++to) {
        if (bytes_[from * places_ + to] > 0) {
          ++peers[from];
          ++peers[places_ + to];
        }
      }
    }
    return *std::max_element(peers.begin(), peers.end());
  }

  /// Heaviest first and, of equal ones, neighbours and then steps of one length together: what is alike comes in one turn at
  /// all ports, and an even all-to-all becomes a latin square.
  std::vector<SwitchPair> pairs() const {
    std::vector<SwitchPair> pairs;
    for (std::uint32_t step = 0; step < places_; ++step) {
      for (std::uint32_t from = 0; from < places_; ++from) {
        const std::uint32_t to = (from + step) % places_;
        if (const std::int64_t bytes = bytes_[from * places_ + to]; bytes > 0) {
          pairs.push_back({from, to, bytes});
        }
      }
    }
    std::stable_sort(pairs.begin(), pairs.end(), [](const SwitchPair& a, const SwitchPair& b) { return a.demand > b.demand; });
    return pairs;
  }

 private:
  std::uint32_t places_;
  std::vector<std::int64_t> bytes_;
};

std::vector<PortDemand> by_port(const RankGrid& grid, const PairTraffic& traffic, bool inside_by_map) {
  std::vector<PortDemand> demands(grid.ports, PortDemand(grid.places));
  traffic.for_each([&](RankPair pair, std::int64_t bytes) {
    const std::uint32_t from = grid.place_of[pair.source];
    const std::uint32_t to = grid.place_of[pair.destination];
    if (inside_by_map || from != to) {
      demands[grid.port_of[pair.destination]].add(from, to, bytes);
    }
  });
  return demands;
}

/// Where each place's light for a port leads, colour by colour.
struct PortColours {
  std::uint32_t colours = 0;
  std::vector<std::uint32_t> leads_to;  ///< [colour x place] -> place, or kNowhere
};

PortColours colours_of(const PortDemand& demand, std::uint32_t places) {
  PortColours made{demand.degree(), {}};
  made.leads_to.assign(std::size_t{made.colours} * places, kNowhere);
  const std::vector<SwitchPair> pairs = demand.pairs();
  const std::vector<std::uint32_t> once(pairs.size(), 1);
  for (const SwitchGrant& grant : into_permutations(places, made.colours, pairs, once)) {
    made.leads_to[grant.on * places + pairs[grant.pair].source] = pairs[grant.pair].destination;
  }
  return made;
}

std::uint32_t turns_for(std::uint32_t colours, std::uint32_t ways) { return (colours + ways - 1) / ways; }

/// Timeslots of one map. A rotation of ports is a matching; rotations that leave ranks idle share a timeslot where they can.
class SequenceBuilder {
 public:
  SequenceBuilder(const RankGrid& grid, const PairTraffic& traffic) : grid_(grid), traffic_(traffic) {}

  /// What was added so far stays before what comes.
  void close() { first_open_ = made_.timeslots.size(); }

  void add(std::vector<SequencedTransfer> timeslot) {
    if (timeslot.empty()) {
      return;
    }
    const auto ranks = grid_.place_of.size();
    for (std::size_t i = first_open_; i < made_.timeslots.size() && timeslot.size() < ranks; ++i) {
      if (made_.timeslots[i].size() < ranks && is_free(i, timeslot)) {
        mark(i, timeslot);
        made_.timeslots[i].insert(made_.timeslots[i].end(), timeslot.begin(), timeslot.end());
        return;
      }
    }
    made_.timeslots.push_back(std::move(timeslot));
    sends_.emplace_back(ranks);
    receives_.emplace_back(ranks);
    mark(made_.timeslots.size() - 1, made_.timeslots.back());
  }

  /// `rotation` ports on, to the place that `place_for(place, port)` says.
  template <class PlaceFor>
  std::vector<SequencedTransfer> rotated(std::uint32_t rotation, std::uint32_t way, const PlaceFor& place_for) const {
    std::vector<SequencedTransfer> timeslot;
    for (std::uint32_t rank = 0; rank < grid_.place_of.size(); ++rank) {
      const std::uint32_t port = (grid_.port_of[rank] + rotation) % grid_.ports;
      const std::uint32_t place = place_for(grid_.place_of[rank], port);
      const std::int32_t peer = place == kNowhere ? RankGrid::kNobody : grid_.rank(place, port);
      if (peer == RankGrid::kNobody) {
        continue;
      }
      const RankPair pair{rank, static_cast<std::uint32_t>(peer)};
      if (const std::int64_t bytes = traffic_.bytes(pair); bytes > 0) {
        timeslot.push_back({pair, bytes, way});
      }
    }
    return timeslot;
  }

  SequencedMap take() { return std::move(made_); }

 private:
  bool is_free(std::size_t at, const std::vector<SequencedTransfer>& timeslot) const {
    return std::none_of(timeslot.begin(), timeslot.end(), [&](const SequencedTransfer& transfer) {
      return sends_[at][transfer.pair.source] || receives_[at][transfer.pair.destination];
    });
  }
  void mark(std::size_t at, const std::vector<SequencedTransfer>& timeslot) {
    for (const SequencedTransfer& transfer : timeslot) {
      sends_[at][transfer.pair.source] = true;
      receives_[at][transfer.pair.destination] = true;
    }
  }

  const RankGrid& grid_;
  const PairTraffic& traffic_;
  SequencedMap made_;
  std::size_t first_open_ = 0;
  std::vector<std::vector<bool>> sends_;     ///< [timeslot][rank]
  std::vector<std::vector<bool>> receives_;  ///< [timeslot][rank]
};

}  // namespace

std::uint32_t sequence_of(const RankGrid& grid, const PairTraffic& traffic, const SequenceRules& rules) {
  const std::vector<PortDemand> demands = by_port(grid, traffic, rules.inside_by_map);
  std::uint32_t turns = 0;
  for (std::uint32_t port = 0; port < grid.ports; ++port) {
    turns = std::max(turns, turns_for(demands[port].degree(), rules.ways[port]));
  }
  return turns;
}

std::vector<SequencedMap> map_sequence(const RankGrid& grid, const PairTraffic& traffic, const SequenceRules& rules) {
  LOOM_ASSERT(rules.ways.size() == grid.ports && grid.places > 0);
  const std::vector<PortDemand> demands = by_port(grid, traffic, rules.inside_by_map);
  std::vector<PortColours> ports;
  std::uint32_t turns = 1;
  for (std::uint32_t port = 0; port < grid.ports; ++port) {
    ports.push_back(colours_of(demands[port], grid.places));
    turns = std::max(turns, turns_for(ports.back().colours, rules.ways[port]));
  }
  const std::uint32_t most_ways = *std::max_element(rules.ways.begin(), rules.ways.end());
  std::vector<SequencedMap> made;
  for (std::uint32_t turn = 0; turn < turns; ++turn) {
    SequenceBuilder builder(grid, traffic);
    for (std::uint32_t rotation = 0; turn == 0 && !rules.inside_by_map && rotation < grid.ports; ++rotation) {
      builder.add(builder.rotated(rotation, 0, [](std::uint32_t place, std::uint32_t) { return place; }));
    }
    builder.close();
    for (std::uint32_t rotation = 0; rotation < grid.ports; ++rotation) {
      for (std::uint32_t way = 0; way < most_ways; ++way) {
        builder.add(builder.rotated(rotation, way, [&](std::uint32_t place, std::uint32_t port) {
          const std::uint32_t colour = turn * rules.ways[port] + way;
          return way < rules.ways[port] && colour < ports[port].colours ? ports[port].leads_to[colour * grid.places + place]
                                                                        : kNowhere;
        }));
      }
    }
    SequencedMap done = builder.take();
    if (!done.timeslots.empty()) {
      made.push_back(std::move(done));
    }
  }
  return made;
}

}  // namespace loom
