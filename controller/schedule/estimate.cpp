// SPDX-License-Identifier: Apache-2.0
// Intent -> Demand.
#include "controller/schedule/estimate.hpp"

#include <algorithm>
#include <map>
#include <span>

namespace loom {
namespace {

std::vector<SwitchWire> wires_of(const Plan& plan) {
  std::vector<SwitchWire> wires;
  for (const NodePlan& node : plan.nodes) {
    for (const DevicePlan& device : node.devices) {
      if (const auto* ocs = std::get_if<CircuitSwitchSetpoint>(&device.timeline.front().setpoint)) {
        for (const CrossConnect& connect : ocs->connects) {
          wires.push_back({device.device, connect.input, connect.output});
        }
      }
    }
  }
  if (!std::ranges::is_sorted(wires)) {  // they come as devices and their inputs are numbered
    std::ranges::sort(wires);
  }
  return wires;
}

}  // namespace

Demand estimate(const Intent& placed, const Plan* base, const std::vector<Circuit>* darkened) {
  Demand demand;
  std::map<JobId, std::size_t> index;
  for (const Job& job : placed.jobs) {
    index.emplace(job.id, demand.jobs.size());
    demand.jobs.push_back({job.id, job.nodes, job.demand(), job.stage, {}, job.spec.options, job.spec.transmit, job.share});
  }
  std::vector<bool> is_lit(demand.jobs.size());
  if (base != nullptr) {
    demand.wired = wires_of(*base);
    for (const Circuit& circuit : base->circuits) {
      if (const auto found = index.find(circuit.job); found != index.end()) {
        demand.jobs[found->second].held.push_back(circuit);
        is_lit[found->second] = true;
      }
    }
  }
  for (const Circuit& circuit : darkened == nullptr ? std::span<const Circuit>{} : std::span(*darkened)) {
    const auto found = index.find(circuit.job);
    const bool is_there = found != index.end() && std::ranges::count(demand.jobs[found->second].nodes, circuit.source) > 0;
    if (is_there && !is_lit[found->second]) {  // else it has moved since
      demand.jobs[found->second].held.push_back(circuit);
    }
  }
  return demand;
}

}  // namespace loom
