// SPDX-License-Identifier: Apache-2.0
// What is measured of light, and what it is measured by: calibrations, rings, receivers and the ways to them.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "controller/calibrate/ring_ways.hpp"
#include "controller/control/requests/report_page.hpp"
#include "controller/plan/explain.hpp"
#include "core/ring/ring.hpp"
#include "core/ring/settling.hpp"

namespace loom {
namespace {

/// That send a job's light.
std::set<ElementId> busy_transmitters(const ConfirmedPlans& confirmed) {
  std::set<ElementId> busy;
  for (const Circuit& circuit : confirmed.exists() ? confirmed.plan().circuits : std::vector<Circuit>{}) {
    busy.insert(circuit.transmitter);
  }
  return busy;
}

/// Pluggable modules that tell what their own receivers get; by receiver.
std::map<ElementId, DeviceId> measuring_modules(const Fabric& fabric, const AgentSessions& sessions) {
  std::map<ElementId, DeviceId> modules;
  for (const Device& device : fabric.devices) {
    const Observation* seen = sessions.observed(device.id);
    const auto* laser = seen == nullptr ? nullptr : std::get_if<TransmitterObservation>(&seen->reading);
    const auto receiver = laser != nullptr && laser->received ? receiver_of_module(fabric, device) : std::nullopt;
    if (receiver) {
      modules.emplace(*receiver, device.id);
    }
  }
  return modules;
}

/// Strongest light on one input of a monitor; kNoLight: it sees none there.
Dbm strongest_at(const MonitorObservation& monitor, std::size_t channel) {
  Dbm power = kNoLight;
  for (const LightReading& light : monitor.lights) {
    power = light.channel == channel ? std::max(power, light.power) : power;
  }
  return power;
}

void add_lock(const Observation* bank, RingReport& row) {
  const auto* seen = bank == nullptr ? nullptr : std::get_if<FilterObservation>(&bank->reading);
  for (const RingLock& lock : seen == nullptr ? std::vector<RingLock>{} : seen->locks) {
    if (lock.channel == row.channel) {
      row.lock = to_string(lock.state);
      row.trim = lock.trim;
    }
  }
}

void add_headroom(const Fabric& fabric, const Intent& intent, const DevicePlan* plan, RingReport& row) {
  const auto& ring = std::get<RingFilter>(fabric.element(row.ring).kind);
  const DeviceCalibration* bank = calibration_of(intent, row.bank);
  const RingLaw* measured = bank == nullptr ? nullptr : law_of(*bank, row.channel);
  if ((measured == nullptr && !ring.calibrated) || plan == nullptr) {
    return;
  }
  const RingResonance* wanted = wanted_of(std::get<FilterSetpoint>(plan->timeline.front().setpoint), row.channel);
  if (wanted != nullptr) {
    const RingLaw law = measured != nullptr ? *measured : nominal_law(ring, row.channel, row.channels);
    const Headroom left = headroom_of(law, ring, wanted->resonance, row.trim);
    row.warmer_millikelvin = static_cast<std::uint32_t>(std::max(0.0, left.warmer_kelvin * 1e3));
    row.cooler_millikelvin = static_cast<std::uint32_t>(std::max(0.0, left.cooler_kelvin * 1e3));
  }
}

}  // namespace

std::optional<CalibrationAge> Reports::calibration_age(DeviceId device) const {
  const DeviceCalibration* bank = calibration_of(from_.desired.intent(), device);
  if (bank == nullptr || bank->rings.empty()) {
    return std::nullopt;
  }
  const Duration age = from_.facts.wall(from_.facts.now) - bank->measured_at;
  return CalibrationAge{bank->version, std::max(age, Duration{}), residual_of(*bank)};
}

/// Of a bank: behind its rings' drops.
std::optional<Dbm> Reports::received_at(const Device& device) const {
  const Fabric& fabric = *from_.facts.fabric;
  std::optional<Dbm> strongest;
  const auto take = [&](Dbm power) { strongest = strongest ? std::max(*strongest, power) : power; };
  const auto take_monitored = [&](ElementId receiver) {
    const auto id = fabric.device_of_element[receiver.value];
    const Observation* seen = id ? from_.sessions.observed(*id) : nullptr;
    const auto* monitor = seen == nullptr ? nullptr : std::get_if<MonitorObservation>(&seen->reading);
    if (monitor != nullptr) {
      take(strongest_at(*monitor, fabric.index_in_device[receiver.value]));
    }
  };
  const Observation* own = from_.sessions.observed(device.id);
  if (const auto* laser = own == nullptr ? nullptr : std::get_if<TransmitterObservation>(&own->reading)) {
    return laser->received;
  }
  for (const ElementId element : device.elements) {
    const auto drop = device.role == DeviceRole::filter ? fabric.fibre_out[element.value][1] : std::nullopt;
    if (device.role == DeviceRole::monitor) {
      take_monitored(element);
    } else if (drop) {
      take_monitored(fabric.fibres[drop->value].to.element);
    }
  }
  return strongest;
}

ReportPage<WayReport> Reports::way_rows(const Query& query) const {
  Page<WayReport> page(query);
  const Fabric& fabric = *from_.facts.fabric;
  const std::set<ElementId> busy = busy_transmitters(from_.confirmed);
  std::map<ElementId, Circuit> sent;  // by receiver
  if (from_.confirmed.exists()) {
    for (const Circuit& circuit : from_.confirmed.plan().circuits) {
      sent.emplace(circuit.receiver, circuit);
    }
    for (const Probe& probe : from_.confirmed.intent().probes) {
      Circuit light;
      light.transmitter = probe.transmitter;
      light.receiver = probe.receiver;
      light.slot = probe.slot;
      sent.emplace(probe.receiver, light);
    }
  }
  const std::map<ElementId, ProbeSight> sights = from_.light.probe_sights();
  std::optional<PowerTrace> trace;  // of all rows
  const auto add = [&](ElementId receiver, DeviceId monitor) {
    page.add(receiver.value, [&] {
      WayReport row = receiver_ways(fabric, receiver, monitor, busy);
      if (const auto light = sent.find(receiver); light != sent.end()) {
        if (!trace) {
          trace.emplace(fabric, from_.confirmed.plan());
        }
        row.expected = trace->at_receiver(light->second);
      }
      if (const auto sight = sights.find(receiver); sight != sights.end()) {
        row.wavemeter = sight->second.wavemeter;
        row.measured = sight->second.frequency;
      }
      return row;
    });
  };
  for (const Device& device : fabric.devices) {
    if (device.role == DeviceRole::monitor) {
      for (const ElementId receiver : device.elements) {
        add(receiver, device.id);
      }
    }
  }
  for (const auto& [receiver, module] : measuring_modules(fabric, from_.sessions)) {
    add(receiver, module);
  }
  return page.take();
}

ReportPage<RingReport> Reports::ring_rows(const Query& query) const {
  Page<RingReport> page(query);
  const Fabric& fabric = *from_.facts.fabric;
  const std::map<ElementId, DeviceId> modules = measuring_modules(fabric, from_.sessions);
  const std::set<ElementId> busy = busy_transmitters(from_.confirmed);
  for (const Device& bank : fabric.devices) {
    for (const ElementId ring : bank.role == DeviceRole::filter ? bank.elements : std::vector<ElementId>{}) {
      page.add(ring.value, [&] {
        RingReport row = ring_ways(fabric, ring, busy);
        const auto module = modules.find(row.receiver);
        row.monitor = row.monitor || module == modules.end() ? row.monitor : std::optional(module->second);
        add_lock(from_.sessions.observed(bank.id), row);
        add_headroom(fabric, from_.desired.intent(),
                     from_.confirmed.exists() ? from_.confirmed.desired_of(fabric, bank.id) : nullptr, row);
        return row;
      });
    }
  }
  return page.take();
}

ReportPage<ReceiverReport> Reports::receiver_rows(const Query& query) const {
  Page<ReceiverReport> page(query);
  const Fabric& fabric = *from_.facts.fabric;
  Instant ordered_at = Instant::min();
  for (const CommitReport& commit : from_.commits.history()) {
    ordered_at = std::max(ordered_at, commit.started + commit.total);
  }
  // An agent reads its monitors so long after it was told of the end, by its own clock.
  const Duration settles = std::max(kLightSettles - 2 * from_.facts.timings.clock_error, Duration{});
  const auto is_since = [&](Instant read_at) { return ordered_at == Instant::min() || read_at > ordered_at + settles; };
  const auto add = [&](ElementId receiver, DeviceId monitor, Dbm power, Instant read_at) {
    page.add(receiver.value, [&] {
      const Duration age = std::max(from_.facts.now - read_at, Duration{});
      return ReceiverReport{receiver, fabric.element(receiver).name, monitor, power, age, is_since(read_at)};
    });
  };
  for (const Device& device : fabric.devices) {
    const Observation* seen = from_.sessions.observed(device.id);
    if (seen == nullptr || seen->health == DeviceHealth::failed) {
      continue;
    }
    if (const auto* monitor = std::get_if<MonitorObservation>(&seen->reading)) {
      for (std::size_t i = 0; i < device.elements.size(); ++i) {
        add(device.elements[i], device.id, strongest_at(*monitor, i), seen->read_at);
      }
    } else if (const auto* laser = std::get_if<TransmitterObservation>(&seen->reading); laser != nullptr && laser->received) {
      if (const auto receiver = receiver_of_module(fabric, device)) {
        add(*receiver, device.id, *laser->received, seen->read_at);
      }
    }
  }
  return page.take();
}

ReportPage<CalibrationReport> Reports::calibration_rows(const Query& query) const {
  Page<CalibrationReport> page(query);
  const Intent& intent = from_.desired.intent();
  for (const DeviceCalibration& bank : intent.calibrations) {
    page.add(bank.device.value, [&] {
      const Duration age = from_.facts.wall(from_.facts.now) - bank.measured_at;
      return CalibrationReport{bank, from_.facts.fabric->device(bank.device).name, std::max(age, Duration{}),
                               calibration_of(intent, bank.device) == &bank};
    });
  }
  return page.take();
}

}  // namespace loom
