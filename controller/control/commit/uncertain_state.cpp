// SPDX-License-Identifier: Apache-2.0
// Scopes are unions of ascending lists.
#include "controller/control/commit/uncertain_state.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "controller/plan/grants.hpp"

namespace loom {
namespace {

template <class T>
void merge(std::vector<T>& into, const std::vector<T>& more) {
  std::vector<T> merged;
  merged.reserve(into.size() + more.size());
  std::set_union(into.begin(), into.end(), more.begin(), more.end(), std::back_inserter(merged));
  into = std::move(merged);
}

}  // namespace

void merge_sorted(std::vector<DeviceId>& into, const std::vector<DeviceId>& more) { merge(into, more); }

void merge_scope(RepairScope& into, const RepairScope& more) {
  merge(into.nodes, more.nodes);
  merge(into.devices, more.devices);
  merge(into.steering, more.steering);
}

bool UncertainState::has_node(NodeId node) const { return std::binary_search(scope_.nodes.begin(), scope_.nodes.end(), node); }

bool UncertainState::has_device(DeviceId device) const {
  return std::binary_search(scope_.devices.begin(), scope_.devices.end(), device);
}

void UncertainState::add(std::shared_ptr<const Plan> shared) {
  const Plan& plan = *shared;
  plans_.push_back(std::move(shared));
  RepairScope more;
  more.nodes = plan.changed;
  more.steering = plan.moved_steering;
  std::sort(more.steering.begin(), more.steering.end());
  for (const NodePlan& node : plan.nodes) {
    if (!std::binary_search(plan.changed.begin(), plan.changed.end(), node.node)) {
      continue;
    }
    for (const DevicePlan& device : node.devices) {
      if (device.touched) {
        more.devices.push_back(device.device);
      }
    }
  }
  std::sort(more.devices.begin(), more.devices.end());
  add(more);
}

void UncertainState::add(const RepairScope& more) { merge_scope(scope_, more); }

void UncertainState::clear() {
  scope_ = {};
  plans_.clear();
  unread_.clear();
  since_ = {};
}

void UncertainState::distrust_steering(const Fabric& fabric, NodeId node, Instant since) {
  since_ = since;
  unread_.clear();
  std::copy_if(scope_.steering.begin(), scope_.steering.end(), std::back_inserter(unread_),
               [&](DeviceId id) { return fabric.device(id).agent == node; });
}

void UncertainState::distrust(DeviceId device, Instant since) {
  since_ = since;
  unread_.push_back(device);
}

std::shared_ptr<const PlanResult> widened(std::shared_ptr<const PlanResult> plan, const Fabric& fabric,
                                          const RepairScope& uncertain, const RepairScope& repaired, const KnownState& known,
                                          const std::vector<bool>& lacks_plan) {
  if (uncertain.nodes.empty() && repaired.nodes.empty() && is_as_known(fabric, known, plan->plan)) {
    return plan;
  }
  auto wide = std::make_shared<PlanResult>(*plan);
  Plan& target = wide->plan;
  RepairScope scope = uncertain;
  merge_scope(scope, repaired);
  const auto is_touched = [&](DeviceId device) {
    return std::binary_search(scope.devices.begin(), scope.devices.end(), device);
  };
  for (const RepairScope* each : {&uncertain, &repaired}) {
    std::ranges::for_each(each->nodes, [&](NodeId node) { take_part(node, target); });
    merge(target.moved_steering, each->steering);
  }
  for (const NodeId node : scope.nodes) {
    for (DevicePlan& device : target.nodes.edit(node.value).devices) {
      device.touched = device.touched || is_touched(device.device);
    }
  }
  for (const Circuit& circuit : target.circuits) {
    const auto device = fabric.device_of_element[circuit.transmitter.value];
    if (device && is_touched(*device)) {
      target.touched.push_back(circuit.id);
    }
  }
  std::sort(target.touched.begin(), target.touched.end());
  target.touched.erase(std::unique(target.touched.begin(), target.touched.end()), target.touched.end());
  see_to_steering(fabric, known, target);
  std::vector<NodeId> restored;
  std::copy_if(target.changed.begin(), target.changed.end(), std::back_inserter(restored),
               [&](NodeId node) { return lacks_plan[node.value]; });
  reroute_touched_jobs(fabric, restored, target);
  return wide;
}

}  // namespace loom
