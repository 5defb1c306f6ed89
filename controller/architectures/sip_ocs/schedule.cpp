// SPDX-License-Identifier: Apache-2.0
// Shares ports, then spreads them over the switches.
#include "controller/architectures/sip_ocs/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "controller/architectures/sip_ml/account.hpp"
#include "controller/architectures/sip_ml/explain.hpp"
#include "controller/schedule/permutations.hpp"
#include "controller/schedule/traffic.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

struct OcsPosition {
  ElementId transmitter;
  ElementId receiver;
};

/// [node][switch]
using OcsPositions = std::vector<std::vector<OcsPosition>>;

/// The circuit switch at the other end of a transmitter's or receiver's fibre.
std::optional<ElementId> switch_at(const Fabric& fabric, ElementId end) {
  const bool sends = std::holds_alternative<Transmitter>(fabric.element(end).kind);
  const auto& fibre = sends ? fabric.fibre_out[end.value][0] : fabric.fibre_in[end.value][0];
  if (!fibre) {
    return std::nullopt;
  }
  const ElementId other = sends ? fabric.fibres[fibre->value].to.element : fabric.fibres[fibre->value].from.element;
  return std::holds_alternative<OpticalCircuitSwitch>(fabric.element(other).kind) ? std::optional{other} : std::nullopt;
}

Result<OcsPositions> read_sip_ocs(const Fabric& fabric) {
  OcsPositions positions;
  std::vector<ElementId> switches;
  for (const Element& element : fabric.elements) {
    if (std::holds_alternative<OpticalCircuitSwitch>(element.kind)) {
      switches.push_back(element.id);
    }
  }
  std::vector<std::pair<std::optional<ElementId>, std::optional<ElementId>>> ends;  // by switch, of one node
  const auto ends_on = [&](ElementId on) -> auto& {
    return ends[static_cast<std::size_t>(std::ranges::lower_bound(switches, on) - switches.begin())];
  };
  for (const Node& node : fabric.nodes) {
    ends.assign(switches.size(), {});
    for (const ElementId transmitter : node.transmitters) {
      if (const auto on = switch_at(fabric, transmitter)) {
        ends_on(*on).first = transmitter;
      }
    }
    for (const ElementId receiver : node.receivers) {
      if (const auto on = switch_at(fabric, receiver)) {
        ends_on(*on).second = receiver;
      }
    }
    positions.emplace_back();
    for (std::size_t k = 0; k < switches.size(); ++k) {
      const ElementId on = switches[k];
      const auto& [transmitter, receiver] = ends[k];
      if (!transmitter || !receiver) {
        return fail(ErrorCode::unsupported, format_text("scheduler sip-ocs: node {} has no transmitter and receiver straight "
                                                        "at circuit switch {}; fabric \"{}\" is of architecture {}",
                                                        node.name, fabric.element(on).name, fabric.name, fabric.architecture));
      }
      positions.back().push_back({*transmitter, *receiver});
    }
  }
  if (switches.empty() || positions.empty()) {
    return fail(ErrorCode::unsupported, format_text("scheduler sip-ocs: fabric \"{}\" of architecture {} has no circuit switch",
                                                    fabric.name, fabric.architecture));
  }
  return positions;
}

class SipOcsScheduler {
 public:
  SipOcsScheduler(const Fabric& fabric, const OcsPositions& positions, Budget budget)
      : fabric_(fabric),
        positions_(positions),
        switches_(static_cast<std::uint32_t>(positions.front().size())),
        budget_(budget) {}

  Result<Schedule> run(const Demand& demand) {
    schedule_.algorithm = "sip-ocs";
    schedule_.assumptions = {"sip-ocs: one shot; circuits are set once a job, when it comes",
                             format_text("sip-ocs: circuits are simplex; acknowledgements return over {}",
                                         fabric_.return_path == ReturnPath::optical ? "light" : "an electrical network")};
    for (const JobDemand& job : demand.jobs) {
      LOOM_TRY(add_job(job));
    }
    if (budget_.wants_account) {
      const auto account = account_of_switches(fabric_, demand, schedule_);
      if (!account) {
        return std::unexpected(account.error());
      }
      schedule_.account.why = explain(*account);
    }
    return std::move(schedule_);
  }

 private:
  Result<void> add_job(const JobDemand& job) {
    if (const std::uint32_t peers = all_to_all_peers(job); peers > switches_) {
      return std::unexpected(too_many_peers(job, job.nodes.front().value, "sends to ", peers));
    }
    auto traffic = traffic_of(job);
    if (!traffic) {
      return std::unexpected(std::move(traffic).error());
    }
    const auto loads = loads_of(*traffic, static_cast<std::uint32_t>(job.nodes.size()));
    std::vector<SwitchPair> pairs;
    for (const PairLoad& load : loads) {
      const auto bytes = static_cast<std::int64_t>(std::ceil(load.bits / 8));
      pairs.push_back({job.nodes[load.pair.source].value, job.nodes[load.pair.destination].value,
                       std::clamp<std::int64_t>(bytes, 1, (std::int64_t{1} << 50) - 1)});
    }
    for (const SwitchPair& pair : pairs) {
      if (pair.source >= positions_.size() || pair.destination >= positions_.size()) {
        return fail(ErrorCode::invalid_argument,
                    format_text("job {}: node {} does not exist", job.job.value, std::max(pair.source, pair.destination)));
      }
    }
    schedule_.steps_used += pairs.size() * switches_;
    if (schedule_.steps_used > budget_.steps || budget_.stop.stop_requested()) {
      return fail(ErrorCode::timed_out, format_text("scheduler sip-ocs: stopped after {} steps; the budget was {}",
                                                    schedule_.steps_used, budget_.steps));
    }
    const HeldLight held = held_by(job, pairs);
    std::vector<SwitchGrant> grants = held.grants;
    if (!held.serves_all) {
      const auto counts = share_ports(static_cast<std::uint32_t>(positions_.size()), switches_, pairs);
      if (!counts) {
        return std::unexpected(refuse(job, pairs));
      }
      grants = into_permutations(static_cast<std::uint32_t>(positions_.size()), switches_, pairs, *counts, held.grants);
    }
    add_schedule(job, pairs, grants);
    return {};
  }

  struct HeldLight {
    std::vector<SwitchGrant> grants;  ///< that pairs still want, ascending
    bool serves_all = false;          ///< every pair has some, and there is no other
  };

  HeldLight held_by(const JobDemand& job, const std::vector<SwitchPair>& pairs) const {
    std::vector<std::vector<std::uint32_t>> from(positions_.size());  // by source: its pairs
    for (std::uint32_t i = 0; i < pairs.size(); ++i) {
      from[pairs[i].source].push_back(i);
    }
    HeldLight held;
    held.grants.reserve(job.held.size());
    held.serves_all = !job.held.empty();
    std::vector<bool> served(pairs.size());
    for (const Circuit& circuit : job.held) {
      const auto& own = from[circuit.source.value];
      const auto pair =
          std::ranges::find(own, circuit.destination.value, [&](std::uint32_t i) { return pairs[i].destination; });
      const auto& row = positions_[circuit.source.value];
      const auto bus_position = std::find_if(row.begin(), row.end(),
                                             [&](const OcsPosition& each) { return each.transmitter == circuit.transmitter; });
      if (pair == own.end() || bus_position == row.end()) {
        held.serves_all = false;
        continue;
      }
      served[*pair] = true;
      held.grants.push_back({*pair, static_cast<std::uint32_t>(bus_position - row.begin())});
    }
    held.serves_all = held.serves_all && std::find(served.begin(), served.end(), false) == served.end();
    if (!std::ranges::is_sorted(held.grants)) {  // they were laid in this order
      std::ranges::sort(held.grants);
    }
    return held;
  }

  Error too_many_peers(const JobDemand& job, std::uint32_t node, std::string_view does, std::uint32_t peers) const {
    return {ErrorCode::infeasible, format_text("infeasible: job {}: node {} {}{} peers, but has a port on Q = {} circuit "
                                               "switches, one a peer; nearest: {} nodes that all exchange, or a ring",
                                               job.job.value, node, does, peers, switches_, switches_ + 1)};
  }

  Error refuse(const JobDemand& job, const std::vector<SwitchPair>& pairs) const {
    std::map<std::uint32_t, std::uint32_t> sends;
    std::map<std::uint32_t, std::uint32_t> receives;
    for (const SwitchPair& pair : pairs) {
      ++sends[pair.source];
      ++receives[pair.destination];
    }
    for (const auto& [peers, what] : {std::pair{&sends, "sends to "}, std::pair{&receives, "receives from "}}) {
      for (const auto& [node, count] : *peers) {
        if (count > switches_) {
          return too_many_peers(job, node, what, count);
        }
      }
    }
    return {ErrorCode::internal, "sip-ocs: demands that no z fits"};
  }

  void add_schedule(const JobDemand& job, const std::vector<SwitchPair>& pairs, const std::vector<SwitchGrant>& grants) {
    Timeslot timeslot;
    std::vector<double> served(pairs.size());
    timeslot.circuits.reserve(grants.size());
    for (const SwitchGrant& grant : grants) {
      const SwitchPair& pair = pairs[grant.pair];
      const ElementId id = positions_[pair.source][grant.on].transmitter;
      const auto& transmitter = std::get<Transmitter>(fabric_.element(id).kind);
      timeslot.circuits.push_back({{},
                                   job.job,
                                   NodeId{pair.source},
                                   NodeId{pair.destination},
                                   id,
                                   positions_[pair.destination][grant.on].receiver,
                                   transmitter.channels.first,
                                   transmitter.rate});
      served[grant.pair] += static_cast<double>(transmitter.rate.bits_per_second);
    }
    std::map<std::uint32_t, double> sent;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const double bits = 8 * static_cast<double>(pairs[i].demand);
      schedule_.objective = std::max(schedule_.objective, bits / served[i]);
      double rate = 0;
      for (const OcsPosition& bus_position : positions_[pairs[i].source]) {
        rate += static_cast<double>(std::get<Transmitter>(fabric_.element(bus_position.transmitter).kind).rate.bits_per_second);
      }
      sent[pairs[i].source] += bits / rate;
      schedule_.bound = std::max(schedule_.bound, sent[pairs[i].source]);
    }
    schedule_.jobs.push_back({job.job, {{{std::move(timeslot)}, 1}}});
  }

  const Fabric& fabric_;
  const OcsPositions& positions_;
  std::uint32_t switches_;
  Budget budget_;
  Schedule schedule_;
};

}  // namespace

Result<Schedule> schedule_sip_ocs(const Fabric& fabric, const Demand& demand, const Intent&, Budget budget) {
  auto positions = read_sip_ocs(fabric);
  if (!positions) {
    return std::unexpected(std::move(positions).error());
  }
  return SipOcsScheduler(fabric, *positions, budget).run(demand);
}

}  // namespace loom
