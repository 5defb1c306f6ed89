// SPDX-License-Identifier: Apache-2.0
// One device's setpoint against its reading.
#include "controller/plan/reconcile/reconcile.hpp"

#include <algorithm>

#include "core/fabric/gain_stage.hpp"
#include "core/fabric/occupied_ports.hpp"
#include "core/ring/ring.hpp"

namespace loom {
namespace {

Drift drift_of_laser(const TransmitterSetpoint& wanted, const TransmitterObservation& seen, const ReconcileLimits& limits) {
  if (!wanted.emit) {
    return seen.emitting && seen.power > kNoLight ? Drift::foreign : Drift::none;  // an emission that sends nothing is none
  }
  if (!seen.emitting || seen.power <= kNoLight) {  // the audit may have met it between its two registers
    return Drift::missing;
  }
  if (magnitude(seen.frequency - centre_of(wanted.slot)) > limits.detuned_beyond) {
    return Drift::detuned;
  }
  return wanted.power - seen.power > limits.dim_beyond ? Drift::dim : Drift::none;
}

/// The mildest of all entries: a laser between two timeslots agrees with one of them.
Drift drift_of_timeline(const DevicePlan& plan, const TransmitterObservation& seen, const ReconcileLimits& limits) {
  Drift first = Drift::none;
  for (std::size_t i = 0; i < plan.timeline.size(); ++i) {
    const Drift drift = drift_of_laser(std::get<TransmitterSetpoint>(plan.timeline[i].setpoint), seen, limits);
    if (drift == Drift::none) {
      return drift;
    }
    first = i == 0 ? drift : first;
  }
  // Dark in the guard, and dark after the last cycle, is part of playing.
  return plan.timeline.back().hold != kForever && first == Drift::missing ? Drift::none : first;
}

template <class Row>
bool lacks(const std::vector<Row>& rows, const Row& row) {
  return std::find(rows.begin(), rows.end(), row) == rows.end();
}

template <class Row>
Drift drift_of_rows(const std::vector<Row>& wanted, const std::vector<Row>& seen) {
  if (std::any_of(seen.begin(), seen.end(), [&](const Row& row) { return lacks(wanted, row); })) {
    return Drift::foreign;
  }
  return std::any_of(wanted.begin(), wanted.end(), [&](const Row& row) { return lacks(seen, row); }) ? Drift::missing
                                                                                                     : Drift::none;
}

/// What somebody else connected is no drift; that it is there counts where it is desired.
Drift drift_of_connects(const std::vector<CrossConnect>& wanted, const CircuitSwitchObservation& seen) {
  if (std::ranges::any_of(seen.connects, [&](CrossConnect row) { return !contains(wanted, row); })) {
    return Drift::foreign;
  }
  return std::ranges::all_of(wanted, [&](CrossConnect row) { return is_connected(seen, row); }) ? Drift::none : Drift::missing;
}

Drift drift_of_ring(const RingFilter& ring, const RingResonance* wanted, std::int32_t millivolts,
                    const ReconcileLimits& limits) {
  const bool is_off = millivolts <= kHeaterOffMillivolts;
  if (wanted == nullptr) {
    return is_off ? Drift::none : Drift::foreign;
  }
  const FrequencyOffset off = off_its_place(ring, *wanted, millivolts);
  if (off.mhz <= ring.fwhm.mhz / limits.ring_width_parts) {
    return Drift::none;
  }
  return is_off ? Drift::missing : Drift::detuned;
}

Drift drift_of_bank(const Fabric& fabric, const Device& device, const FilterSetpoint& wanted, const FilterObservation& seen,
                    const ReconcileLimits& limits) {
  Drift drift = Drift::none;
  for (std::size_t channel = 0; channel < device.elements.size(); ++channel) {
    const auto& ring = std::get<RingFilter>(fabric.element(device.elements[channel]).kind);
    const Drift found = drift_of_ring(ring, wanted_of(wanted, channel), set_millivolts(ring, seen, channel), limits);
    if (found == Drift::foreign) {
      return found;
    }
    drift = found == Drift::missing || drift == Drift::none ? found : drift;
  }
  return drift;
}

/// A gain that is too high is as foreign as light that nobody asked for: it may be more than a receiver bears.
Drift drift_of_gain(const Element& element, const GainSetpoint& wanted, const GainObservation& seen) {
  if (is_gain(element, seen, wanted.gain)) {
    return Drift::none;
  }
  return gain_error(element, seen, wanted.gain) < Db{0} ? Drift::dim : Drift::foreign;
}

/// Of a reading that is believed.
Drift drift_of_reading(const Fabric& fabric, const DevicePlan& plan, const Reading& reading, const ReconcileLimits& limits) {
  const Setpoint& wanted = plan.timeline.front().setpoint;
  if (const auto* laser = std::get_if<TransmitterObservation>(&reading);
      laser && std::holds_alternative<TransmitterSetpoint>(wanted)) {
    return drift_of_timeline(plan, *laser, limits);
  }
  if (const auto* bank = std::get_if<FilterObservation>(&reading); bank && std::holds_alternative<FilterSetpoint>(wanted)) {
    return drift_of_bank(fabric, fabric.device(plan.device), std::get<FilterSetpoint>(wanted), *bank, limits);
  }
  if (const auto* wss = std::get_if<WavelengthSwitchObservation>(&reading);
      wss && std::holds_alternative<WavelengthSwitchSetpoint>(wanted)) {
    return drift_of_rows(std::get<WavelengthSwitchSetpoint>(wanted).routes, wss->routes);
  }
  if (const auto* ocs = std::get_if<CircuitSwitchObservation>(&reading);
      ocs && std::holds_alternative<CircuitSwitchSetpoint>(wanted)) {
    return drift_of_connects(std::get<CircuitSwitchSetpoint>(wanted).connects, *ocs);
  }
  if (const auto* stage = std::get_if<GainObservation>(&reading); stage && std::holds_alternative<GainSetpoint>(wanted)) {
    return drift_of_gain(fabric.element(fabric.device(plan.device).elements.front()), std::get<GainSetpoint>(wanted), *stage);
  }
  if (std::holds_alternative<MonitorObservation>(reading) && std::holds_alternative<MonitorSetpoint>(wanted)) {
    return Drift::none;  // it tells of others' light
  }
  return Drift::stale;  // no reading yet, or one of another kind of device
}

std::uint32_t* counter_of(DriftCounts& counts, Drift drift) {
  switch (drift) {
    case Drift::none:
      return nullptr;
    case Drift::missing:
      return &counts.missing;
    case Drift::foreign:
      return &counts.foreign;
    case Drift::detuned:
      return &counts.detuned;
    case Drift::dim:
      return &counts.dim;
    case Drift::stale:
      return &counts.stale;
  }
  return nullptr;
}

}  // namespace

void add(DriftCounts& counts, Drift drift) {
  if (std::uint32_t* counter = counter_of(counts, drift)) {
    ++*counter;
  }
}

void remove(DriftCounts& counts, Drift drift) {
  if (std::uint32_t* counter = counter_of(counts, drift)) {
    --*counter;
  }
}

Drift drift_of(const Fabric& fabric, const DevicePlan& plan, const Observation* seen, Instant now,
               const ReconcileLimits& limits) {
  if (seen == nullptr || seen->health == DeviceHealth::unknown || now - seen->read_at > limits.stale_after) {
    return Drift::stale;
  }
  const Drift drift = drift_of_reading(fabric, plan, seen->reading, limits);
  // A driver that asks again has taken its fault back and knows nothing yet; a module that says it is broken was read.
  const auto* laser = std::get_if<TransmitterObservation>(&seen->reading);
  const bool says_so = laser != nullptr && laser->status_fatal != 0 && seen->fault.empty();
  const bool gave_up = seen->health == DeviceHealth::failed && !says_so;
  return drift == Drift::none && gave_up ? Drift::stale : drift;
}

Reconciliation reconcile(const Fabric& fabric, const Plan& desired, const std::vector<Observation>& observations, Instant now,
                         const ReconcileLimits& limits) {
  std::vector<const Observation*> latest(fabric.devices.size(), nullptr);
  for (const Observation& observation : observations) {
    if (observation.device.value < latest.size()) {
      const Observation*& known = latest[observation.device.value];
      known = known == nullptr || known->read_at <= observation.read_at ? &observation : known;
    }
  }
  Reconciliation result;
  result.devices.reserve(fabric.devices.size());
  for (const NodePlan& node : desired.nodes) {
    for (const DevicePlan& plan : node.devices) {
      const Drift drift = drift_of(fabric, plan, latest[plan.device.value], now, limits);
      result.devices.push_back({plan.device, drift});
      add(result.counts, drift);
    }
  }
  std::sort(result.devices.begin(), result.devices.end(),
            [](const DeviceDrift& a, const DeviceDrift& b) { return a.device < b.device; });
  return result;
}

}  // namespace loom
