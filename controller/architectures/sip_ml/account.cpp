// SPDX-License-Identifier: Apache-2.0
// Counts what is lit, pair by pair and segment by segment.
#include "controller/architectures/sip_ml/account.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "controller/architectures/sip_ring/shape.hpp"
#include "controller/schedule/traffic.hpp"

namespace loom {
namespace {

using Ends = std::tuple<JobId, NodeId, NodeId>;

std::vector<Circuit> circuits_of(const Schedule& schedule) {
  std::vector<Circuit> all;
  for (const JobSchedule& job : schedule.jobs) {
    for (const Stage& stage : job.stages) {
      for (const Timeslot& timeslot : stage.timeslots) {
        all.insert(all.end(), timeslot.circuits.begin(), timeslot.circuits.end());
      }
    }
  }
  return all;
}

/// Every demanded pair of every job, ascending.
Result<std::vector<PairAccount>> pairs_of(const Demand& demand, const std::vector<Circuit>& circuits) {
  std::map<Ends, std::uint32_t> lit;
  for (const Circuit& circuit : circuits) {
    ++lit[{circuit.job, circuit.source, circuit.destination}];
  }
  std::vector<PairAccount> pairs;
  for (const JobDemand& job : demand.jobs) {
    auto traffic = traffic_of(job);
    if (!traffic) {
      return std::unexpected(std::move(traffic).error());
    }
    const auto loads = loads_of(*traffic, static_cast<std::uint32_t>(job.nodes.size()));
    double most = 0;
    for (const PairLoad& load : loads) {
      most = std::max(most, load.bits);
    }
    for (const PairLoad& load : loads) {
      PairAccount pair{job.job, job.nodes[load.pair.source], job.nodes[load.pair.destination], load.bits, 0, 0};
      pair.circuits = lit[{pair.job, pair.source, pair.destination}];
      pair.z = load.bits > 0 ? pair.circuits / (load.bits / most) : 0;
      pairs.push_back(pair);
    }
  }
  return pairs;
}

const PairAccount* worst_of(const std::vector<PairAccount>& pairs) {
  const auto least = std::min_element(pairs.begin(), pairs.end(), [](const PairAccount& a, const PairAccount& b) {
    return std::tuple{a.z, a.job, a.source, a.destination} < std::tuple{b.z, b.job, b.source, b.destination};
  });
  return least == pairs.end() ? nullptr : &*least;
}

WayAccount way_of(const SipRingShape& shape, const WavelengthUse& map, const RingAccount& account, RingDirection direction) {
  const std::uint32_t nodes = map.nodes();
  const RingArc arc =
      arc_of(nodes, direction, shape.position[account.worst.source.value], shape.position[account.worst.destination.value]);
  WayAccount way;
  way.hops = arc.length;
  for (std::uint32_t row = 0; row < map.rows(); ++row) {
    if (map.buses()[map.bus_of(row)].direction == direction) {
      ++way.channels;
      way.open += map.is_free(row, arc) ? 1 : 0;
    }
  }
  way.free = way.channels + 1;
  for (std::uint32_t i = 0; i < arc.length; ++i) {
    const std::uint32_t segment = (arc.first + i) % nodes;
    std::uint32_t lit = 0;
    for (std::uint32_t bus = 0; bus < account.buses.size(); ++bus) {
      lit += account.buses[bus].direction == direction ? account.load[bus][segment] : 0;
    }
    if (way.channels - lit < way.free) {
      way.free = way.channels - lit;
      const bool forward = direction == RingDirection::clockwise;
      way.from = account.nodes[forward ? segment : (segment + 1) % nodes];
      way.to = account.nodes[forward ? (segment + 1) % nodes : segment];
    }
  }
  return way;
}

/// Lights every circuit on `map`.
void light(const SipRingShape& shape, const std::vector<Circuit>& circuits, WavelengthUse& map, RingAccount& account) {
  std::map<ElementId, std::pair<std::uint32_t, std::uint32_t>> place_of;
  for (std::uint32_t bus = 0; bus < shape.positions.size(); ++bus) {
    for (std::uint32_t channel = 0; channel < shape.positions[bus].size(); ++channel) {
      for (const RingPosition& bus_position : shape.positions[bus][channel]) {
        place_of[bus_position.transmitter] = {bus, channel};
      }
    }
  }
  std::set<std::pair<std::uint32_t, std::uint32_t>> used;
  for (const Circuit& circuit : circuits) {
    const auto [bus, channel] = place_of[circuit.transmitter];
    const RingArc arc = arc_of(map.nodes(), shape.buses[bus].direction, shape.position[circuit.source.value],
                               shape.position[circuit.destination.value]);
    map.set(bus, channel, arc, true);
    used.insert({bus, channel});
    for (std::uint32_t i = 0; i < arc.length; ++i) {
      ++account.load[bus][(arc.first + i) % map.nodes()];
    }
  }
  account.wavelengths = static_cast<std::uint32_t>(used.size());
}

}  // namespace

Result<RingAccount> account_of_rings(const Fabric& fabric, const Demand& demand, const Schedule& schedule) {
  auto shape = read_sip_ring(fabric);
  if (!shape) {
    return std::unexpected(std::move(shape).error());
  }
  const std::vector<Circuit> circuits = circuits_of(schedule);
  const auto pairs = pairs_of(demand, circuits);
  if (!pairs) {
    return std::unexpected(pairs.error());
  }
  RingAccount account;
  account.nodes = shape->nodes;
  account.buses = shape->buses;
  account.reach = shape->reach;
  account.pairs = static_cast<std::uint32_t>(pairs->size());
  account.load.assign(shape->buses.size(), std::vector<std::uint32_t>(shape->nodes.size()));
  WavelengthUse map(static_cast<std::uint32_t>(shape->nodes.size()), shape->buses);
  account.wavelengths_of = map.rows();
  light(*shape, circuits, map, account);
  if (const PairAccount* worst = worst_of(*pairs)) {
    account.worst = *worst;
    account.shorter = way_of(*shape, map, account, RingDirection::clockwise);
    account.longer = way_of(*shape, map, account, RingDirection::counter_clockwise);
    if (account.longer.hops < account.shorter.hops) {
      std::swap(account.shorter, account.longer);
    }
  }
  return account;
}

Result<OcsAccount> account_of_switches(const Fabric& fabric, const Demand& demand, const Schedule& schedule) {
  const std::vector<Circuit> circuits = circuits_of(schedule);
  const auto pairs = pairs_of(demand, circuits);
  if (!pairs) {
    return std::unexpected(pairs.error());
  }
  OcsAccount account;
  account.pairs = static_cast<std::uint32_t>(pairs->size());
  account.circuits = static_cast<std::uint32_t>(circuits.size());
  account.switches =
      static_cast<std::uint32_t>(std::count_if(fabric.elements.begin(), fabric.elements.end(), [](const Element& element) {
        return std::holds_alternative<OpticalCircuitSwitch>(element.kind);
      }));
  std::map<NodeId, std::uint32_t> sends;
  std::map<NodeId, std::uint32_t> receives;
  for (const PairAccount& pair : *pairs) {
    ++sends[pair.source];
    ++receives[pair.destination];
  }
  for (const auto* peers : {&sends, &receives}) {
    for (const auto& [node, count] : *peers) {
      if (count > account.peers) {
        account.peers = count;
        account.busiest = node;
      }
    }
  }
  if (const PairAccount* worst = worst_of(*pairs)) {
    account.worst = *worst;
    for (const Circuit& circuit : circuits) {
      account.sends += circuit.source == worst->source ? 1 : 0;
      account.receives += circuit.destination == worst->destination ? 1 : 0;
    }
  }
  return account;
}

}  // namespace loom
