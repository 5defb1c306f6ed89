// SPDX-License-Identifier: Apache-2.0
// Readings against setpoints, device by device.
#include "agents/commit/steering.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/fabric/gain_stage.hpp"
#include "core/fabric/occupied_ports.hpp"
#include "core/ring/ring.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// OIF-ITLA-MSA-01.3 table 5.2-1 (frequency error to ITU grid, 50 GHz class), MHz; and what a power meter in a laser is worth.
constexpr FrequencyOffset kFrequencyTolerance{2'500};
constexpr Db kPowerTolerance{100};

/// Dark is dark, wherever it is tuned.
bool is_as(const TransmitterObservation& reading, const TransmitterSetpoint& setpoint) {
  if (!setpoint.emit) {
    return !reading.emitting;
  }
  const Db off = reading.power - setpoint.power;
  return reading.emitting && magnitude(reading.frequency - centre_of(setpoint.slot)) <= kFrequencyTolerance &&
         off <= kPowerTolerance && -off <= kPowerTolerance;
}

const RingResonance* ring_wanted(const Setpoint& setpoint, std::size_t channel) {
  return wanted_of(std::get<FilterSetpoint>(setpoint), channel);
}

bool is_as(const RingFilter& ring, std::int32_t millivolts, const RingResonance* wanted) {
  if (wanted == nullptr) {
    return millivolts <= kHeaterOffMillivolts;
  }
  return off_its_place(ring, *wanted, millivolts).mhz <= ring.fwhm.mhz / kRingWidthParts;
}

const RingFilter& ring_of(const Fabric& fabric, DeviceId device, std::size_t channel) {
  return std::get<RingFilter>(fabric.element(fabric.device(device).elements[channel]).kind);
}

bool is_as(const Fabric& fabric, DeviceId device, const FilterObservation& bank, const Setpoint& setpoint) {
  for (std::size_t channel = 0; channel < fabric.device(device).elements.size(); ++channel) {
    const RingFilter& ring = ring_of(fabric, device, channel);
    if (!is_as(ring, set_millivolts(ring, bank, channel), ring_wanted(setpoint, channel))) {
      return false;
    }
  }
  return true;
}

std::string text_of(const WssRoute& row) {
  return format_text("{} from input {} to output {}", to_string(centre_of(row.slot)), row.input, row.output);
}

std::string text_of(const CrossConnect& row) { return format_text("input {} to output {}", row.input, row.output); }

const std::vector<WssRoute>& rows_of(const WavelengthSwitchSetpoint& setpoint) { return setpoint.routes; }
const std::vector<CrossConnect>& rows_of(const CircuitSwitchSetpoint& setpoint) { return setpoint.connects; }

bool has_row(const std::vector<WssRoute>& rows, const WssRoute& row) { return std::ranges::find(rows, row) != rows.end(); }
/// Hundreds of them, ascending.
bool has_row(const std::vector<CrossConnect>& rows, CrossConnect row) { return contains(rows, row); }

/// A row that neither the plan nor any of may_hold has, or one that all of them have and that is gone.
template <class Kind, class Row>
std::optional<std::string> unexpected_row(const DevicePlan& plan, const std::vector<Row>& seen) {
  const auto has = [](const Setpoint& setpoint, const Row& row) {
    const auto* kind = std::get_if<Kind>(&setpoint);
    return kind != nullptr && has_row(rows_of(*kind), row);
  };
  const Setpoint& target = plan.timeline.front().setpoint;
  for (const Row& row : seen) {
    const bool is_known = has(target, row) || std::any_of(plan.may_hold.begin(), plan.may_hold.end(),
                                                          [&](const Setpoint& setpoint) { return has(setpoint, row); });
    if (!is_known) {
      return format_text("holds {}, which nobody expects there", text_of(row));
    }
  }
  for (const Row& row : rows_of(std::get<Kind>(target))) {
    const bool is_kept =
        std::all_of(plan.may_hold.begin(), plan.may_hold.end(), [&](const Setpoint& setpoint) { return has(setpoint, row); });
    if (is_kept && !has_row(seen, row)) {
      return "has lost " + text_of(row);
    }
  }
  return std::nullopt;
}

/// What somebody else connected is expected anywhere but in the way of what the plan connects.
std::optional<std::string> unexpected_connect(const DevicePlan& plan, const CircuitSwitchObservation& seen) {
  std::vector<CrossConnect> found;
  const auto add_found = [&](const Setpoint& setpoint) {
    const auto* known = std::get_if<CircuitSwitchSetpoint>(&setpoint);
    for (std::size_t i = 0; known != nullptr && i < known->connects.size(); ++i) {
      if (contains(seen.occupied, known->connects[i])) {
        found.push_back(known->connects[i]);
      }
    }
  };
  const Setpoint& target = plan.timeline.front().setpoint;
  add_found(target);
  std::ranges::for_each(plan.may_hold, add_found);
  const std::vector<CrossConnect> ours = with_ours(seen.connects, std::move(found));
  const std::vector<CrossConnect> others = others_beside(seen, ours);
  for (const CrossConnect wanted : std::get<CircuitSwitchSetpoint>(target).connects) {
    if (const auto occupant = occupant_of(others, wanted)) {
      return "cannot be set: " + describe_occupant(*occupant);
    }
  }
  return unexpected_row<CircuitSwitchSetpoint>(plan, ours);
}

std::optional<std::string> unexpected_ring(const Fabric& fabric, const DevicePlan& plan, const FilterObservation& seen) {
  for (std::size_t channel = 0; channel < fabric.device(plan.device).elements.size(); ++channel) {
    const RingFilter& ring = ring_of(fabric, plan.device, channel);
    const std::int32_t millivolts = set_millivolts(ring, seen, channel);
    const auto stands_as = [&](const Setpoint& setpoint) {
      return std::holds_alternative<FilterSetpoint>(setpoint) && is_as(ring, millivolts, ring_wanted(setpoint, channel));
    };
    if (!stands_as(plan.timeline.front().setpoint) && std::none_of(plan.may_hold.begin(), plan.may_hold.end(), stands_as)) {
      return format_text("channel {} reads {} mV, which is {} and nobody expects there", channel, millivolts,
                         to_string(resonance_at(ring, millivolts)));
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> unexpected(const Fabric& fabric, const DevicePlan& plan, const Reading& reading) {
  const Setpoint& target = plan.timeline.front().setpoint;
  if (const auto* wss = std::get_if<WavelengthSwitchObservation>(&reading);
      wss && std::holds_alternative<WavelengthSwitchSetpoint>(target)) {
    return unexpected_row<WavelengthSwitchSetpoint>(plan, wss->routes);
  }
  if (const auto* ocs = std::get_if<CircuitSwitchObservation>(&reading);
      ocs && std::holds_alternative<CircuitSwitchSetpoint>(target)) {
    return unexpected_connect(plan, *ocs);
  }
  if (const auto* bank = std::get_if<FilterObservation>(&reading); bank && std::holds_alternative<FilterSetpoint>(target)) {
    return unexpected_ring(fabric, plan, *bank);
  }
  if (std::holds_alternative<GainObservation>(reading) && std::holds_alternative<GainSetpoint>(target)) {
    return std::nullopt;  // whatever it is found at: all light that passes it is dark while it moves
  }
  return "has not been read";
}

bool agrees(const Fabric& fabric, DeviceId device, const Reading& reading, const Setpoint& setpoint) {
  if (std::holds_alternative<MonitorObservation>(reading)) {
    return std::holds_alternative<MonitorSetpoint>(setpoint);
  }
  if (const auto* stage = std::get_if<GainObservation>(&reading)) {
    const auto* wanted = std::get_if<GainSetpoint>(&setpoint);
    return wanted != nullptr && stage->settled &&
           is_gain(fabric.element(fabric.device(device).elements.front()), *stage, wanted->gain);
  }
  if (const auto* laser = std::get_if<TransmitterObservation>(&reading)) {
    const auto* wanted = std::get_if<TransmitterSetpoint>(&setpoint);
    return wanted != nullptr && is_as(*laser, *wanted);
  }
  if (const auto* wss = std::get_if<WavelengthSwitchObservation>(&reading)) {
    const auto* wanted = std::get_if<WavelengthSwitchSetpoint>(&setpoint);
    return wanted != nullptr && wss->settled && wss->routes == wanted->routes;
  }
  if (const auto* ocs = std::get_if<CircuitSwitchObservation>(&reading)) {
    const auto* wanted = std::get_if<CircuitSwitchSetpoint>(&setpoint);
    const auto is_there = [&](CrossConnect each) { return is_connected(*ocs, each); };
    const auto is_wanted = [&](CrossConnect each) { return contains(wanted->connects, each); };
    return wanted != nullptr && ocs->settled && std::ranges::all_of(wanted->connects, is_there) &&
           std::ranges::all_of(ocs->connects, is_wanted);
  }
  const auto* bank = std::get_if<FilterObservation>(&reading);
  return bank != nullptr && std::holds_alternative<FilterSetpoint>(setpoint) && is_as(fabric, device, *bank, setpoint);
}

}  // namespace loom
