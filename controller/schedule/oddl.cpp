// Rings, maps in turn, and maps with relays on ODDL.
#include "controller/schedule/oddl.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>

#include "controller/schedule/oddl_maps.hpp"
#include "controller/schedule/oddl_planes.hpp"
#include "controller/schedule/traffic.hpp"

namespace loom {
namespace {

constexpr std::int32_t kNotHeld = -1;

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

std::string seconds_text(double seconds) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.4g s", seconds);
  return text.data();
}

/// A timeslot's circuit before its plane is known.
struct Transfer {
  NodeId source;
  NodeId destination;
  std::int64_t bytes = 0;
};

class OddlScheduler {
 public:
  OddlScheduler(const Fabric& fabric, const Demand& demand, const OddlShape& shape, Budget budget)
      : fabric_(fabric), demand_(demand), shape_(shape), owners_(shape), budget_(budget) {}

  Result<Schedule> run() {
    schedule_.algorithm = "oddl";
    schedule_.assumptions = {
        "oddl (reconstruction): WSS map per job, tuned lasers, fixed order of timeslots; the paper's own scheduler is not "
        "public",
        "oddl: circuits are simplex; the return path of Ethernet (link state, acknowledgements) runs over the electrical "
        "network"};
    reserve_held();
    for (JobIndex job = 0; job < demand_.jobs.size(); ++job) {
      LOOM_TRY(add_job(job));
    }
    return std::move(schedule_);
  }

 private:
  /// One plane's light from node to node.
  struct Link {
    NodeId source;
    NodeId destination;
    std::uint32_t plane = 0;
    auto operator<=>(const Link&) const = default;
  };

  /// What a job has lit stays its own before anybody chooses anew.
  void reserve_held() {
    held_.resize(demand_.jobs.size());
    for (JobIndex job = 0; job < demand_.jobs.size(); ++job) {
      for (const Circuit& circuit : demand_.jobs[job].held) {
        const std::int32_t channel = shape_.channels.channel_of(circuit.slot);
        if (channel < 0 || circuit.source.value >= shape_.seats.size() || circuit.destination.value >= shape_.seats.size()) {
          continue;
        }
        const OddlSeat& from = seat(circuit.source);
        const auto plane = static_cast<std::uint32_t>(
            std::find(from.transmitters.begin(), from.transmitters.end(), circuit.transmitter) - from.transmitters.begin());
        if (plane < shape_.planes && owners_.admits(plane, from.group, channel, job)) {
          owners_.own(plane, from.group, channel, job);
          held_[job].emplace(Link{circuit.source, circuit.destination, plane}, channel);
        }
      }
    }
  }

  Result<void> add_job(JobIndex job) {
    const JobDemand& demand = demand_.jobs[job];
    planes_.clear();
    for (std::uint32_t plane = 0; plane < shape_.planes; ++plane) {
      const bool is_its = demand.planes.empty() || std::binary_search(demand.planes.begin(), demand.planes.end(), plane);
      if (is_its) {
        planes_.push_back(plane);
      }
    }
    if (planes_.empty()) {
      return fail(ErrorCode::invalid_argument, name_of(job) +
                                                   " was admitted to planes that the fabric does not have; it has 0.." +
                                                   std::to_string(shape_.planes - 1));
    }
    const bool under_grants = demand.transmit == Transmit::grants;
    if (under_grants && demand.map != MapChoice::cheapest && demand.map != MapChoice::maps) {
      return fail(ErrorCode::unsupported, name_of(job) + ": a map with relays (" + std::string(to_string(demand.map)) +
                                              ") is played in timeslots only; nearest: map=maps");
    }
    if (under_grants) {
      planes_.resize(1);  // a stream has one receiver and so one arbiter
    }
    auto traffic = traffic_of(demand);
    if (!traffic) {
      return std::unexpected(std::move(traffic).error());
    }
    JobSchedule result{demand.job, {}, {}, {}};
    if (!traffic->pairs.empty()) {
      LOOM_TRY(add_all_to_all(job, traffic->pairs, result));
    }
    for (std::size_t i = 0; i < traffic->rings.size(); ++i) {
      const bool last = i + 1 == traffic->rings.size();
      LOOM_TRY(add_ring(job, traffic->rings[i], last, result));
    }
    if (result.stages.empty()) {
      result.stages.push_back({{Timeslot{}}, 1});  // nothing to move: a job without light is lawful
    }
    if (planes_.size() > 1) {
      result.note += (result.note.empty() ? "striped over " : "; striped over ") + std::to_string(planes_.size()) + " planes";
    }
    if (under_grants) {
      hand_to_grants(demand, *traffic, result);
    }
    rate_job(demand, *traffic, result);
    schedule_.jobs.push_back(std::move(result));
    return {};
  }

  /// The same stages, whose circuits are lit whenever a stream is granted. One stream a stage and pair: rings one after the
  /// other in the last stages, before them what goes directly.
  static void hand_to_grants(const JobDemand& demand, const JobTraffic& traffic, JobSchedule& result) {
    const std::size_t direct = result.stages.size() - std::min(result.stages.size(), traffic.rings.size());
    std::map<NodeId, std::uint32_t> rank_of;
    for (std::uint32_t rank = 0; rank < demand.nodes.size(); ++rank) {
      rank_of[demand.nodes[rank]] = rank;
    }
    for (std::size_t i = 0; i < result.stages.size(); ++i) {
      Stage& stage = result.stages[i];
      stage.transmit = Transmit::grants;
      for (const Timeslot& timeslot : stage.timeslots) {
        for (const Circuit& circuit : timeslot.circuits) {
          const RankPair pair{rank_of[circuit.source], rank_of[circuit.destination]};
          const std::int64_t bytes = i < direct
                                         ? traffic.pairs.bytes(pair)
                                         : static_cast<std::int64_t>(std::ceil(traffic.rings[i - direct].seconds_at_1_bps / 8));
          if (bytes > 0) {
            stage.streams.push_back({i, circuit.source, circuit.destination, Bytes{bytes}});
          }
        }
      }
    }
  }

  Result<void> spend(std::uint64_t steps) {
    schedule_.steps_used += steps;
    if (schedule_.steps_used > budget_.steps || budget_.stop.stop_requested()) {
      return fail(ErrorCode::timed_out, "scheduler oddl: stopped after " + std::to_string(schedule_.steps_used) +
                                            " steps; the budget was " + std::to_string(budget_.steps));
    }
    return {};
  }

  /// A circuit a plane for every edge, each with its part of the bytes.
  Result<void> add_ring(JobIndex job, const RingGroup& ring, bool last, JobSchedule& result) {
    LOOM_TRY(spend(ring.edges.size() * planes_.size()));
    Timeslot timeslot;
    for (const std::uint32_t plane : planes_) {
      LOOM_TRY(add_ring_on(plane, job, ring, timeslot));
    }
    if (!last && !timeslot.circuits.empty()) {
      timeslot.guard = guard_of(timeslot);
      timeslot.hold = time_on_wire(ring.seconds_at_1_bps / static_cast<double>(planes_.size()), timeslot.circuits.front().rate);
    }
    result.stages.push_back({{std::move(timeslot)}, 1});
    return {};
  }

  Result<void> add_ring_on(std::uint32_t plane, JobIndex job, const RingGroup& ring, Timeslot& timeslot) {
    const JobDemand& demand = demand_.jobs[job];
    StageMap map(shape_, plane, owners_, job);
    std::vector<std::int32_t> channels(ring.edges.size(), kNotHeld);
    for (const bool only_held : {true, false}) {  // held light first: it must not lose its wavelength to a newcomer
      for (std::size_t i = 0; i < ring.edges.size(); ++i) {
        const NodeId source = demand.nodes[ring.edges[i].source];
        const NodeId destination = demand.nodes[ring.edges[i].destination];
        const std::int32_t preferred = held_channel(job, {source, destination, plane});
        if ((preferred != kNotHeld) != only_held) {
          continue;
        }
        const auto channel = map.claim(seat(source), seat(destination), preferred, false);
        if (!channel) {
          return std::unexpected(refuse(job, plane, source, destination));
        }
        channels[i] = *channel;
      }
    }
    for (std::size_t i = 0; i < ring.edges.size(); ++i) {
      const Link link{demand.nodes[ring.edges[i].source], demand.nodes[ring.edges[i].destination], plane};
      timeslot.circuits.push_back(circuit(demand.job, link, channels[i]));
    }
    return {};
  }

  /// As the job asks, or whichever takes less time, WSS moves included.
  Result<void> add_all_to_all(JobIndex job, const PairTraffic& traffic, JobSchedule& result) {
    const JobDemand& demand = demand_.jobs[job];
    const RankGrid grid = grid_of(shape_, demand.nodes);
    if (demand.map != MapChoice::cheapest) {
      result.note = std::string(to_string(demand.map)) + ", as asked";
      return demand.map == MapChoice::maps ? add_maps(job, grid, traffic, result)
                                           : add_relayed(job, demand.map, grid, traffic, result);
    }
    if (grid.places == 1 || demand.transmit == Transmit::grants) {
      return add_maps(job, grid, traffic, result);  // everybody is one hop away, or is granted light by whom it sends to
    }
    const WavelengthOwners before = owners_;
    JobSchedule relayed = result;
    const auto made = add_relayed(job, MapChoice::latin, grid, traffic, relayed);
    if (!made && made.error().code != ErrorCode::infeasible) {
      return made;
    }
    const double relayed_time = made ? time_of(relayed.stages.back()) : 0;
    const std::uint32_t peers = fan_out_of(grid, traffic);
    const std::size_t stages = std::max(1U, (peers + shape_.ports - 1) / shape_.ports);
    const double floor = moves_between(stages) + peers * least_guard(demand);
    if (made && relayed_time <= floor) {
      relayed.note = "latin map with relays, " + seconds_text(relayed_time) + "; " + std::to_string(stages) +
                     " maps in turn take " + seconds_text(floor) + " at least, " + seconds_text(moves_between(stages)) +
                     " of it for WSS moves";
      result = std::move(relayed);
      return {};
    }
    const WavelengthOwners with_relays = owners_;
    owners_ = before;
    const auto mapped = add_maps(job, grid, traffic, result);
    if (!mapped && !(made && mapped.error().code == ErrorCode::infeasible)) {
      return mapped;
    }
    if (!mapped) {
      relayed.note = "latin map with relays, " + seconds_text(relayed_time) + "; there is no light for maps in turn";
      result = std::move(relayed);
      owners_ = with_relays;
      return {};
    }
    const double moves = moves_between(result.stages.size());
    double mapped_time = moves;
    for (const Stage& stage : result.stages) {
      mapped_time += time_of(stage);
    }
    const std::string maps_text = std::to_string(result.stages.size()) + " maps in turn, " + seconds_text(mapped_time);
    if (!made || mapped_time <= relayed_time) {
      result.note = maps_text + (made ? "; a latin map with relays takes " + seconds_text(relayed_time)
                                      : "; a latin map does not reach all in two hops");
      return {};
    }
    relayed.note = "latin map with relays, " + seconds_text(relayed_time) + "; " + maps_text + ", " + seconds_text(moves) +
                   " of it for WSS moves";
    result = std::move(relayed);
    owners_ = with_relays;
    return {};
  }

  /// Dark time while the WSS go from one map to the next, at its worst; the commits' messages are not counted.
  double moves_between(std::size_t stages) const {
    Duration settle{};
    for (const Element& element : fabric_.elements) {
      if (const auto* wss = std::get_if<WavelengthSelectiveSwitch>(&element.kind)) {
        settle = std::max(settle, wss->settle_max);
      }
    }
    return static_cast<double>(stages - 1) * seconds_of(settle);
  }

  /// A timeslot takes longer than that.
  double least_guard(const JobDemand& demand) const {
    const auto& transmitter = std::get<Transmitter>(fabric_.element(seat(demand.nodes[0]).transmitters[0]).kind);
    return seconds_of(transmitter.retune_max + transmitter.blank_max + transmitter.control_max);
  }

  /// Maps in turn, a latin square over the job's groups.
  Result<void> add_maps(JobIndex job, const RankGrid& grid, const PairTraffic& traffic, JobSchedule& result) {
    const JobDemand& demand = demand_.jobs[job];
    for (std::uint32_t shift = 0; shift < grid.places; ++shift) {
      LOOM_TRY(spend(static_cast<std::uint64_t>(shape_.ports) * demand.nodes.size()));
      std::vector<StageMap> maps = stage_maps(job);
      Stage stage;
      for (std::uint32_t k = 0; k < shape_.ports; ++k) {
        std::vector<Transfer> transfers;
        for (std::uint32_t rank = 0; rank < demand.nodes.size(); ++rank) {
          const std::uint32_t port = (grid.port_of[rank] + k) % shape_.ports;
          const std::int32_t peer = grid.rank((grid.place_of[rank] + port + shift) % grid.places, port);
          const std::int64_t bytes = peer < 0 ? 0 : traffic.bytes({rank, static_cast<std::uint32_t>(peer)});
          if (bytes > 0) {
            transfers.push_back({demand.nodes[rank], demand.nodes[static_cast<std::size_t>(peer)], bytes});
          }
        }
        LOOM_TRY(add_timeslot(job, transfers, maps, stage));
      }
      if (!stage.timeslots.empty()) {
        result.stages.push_back(std::move(stage));
      }
    }
    return {};
  }

  /// One map for all, played twice: first every rank sends what it has itself, to its destinations and to relays; then the
  /// relays send what they hold.
  Result<void> add_relayed(JobIndex job, MapChoice choice, const RankGrid& grid, const PairTraffic& traffic,
                           JobSchedule& result) {
    const JobDemand& demand = demand_.jobs[job];
    LOOM_TRY(spend(2ULL * demand.nodes.size() * demand.nodes.size()));
    const auto map = place_map(choice, demand.custom_map, grid, name_of(job));
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
    stage.cycles = 2;
    for (std::uint32_t k = 0; k < shape_.ports; ++k) {
      std::vector<Transfer> transfers;
      for (std::uint32_t rank = 0; rank < demand.nodes.size(); ++rank) {
        const std::uint32_t port = (grid.port_of[rank] + k) % shape_.ports;
        const std::int32_t peer = grid.rank((*map)[grid.place_of[rank] * grid.ports + port], port);
        const std::size_t entry = rank * grid.ports + port;
        if (const std::int64_t bytes = std::max(loads.first[entry], loads.second[entry]); bytes > 0) {
          LOOM_ASSERT(peer >= 0);
          transfers.push_back({demand.nodes[rank], demand.nodes[static_cast<std::size_t>(peer)], bytes});
        }
      }
      LOOM_TRY(add_timeslot(job, transfers, maps, stage));
    }
    result.stages.push_back(std::move(stage));
    result.forwarding = *std::move(forwarding);
    return {};
  }

  std::vector<StageMap> stage_maps(JobIndex job) {
    std::vector<StageMap> maps;
    for (const std::uint32_t plane : planes_) {
      maps.emplace_back(shape_, plane, owners_, job);
    }
    return maps;
  }

  /// The transfers together, each split over the job's planes.
  Result<void> add_timeslot(JobIndex job, const std::vector<Transfer>& transfers, std::vector<StageMap>& maps, Stage& stage) {
    if (transfers.empty()) {
      return {};
    }
    Timeslot timeslot;
    timeslot.hold = Duration{};
    const auto parts = static_cast<std::int64_t>(planes_.size());
    for (const Transfer& transfer : transfers) {
      for (std::size_t i = 0; i < planes_.size(); ++i) {
        const Link link{transfer.source, transfer.destination, planes_[i]};
        const auto channel = maps[i].claim(seat(link.source), seat(link.destination), held_channel(job, link), true);
        if (!channel) {
          return std::unexpected(refuse(job, link.plane, link.source, link.destination));
        }
        const Circuit added = circuit(demand_.jobs[job].job, link, *channel);
        // Its light comes up to control_max after its instant, and leaves at once: the bytes need that much more room.
        const auto& transmitter = std::get<Transmitter>(fabric_.element(added.transmitter).kind);
        const Duration room = transmitter.control_max + transmitter.blank_max;
        const std::int64_t bytes = (transfer.bytes + parts - 1) / parts;
        timeslot.hold = std::max(timeslot.hold, time_on_wire(static_cast<double>(bytes) * 8, added.rate) + room);
        timeslot.circuits.push_back(added);
      }
    }
    timeslot.guard = guard_of(timeslot);
    stage.timeslots.push_back(std::move(timeslot));
    return {};
  }

  Circuit circuit(JobId job, const Link& link, std::int32_t channel) const {
    const ElementId transmitter = seat(link.source).transmitters[link.plane];
    return {{},
            job,
            link.source,
            link.destination,
            transmitter,
            seat(link.destination).receivers[link.plane],
            shape_.channels.slot(channel),
            std::get<Transmitter>(fabric_.element(transmitter).kind).rate};
  }

  /// Dark time before a timeslot: blank, retune, the commands for both, and the receivers' acquisition, each at its worst.
  Duration guard_of(const Timeslot& timeslot) const {
    Duration guard{};
    for (const Circuit& circuit : timeslot.circuits) {
      const auto& transmitter = std::get<Transmitter>(fabric_.element(circuit.transmitter).kind);
      const auto& receiver = std::get<Receiver>(fabric_.element(circuit.receiver).kind);
      guard =
          std::max(guard, transmitter.retune_max + transmitter.blank_max + transmitter.control_max + receiver.acquisition_max);
    }
    return guard;
  }

  /// Worst job of all: what it needs and what nobody could undercut (each rank's bytes at its rate, no guard).
  void rate_job(const JobDemand& demand, const JobTraffic& traffic, const JobSchedule& result) {
    if (demand.nodes.empty()) {
      return;
    }
    const ElementId transmitter = seat(demand.nodes[0]).transmitters[0];
    const double rate = static_cast<double>(planes_.size()) *
                        static_cast<double>(std::get<Transmitter>(fabric_.element(transmitter).kind).rate.bits_per_second);
    double rings = 0;
    for (const RingGroup& ring : traffic.rings) {
      rings += ring.seconds_at_1_bps / rate;
    }
    double slots = 0;
    std::vector<double> sent(traffic.pairs.empty() ? 0 : demand.nodes.size());
    for (std::size_t i = 0; i + traffic.rings.size() < result.stages.size(); ++i) {
      slots += time_of(result.stages[i]);
    }
    for (std::uint32_t rank = 0; rank < sent.size(); ++rank) {
      for (std::uint32_t peer = 0; peer < sent.size(); ++peer) {
        sent[rank] += static_cast<double>(traffic.pairs.bytes({rank, peer})) * 8 / rate;
      }
    }
    const double pairs_bound = sent.empty() ? 0 : *std::max_element(sent.begin(), sent.end());
    schedule_.objective = std::max(schedule_.objective, rings + slots);
    schedule_.bound = std::max(schedule_.bound, rings + pairs_bound);
  }

  std::string name_of(JobIndex job) const { return "job " + std::to_string(demand_.jobs[job].job.value); }

  /// Who stands in the way, and the nearest request that fits.
  Error refuse(JobIndex job, std::uint32_t plane, NodeId source, NodeId destination) const {
    const std::uint32_t group = seat(source).group;
    std::string taken;
    for (std::int32_t channel = seat(destination).port; channel < shape_.channels.count; channel += shape_.ports) {
      const auto owner = owners_.owner(plane, group, channel);
      taken += (taken.empty() ? "" : ", ") + std::string("(group ") + std::to_string(group) + ", " +
               to_string(centre_of(shape_.channels.slot(channel))) + ")" +
               (!owner || *owner == job ? " serves its own light to another group" : " belongs to " + name_of(*owner));
    }
    const std::size_t size = demand_.jobs[job].nodes.size();
    const std::size_t groups = std::max<std::size_t>(1, (size + shape_.ports - 1) / shape_.ports);
    return {ErrorCode::infeasible,
            "infeasible: " + name_of(job) + " needs light of group " + std::to_string(group) + " from node " +
                std::to_string(source.value) + " to node " + std::to_string(destination.value) + " of group " +
                std::to_string(seat(destination).group) + (shape_.planes > 1 ? " on plane " + std::to_string(plane) : "") +
                ", but " + taken + "; nearest: " + std::to_string(groups * shape_.ports) + " nodes in " +
                std::to_string(groups) + (groups == 1 ? " whole group" : " whole groups")};
  }

  const OddlSeat& seat(NodeId node) const { return shape_.seats[node.value]; }

  std::int32_t held_channel(JobIndex job, const Link& link) const {
    const auto found = held_[job].find(link);
    return found == held_[job].end() ? kNotHeld : found->second;
  }

  const Fabric& fabric_;
  const Demand& demand_;
  const OddlShape& shape_;
  WavelengthOwners owners_;
  Budget budget_;
  std::vector<std::uint32_t> planes_;  ///< of the job that is being added, ascending
  std::vector<std::map<Link, std::int32_t>> held_;
  Schedule schedule_;
};

}  // namespace

Result<Schedule> schedule_oddl(const Fabric& fabric, const Demand& demand, const Intent&, Budget budget) {
  auto shape = read_oddl(fabric);
  if (!shape) {
    return std::unexpected(std::move(shape).error());
  }
  for (const JobDemand& job : demand.jobs) {
    for (const NodeId node : job.nodes) {
      if (node.value >= shape->seats.size()) {
        return fail(ErrorCode::invalid_argument,
                    "job " + std::to_string(job.job.value) + ": node " + std::to_string(node.value) + " does not exist");
      }
    }
  }
  return OddlScheduler(fabric, demand, *shape, budget).run();
}

}  // namespace loom
