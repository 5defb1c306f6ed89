// SPDX-License-Identifier: Apache-2.0
// All-to-all on ODDL: maps in turn, or one map with relays, whichever takes less time.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>

#include "controller/architectures/oddl/scheduler.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

std::string seconds_text(double seconds) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.4g s", seconds);
  return text.data();
}

}  // namespace

Duration time_on_wire(double bits, BitRate rate) {
  return Duration{static_cast<std::int64_t>(std::ceil(bits * 1e9 / static_cast<double>(rate.bits_per_second)))};
}

double time_of(const Stage& stage) {
  double sum = 0;
  for (const Timeslot& timeslot : stage.timeslots) {
    sum += timeslot.circuits.empty() ? 0 : seconds_of(timeslot.guard + timeslot.hold);
  }
  return sum * stage.cycles;
}

Result<void> OddlScheduler::add_all_to_all(JobIndex job, const PairTraffic& traffic, JobSchedule& result) {
  const JobDemand& demand = demand_.jobs[job];
  const RankGrid grid = grid_of(shape_, demand.nodes);
  if (const MapChoice map = options_[job].map; map != MapChoice::cheapest) {
    result.note = format_text("{}, as asked", to_string(map));
    return map == MapChoice::maps ? add_maps(job, grid, traffic, result) : add_relayed(job, map, grid, traffic, result);
  }
  if (grid.places == 1 || demand.transmit == Transmit::grants || shape_.uplink) {
    return add_maps(job, grid, traffic, result);  // everybody is one hop away, is granted light, or has partners for relays
  }
  const WavelengthOwners before = owners_;
  JobSchedule relayed = result;
  const auto made = add_relayed(job, MapChoice::latin, grid, traffic, relayed);
  if (!made && made.error().code != ErrorCode::infeasible) {
    return made;
  }
  const double relayed_time = made ? time_of(relayed.stages.back()) : 0;
  const std::uint32_t peers = fan_out_of(grid, traffic);
  const std::size_t stages = sequence_of(grid, traffic, rules_for(ways_of(job)));
  const double floor = moves_between(stages) + peers * least_guard(demand);
  if (made && relayed_time <= floor) {
    relayed.note = format_text("latin map with relays, {}; {} maps in turn take {} at least, {} of it for WSS moves",
                               seconds_text(relayed_time), stages, seconds_text(floor), seconds_text(moves_between(stages)));
    result = std::move(relayed);
    return {};
  }
  const WavelengthOwners with_relays = owners_;
  const std::vector<StageMap> relay_maps = last_maps_;
  owners_ = before;
  const auto mapped = add_maps(job, grid, traffic, result);
  if (!mapped && !(made && mapped.error().code == ErrorCode::infeasible)) {
    return mapped;
  }
  if (!mapped) {
    relayed.note = format_text("latin map with relays, {}; there is no light for maps in turn", seconds_text(relayed_time));
    result = std::move(relayed);
    owners_ = with_relays;
    last_maps_ = std::vector<StageMap>(relay_maps);
    return {};
  }
  const double moves = moves_between(result.stages.size());
  double mapped_time = moves;
  for (const Stage& stage : result.stages) {
    mapped_time += time_of(stage);
  }
  const std::string maps_text =
      (result.stages.size() == 1 ? "1 map, " : format_text("{} maps in turn, ", result.stages.size())) +
      seconds_text(mapped_time);
  if (!made || mapped_time <= relayed_time) {
    result.note = maps_text + (made ? "; a latin map with relays takes " + seconds_text(relayed_time)
                                    : "; a latin map does not reach all in two hops");
    return {};
  }
  relayed.note = format_text("latin map with relays, {}; {}, {} of it for WSS moves", seconds_text(relayed_time), maps_text,
                             seconds_text(moves));
  result = std::move(relayed);
  owners_ = with_relays;
  last_maps_ = std::vector<StageMap>(relay_maps);
  return {};
}

double OddlScheduler::moves_between(std::size_t stages) const {
  Duration settle{};
  for (const Element& element : fabric_.elements) {
    if (const auto* wss = std::get_if<WavelengthSelectiveSwitch>(&element.kind)) {
      settle = std::max(settle, wss->settle_max);
    }
  }
  return stages < 2 ? 0 : static_cast<double>(stages) * seconds_of(settle);  // and back to the first
}

double OddlScheduler::least_guard(const JobDemand& demand) const {
  const auto& transmitter = std::get<Transmitter>(fabric_.element(position(demand.nodes[0]).transmitters[0]).kind);
  return seconds_of(transmitter.retune_max + transmitter.blank_max + transmitter.control_max);
}

OddlScheduler::Ways OddlScheduler::ways_of(JobIndex job) const {
  const JobDemand& demand = demand_.jobs[job];
  Ways ways(planes_.size(), std::vector<std::vector<std::int32_t>>(shape_.ports));
  const std::vector<std::uint32_t>& orders = numbers_of(demand.share, kOrdersShare);
  if (orders.empty()) {
    return ways;
  }
  for (std::size_t i = 0; i < planes_.size(); ++i) {
    for (const NodeId node : demand.nodes) {
      std::vector<std::int32_t>& channels = ways[i][position(node).port];
      if (!channels.empty()) {
        continue;
      }
      for (const std::uint32_t order : orders) {
        const std::int32_t channel = shape_.channel_to(position(node).port, order);
        const bool is_its = channel < shape_.channels.count &&
                            std::all_of(
                                demand.nodes.begin(), demand.nodes.end(),
                                [&](NodeId each) { return owners_.admits(planes_[i], position(each).group, channel, job); });
        if (is_its) {
          channels.push_back(channel);
        }
      }
    }
  }
  return ways;
}

SequenceRules OddlScheduler::rules_for(const Ways& ways) const {
  SequenceRules rules{std::vector<std::uint32_t>(shape_.ports, 1), !shape_.uplink};
  for (std::uint32_t port = 0; port < shape_.ports; ++port) {
    std::size_t least = ways[0][port].size();
    for (const auto& plane : ways) {
      least = std::min(least, plane[port].size());
    }
    rules.ways[port] = std::max(1U, static_cast<std::uint32_t>(least));
  }
  return rules;
}

Result<void> OddlScheduler::relay_by_partners(JobIndex job, const RankGrid& grid, PairTraffic& traffic, JobSchedule& result) {
  auto forwarding = forwarding_by_partners(shape_, grid, traffic, name_of(job));
  if (!forwarding) {
    return std::unexpected(std::move(forwarding).error());
  }
  if (forwarding->empty()) {
    return {};
  }
  if (demand_.jobs[job].transmit == Transmit::grants) {
    return fail(ErrorCode::unsupported,
                format_text("{}: behind routers some of its nodes reach each other by relays only, which are played in "
                            "timeslots; nearest: transmit=slots, or {} nodes in one group",
                            name_of(job), shape_.ports));
  }
  traffic = hops_over(*forwarding, traffic);
  result.forwarding = *std::move(forwarding);
  result.note += format_text("{}neighbours relay to their partners in other groups", result.note.empty() ? "" : "; ");
  return {};
}

Result<void> OddlScheduler::add_maps(JobIndex job, const RankGrid& grid, PairTraffic traffic, JobSchedule& result) {
  const JobDemand& demand = demand_.jobs[job];
  LOOM_TRY(spend(static_cast<std::uint64_t>(grid.places) * shape_.ports * demand.nodes.size()));
  if (shape_.uplink && grid.places > 1) {
    LOOM_TRY(relay_by_partners(job, grid, traffic, result));
  }
  const Ways ways = ways_of(job);
  for (const SequencedMap& turn : map_sequence(grid, traffic, rules_for(ways))) {
    std::vector<StageMap> maps = stage_maps(job);
    Stage stage;
    for (const std::vector<SequencedTransfer>& timeslot : turn.timeslots) {
      std::vector<NodeTransfer> transfers;
      for (const SequencedTransfer& each : timeslot) {
        transfers.push_back({demand.nodes[each.pair.source], demand.nodes[each.pair.destination], each.bytes, each.way});
      }
      LOOM_TRY(add_timeslot(job, transfers, ways, maps, stage));
    }
    last_maps_ = std::move(maps);
    result.stages.push_back(std::move(stage));
  }
  return {};
}

Result<void> OddlScheduler::add_relayed(JobIndex job, MapChoice choice, const RankGrid& grid, const PairTraffic& traffic,
                                        JobSchedule& result) {
  const JobDemand& demand = demand_.jobs[job];
  LOOM_TRY(spend(2ULL * demand.nodes.size() * demand.nodes.size()));
  const auto map = place_map(choice, options_[job].map_groups, grid, name_of(job));
  if (!map) {
    return std::unexpected(map.error());
  }
  auto forwarding = forwarding_over(*map, grid, traffic, name_of(job));
  if (!forwarding) {
    return std::unexpected(std::move(forwarding).error());
  }
  const RelayLoads loads = loads_over(*forwarding, grid, traffic);
  std::vector<StageMap> maps = stage_maps(job);
  Stage stage;
  for (const std::vector<std::int64_t>* load : {&loads.first, &loads.second}) {
    for (std::uint32_t k = 0; k < shape_.ports; ++k) {
      std::vector<NodeTransfer> transfers;
      for (std::uint32_t rank = 0; rank < demand.nodes.size(); ++rank) {
        const std::uint32_t port = (grid.port_of[rank] + k) % shape_.ports;
        const std::int32_t peer = grid.rank((*map)[grid.place_of[rank] * grid.ports + port], port);
        const std::size_t entry = rank * grid.ports + port;
        if (const std::int64_t bytes = (*load)[entry]; bytes > 0) {
          LOOM_ASSERT(peer >= 0);
          transfers.push_back({demand.nodes[rank], demand.nodes[static_cast<std::size_t>(peer)], bytes, 0});
        }
      }
      LOOM_TRY(add_timeslot(job, transfers, {}, maps, stage));
    }
  }
  last_maps_ = std::move(maps);
  result.stages.push_back(std::move(stage));
  result.forwarding = *std::move(forwarding);
  return {};
}

std::vector<StageMap> OddlScheduler::stage_maps(JobIndex job) {
  std::vector<StageMap> maps;
  for (const std::uint32_t plane : planes_) {
    maps.emplace_back(shape_, plane, owners_, job);
  }
  return maps;
}

Result<void> OddlScheduler::add_timeslot(JobIndex job, const std::vector<NodeTransfer>& transfers, const Ways& ways,
                                         std::vector<StageMap>& maps, Stage& stage) {
  if (transfers.empty()) {
    return {};
  }
  Timeslot timeslot;
  timeslot.hold = Duration{};
  const auto parts = static_cast<std::int64_t>(planes_.size());
  for (const NodeTransfer& transfer : transfers) {
    for (std::size_t i = 0; i < planes_.size(); ++i) {
      const Link link{transfer.source, transfer.destination, planes_[i]};
      const bool is_given = !ways.empty() && transfer.way < ways[i][position(link.destination).port].size();
      const std::int32_t preferred =
          is_given ? ways[i][position(link.destination).port][transfer.way] : held_channel(job, link);
      const auto channel = maps[i].claim(position(link.source), position(link.destination), preferred, true);
      if (!channel) {
        return std::unexpected(refuse(job, link.plane, link.source, link.destination));
      }
      const Circuit added = circuit(demand_.jobs[job].job, link, *channel);
      const std::int64_t bytes = (transfer.bytes + parts - 1) / parts;
      timeslot.hold = std::max(timeslot.hold, time_on_wire(static_cast<double>(bytes) * 8, added.rate));
      timeslot.circuits.push_back(added);
    }
  }
  timeslot.guard = guard_of(timeslot);
  timeslot.hold += room_of(fabric_, timeslot);
  stage.timeslots.push_back(std::move(timeslot));
  return {};
}

}  // namespace loom
