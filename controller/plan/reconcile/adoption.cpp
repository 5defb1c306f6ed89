// SPDX-License-Identifier: Apache-2.0
// Readings to setpoints, and two sets of rows to one.
#include "controller/plan/reconcile/adoption.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "controller/plan/reconcile/reconcile.hpp"
#include "core/drift_policy.hpp"
#include "core/fabric/occupied_ports.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr Db kMeterError{100};  ///< what a laser's own power meter is worth: full power may read as a little more

bool before(const WssRoute& a, const WssRoute& b) { return std::pair{a.slot.n, a.input} < std::pair{b.slot.n, b.input}; }
bool before(const CrossConnect& a, const CrossConnect& b) { return a.input < b.input; }

/// One of both that light could not tell apart, or a port that cannot be in two rows.
bool collide(const WssRoute& a, const WssRoute& b) {
  return overlaps(a.slot, b.slot) && (a.input == b.input || a.output == b.output);
}
bool collide(const CrossConnect& a, const CrossConnect& b) { return a.input == b.input || a.output == b.output; }

std::string text_of(const WssRoute& row) {
  return format_text("{} from input {} to output {}", to_string(centre_of(row.slot)), row.input, row.output);
}
std::string text_of(const CrossConnect& row) { return format_text("input {} to output {}", row.input, row.output); }

std::string named(const Device& device) { return format_text("{} (device {})", device.name, device.id.value); }

std::unexpected<Error> taken(const Device& device, const std::string& found, const std::string& planned) {
  return fail(ErrorCode::conflict, format_text("{}: {} was adopted, and the plan needs {}", named(device), found, planned),
              format_text("loom device set {} --clear", device.id.value));
}

std::unexpected<Error> unlawful(const Device& device, const std::string& reason) {
  return fail(ErrorCode::refused, format_text("{} cannot be adopted: {}", named(device), reason));
}

template <class Row>
Result<std::vector<Row>> merged(const Device& device, std::vector<Row> planned, const std::vector<Row>& adopted) {
  for (const Row& row : adopted) {
    if (std::find(planned.begin(), planned.end(), row) != planned.end()) {
      continue;
    }
    for (const Row& other : planned) {
      if (collide(row, other)) {
        return taken(device, text_of(row), text_of(other));
      }
    }
    planned.insert(
        std::upper_bound(planned.begin(), planned.end(), row, [](const Row& a, const Row& b) { return before(a, b); }), row);
  }
  return planned;
}

template <class Row>
Result<std::vector<Row>> found_rows(const Device& device, const std::vector<Row>& wanted, const std::vector<Row>& seen,
                                    std::vector<Row> known) {
  const auto has = [](const std::vector<Row>& rows, const Row& row) {
    return std::find(rows.begin(), rows.end(), row) != rows.end();
  };
  for (const Row& row : wanted) {
    if (!has(seen, row)) {
      return unlawful(device, text_of(row) + " is desired and is missing there");
    }
  }
  for (const Row& row : seen) {
    if (!has(wanted, row) && !has(known, row)) {
      known.insert(std::upper_bound(known.begin(), known.end(), row, [](const Row& a, const Row& b) { return before(a, b); }),
                   row);
    }
  }
  return known;
}

Result<TransmitterSetpoint> found_laser(const Fabric& fabric, const Device& device, const TransmitterObservation& seen) {
  const auto& transmitter = std::get<Transmitter>(fabric.element(device.elements[0]).kind);
  const Dbm full = transmitter.launch_power;
  const bool reads_high = seen.power > full && seen.power <= full + kMeterError;
  for (std::int32_t channel = 0; channel < transmitter.channels.count; ++channel) {
    const FrequencySlot slot = transmitter.channels.slot(channel);
    if (magnitude(seen.frequency - centre_of(slot)) <= ReconcileLimits{}.detuned_beyond) {
      return TransmitterSetpoint{slot, reads_high ? full : seen.power, true};
    }
  }
  return unlawful(device,
                  format_text("{} is on none of its {} channels", to_string(seen.frequency), transmitter.channels.count));
}

Result<Setpoint> found_on_laser(const Fabric& fabric, const Device& device, const DevicePlan& desired,
                                const TransmitterObservation& seen, Drift drift) {
  if (desired.timeline.size() != 1 || desired.timeline.front().hold != kForever) {
    return unlawful(device, "it plays timeslots, and one reading says nothing of the others");
  }
  auto laser = found_laser(fabric, device, seen);
  if (!laser) {
    return std::unexpected(std::move(laser).error());
  }
  laser->emit = drift == Drift::foreign;
  return Setpoint{*laser};
}

template <class T>
const T* setpoint_of(const DeviceOverride* known) {
  return known == nullptr || !known->is_adopted() ? nullptr : std::get_if<T>(&known->setpoint);
}

Result<Setpoint> found_setpoint(const Fabric& fabric, const DevicePlan& desired, const Observation& seen, Drift drift,
                                const DeviceOverride* known) {
  const Device& device = fabric.device(desired.device);
  const Setpoint& wanted = desired.timeline.front().setpoint;
  if (const auto* laser = std::get_if<TransmitterObservation>(&seen.reading)) {
    return found_on_laser(fabric, device, desired, *laser, drift);
  }
  if (const auto* wss = std::get_if<WavelengthSwitchObservation>(&seen.reading);
      wss && std::holds_alternative<WavelengthSwitchSetpoint>(wanted)) {
    const auto* kept = setpoint_of<WavelengthSwitchSetpoint>(known);
    auto rows = found_rows(device, std::get<WavelengthSwitchSetpoint>(wanted).routes, wss->routes,
                           kept == nullptr ? std::vector<WssRoute>{} : kept->routes);
    return rows ? Result<Setpoint>(WavelengthSwitchSetpoint{*std::move(rows)}) : std::unexpected(std::move(rows).error());
  }
  if (const auto* ocs = std::get_if<CircuitSwitchObservation>(&seen.reading);
      ocs && std::holds_alternative<CircuitSwitchSetpoint>(wanted)) {
    const auto* kept = setpoint_of<CircuitSwitchSetpoint>(known);
    const std::vector<CrossConnect>& desired_rows = std::get<CircuitSwitchSetpoint>(wanted).connects;
    std::vector<CrossConnect> there = ocs->connects;
    std::ranges::copy_if(desired_rows, std::back_inserter(there),
                         [&](CrossConnect row) { return is_connected(*ocs, row) && !contains(ocs->connects, row); });
    auto rows = found_rows(device, desired_rows, there, kept == nullptr ? std::vector<CrossConnect>{} : kept->connects);
    return rows ? Result<Setpoint>(CircuitSwitchSetpoint{*std::move(rows)}) : std::unexpected(std::move(rows).error());
  }
  return unlawful(device, std::holds_alternative<GainSetpoint>(wanted)
                              ? "a gain is set so that light arrives as planned, not taken over"
                              : "heat has no place of its own on the grid that a plan could name");
}

Result<std::vector<TimedSetpoint>> beside_laser(const Device& device, std::vector<TimedSetpoint> planned,
                                                const TransmitterSetpoint& adopted) {
  const bool is_lit =
      std::any_of(planned.begin(), planned.end(), [](const TimedSetpoint& entry) { return emits(entry.setpoint); });
  if (adopted.emit) {
    const std::vector found{TimedSetpoint{{}, {}, kForever, adopted}};
    return is_lit && planned != found ? Result<std::vector<TimedSetpoint>>(
                                            taken(device, "light at " + to_string(centre_of(adopted.slot)), "this laser"))
                                      : found;
  }
  for (TimedSetpoint& entry : planned) {
    if (emits(entry.setpoint)) {
      std::get<TransmitterSetpoint>(entry.setpoint).power = adopted.power;
    }
  }
  return planned;
}

}  // namespace

Result<DeviceOverride> adoption_of(const Fabric& fabric, const DevicePlan& desired, const Observation& seen, Drift drift,
                                   Revision beside, const DeviceOverride* known) {
  LOOM_ASSERT(may_be_adopted(drift) && beside != Revision{});
  if (known != nullptr && !known->is_adopted()) {
    return unlawful(fabric.device(desired.device), "it is set by hand");
  }
  auto setpoint = found_setpoint(fabric, desired, seen, drift, known);
  if (!setpoint) {
    return std::unexpected(std::move(setpoint).error());
  }
  return DeviceOverride{desired.device, *std::move(setpoint), beside};
}

Result<std::vector<TimedSetpoint>> beside(const Device& device, const std::vector<TimedSetpoint>& planned,
                                          const DeviceOverride& adopted) {
  LOOM_ASSERT(adopted.is_adopted() && planned.front().setpoint.index() == adopted.setpoint.index());
  if (const auto* laser = std::get_if<TransmitterSetpoint>(&adopted.setpoint)) {
    return beside_laser(device, planned, *laser);
  }
  std::vector<TimedSetpoint> timeline = planned;
  Setpoint& first = timeline.front().setpoint;
  if (const auto* wss = std::get_if<WavelengthSwitchSetpoint>(&adopted.setpoint)) {
    auto rows = merged(device, std::get<WavelengthSwitchSetpoint>(first).routes, wss->routes);
    if (!rows) {
      return std::unexpected(std::move(rows).error());
    }
    first = WavelengthSwitchSetpoint{*std::move(rows)};
  } else if (const auto* ocs = std::get_if<CircuitSwitchSetpoint>(&adopted.setpoint)) {
    auto rows = merged(device, std::get<CircuitSwitchSetpoint>(first).connects, ocs->connects);
    if (!rows) {
      return std::unexpected(std::move(rows).error());
    }
    first = CircuitSwitchSetpoint{*std::move(rows)};
  }
  return timeline;
}

std::vector<DeviceOverride> found_beside(const Plan& plan, const Intent& intent) {
  std::vector<DeviceOverride> found;
  std::copy_if(intent.overrides.begin(), intent.overrides.end(), std::back_inserter(found),
               [&](const DeviceOverride& each) { return each.is_adopted() && each.found_beside == plan.revision; });
  return found;
}

Plan as_found(const Fabric& fabric, const Plan& confirmed, const std::vector<DeviceOverride>& found) {
  Plan plan = confirmed;
  for (const DeviceOverride& each : found) {
    const Device& device = fabric.device(each.device);
    for (DevicePlan& desired : plan.nodes.edit(device.agent.value).devices) {
      if (desired.device != each.device || desired.timeline.front().setpoint.index() != each.setpoint.index()) {
        continue;
      }
      if (auto timeline = beside(device, desired.timeline, each)) {  // else it was never found so, and planning refuses it
        desired.timeline = *std::move(timeline);
      }
    }
  }
  return plan;
}

}  // namespace loom
