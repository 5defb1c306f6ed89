// SPDX-License-Identifier: Apache-2.0
// Lawfulness of a NodePlan, and the question whether a device has to change for it.
#include "agents/commit/plan_check.hpp"

#include <algorithm>
#include <string>

#include "agents/commit/pass_barrier.hpp"
#include "agents/commit/steering.hpp"
#include "agents/envelope_sender.hpp"
#include "agents/grant/plane.hpp"
#include "core/fabric/hazard.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {

namespace {

std::string named(const DeviceUnit& unit) { return format_text("device {} ({})", unit.device->id.value, unit.device->name); }

bool fits(const Setpoint& setpoint, DeviceRole role) {
  switch (role) {
    case DeviceRole::transmitter:
      return std::holds_alternative<TransmitterSetpoint>(setpoint);
    case DeviceRole::filter:
      return std::holds_alternative<FilterSetpoint>(setpoint);
    case DeviceRole::wavelength_switch:
      return std::holds_alternative<WavelengthSwitchSetpoint>(setpoint);
    case DeviceRole::circuit_switch:
      return std::holds_alternative<CircuitSwitchSetpoint>(setpoint);
    case DeviceRole::monitor:
      return std::holds_alternative<MonitorSetpoint>(setpoint);
    case DeviceRole::gain_stage:
      return std::holds_alternative<GainSetpoint>(setpoint);
  }
  return false;
}

/// What leaves a laser goes into one fibre, at whose beginning the limit holds, whatever the controller's verify has let
/// through. What other lasers add further on, this agent cannot know.
Result<void> check_power(const Fabric& fabric, const DeviceUnit& unit, const Setpoint& setpoint) {
  const auto* laser = std::get_if<TransmitterSetpoint>(&setpoint);
  if (laser == nullptr || !laser->emit) {
    return {};
  }
  const auto& fibre = fabric.fibre_out[unit.device->elements[0].value][0];
  if (!fibre || laser->power <= power_limit_of(fabric, *fibre)) {
    return {};
  }
  return fail(ErrorCode::out_of_range,
              format_text("{}: {} into fibre {}, whose limit is {}{}", named(unit), to_string(laser->power), fibre->value,
                          to_string(power_limit_of(fabric, *fibre)),
                          fabric.hazard_level.empty() ? "" : format_text(" (hazard level {})", fabric.hazard_level)));
}

Result<void> check_entry(const Fabric& fabric, const DeviceUnit& unit, const TimedSetpoint& entry) {
  if (!fits(entry.setpoint, unit.device->role)) {
    return fail(ErrorCode::invalid_argument, named(unit) + ": the setpoint is for another kind of device");
  }
  if (auto lawful = unit.driver->check(entry.setpoint); !lawful) {
    return fail(lawful.error().code, format_text("{}: {}", named(unit), lawful.error().message));
  }
  LOOM_TRY(check_power(fabric, unit, entry.setpoint));
  if (auto lawful = unit.driver->check(darkened(entry.setpoint)); !lawful) {
    return fail(lawful.error().code, format_text("{}, darkened: {}", named(unit), lawful.error().message));
  }
  return {};
}

Result<void> check_times(const DeviceUnit& unit, const DevicePlan& device, const NodePlan& plan) {
  Duration free_from = Duration::zero();
  for (const TimedSetpoint& entry : device.timeline) {
    if (entry.offset < free_from || entry.guard < Duration::zero() || entry.hold <= Duration::zero()) {
      return fail(ErrorCode::invalid_argument,
                  format_text("{}: timeslot at {} begins before the one before it ends ({}), or its guard or hold is negative",
                              named(unit), in_microseconds(entry.offset), in_microseconds(free_from)));
    }
    free_from = sum(sum(entry.offset, entry.guard), entry.hold);
  }
  if (plan.cycle > Duration::zero() && !device.left_alone && free_from > plan.cycle) {
    return fail(ErrorCode::invalid_argument, format_text("{}: timeslots end at {}, after the cycle of {}", named(unit),
                                                         in_microseconds(free_from), in_microseconds(plan.cycle)));
  }
  return {};
}

Result<void> check_device(const Fabric& fabric, const DeviceUnit& unit, const DevicePlan& device, const NodePlan& plan) {
  if (device.timeline.empty()) {
    return fail(ErrorCode::invalid_argument, named(unit) + ": the plan has no setpoint for it");
  }
  if (device.timeline.size() > limits::kTimelineEntries) {
    return fail(ErrorCode::out_of_range, format_text("{}: {} timeslots exceed kTimelineEntries = {}", named(unit),
                                                     device.timeline.size(), limits::kTimelineEntries));
  }
  if (!is_static(device)) {
    if (!unit.is_laser()) {
      return fail(ErrorCode::unsupported,
                  named(unit) + ": what steers light holds one setpoint within a revision, the plan has timeslots");
    }
    LOOM_TRY(check_times(unit, device, plan));
  }
  for (const TimedSetpoint& entry : device.timeline) {
    LOOM_TRY(check_entry(fabric, unit, entry));
  }
  if (!unit.is_laser() && device.touched && device.may_hold.empty()) {
    return fail(ErrorCode::invalid_argument, named(unit) + ": it is to move, but the plan does not say from where");
  }
  return {};
}

}  // namespace

Result<void> check_node_plan(const NodePlan& plan, NodeId node, const DeviceUnits& units) {
  const auto nodes = static_cast<std::uint32_t>(units.fabric().nodes.size());
  if (plan.node != node) {
    return fail(ErrorCode::invalid_argument, format_text("plan of node {} came to node {}", plan.node.value, node.value));
  }
  if (plan.cycle < Duration::zero()) {
    return fail(ErrorCode::invalid_argument, format_text("node {}: negative cycle", node.value));
  }
  for (std::size_t i = 0; i < plan.devices.size(); ++i) {
    const DeviceId id = plan.devices[i].device;
    if (!units.index_of(id)) {
      return fail(ErrorCode::invalid_argument, format_text("device {} is not driven by node {}", id.value, node.value));
    }
    if (i > 0 && plan.devices[i - 1].device >= id) {
      return fail(ErrorCode::invalid_argument, format_text("device {} is out of order or named twice", id.value));
    }
  }
  for (std::size_t i = 0; i < units.size(); ++i) {
    const auto device = std::ranges::lower_bound(plan.devices, units[i].device->id, {}, &DevicePlan::device);
    if (device == plan.devices.end() || device->device != units[i].device->id) {
      return fail(ErrorCode::invalid_argument,
                  format_text("{}: missing from the plan of node {}", named(units[i]), node.value));
    }
    LOOM_TRY(check_device(units.fabric(), units[i], *device, plan));
  }
  if (plan.iterations) {
    LOOM_TRY(check_iteration_plan(plan, node, nodes));
  }
  return plan.grants ? check_grant_map(*plan.grants, node, nodes) : Result<void>{};
}

bool is_static(const DevicePlan& plan) { return plan.timeline.size() == 1 && plan.timeline.front().hold == kForever; }

bool is_under_grants(const NodePlan& plan, DeviceId device) {
  return plan.grants && std::any_of(plan.grants->wavelengths.begin(), plan.grants->wavelengths.end(),
                                    [&](const AllowedWavelength& wavelength) { return wavelength.laser == device; });
}

bool emits(const NodePlan& plan) {
  return std::any_of(plan.devices.begin(), plan.devices.end(), [](const DevicePlan& device) {
    return std::any_of(device.timeline.begin(), device.timeline.end(),
                       [](const TimedSetpoint& entry) { return emits(entry.setpoint); });
  });
}

bool is_as_found(const DeviceUnits& units, const DeviceUnit& unit, const DevicePlan& device) {
  const bool plays = unit.programme.device != nullptr && !is_static(*unit.programme.device);
  const bool at_rest = unit.progress != Progress::under_way && unit.progress != Progress::failed;
  return !device.touched && at_rest && !plays && is_static(device) &&
         agrees(units.fabric(), unit.device->id, units.observe(*units.index_of(unit.device->id)).reading,
                device.timeline.front().setpoint);
}

bool must_change(const DeviceUnits& units, const DeviceUnit& unit, const NodePlan& plan, const DevicePlan& device) {
  if (device.left_alone) {
    return false;
  }
  if (!unit.is_laser()) {
    return device.touched;
  }
  if (device.touched || unit.progress == Progress::under_way || unit.progress == Progress::failed) {
    return true;
  }
  if (is_as_found(units, unit, device)) {
    return false;
  }
  if (unit.programme.device != nullptr) {
    const NodePlan& played = *unit.programme.plan;
    const bool same_pace = is_static(device) || (played.cycle == plan.cycle && played.cycles == plan.cycles);
    return !same_pace || unit.programme.device->timeline != device.timeline;
  }
  if (!is_static(device)) {
    return true;
  }
  const Setpoint& wanted = device.timeline.front().setpoint;
  return unit.commanded ? *unit.commanded != wanted
                        : !agrees(units.fabric(), unit.device->id, unit.driver->observe().reading, wanted);
}

}  // namespace loom
