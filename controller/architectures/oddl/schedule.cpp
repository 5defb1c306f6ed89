// SPDX-License-Identifier: Apache-2.0
// Jobs and rings on ODDL: what is held, what a job may use, and its refusals.
#include "controller/architectures/oddl/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "controller/architectures/oddl/scheduler.hpp"
#include "controller/predict/granted_light.hpp"
#include "controller/schedule/pinned_light.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::int64_t kWordSaidAgain = 8;  ///< trips, until a word of a grant that was lost was said again and answered

/// A step of a ring waits for a neighbour's: the way through the fibre, and to the next order of the step.
constexpr Duration kRingStep = std::chrono::microseconds{2};

struct Way {
  std::uint32_t plane = 0;
  std::uint32_t group = 0;
  std::int32_t channel = 0;  ///< before the WSS
};

/// Nothing: the circuit is none of this kind.
std::optional<Way> way_of(const OddlShape& shape, const Circuit& circuit) {
  const std::int32_t channel = shape.channels.channel_of(circuit.slot);
  const std::size_t nodes = shape.positions.size();
  if (channel < 0 || circuit.source.value >= nodes || circuit.destination.value >= nodes) {
    return std::nullopt;
  }
  const OddlPosition& from = shape.positions[circuit.source.value];
  const auto plane =
      static_cast<std::uint32_t>(std::ranges::find(from.transmitters, circuit.transmitter) - from.transmitters.begin());
  return plane < shape.planes ? std::optional(Way{plane, from.group, channel}) : std::nullopt;
}

}  // namespace

Result<Schedule> OddlScheduler::run() {
  schedule_.algorithm = "oddl";
  schedule_.assumptions = {
      "oddl (reconstruction): WSS map per job, tuned lasers, fixed order of timeslots; the paper's own scheduler is not "
      "public",
      "oddl: circuits are simplex; the return path of Ethernet (link state, acknowledgements) runs over the electrical "
      "network"};
  for (JobIndex job = 0; job < demand_.jobs.size(); ++job) {
    auto options = read_oddl_options(demand_.jobs[job].options);
    if (!options) {
      return fail(options.error().code, format_text("{}: {}", name_of(job), options.error().message));
    }
    options_.push_back(*std::move(options));
  }
  for_pinned_light(intent_, [this](std::size_t k, const Circuit& circuit) {
    if (const auto way = way_of(shape_, circuit)) {
      owners_.own(way->plane, way->group, way->channel, static_cast<JobIndex>(demand_.jobs.size() + k));
    }
  });
  reserve_held();
  reserve_orders();
  for (JobIndex job = 0; job < demand_.jobs.size(); ++job) {
    LOOM_TRY(add_job(job));
  }
  return std::move(schedule_);
}

void OddlScheduler::reserve_held() {
  held_.resize(demand_.jobs.size());
  for (JobIndex job = 0; job < demand_.jobs.size(); ++job) {
    for (const Circuit& circuit : demand_.jobs[job].held) {
      const auto way = way_of(shape_, circuit);
      if (!way) {
        continue;
      }
      const auto [plane, group, channel] = *way;
      if (owners_.admits(plane, group, channel, job)) {
        owners_.own(plane, group, channel, job);
        held_[job].emplace(Link{circuit.source, circuit.destination, plane}, channel);
      }
    }
  }
}

void OddlScheduler::reserve_orders() {
  for (JobIndex job = 0; job < demand_.jobs.size() && !shape_.uplink; ++job) {
    const JobDemand& demand = demand_.jobs[job];
    const std::vector<std::uint32_t>& orders = numbers_of(demand.share, kOrdersShare);
    if (orders.empty()) {
      continue;
    }
    std::vector<bool> is_its(shape_.groups);
    std::vector<bool> is_port(shape_.ports);
    for (const NodeId node : demand.nodes) {
      is_its[position(node).group] = true;
      is_port[position(node).port] = true;
    }
    for (std::uint32_t plane = 0; plane < shape_.planes; ++plane) {
      for (std::uint32_t group = 0; group < shape_.groups; ++group) {
        for (std::int32_t channel = 0; is_its[group] && may_use(demand, plane) && channel < shape_.channels.count; ++channel) {
          const auto order = static_cast<std::uint32_t>(channel / shape_.period);
          if (is_port[static_cast<std::uint32_t>(channel % shape_.period)] && owners_.admits(plane, group, channel, job) &&
              std::binary_search(orders.begin(), orders.end(), order)) {
            owners_.own(plane, group, channel, job);
          }
        }
      }
    }
  }
}

Result<void> OddlScheduler::add_job(JobIndex job) {
  const JobDemand& demand = demand_.jobs[job];
  planes_.clear();
  last_maps_.clear();
  rings_at_.clear();
  for (std::uint32_t plane = 0; plane < shape_.planes; ++plane) {
    if (may_use(demand, plane)) {
      planes_.push_back(plane);
    }
  }
  if (planes_.empty()) {
    return fail(
        ErrorCode::invalid_argument,
        format_text("{} was admitted to planes that the fabric does not have; it has 0..{}", name_of(job), shape_.planes - 1));
  }
  const bool under_grants = demand.transmit == Transmit::grants;
  const MapChoice map = options_[job].map;
  if (under_grants && map != MapChoice::cheapest && map != MapChoice::maps) {
    return fail(ErrorCode::unsupported, format_text("{}: a map with relays ({}) is played in timeslots only; nearest: map=maps",
                                                    name_of(job), to_string(map)));
  }
  if (under_grants) {
    planes_.resize(1);  // a stream has one receiver and so one arbiter
  }
  auto traffic = traffic_of(demand);
  if (!traffic) {
    return std::unexpected(std::move(traffic).error());
  }
  JobSchedule result{demand.job, {}};
  if (!traffic->pairs.empty()) {
    LOOM_TRY(add_all_to_all(job, traffic->pairs, result));
  }
  for (std::size_t i = 0; i < traffic->rings.size(); ++i) {
    const bool stands = traffic->pairs.empty() && traffic->rings.size() == 1;
    LOOM_TRY(add_ring(job, traffic->rings[i], stands, result));
  }
  if (result.stages.empty()) {
    result.stages.push_back({{Timeslot{}}, 1});  // nothing to move: a job without light is lawful
  }
  if (planes_.size() > 1) {
    result.note += format_text("{}{} planes", result.note.empty() ? "striped over " : "; striped over ", planes_.size());
  }
  if (under_grants) {
    hand_to_grants(demand, *traffic, result);
  }
  rate_job(demand, *traffic, result);
  schedule_.jobs.push_back(std::move(result));
  return {};
}

/// A ring's edge is granted for its bytes, and for as long again as the edges' lights may begin apart, since each step waits
/// for the neighbour's, and the light of whoever began first must outlast whoever began last. What one window has no room for
/// is handed out in parts of one length.
OddlScheduler::RingParts OddlScheduler::ring_parts_of(const RingGroup& ring, const Timeslot& timeslot) const {
  const BitRate rate = timeslot.circuits.front().rate;
  const auto all = static_cast<std::int64_t>(std::ceil((ring.seconds_at_1_bps + ring.filling_seconds_at_1_bps) / 8));
  // Lasers at their worst, or a word between agents that is lost and said again; and the way of each step.
  const Duration late = std::max(guard_of(timeslot), kWordSaidAgain * fabric_.times.agent_trip) +
                        kRingStep * static_cast<std::int64_t>(ring.rounds);
  const std::int64_t apart = bytes_in(late, rate).count + 1;
  const std::int64_t window = bytes_in(kGrantQuantum, rate).count;
  const std::int64_t room = std::max(window - apart, window / 2);
  const std::int64_t count = std::clamp<std::int64_t>((all + room - 1) / room, 1, limits::kPhases);
  return {count, (all + count - 1) / count + apart};
}

void OddlScheduler::hand_to_grants(const JobDemand& demand, const JobTraffic& traffic, JobSchedule& result) const {
  std::map<NodeId, std::uint32_t> rank_of;
  for (std::uint32_t rank = 0; rank < demand.nodes.size(); ++rank) {
    rank_of[demand.nodes[rank]] = rank;
  }
  for (std::size_t i = 0; i < result.stages.size(); ++i) {
    Stage& stage = result.stages[i];
    stage.transmit = Transmit::grants;
    std::uint64_t number = 0;
    for (std::size_t k = 0; k < stage.timeslots.size(); ++k) {
      const Timeslot& timeslot = stage.timeslots[k];
      const auto ring = std::ranges::find(rings_at_, std::pair{i, k});
      const bool is_ring = ring != rings_at_.end();
      const auto parts = is_ring ? ring_parts_of(traffic.rings[static_cast<std::size_t>(ring - rings_at_.begin())], timeslot)
                                 : RingParts{1, 0};
      for (std::int64_t part = 0; part < parts.count; ++part) {
        number += is_ring && !stage.streams.empty() ? 1 : 0;  // after all that was offered before it
        for (const Circuit& circuit : timeslot.circuits) {
          const RankPair pair{rank_of[circuit.source], rank_of[circuit.destination]};
          const std::int64_t bytes = is_ring ? parts.bytes : traffic.pairs.bytes(pair);
          if (bytes > 0) {
            stage.streams.push_back({number, circuit.source, circuit.destination, Bytes{bytes}});
          }
        }
      }
    }
  }
}

Result<void> OddlScheduler::spend(std::uint64_t steps) {
  schedule_.steps_used += steps;
  if (schedule_.steps_used > budget_.steps || budget_.stop.stop_requested()) {
    return fail(ErrorCode::timed_out,
                format_text("scheduler oddl: stopped after {} steps; the budget was {}", schedule_.steps_used, budget_.steps));
  }
  return {};
}

Result<void> OddlScheduler::add_ring(JobIndex job, const RingGroup& ring, bool stands, JobSchedule& result) {
  LOOM_TRY(spend(ring.edges.size() * planes_.size()));
  if (!stands && !last_maps_.empty() && result.stages.back().timeslots.size() < limits::kTimelineEntries) {
    const WavelengthOwners before = owners_;
    std::vector<StageMap> maps = last_maps_;
    if (auto timeslot = ring_over(job, ring, maps, true)) {
      result.stages.back().timeslots.push_back(*std::move(timeslot));
      rings_at_.emplace_back(result.stages.size() - 1, result.stages.back().timeslots.size() - 1);
      result.note += format_text("{}a ring in a timeslot of the same map", result.note.empty() ? "" : "; ");
      last_maps_ = std::move(maps);
      return {};
    }
    owners_ = before;
  }
  std::vector<StageMap> maps = stage_maps(job);
  auto timeslot = ring_over(job, ring, maps, false);
  if (!timeslot) {
    return std::unexpected(std::move(timeslot).error());
  }
  if (stands) {
    timeslot->guard = {};
    timeslot->hold = kForever;
  } else {
    last_maps_ = std::move(maps);
  }
  result.stages.push_back({{*std::move(timeslot)}, 1});
  rings_at_.emplace_back(result.stages.size() - 1, 0);
  return {};
}

Result<Timeslot> OddlScheduler::ring_over(JobIndex job, const RingGroup& ring, std::vector<StageMap>& maps, bool shared) {
  const JobDemand& demand = demand_.jobs[job];
  Timeslot timeslot;
  for (std::size_t plane = 0; plane < planes_.size(); ++plane) {
    std::vector<std::int32_t> channels(ring.edges.size(), kNoChannel);
    for (const bool only_held : {true, false}) {  // held light first: it must not lose its wavelength to a newcomer
      for (std::size_t i = 0; i < ring.edges.size(); ++i) {
        const NodeId source = demand.nodes[ring.edges[i].source];
        const NodeId destination = demand.nodes[ring.edges[i].destination];
        const std::int32_t preferred = held_channel(job, {source, destination, planes_[plane]});
        if ((preferred != kNoChannel) != only_held) {
          continue;
        }
        const auto channel = maps[plane].claim(position(source), position(destination), preferred, shared);
        if (!channel) {
          return std::unexpected(refuse(job, planes_[plane], source, destination));
        }
        channels[i] = *channel;
      }
    }
    for (std::size_t i = 0; i < ring.edges.size(); ++i) {
      const Link link{demand.nodes[ring.edges[i].source], demand.nodes[ring.edges[i].destination], planes_[plane]};
      timeslot.circuits.push_back(circuit(demand.job, link, channels[i]));
    }
  }
  if (timeslot.circuits.empty()) {
    timeslot.hold = Duration{};
    return timeslot;
  }
  timeslot.guard = guard_of(timeslot);
  timeslot.hold = time_on_wire((ring.seconds_at_1_bps + ring.filling_seconds_at_1_bps) / static_cast<double>(planes_.size()),
                               timeslot.circuits.front().rate) +
                  kRingStep * static_cast<std::int64_t>(ring.rounds) + room_of(fabric_, timeslot);
  return timeslot;
}

Duration room_of(const Fabric& fabric, const Timeslot& timeslot) {
  Duration room{};
  for (const Circuit& circuit : timeslot.circuits) {
    const auto& transmitter = std::get<Transmitter>(fabric.element(circuit.transmitter).kind);
    room = std::max(room, transmitter.control_max + transmitter.blank_max);
  }
  return room;
}

void OddlScheduler::rate_job(const JobDemand& demand, const JobTraffic& traffic, const JobSchedule& result) {
  if (demand.nodes.empty()) {
    return;
  }
  const ElementId transmitter = position(demand.nodes[0]).transmitters[0];
  const double rate = static_cast<double>(planes_.size()) *
                      static_cast<double>(std::get<Transmitter>(fabric_.element(transmitter).kind).rate.bits_per_second);
  double rings = 0;
  for (const RingGroup& ring : traffic.rings) {
    rings += ring.seconds_at_1_bps / rate;
  }
  double slots = 0;
  std::vector<double> sent(traffic.pairs.empty() ? 0 : demand.nodes.size());
  for (const Stage& stage : result.stages) {
    const bool stands = stage.timeslots.size() == 1 && stage.timeslots.front().hold == kForever;
    slots += stands ? rings : time_of(stage);
  }
  for (std::uint32_t rank = 0; rank < sent.size(); ++rank) {
    for (std::uint32_t peer = 0; peer < sent.size(); ++peer) {
      sent[rank] += static_cast<double>(traffic.pairs.bytes({rank, peer})) * 8 / rate;
    }
  }
  const double pairs_bound = sent.empty() ? 0 : *std::max_element(sent.begin(), sent.end());
  schedule_.objective = std::max(schedule_.objective, slots);
  schedule_.bound = std::max(schedule_.bound, rings + pairs_bound);
}

std::string OddlScheduler::partner_of(const OddlPosition& source, std::uint32_t group) const {
  for (std::uint32_t node = 0; node < shape_.positions.size(); ++node) {
    if (shape_.positions[node].group == group && shape_.first_channel(source, shape_.positions[node]) != kNoChannel) {
      return format_text("node {}", node);
    }
  }
  return "none";
}

Error OddlScheduler::refuse(JobIndex job, std::uint32_t plane, NodeId source, NodeId destination) const {
  const std::uint32_t group = position(source).group;
  const std::int32_t first = shape_.first_channel(position(source), position(destination));
  std::string taken;
  if (first == kNoChannel) {
    taken = "behind routers it has one partner in each other group, there " +
            partner_of(position(source), position(destination).group);
  }
  for (std::int32_t channel = first; channel != kNoChannel && channel < shape_.channels.count; channel += shape_.period) {
    const auto owner = owners_.owner(plane, group, channel);
    taken +=
        format_text("{}(group {}, {}){}", taken.empty() ? "" : ", ", group, to_string(centre_of(shape_.channels.slot(channel))),
                    !owner || *owner == job ? " serves its own light to another group" : " belongs to " + name_of(*owner));
  }
  const std::size_t size = demand_.jobs[job].nodes.size();
  const std::size_t groups = std::max<std::size_t>(1, (size + shape_.ports - 1) / shape_.ports);
  return {ErrorCode::infeasible,
          format_text(
              "infeasible: {} needs light of group {} from node {} to node {} of group {}{}, but {}; nearest: {} nodes in {}{}",
              name_of(job), group, source.value, destination.value, position(destination).group,
              shape_.planes > 1 ? format_text(" on plane {}", plane) : "", taken, groups * shape_.ports, groups,
              groups == 1 ? " whole group" : " whole groups")};
}

Circuit OddlScheduler::circuit(JobId job, const Link& link, std::int32_t channel) const {
  const ElementId transmitter = position(link.source).transmitters[link.plane];
  return {{},
          job,
          link.source,
          link.destination,
          transmitter,
          position(link.destination).receivers[link.plane],
          shape_.channels.slot(channel),
          std::get<Transmitter>(fabric_.element(transmitter).kind).rate};
}

Duration OddlScheduler::guard_of(const Timeslot& timeslot) const {
  Duration guard{};
  for (const Circuit& circuit : timeslot.circuits) {
    const auto& transmitter = std::get<Transmitter>(fabric_.element(circuit.transmitter).kind);
    const auto& receiver = std::get<Receiver>(fabric_.element(circuit.receiver).kind);
    guard =
        std::max(guard, transmitter.retune_max + transmitter.blank_max + transmitter.control_max + receiver.acquisition_max);
  }
  return guard;
}

std::int32_t OddlScheduler::held_channel(JobIndex job, const Link& link) const {
  const auto found = held_[job].find(link);
  return found == held_[job].end() ? kNoChannel : found->second;
}

Result<Schedule> schedule_oddl(const Fabric& fabric, const Demand& demand, const Intent& intent, Budget budget) {
  auto shape = read_oddl(fabric);
  if (!shape) {
    return std::unexpected(std::move(shape).error());
  }
  for (const JobDemand& job : demand.jobs) {
    for (const NodeId node : job.nodes) {
      if (node.value >= shape->positions.size()) {
        return fail(ErrorCode::invalid_argument, format_text("job {}: node {} does not exist", job.job.value, node.value));
      }
    }
  }
  return OddlScheduler(fabric, demand, intent, *shape, budget).run();
}

}  // namespace loom
