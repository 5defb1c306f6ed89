// Rings and latin all-to-all maps on ODDL.
#include "controller/schedule/oddl.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "controller/schedule/oddl_planes.hpp"
#include "controller/schedule/traffic.hpp"

namespace loom {
namespace {

constexpr std::int32_t kNotHeld = -1;

Duration time_on_wire(double bits, BitRate rate) {
  return Duration{static_cast<std::int64_t>(std::ceil(bits * 1e9 / static_cast<double>(rate.bits_per_second)))};
}

class OddlScheduler {
 public:
  OddlScheduler(const Fabric& fabric, const Demand& demand, const OddlShape& shape, Budget budget)
      : fabric_(fabric), demand_(demand), shape_(shape), planes_(shape), budget_(budget) {}

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
  /// What a job has lit stays its own before anybody chooses anew.
  void reserve_held() {
    held_.resize(demand_.jobs.size());
    for (JobIndex job = 0; job < demand_.jobs.size(); ++job) {
      for (const Circuit& circuit : demand_.jobs[job].held) {
        const std::int32_t channel = shape_.channels.channel_of(circuit.slot);
        if (channel < 0 || circuit.source.value >= shape_.seats.size() || circuit.destination.value >= shape_.seats.size()) {
          continue;
        }
        const std::uint32_t group = shape_.seats[circuit.source.value].group;
        if (planes_.admits(group, channel, job)) {
          planes_.own(group, channel, job);
          held_[job].emplace(std::pair{circuit.source, circuit.destination}, channel);
        }
      }
    }
  }

  Result<void> add_job(JobIndex job) {
    const JobDemand& demand = demand_.jobs[job];
    auto traffic = traffic_of(demand);
    if (!traffic) {
      return std::unexpected(std::move(traffic).error());
    }
    JobSchedule result{demand.job, {}};
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
    if (demand.transmit == Transmit::grants) {
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

  Result<void> add_ring(JobIndex job, const RingGroup& ring, bool last, JobSchedule& result) {
    LOOM_TRY(spend(ring.edges.size()));
    const JobDemand& demand = demand_.jobs[job];
    StageMap map(shape_, planes_, job);
    std::vector<std::int32_t> channels(ring.edges.size(), kNotHeld);
    for (const bool only_held : {true, false}) {  // held light first: it must not lose its wavelength to a newcomer
      for (std::size_t i = 0; i < ring.edges.size(); ++i) {
        const NodeId source = demand.nodes[ring.edges[i].source];
        const NodeId destination = demand.nodes[ring.edges[i].destination];
        const std::int32_t preferred = held_channel(job, source, destination);
        if ((preferred != kNotHeld) != only_held) {
          continue;
        }
        const auto channel = map.claim(seat(source), seat(destination), preferred, false);
        if (!channel) {
          return std::unexpected(refuse(job, source, destination));
        }
        channels[i] = *channel;
      }
    }
    Timeslot timeslot;
    for (std::size_t i = 0; i < ring.edges.size(); ++i) {
      timeslot.circuits.push_back(
          circuit(demand.job, demand.nodes[ring.edges[i].source], demand.nodes[ring.edges[i].destination], channels[i]));
    }
    if (!last && !timeslot.circuits.empty()) {
      timeslot.guard = guard_of(timeslot);
      timeslot.hold = time_on_wire(ring.seconds_at_1_bps, timeslot.circuits.front().rate);
    }
    result.stages.push_back({{std::move(timeslot)}, 1});
    return {};
  }

  Result<void> add_all_to_all(JobIndex job, const PairTraffic& traffic, JobSchedule& result) {
    const JobDemand& demand = demand_.jobs[job];
    std::map<std::uint32_t, std::uint32_t> position;  // group -> its place among the job's groups
    for (const NodeId node : demand.nodes) {
      position.emplace(seat(node).group, 0);
    }
    std::vector<std::vector<std::int32_t>> rank_at;  // [place][port], -1: no node of this job
    for (auto& [group, place] : position) {
      place = static_cast<std::uint32_t>(rank_at.size());
      rank_at.emplace_back(shape_.ports, -1);
    }
    std::vector<std::uint32_t> place_of;
    for (std::size_t rank = 0; rank < demand.nodes.size(); ++rank) {
      place_of.push_back(position[seat(demand.nodes[rank]).group]);
      rank_at[place_of[rank]][seat(demand.nodes[rank]).port] = static_cast<std::int32_t>(rank);
    }
    const auto places = static_cast<std::uint32_t>(rank_at.size());
    for (std::uint32_t m = 0; m < places; ++m) {
      LOOM_TRY(spend(static_cast<std::uint64_t>(shape_.ports) * demand.nodes.size()));
      StageMap map(shape_, planes_, job);
      Stage stage;
      for (std::uint32_t k = 0; k < shape_.ports; ++k) {
        Timeslot timeslot;
        timeslot.hold = Duration{};
        for (std::uint32_t rank = 0; rank < demand.nodes.size(); ++rank) {
          const OddlSeat& from = seat(demand.nodes[rank]);
          const std::uint32_t port = (from.port + k) % shape_.ports;
          const std::int32_t peer = rank_at[(place_of[rank] + port + m) % places][port];
          const std::int64_t bytes = peer < 0 ? 0 : traffic.bytes({rank, static_cast<std::uint32_t>(peer)});
          if (bytes == 0) {
            continue;
          }
          LOOM_TRY(add_pair(job, demand.nodes[rank], demand.nodes[static_cast<std::size_t>(peer)], bytes, map, timeslot));
        }
        if (!timeslot.circuits.empty()) {
          timeslot.guard = guard_of(timeslot);
          stage.timeslots.push_back(std::move(timeslot));
        }
      }
      if (!stage.timeslots.empty()) {
        result.stages.push_back(std::move(stage));
      }
    }
    return {};
  }

  Result<void> add_pair(JobIndex job, NodeId source, NodeId destination, std::int64_t bytes, StageMap& map,
                        Timeslot& timeslot) {
    const auto channel = map.claim(seat(source), seat(destination), held_channel(job, source, destination), true);
    if (!channel) {
      return std::unexpected(refuse(job, source, destination));
    }
    const Circuit added = circuit(demand_.jobs[job].job, source, destination, *channel);
    // Its light comes up to control_max after its instant, and leaves at once: the bytes need that much more room.
    const auto& transmitter = std::get<Transmitter>(fabric_.element(added.transmitter).kind);
    const Duration room = transmitter.control_max + transmitter.blank_max;
    timeslot.hold = std::max(timeslot.hold, time_on_wire(static_cast<double>(bytes) * 8, added.rate) + room);
    timeslot.circuits.push_back(added);
    return {};
  }

  Circuit circuit(JobId job, NodeId source, NodeId destination, std::int32_t channel) const {
    const OddlSeat& from = seat(source);
    const BitRate rate = std::get<Transmitter>(fabric_.element(from.transmitter).kind).rate;
    return {{}, job, source, destination, from.transmitter, seat(destination).receiver, shape_.channels.slot(channel), rate};
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
    const auto rate = static_cast<double>(
        std::get<Transmitter>(fabric_.element(seat(demand.nodes[0]).transmitter).kind).rate.bits_per_second);
    double rings = 0;
    for (const RingGroup& ring : traffic.rings) {
      rings += ring.seconds_at_1_bps / rate;
    }
    double slots = 0;
    std::vector<double> sent(traffic.pairs.empty() ? 0 : demand.nodes.size());
    for (std::size_t i = 0; i + traffic.rings.size() < result.stages.size(); ++i) {
      for (const Timeslot& timeslot : result.stages[i].timeslots) {
        slots += timeslot.circuits.empty() ? 0 : seconds_of(timeslot.guard + timeslot.hold);
      }
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

  /// Who stands in the way, and the nearest request that fits.
  Error refuse(JobIndex job, NodeId source, NodeId destination) const {
    const std::uint32_t group = seat(source).group;
    std::string taken;
    for (std::int32_t channel = seat(destination).port; channel < shape_.channels.count; channel += shape_.ports) {
      const auto owner = planes_.owner(group, channel);
      const bool itself = !owner || *owner == job;
      taken += (taken.empty() ? "" : ", ") + to_string(centre_of(shape_.channels.slot(channel))) +
               (itself ? " serves its own light to another group"
                       : " belongs to job " + std::to_string(demand_.jobs[*owner].job.value));
    }
    const std::size_t size = demand_.jobs[job].nodes.size();
    const std::size_t groups = std::max<std::size_t>(1, (size + shape_.ports - 1) / shape_.ports);
    return {ErrorCode::infeasible, "infeasible: job " + std::to_string(demand_.jobs[job].job.value) + " needs light of group " +
                                       std::to_string(group) + " from node " + std::to_string(source.value) + " to node " +
                                       std::to_string(destination.value) + ", but " + taken +
                                       "; nearest: " + std::to_string(groups * shape_.ports) + " nodes in " +
                                       std::to_string(groups) + (groups == 1 ? " whole group" : " whole groups")};
  }

  const OddlSeat& seat(NodeId node) const { return shape_.seats[node.value]; }

  std::int32_t held_channel(JobIndex job, NodeId source, NodeId destination) const {
    const auto found = held_[job].find({source, destination});
    return found == held_[job].end() ? kNotHeld : found->second;
  }

  const Fabric& fabric_;
  const Demand& demand_;
  const OddlShape& shape_;
  Planes planes_;
  Budget budget_;
  std::vector<std::map<std::pair<NodeId, NodeId>, std::int32_t>> held_;
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
