// SPDX-License-Identifier: Apache-2.0
// What "dark" means for a setpoint.
#include "core/plan.hpp"

#include <algorithm>
#include <atomic>

#include "core/fabric/fabric.hpp"

namespace loom {

std::string_view to_string(Transmit transmit) { return transmit == Transmit::grants ? "grants" : "slots"; }

Setpoint darkened(const Setpoint& setpoint) {
  Setpoint dark = setpoint;
  if (auto* laser = std::get_if<TransmitterSetpoint>(&dark)) {
    laser->emit = false;
  }
  return dark;
}

bool emits(const Setpoint& setpoint) {
  const auto* laser = std::get_if<TransmitterSetpoint>(&setpoint);
  return laser != nullptr && laser->emit;
}

Setpoint idle_setpoint(const Fabric& fabric, const Device& device) {
  const ElementKind& driven = fabric.element(device.elements.front()).kind;
  switch (device.role) {
    case DeviceRole::transmitter: {
      const auto& transmitter = std::get<Transmitter>(driven);
      return TransmitterSetpoint{transmitter.channels.slot(0), transmitter.launch_power, false};
    }
    case DeviceRole::filter:
      return FilterSetpoint{};
    case DeviceRole::wavelength_switch:
      return WavelengthSwitchSetpoint{};
    case DeviceRole::circuit_switch:
      return CircuitSwitchSetpoint{};
    case DeviceRole::gain_stage:
      return GainSetpoint{kGainOff};
    case DeviceRole::monitor:
      break;
  }
  return MonitorSetpoint{};
}

NodePlan& NodePlans::edit(std::size_t i) {
  std::shared_ptr<NodePlan>& slice = slices_[i];
  if (slice.use_count() > 1) {
    slice = std::make_shared<NodePlan>(*slice);
  } else {
    std::atomic_thread_fence(std::memory_order_acquire);  // whoever had it too, in whatever thread, has read it
  }
  return *slice;
}

std::vector<std::reference_wrapper<NodePlan>> NodePlans::edit_all() {
  std::vector<std::reference_wrapper<NodePlan>> all;
  for (std::size_t i = 0; i < size(); ++i) {
    all.emplace_back(edit(i));
  }
  return all;
}

void NodePlans::resize(std::size_t count) {
  const std::size_t known = slices_.size();
  slices_.resize(count);
  for (std::size_t i = known; i < count; ++i) {
    slices_[i] = std::make_shared<NodePlan>();
  }
}

bool NodePlans::operator==(const NodePlans& other) const {
  return std::ranges::equal(slices_, other.slices_, [](const auto& a, const auto& b) { return a == b || *a == *b; });
}

bool is_at_rest(const NodePlan& slice) {
  return std::ranges::none_of(slice.devices,
                              [](const DevicePlan& device) { return device.touched || !device.may_hold.empty(); });
}

void add_at_rest(const NodePlans& before, std::size_t i, Plan& plan) {
  plan.nodes.share(before, i);
  if (is_at_rest(before[i])) {
    return;
  }
  NodePlan& slice = plan.nodes.edit(plan.nodes.size() - 1);
  slice.revision = plan.revision;
  slice.base = plan.base;
  for (DevicePlan& device : slice.devices) {
    device.touched = false;
    device.may_hold.clear();
  }
}

void take_part(NodeId node, Plan& plan) {
  const auto place = std::ranges::lower_bound(plan.changed, node);
  if (place == plan.changed.end() || *place != node) {
    plan.changed.insert(place, node);
  }
  const auto slice = std::ranges::lower_bound(plan.nodes, node, {}, &NodePlan::node);
  const bool is_there = slice != plan.nodes.end() && slice->node == node;
  if (is_there && (slice->revision != plan.revision || slice->base != plan.base)) {
    NodePlan& own = plan.nodes.edit(static_cast<std::size_t>(slice - plan.nodes.begin()));
    own.revision = plan.revision;
    own.base = plan.base;
  }
}

bool is_paced_alike(const NodePlan* before, const NodePlan& after) {
  if (before == nullptr) {
    return after.cycle == Duration{} && after.compute_after == Duration{} && !after.grants && !after.iterations;
  }
  return after.cycle == before->cycle && after.cycles == before->cycles && after.compute_after == before->compute_after &&
         after.grants == before->grants && after.iterations == before->iterations;
}

std::optional<JobId> whole_job_of(const NodePlan& node) {
  return node.grants ? std::optional(node.grants->job) : node.iterations ? std::optional(node.iterations->job) : std::nullopt;
}

std::uint32_t switches_moved_by(const Plan& plan) {
  std::uint32_t count = 0;
  for (const NodePlan& node : plan.nodes) {
    count += static_cast<std::uint32_t>(std::count_if(node.devices.begin(), node.devices.end(), [](const DevicePlan& device) {
      const Setpoint& setpoint = device.timeline.front().setpoint;
      return device.touched && (std::holds_alternative<WavelengthSwitchSetpoint>(setpoint) ||
                                std::holds_alternative<CircuitSwitchSetpoint>(setpoint));
    }));
  }
  return count;
}

}  // namespace loom
