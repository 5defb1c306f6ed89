// SPDX-License-Identifier: Apache-2.0
// Jobs in turn: what they hold, then what is free.
#include "controller/architectures/sip_ring/schedule.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "controller/architectures/sip_ml/account.hpp"
#include "controller/architectures/sip_ml/explain.hpp"
#include "controller/architectures/sip_ring/shape.hpp"
#include "controller/architectures/sip_ring/waves.hpp"
#include "controller/schedule/pinned_light.hpp"
#include "controller/schedule/traffic.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// A job's pairs by position, with what it holds of them.
struct RingJob {
  const JobDemand* demand = nullptr;
  std::vector<PairLoad> loads;
  std::vector<RingPair> pairs;  ///< as loads
  std::vector<WavelengthGrant> held;
  std::vector<std::uint32_t> served;  ///< by pair
};

class SipRingScheduler {
 public:
  SipRingScheduler(const Demand& demand, const Intent& intent, const SipRingShape& shape, const Fabric& fabric, Budget budget)
      : demand_(demand),
        intent_(intent),
        shape_(shape),
        fabric_(fabric),
        budget_(budget),
        map_(static_cast<std::uint32_t>(shape.nodes.size()), shape.buses),
        place_of_(fabric.elements.size()) {
    for (std::uint32_t bus = 0; bus < shape.positions.size(); ++bus) {
      for (std::uint32_t channel = 0; channel < shape.positions[bus].size(); ++channel) {
        for (const RingPosition& bus_position : shape.positions[bus][channel]) {
          place_of_[bus_position.transmitter.value] = {bus, channel};
        }
      }
    }
  }

  Result<Schedule> run() {
    schedule_.algorithm = "sip-ring";
    schedule_.assumptions = {
        "sip-ring: wavelengths are granted once a job, when it comes; the paper's decision every 100 us is "
        "not played",
        format_text("sip-ring: circuits are simplex; acknowledgements return over {}",
                    fabric_.return_path == ReturnPath::optical ? "light" : "an electrical network")};
    std::vector<RingJob> jobs;
    for (const JobDemand& demand : demand_.jobs) {
      auto job = read_job(demand);
      if (!job) {
        return std::unexpected(std::move(job).error());
      }
      jobs.push_back(*std::move(job));
    }
    for_pinned_light(intent_, [this](std::size_t, const Circuit& circuit) { take(circuit); });
    for (RingJob& job : jobs) {
      hold(job);
    }
    for (RingJob& job : jobs) {
      LOOM_TRY(serve(job));
      add_schedule(job);
    }
    LOOM_TRY(account());
    return std::move(schedule_);
  }

 private:
  /// (bus, channel) lit anywhere, and, if asked for, why it is not more.
  Result<void> account() {
    std::set<std::pair<std::uint32_t, std::uint32_t>> lit;
    for (const JobSchedule& job : schedule_.jobs) {
      for (const Circuit& circuit : job.stages.front().timeslots.front().circuits) {
        lit.insert(*place_of_[circuit.transmitter.value]);
      }
    }
    schedule_.account.wavelengths = static_cast<std::uint32_t>(lit.size());
    if (!budget_.wants_account) {
      return {};
    }
    const auto rings = account_of_rings(fabric_, demand_, schedule_);
    if (!rings) {
      return std::unexpected(rings.error());
    }
    schedule_.account.why = explain(*rings);
    schedule_.account.ring_load = rings->load;
    for (std::size_t bus = 0; bus < rings->buses.size(); ++bus) {
      const bool forward = rings->buses[bus].direction == RingDirection::clockwise;
      schedule_.account.ring_channels.push_back(rings->buses[bus].channels);
      schedule_.account.rings.push_back(format_text("{}{}{}", bus == 0 ? "outermost: bus " : "then bus ", bus,
                                                    forward ? ", clockwise" : ", counter-clockwise"));
    }
    return {};
  }

  Result<RingJob> read_job(const JobDemand& demand) const {
    std::uint32_t channels = 0;
    for (const RingBus& bus : shape_.buses) {
      channels += bus.channels;
    }
    if (const std::uint32_t peers = all_to_all_peers(demand); peers > channels) {
      return fail(
          ErrorCode::infeasible,
          format_text("infeasible: job {}: no wavelength for each of the {} peers that node {} sends to: there are {} on all "
                      "buses; nearest: at most {} nodes next to each other if all exchange, or a ring among them",
                      demand.job.value, peers, demand.nodes.front().value, channels, nodes_that_all_exchange()));
    }
    auto traffic = traffic_of(demand);
    if (!traffic) {
      return std::unexpected(std::move(traffic).error());
    }
    RingJob job{&demand, loads_of(*traffic, static_cast<std::uint32_t>(demand.nodes.size())), {}, {}, {}};
    for (const NodeId node : demand.nodes) {
      if (node.value >= shape_.position.size()) {
        return fail(ErrorCode::invalid_argument, format_text("job {}: node {} does not exist", demand.job.value, node.value));
      }
    }
    for (const PairLoad& load : job.loads) {
      job.pairs.push_back({shape_.position[demand.nodes[load.pair.source].value],
                           shape_.position[demand.nodes[load.pair.destination].value], load.bits});
    }
    job.served.assign(job.pairs.size(), 0);
    return job;
  }

  RingArc arc(std::uint32_t bus, const RingPair& pair) const {
    return arc_of(map_.nodes(), shape_.buses[bus].direction, pair.source, pair.destination);
  }

  void take(const Circuit& circuit) {
    const auto& place = place_of_[circuit.transmitter.value];
    const std::size_t nodes = shape_.position.size();
    if (place && circuit.source.value < nodes && circuit.destination.value < nodes) {
      const auto [bus, channel] = *place;
      const RingPair pair{shape_.position[circuit.source.value], shape_.position[circuit.destination.value], 1};
      map_.set(bus, channel, arc(bus, pair), true);
    }
  }

  /// What is lit and still wanted is taken before anybody chooses.
  void hold(RingJob& job) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> index;
    for (std::uint32_t i = 0; i < job.pairs.size(); ++i) {
      index[{job.pairs[i].source, job.pairs[i].destination}] = i;
    }
    for (const Circuit& circuit : job.demand->held) {
      const auto& place = place_of_[circuit.transmitter.value];
      if (!place || circuit.destination.value >= shape_.position.size()) {
        continue;
      }
      const auto [bus, channel] = *place;
      const auto pair = index.find({shape_.position[circuit.source.value], shape_.position[circuit.destination.value]});
      if (pair != index.end() && map_.is_free(bus, channel, arc(bus, job.pairs[pair->second]))) {
        map_.set(bus, channel, arc(bus, job.pairs[pair->second]), true);
        job.held.push_back({pair->second, bus, channel});
        ++job.served[pair->second];
      }
    }
  }

  /// Segments outside the shortest stretch of ring that has all of the job's nodes.
  WavelengthLimits limits_of(const RingJob& job) const {
    const std::uint32_t nodes = map_.nodes();
    std::vector<bool> own(nodes);
    for (const NodeId node : job.demand->nodes) {
      own[shape_.position[node.value]] = true;
    }
    std::uint32_t widest = 0;  // gap between neighbours of the job
    std::uint32_t after = 0;   // the position where it begins
    for (std::uint32_t from = 0; from < nodes; ++from) {
      std::uint32_t gap = 1;
      while (gap < nodes && !own[(from + gap) % nodes]) {
        ++gap;
      }
      if (own[from] && gap > widest) {
        widest = gap;
        after = from;
      }
    }
    WavelengthLimits limits;
    if (widest < 2) {
      return limits;
    }
    limits.closed.resize(nodes);
    for (std::uint32_t i = 0; i < widest; ++i) {
      limits.closed[(after + i) % nodes] = true;
    }
    const auto inside = nodes - widest + 1;
    std::uint32_t channels = 0;
    for (const RingBus& bus : shape_.buses) {
      channels = std::max(channels, bus.channels);
    }
    limits.channels_max = std::max<std::uint32_t>(1, channels * static_cast<std::uint32_t>(job.demand->nodes.size()) / inside);
    return limits;
  }

  /// Grants for the pairs that have none yet: within the job's own stretch and share first, then anywhere; where its own light
  /// from before leaves no room, all of its pairs anew, that light taken over as far as it still fits.
  Result<void> serve(RingJob& job) {
    std::vector<std::uint32_t> unserved;
    for (std::uint32_t i = 0; i < job.pairs.size(); ++i) {
      if (job.served[i] == 0) {
        unserved.push_back(i);
      }
    }
    auto refused = grant(job, unserved, {});
    if (!refused) {
      return std::unexpected(std::move(refused).error());
    }
    if (*refused && !job.held.empty()) {
      const std::vector<WavelengthGrant> lit = std::exchange(job.held, {});
      for (const WavelengthGrant& grant : lit) {
        map_.set(grant.bus, grant.channel, arc(grant.bus, job.pairs[grant.pair]), false);
      }
      job.served.assign(job.pairs.size(), 0);
      unserved.resize(job.pairs.size());
      std::iota(unserved.begin(), unserved.end(), 0U);
      refused = grant(job, unserved, lit);
      if (!refused) {
        return std::unexpected(std::move(refused).error());
      }
    }
    return *refused ? Result<void>{std::unexpected(**std::move(refused))} : Result<void>{};
  }

  /// Light for each of the pairs `wanted`, or why one of them got none: then nothing is granted. Errors: timed_out.
  Result<std::optional<Error>> grant(RingJob& job, const std::vector<std::uint32_t>& wanted,
                                     const std::vector<WavelengthGrant>& lit) {
    std::vector<RingPair> pairs;
    for (const std::uint32_t pair : wanted) {
      pairs.push_back(job.pairs[pair]);
    }
    WavelengthLimits within = limits_of(job);
    WavelengthLimits whole = within;
    whole.channels_max = ~0U;
    std::optional<Error> refused;
    for (WavelengthLimits limits : {within, whole, WavelengthLimits{}}) {
      limits.reach = shape_.reach;
      limits.steps = budget_.steps - std::min(budget_.steps, schedule_.steps_used);
      const WavelengthUse before = map_;
      const WavelengthGrants got = grant_wavelengths(map_, pairs, limits, lit);
      schedule_.steps_used += got.steps_used;
      if (schedule_.steps_used > budget_.steps || budget_.stop.stop_requested()) {
        return fail(ErrorCode::timed_out, format_text("scheduler sip-ring: stopped after {} steps; the budget was {}",
                                                      schedule_.steps_used, budget_.steps));
      }
      const auto missing = std::find(got.served.begin(), got.served.end(), 0U);
      if (missing == got.served.end()) {
        for (const WavelengthGrant& grant : got.grants) {
          job.held.push_back({wanted[grant.pair], grant.bus, grant.channel});
          ++job.served[wanted[grant.pair]];
        }
        return std::optional<Error>{};
      }
      refused = refuse(job, pairs[static_cast<std::size_t>(missing - got.served.begin())], got);
      map_ = before;
    }
    return refused;
  }

  Error refuse(const RingJob& job, const RingPair& pair, const WavelengthGrants& got) const {
    std::uint32_t shortest = map_.nodes();
    std::uint32_t channels = 0;
    for (std::uint32_t bus = 0; bus < shape_.buses.size(); ++bus) {
      shortest = std::min(shortest, arc(bus, pair).length);
      channels += shape_.buses[bus].channels;
    }
    const std::string text =
        format_text("infeasible: job {}: no wavelength from node {} to node {}, {}{}", job.demand->job.value,
                    shape_.nodes[pair.source].value, shape_.nodes[pair.destination].value, shortest,
                    shortest == 1 ? " hop away" : " hops away");
    if (shortest > shape_.reach) {
      return {ErrorCode::infeasible, format_text("{}; the link budget carries {}; nearest: {} nodes next to each other", text,
                                                 shape_.reach, shape_.reach + 1)};
    }
    return {ErrorCode::infeasible, format_text("{}: all {} are taken on its way; the job's {} pairs got {} grants; nearest: at "
                                               "most {} nodes next to each other if all exchange, or a ring among them",
                                               text, channels, job.pairs.size(), got.grants.size(), nodes_that_all_exchange())};
  }

  /// The most nodes in a row such that a wavelength each way lies under every pair: in the middle n^2 / 4 of them meet.
  std::uint32_t nodes_that_all_exchange() const {
    std::uint32_t channels = 0;
    for (const RingBus& bus : shape_.buses) {
      channels += bus.direction == RingDirection::clockwise ? bus.channels : 0;
    }
    std::uint32_t nodes = 1;
    while (nodes <= shape_.reach && nodes < map_.nodes() && (nodes + 1) * (nodes + 1) / 4 <= channels) {
      ++nodes;
    }
    return nodes;
  }

  void add_schedule(RingJob& job) {
    Timeslot timeslot;
    std::sort(job.held.begin(), job.held.end());
    for (const WavelengthGrant& grant : job.held) {
      const RingPair& pair = job.pairs[grant.pair];
      const auto& positions = shape_.positions[grant.bus][grant.channel];
      const ElementId transmitter = positions[pair.source].transmitter;
      const BitRate rate = std::get<Transmitter>(fabric_.element(transmitter).kind).rate;
      timeslot.circuits.push_back({{},
                                   job.demand->job,
                                   shape_.nodes[pair.source],
                                   shape_.nodes[pair.destination],
                                   transmitter,
                                   positions[pair.destination].receiver,
                                   shape_.slots[grant.bus][grant.channel],
                                   rate});
    }
    rate_job(job, timeslot);
    schedule_.jobs.push_back({job.demand->job, {{{std::move(timeslot)}, 1}}});
  }

  /// Nobody could undercut: each node's bits over all of its wavelengths, and all bits' shortest ways over all segments.
  void rate_job(const RingJob& job, const Timeslot& timeslot) {
    if (timeslot.circuits.empty()) {
      return;
    }
    const auto rate = static_cast<double>(timeslot.circuits.front().rate.bits_per_second);
    double wavelengths = 0;
    for (const RingBus& bus : shape_.buses) {
      wavelengths += bus.channels;
    }
    std::vector<double> sent(map_.nodes());
    std::vector<double> received(map_.nodes());
    double crossed = 0;
    for (std::size_t i = 0; i < job.pairs.size(); ++i) {
      const RingPair& pair = job.pairs[i];
      schedule_.objective = std::max(schedule_.objective, pair.demand / (rate * job.served[i]));
      sent[pair.source] += pair.demand;
      received[pair.destination] += pair.demand;
      const std::uint32_t clockwise = arc_of(map_.nodes(), RingDirection::clockwise, pair.source, pair.destination).length;
      crossed += pair.demand * std::min(clockwise, map_.nodes() - clockwise);
    }
    for (const auto* bits : {&sent, &received}) {
      schedule_.bound = std::max(schedule_.bound, *std::max_element(bits->begin(), bits->end()) / (rate * wavelengths));
    }
    schedule_.bound = std::max(schedule_.bound, crossed / (rate * wavelengths * map_.nodes()));
  }

  const Demand& demand_;
  const Intent& intent_;
  const SipRingShape& shape_;
  const Fabric& fabric_;
  Budget budget_;
  WavelengthUse map_;
  std::vector<std::optional<std::pair<std::uint32_t, std::uint32_t>>>
      place_of_;  ///< by element, of transmitters: (bus, channel)
  Schedule schedule_;
};

}  // namespace

Result<Schedule> schedule_sip_ring(const Fabric& fabric, const Demand& demand, const Intent& intent, Budget budget) {
  auto shape = read_sip_ring(fabric);
  if (!shape) {
    return std::unexpected(std::move(shape).error());
  }
  return SipRingScheduler(demand, intent, *shape, fabric, budget).run();
}

}  // namespace loom
