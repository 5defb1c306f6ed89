// SPDX-License-Identifier: Apache-2.0
// Pins, overrides and maintenance.
#include "controller/plan/by_hand.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "controller/plan/reconcile/adoption.hpp"
#include "core/ring/ring.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

bool has_job(const Intent& intent, JobId id) {
  return std::any_of(intent.jobs.begin(), intent.jobs.end(), [&](const Job& job) { return job.id == id; });
}

template <class Rows>
const DevicePlan* find_device(const Rows& nodes, NodeId agent, DeviceId id) {
  const auto& devices = nodes[agent.value].devices;
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const DevicePlan& plan) { return plan.device == id; });
  return found == devices.end() ? nullptr : &*found;
}

/// Routes, connects, rings that are held, or light.
bool does_something(const Setpoint& setpoint) {
  if (const auto* heater = std::get_if<FilterSetpoint>(&setpoint)) {
    return !heater->rings.empty();
  }
  if (const auto* wss = std::get_if<WavelengthSwitchSetpoint>(&setpoint)) {
    return !wss->routes.empty();
  }
  if (const auto* ocs = std::get_if<CircuitSwitchSetpoint>(&setpoint)) {
    return !ocs->connects.empty();
  }
  return emits(setpoint);
}

template <class T>
void set_member(std::vector<T>& sorted, T value, bool is_member) {
  const auto place = std::lower_bound(sorted.begin(), sorted.end(), value);
  const bool is_there = place != sorted.end() && *place == value;
  if (is_member && !is_there) {
    sorted.insert(place, value);
  } else if (!is_member && is_there) {
    sorted.erase(place);
  }
}

/// The first job whose light ends at this node; jobs are what an operator can cancel.
std::string users_of(const Plan& plan, NodeId node) {
  for (const CircuitEnd& end : plan.nodes[node.value].ends) {
    return format_text("circuit {} of job {}", end.circuit.value, end.job.value);
  }
  return "light of other nodes";
}

void say_what_changes(const Fabric& fabric, const Plan* base, NodePlan& node, Plan& plan) {
  const NodePlan* before = base == nullptr ? nullptr : &base->nodes[node.node.value];
  bool changed = !is_paced_alike(before, node);
  for (const DevicePlan& device : node.devices) {
    changed = changed || device.touched;
    if (fabric.steers_others[device.device.value]) {
      set_member(plan.moved_steering, device.device, device.touched);
    }
  }
  if (changed) {
    take_part(node.node, plan);
  } else {
    set_member(plan.changed, node.node, false);
  }
}

/// The device's timeline was changed: is it still that of the base? A laser that begins other light is touched in any case.
void touch_if_other(const Fabric& fabric, const Plan* base, DevicePlan& device, NodePlan& node, Plan& plan) {
  const Device& row = fabric.device(device.device);
  const DevicePlan* before = base == nullptr ? nullptr : find_device(base->nodes, row.agent, row.id);
  const bool begins_light = std::any_of(plan.circuits.begin(), plan.circuits.end(), [&](const Circuit& circuit) {
    return circuit.transmitter == row.elements[0] && std::binary_search(plan.touched.begin(), plan.touched.end(), circuit.id);
  });
  const bool is_laser = row.role == DeviceRole::transmitter;
  const Setpoint idle = idle_setpoint(fabric, row);
  device.touched = begins_light || (before == nullptr ? device.timeline.front().setpoint != idle || is_laser
                                                      : before->timeline != device.timeline);
  device.may_hold.clear();
  if (device.touched && !is_laser) {
    device.may_hold = {before == nullptr ? idle : before->timeline.front().setpoint};
  }
  say_what_changes(fabric, base, node, plan);
}

Result<void> apply_override(const Fabric& fabric, const DeviceOverride& override, const Intent& intent, const Plan* base,
                            Plan& plan) {
  const bool lasers_off = intent.lasers_off;
  if (override.device.value >= fabric.devices.size()) {
    return fail(ErrorCode::invalid_argument,
                format_text("device {} does not exist; devices are 0..{}", override.device.value, fabric.devices.size() - 1),
                "loom device list");
  }
  const Device& device = fabric.device(override.device);
  NodePlan& node = plan.nodes.edit(device.agent.value);
  const auto found = std::find_if(node.devices.begin(), node.devices.end(),
                                  [&](const DevicePlan& candidate) { return candidate.device == override.device; });
  LOOM_ASSERT(found != node.devices.end());
  if (found->timeline.front().setpoint.index() != override.setpoint.index()) {
    return fail(ErrorCode::invalid_argument, device.name + ": the setpoint is one of another kind of device",
                format_text("loom device show {}", device.id.value));
  }
  if (override.is_adopted()) {
    DeviceOverride adopted = override;
    adopted.setpoint = lasers_off ? darkened(override.setpoint) : override.setpoint;
    auto timeline = beside(device, found->timeline, adopted);
    if (!timeline) {
      return std::unexpected(std::move(timeline).error());
    }
    found->timeline = *std::move(timeline);
    touch_if_other(fabric, base, *found, node, plan);
    return {};
  }
  TimedSetpoint wanted{{}, {}, kForever, lasers_off ? darkened(override.setpoint) : override.setpoint};
  auto* heater = std::get_if<FilterSetpoint>(&wanted.setpoint);
  if (const DeviceCalibration* bank = calibration_of(intent, device.id); bank != nullptr && heater != nullptr) {
    LOOM_TRY(drive_by(*bank, rings_of(fabric, device), *heater));
  }
  const bool is_needed = std::any_of(found->timeline.begin(), found->timeline.end(),
                                     [](const TimedSetpoint& entry) { return does_something(entry.setpoint); });
  if (is_needed && found->timeline != std::vector{wanted}) {
    return fail(ErrorCode::conflict,
                format_text("{} (device {}) is set by hand, and {} needs it", device.name, device.id.value,
                            users_of(plan, device.agent)),
                format_text("loom device set {} --clear", device.id.value));
  }
  found->timeline = {wanted};
  touch_if_other(fabric, base, *found, node, plan);
  return {};
}

}  // namespace

Demand take_pinned(Demand& demand, const Intent& intent) {
  const auto is_free = [&](const JobDemand& job) {
    return std::ranges::find(intent.pinned, job.job, &JobSchedule::job) == intent.pinned.end();
  };
  const auto first = std::stable_partition(demand.jobs.begin(), demand.jobs.end(), is_free);
  Demand taken;
  taken.jobs.assign(std::make_move_iterator(first), std::make_move_iterator(demand.jobs.end()));
  demand.jobs.erase(first, demand.jobs.end());
  return taken;
}

Result<void> add_pinned(Schedule& schedule, const Intent& intent, const Demand& wanted, const Architecture* own) {
  for (const JobSchedule& pin : intent.pinned) {
    if (!has_job(intent, pin.job)) {
      continue;
    }
    schedule.jobs.push_back(pin);
    schedule.jobs.back().waiting = 0;  // of the plan that it was taken from
    const auto job = std::ranges::find(wanted.jobs, pin.job, &JobDemand::job);
    if (own == nullptr || own->forward_over == nullptr || job == wanted.jobs.end()) {
      continue;
    }
    auto forwarded = own->forward_over(*job, pin);
    if (!forwarded) {
      return std::unexpected(std::move(forwarded).error());
    }
    schedule.jobs.back().forwarding = *std::move(forwarded);
  }
  std::sort(schedule.jobs.begin(), schedule.jobs.end(),
            [](const JobSchedule& a, const JobSchedule& b) { return a.job < b.job; });
  return {};
}

Result<void> apply_overrides(const Fabric& fabric, const Intent& intent, const Plan* base, Plan& plan) {
  for (const DeviceOverride& override : intent.overrides) {
    LOOM_TRY(apply_override(fabric, override, intent, base, plan));
  }
  return {};
}

Result<void> check_maintenance(const Fabric& fabric, const Intent& intent, const Plan& plan) {
  const auto is_set_by_hand = [&](DeviceId id) {
    return std::any_of(intent.overrides.begin(), intent.overrides.end(),
                       [&](const DeviceOverride& override) { return override.device == id; });
  };
  for (const NodeId node : intent.maintenance) {
    const NodePlan& slice = plan.nodes[node.value];
    if (!slice.ends.empty()) {
      return fail(ErrorCode::conflict,
                  format_text("node {} is in maintenance, and {} ends there", node.value, users_of(plan, node)),
                  format_text("loom node maintenance {} off", node.value));
    }
    for (const DevicePlan& device : slice.devices) {
      if (fabric.steers_others[device.device.value] && does_something(device.timeline.front().setpoint) &&
          !is_set_by_hand(device.device)) {
        return fail(ErrorCode::conflict,
                    format_text("{} is driven by node {}, which is in maintenance, and light of other nodes passes it",
                                fabric.device(device.device).name, node.value),
                    format_text("loom node maintenance {} off", node.value));
      }
    }
  }
  return {};
}

}  // namespace loom
