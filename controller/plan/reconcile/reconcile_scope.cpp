// SPDX-License-Identifier: Apache-2.0
// What a repair touches: the drifted devices, and the lasers whose light may meet what differs of them.
#include <algorithm>
#include <set>

#include "controller/plan/light/light_scope.hpp"
#include "controller/plan/reconcile/reconcile.hpp"

namespace loom {
namespace {

class ScopeFinder {
 public:
  ScopeFinder(const Fabric& fabric, const Plan& desired) : fabric_(fabric), desired_(desired) {}

  RepairScope find(const std::vector<DeviceId>& drifted, const std::vector<const Observation*>& observations,
                   const std::vector<NodeId>& restored) {
    std::vector<DeviceId> moving;
    for (const DeviceId id : drifted) {
      devices_.insert(id);
      if (fabric_.device(id).role == DeviceRole::transmitter) {
        transmitters_.insert(fabric_.device(id).elements.front());
      } else {
        moving.push_back(id);
      }
    }
    for (const DeviceId laser : lasers_that_meet({fabric_, desired_, {}, observations}, moving)) {
      transmitters_.insert(fabric_.device(laser).elements.front());
    }
    std::set<NodeId> nodes(restored.begin(), restored.end());
    for (const NodeId node : restored) {
      for (const ElementId transmitter : fabric_.nodes[node.value].transmitters) {
        if (plays_timeslots(transmitter)) {
          transmitters_.insert(transmitter);
        }
      }
    }
    take_whole_jobs();
    for (const ElementId transmitter : transmitters_) {
      devices_.insert(*fabric_.device_of_element[transmitter.value]);
    }
    RepairScope scope;
    for (const DeviceId id : devices_) {
      nodes.insert(fabric_.device(id).agent);
      scope.devices.push_back(id);
      if (fabric_.steers_others[id.value]) {
        scope.steering.push_back(id);
      }
    }
    scope.nodes.assign(nodes.begin(), nodes.end());
    return scope;
  }

 private:
  bool plays_timeslots(ElementId transmitter) const {
    const auto device = fabric_.device_of_element[transmitter.value];
    if (!device) {
      return false;
    }
    const auto& devices = desired_.nodes[fabric_.device(*device).agent.value].devices;
    const auto plan =
        std::find_if(devices.begin(), devices.end(), [&](const DevicePlan& each) { return each.device == *device; });
    return plan != devices.end() && plan->timeline.back().hold != kForever;
  }

  void take_whole_jobs() {
    std::set<JobId> jobs;
    for (const Circuit& circuit : desired_.circuits) {
      if (transmitters_.contains(circuit.transmitter) && plays_timeslots(circuit.transmitter)) {
        jobs.insert(circuit.job);
      }
    }
    for (const Circuit& circuit : desired_.circuits) {
      if (jobs.contains(circuit.job)) {
        transmitters_.insert(circuit.transmitter);
      }
    }
  }

  const Fabric& fabric_;
  const Plan& desired_;
  std::set<ElementId> transmitters_;
  std::set<DeviceId> devices_;
};

}  // namespace

RepairScope repair_scope(const Fabric& fabric, const Plan& desired, const std::vector<DeviceId>& drifted,
                         const std::vector<const Observation*>& observations, const std::vector<NodeId>& restored) {
  return ScopeFinder(fabric, desired).find(drifted, observations, restored);
}

}  // namespace loom
