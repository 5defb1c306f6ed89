// SPDX-License-Identifier: Apache-2.0
// Light is followed through the plan's own settings.
#include "controller/control/jobs/blame.hpp"

#include <algorithm>

#include "controller/plan/light/light_path.hpp"

namespace loom {

std::vector<JobId> jobs_without(const Fabric& fabric, const PlanResult& plan, const std::vector<NodeId>& failed) {
  std::vector<JobId> spared;
  if (failed.empty()) {
    return spared;
  }
  const auto is_failed = [&](NodeId node) { return std::ranges::binary_search(failed, node); };
  const LightFollower follower(fabric, plan.plan);
  const auto is_failed_hop = [&](const Hop& hop) {
    const auto device = fabric.device_of_element[hop.element.value];
    return device.has_value() && is_failed(fabric.device(*device).agent);
  };
  const auto needs_failed = [&](const Job& job) {
    return std::ranges::any_of(job.nodes, is_failed) || std::ranges::any_of(plan.plan.circuits, [&](const Circuit& circuit) {
             const auto path = circuit.job == job.id ? follower.follow(circuit) : std::nullopt;
             return path && std::ranges::any_of(*path, is_failed_hop);
           });
  };
  for (const Job& job : plan.intent.jobs) {
    if (!needs_failed(job)) {
      spared.push_back(job.id);
    }
  }
  std::ranges::sort(spared);
  return spared;
}

}  // namespace loom
