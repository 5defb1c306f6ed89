// Intent -> Demand.
#include "controller/plan/estimate.hpp"

#include <algorithm>
#include <map>

namespace loom {
namespace {

std::vector<SwitchWire> wires_of(const Plan& plan) {
  std::vector<SwitchWire> wires;
  for (const NodePlan& node : plan.nodes) {
    for (const DevicePlan& device : node.devices) {
      if (const auto* ocs = std::get_if<OcsSetpoint>(&device.timeline.front().setpoint)) {
        for (const CrossConnect& connect : ocs->connects) {
          wires.push_back({device.device, connect.input, connect.output});
        }
      }
    }
  }
  std::sort(wires.begin(), wires.end());
  return wires;
}

}  // namespace

Demand estimate(const Intent& placed, const Plan* base) {
  Demand demand;
  std::map<JobId, std::size_t> index;
  for (const Job& job : placed.jobs) {
    index.emplace(job.id, demand.jobs.size());
    demand.jobs.push_back({job.id,
                           job.nodes,
                           job.demand(),
                           job.stage,
                           {},
                           job.spec.map,
                           job.spec.custom_map,
                           job.planes,
                           job.spec.transmit,
                           job.orders});
  }
  if (base != nullptr) {
    demand.wired = wires_of(*base);
    for (const Circuit& circuit : base->circuits) {
      if (const auto found = index.find(circuit.job); found != index.end()) {
        demand.jobs[found->second].held.push_back(circuit);
      }
    }
  }
  return demand;
}

Duration dark_time_of(const Fabric& fabric, const ControllerTimings& timings) {
  Duration settle{};
  Duration blank{};
  for (const Element& element : fabric.elements) {
    if (const auto* wss = std::get_if<WavelengthSelectiveSwitch>(&element.kind)) {
      settle = std::max(settle, wss->settle_max);
    } else if (const auto* ocs = std::get_if<OpticalCircuitSwitch>(&element.kind)) {
      settle = std::max(settle, ocs->settle_max);
    } else if (const auto* transmitter = std::get_if<Transmitter>(&element.kind)) {
      blank = std::max(blank, transmitter->blank_max);
    }
  }
  // Twice the wait that lets every agent hear an instant (T, and the timeline's start), and the devices' own times.
  const Duration everybody_hears = timings.retry_interval * timings.arm_repeats + timings.lead_margin + 2 * timings.clock_error;
  return 2 * everybody_hears + settle + blank;
}

}  // namespace loom
