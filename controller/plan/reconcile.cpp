// One device's setpoint against its reading.
#include "controller/plan/reconcile.hpp"

#include <algorithm>
#include <cmath>

namespace loom {
namespace {

Drift drift_of_laser(const LaserSetpoint& wanted, const LaserObservation& seen, const ReconcileLimits& limits) {
  if (!wanted.emit) {
    return seen.emitting ? Drift::foreign : Drift::none;
  }
  if (!seen.emitting) {
    return Drift::missing;
  }
  if (magnitude(seen.frequency - centre_of(wanted.slot)) > limits.detuned_beyond) {
    return Drift::detuned;
  }
  return wanted.power - seen.power > limits.dim_beyond ? Drift::dim : Drift::none;
}

/// The mildest of all entries: a laser between two timeslots agrees with one of them.
Drift drift_of_timeline(const DevicePlan& plan, const LaserObservation& seen, const ReconcileLimits& limits) {
  Drift first = Drift::none;
  for (std::size_t i = 0; i < plan.timeline.size(); ++i) {
    const Drift drift = drift_of_laser(std::get<LaserSetpoint>(plan.timeline[i].setpoint), seen, limits);
    if (drift == Drift::none) {
      return drift;
    }
    first = i == 0 ? drift : first;
  }
  // Dark in the guard, and dark after the last cycle, is part of playing.
  return plan.timeline.back().hold != kForever && first == Drift::missing ? Drift::none : first;
}

template <class Row>
Drift drift_of_rows(const std::vector<Row>& wanted, const std::vector<Row>& seen) {
  const auto lacks = [](const std::vector<Row>& rows, const Row& row) {
    return std::find(rows.begin(), rows.end(), row) == rows.end();
  };
  if (std::any_of(seen.begin(), seen.end(), [&](const Row& row) { return lacks(wanted, row); })) {
    return Drift::foreign;
  }
  return std::any_of(wanted.begin(), wanted.end(), [&](const Row& row) { return lacks(seen, row); }) ? Drift::missing
                                                                                                     : Drift::none;
}

/// Heater law of RingFilter: P = V^2 / R, and the resonance falls by mhz_per_milliwatt.
double volts_for(const RingFilter& ring, Frequency resonance) {
  const double milliwatts = static_cast<double>((ring.cold_resonance - resonance).mhz) / ring.mhz_per_milliwatt;
  return std::sqrt(std::max(0.0, milliwatts) / 1000 * ring.heater_ohm);
}

Drift drift_of_bank(const Fabric& fabric, const Device& device, const HeaterSetpoint& wanted, const HeaterObservation& seen,
                    const ReconcileLimits& limits) {
  constexpr double kOffVolts = 0.05;
  Drift drift = Drift::none;
  for (std::size_t channel = 0; channel < device.elements.size(); ++channel) {
    const double volts = channel < seen.millivolts.size() ? seen.millivolts[channel] / 1000.0 : 0.0;
    const auto ring = std::find_if(wanted.rings.begin(), wanted.rings.end(),
                                   [&](const RingResonance& candidate) { return candidate.channel == channel; });
    if (ring == wanted.rings.end()) {
      if (volts > kOffVolts) {
        return Drift::foreign;
      }
      continue;
    }
    const double target = volts_for(std::get<RingFilter>(fabric.element(device.elements[channel]).kind), ring->resonance);
    if (volts <= kOffVolts && target > kOffVolts) {
      drift = Drift::missing;
    } else if (std::abs(volts - target) > limits.ring_volt_tolerance * std::max(target, kOffVolts) && drift == Drift::none) {
      drift = Drift::detuned;
    }
  }
  return drift;
}

Drift drift_of(const Fabric& fabric, const DevicePlan& plan, const Observation* seen, Instant now,
               const ReconcileLimits& limits) {
  if (seen == nullptr || seen->health == DeviceHealth::unknown || now - seen->read_at > limits.stale_after) {
    return Drift::stale;
  }
  const Setpoint& wanted = plan.timeline.front().setpoint;
  if (const auto* laser = std::get_if<LaserObservation>(&seen->reading);
      laser && std::holds_alternative<LaserSetpoint>(wanted)) {
    return drift_of_timeline(plan, *laser, limits);
  }
  if (const auto* bank = std::get_if<HeaterObservation>(&seen->reading);
      bank && std::holds_alternative<HeaterSetpoint>(wanted)) {
    return drift_of_bank(fabric, fabric.device(plan.device), std::get<HeaterSetpoint>(wanted), *bank, limits);
  }
  if (const auto* wss = std::get_if<WssObservation>(&seen->reading); wss && std::holds_alternative<WssSetpoint>(wanted)) {
    return drift_of_rows(std::get<WssSetpoint>(wanted).routes, wss->routes);
  }
  if (const auto* ocs = std::get_if<OcsObservation>(&seen->reading); ocs && std::holds_alternative<OcsSetpoint>(wanted)) {
    return drift_of_rows(std::get<OcsSetpoint>(wanted).connects, ocs->connects);
  }
  return Drift::stale;  // no reading yet, or one of another kind of device
}

void count(DriftCounts& counts, Drift drift) {
  switch (drift) {
    case Drift::none:
      break;
    case Drift::missing:
      ++counts.missing;
      break;
    case Drift::foreign:
      ++counts.foreign;
      break;
    case Drift::detuned:
      ++counts.detuned;
      break;
    case Drift::dim:
      ++counts.dim;
      break;
    case Drift::stale:
      ++counts.stale;
      break;
  }
}

}  // namespace

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
  for (const NodePlan& node : desired.nodes) {
    bool repairs = false;
    for (const DevicePlan& plan : node.devices) {
      const Drift drift = drift_of(fabric, plan, latest[plan.device.value], now, limits);
      result.devices.push_back({plan.device, drift});
      count(result.counts, drift);
      repairs = repairs || (drift != Drift::none && drift != Drift::stale);
    }
    if (repairs) {
      result.repair.push_back(node.node);
    }
  }
  std::sort(result.devices.begin(), result.devices.end(),
            [](const DeviceDrift& a, const DeviceDrift& b) { return a.device < b.device; });
  return result;
}

}  // namespace loom
