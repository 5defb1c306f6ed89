// SPDX-License-Identifier: Apache-2.0
// Busiest pair first, first switch that fits.
#include "docs/examples/first_fit.hpp"

#include <algorithm>
#include <vector>

#include "controller/schedule/traffic.hpp"
#include "core/text/format_text.hpp"

namespace loom::examples {
namespace {

/// Which ports are taken: by node, then by switch.
struct FreePorts {
  std::vector<std::vector<bool>> sends;
  std::vector<std::vector<bool>> receives;
};

FreePorts free_ports(const Fabric& fabric) {
  FreePorts ports;
  for (const Node& node : fabric.nodes) {
    ports.sends.emplace_back(node.transmitters.size(), true);
    ports.receives.emplace_back(node.receivers.size(), true);
  }
  return ports;
}

/// Element k of a node's transmitters, and of its receivers, is at switch k: so the template makes them.
Result<Circuit> circuit_of(const Fabric& fabric, const JobDemand& job, RankPair pair, FreePorts& ports) {
  const NodeId from = job.nodes[pair.source];
  const NodeId to = job.nodes[pair.destination];
  auto& sends = ports.sends[from.value];
  auto& receives = ports.receives[to.value];
  for (std::size_t on = 0; on < std::min(sends.size(), receives.size()); ++on) {
    if (!sends[on] || !receives[on]) {
      continue;
    }
    sends[on] = receives[on] = false;
    const ElementId laser = fabric.nodes[from.value].transmitters[on];
    const auto& transmitter = std::get<Transmitter>(fabric.element(laser).kind);
    return Circuit{
        {}, job.job, from, to, laser, fabric.nodes[to.value].receivers[on], transmitter.channels.first, transmitter.rate};
  }
  return fail(ErrorCode::infeasible, format_text("first-fit: job {}: node {} and node {} are both free on none of {} switches",
                                                 job.job.value, from.value, to.value, sends.size()));
}

}  // namespace

Result<Schedule> schedule_first_fit(const Fabric& fabric, const Demand& demand, const Intent&, Budget budget) {
  Schedule schedule;
  schedule.algorithm = "first-fit";
  schedule.assumptions = {"first-fit: one circuit a pair, whatever it sends"};
  FreePorts ports = free_ports(fabric);
  for (const JobDemand& job : demand.jobs) {
    const auto traffic = traffic_of(job);
    if (!traffic) {
      return std::unexpected(traffic.error());
    }
    std::vector<PairLoad> loads = loads_of(*traffic, static_cast<std::uint32_t>(job.nodes.size()));
    std::ranges::stable_sort(loads, std::ranges::greater{}, &PairLoad::bits);
    Timeslot timeslot;  // held for ever: light that stays until the next revision
    for (const PairLoad& load : loads) {
      if (++schedule.steps_used > budget.steps || budget.stop.stop_requested()) {
        return fail(ErrorCode::timed_out, format_text("first-fit: stopped after {} steps", schedule.steps_used));
      }
      auto circuit = circuit_of(fabric, job, load.pair, ports);
      if (!circuit) {
        return std::unexpected(circuit.error());
      }
      schedule.objective = std::max(schedule.objective, load.bits / static_cast<double>(circuit->rate.bits_per_second));
      timeslot.circuits.push_back(*circuit);
    }
    schedule.jobs.push_back({job.job, {{{std::move(timeslot)}, 1}}});
  }
  return schedule;
}

const Architecture kFirstFit{
    .name = "first-fit", .summary = "one circuit a pair, on the first switch that fits", .schedule = schedule_first_fit};

}  // namespace loom::examples
