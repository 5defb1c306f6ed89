// SPDX-License-Identifier: Apache-2.0
// Loops over the units.
#include "agents/commit/preparation.hpp"

#include <algorithm>

namespace loom {

namespace {

/// A laser that nobody has told to emit, now or by and by: it may be tuned where light stands. Whether it is dark its driver
/// asks it. One that an edge lights holds nothing ready before light is due.
bool may_be_tuned(const DeviceUnits& units, const DeviceUnit& unit) {
  const auto is_lit = [](const TimedSetpoint& entry) { return emits(entry.setpoint); };
  const bool plays_light = unit.programme.device != nullptr && std::ranges::any_of(unit.programme.device->timeline, is_lit);
  const bool is_dark = !plays_light && !(unit.commanded && emits(*unit.commanded));
  return unit.claim.owner() <= Activity::audit && is_dark && !units.edges().fires(unit.device->id);
}

}  // namespace

void prepare_devices(StepContext context, DeviceUnits& units, const NodePlan& plan) {
  for (const DevicePlan& device : plan.devices) {
    const std::size_t unit = *units.index_of(device.device);
    const bool is_prepared = device.touched && !device.left_alone && units[unit].driver->can_prepare();
    if (is_prepared && (!units[unit].is_laser() || may_be_tuned(units, units[unit]))) {
      units.prepare(context, unit, &device.timeline.front().setpoint);
    }
  }
}

void withdraw_prepared(StepContext context, DeviceUnits& units) {
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (units[i].holds_prepared) {
      units.prepare(context, i, nullptr);
    }
  }
}

bool is_preparing(const DeviceUnits& units) {
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (units[i].preparing) {
      return true;
    }
  }
  return false;
}

bool is_being_read(const DeviceUnits& units, const NodePlan& plan) {
  return std::ranges::any_of(plan.devices, [&](const DevicePlan& device) {
    const DeviceUnit& unit = units[*units.index_of(device.device)];
    const bool moves = device.touched && !unit.is_laser();
    const bool is_unknown = unit.is_laser() && !unit.commanded;  // since this process started
    return !device.left_alone && unit.polling && (moves || is_unknown);
  });
}

std::optional<std::size_t> failed_preparation(const DeviceUnits& units) {
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (units[i].holds_prepared && !units[i].preparing && units[i].driver->preparation_failed()) {
      return i;
    }
  }
  return std::nullopt;
}

}  // namespace loom
