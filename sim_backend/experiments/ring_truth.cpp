// SPDX-License-Identifier: Apache-2.0
// The same models as in the world, by the same seeds.
#include "sim_backend/experiments/ring_truth.hpp"

#include <algorithm>
#include <cmath>

#include "controller/architectures/oddl/fabric.hpp"
#include "controller/calibrate/ring_ways.hpp"
#include "core/ring/ring.hpp"
#include "sim_backend/devices/heater/heated_rings.hpp"
#include "sim_backend/world/sim_bus.hpp"

namespace loom {
namespace {

/// Resonances wanted of the bank's rings, by channel.
FilterSetpoint wanted_of(const Fabric& fabric, const Device& bank, std::size_t nth) {
  FilterSetpoint setpoint;
  for (std::size_t channel = 0; channel < bank.elements.size(); ++channel) {
    std::vector<Frequency> lights;
    for (const Probe& light : ring_ways(fabric, bank.elements[channel]).lights) {
      lights.push_back(centre_of(light.slot));
    }
    std::ranges::sort(lights, std::ranges::greater{});
    lights.erase(std::ranges::unique(lights).begin(), lights.end());
    if (!lights.empty()) {
      setpoint.rings.push_back({static_cast<std::uint16_t>(channel), lights[std::min(nth, lights.size() - 1)]});
    }
  }
  return setpoint;
}

}  // namespace

RingHabits astray() {
  RingHabits habits;
  habits.resistance = 0.05;
  habits.cold = FrequencyOffset{125'000};
  habits.crosstalk = 0.02;
  habits.substrate = 0.1;
  return habits;
}

Scenario scenario_on(const RingTestbed& testbed) {
  OddlParameters parameters;
  parameters.nodes = testbed.nodes;
  parameters.group_size = testbed.group_size;
  parameters.channels = testbed.channels;
  parameters.planes = testbed.planes;
  parameters.calibrated = testbed.calibrated;
  parameters.locked = testbed.locked;
  parameters.photodiodes = true;
  Fabric fabric = make_oddl(parameters);
  build_index(fabric);
  Scenario scenario;
  scenario.name = "rings";
  scenario.fabric = std::make_shared<const Fabric>(std::move(fabric));
  scenario.algorithm = "oddl";
  scenario.rings = testbed.habits;
  if (testbed.job_at) {
    JobSubmission job;
    job.name = "ring";
    job.workload = "vgg19";
    job.nodes = 4;
    job.at = *testbed.job_at;
    scenario.jobs = {job};
  }
  return scenario;
}

std::vector<double> ring_misses(const Fabric& fabric, const RingHabits& habits, std::uint64_t seed, const Intent& intent,
                                Believed by, std::size_t nth) {
  std::vector<double> misses;
  for (const DeviceCalibration& each : intent.calibrations) {
    if (calibration_of(intent, each.device) != &each) {
      continue;
    }
    const Device& device = fabric.device(each.device);
    const std::vector<RingFilter> rings = rings_of(fabric, device);
    FilterSetpoint setpoint = wanted_of(fabric, device, nth);
    DeviceCalibration believed = each;
    if (by == Believed::fabric) {
      for (RingLaw& law : believed.rings) {
        law = nominal_law(rings[law.channel], law.channel, rings.size());
      }
    }
    if (!drive_by(believed, rings, setpoint)) {
      continue;
    }
    constexpr Instant kDriven{std::chrono::seconds{1}};
    HeatedRings truth(rings, habits, SimBus::seed_of(seed, device.id));
    for (const RingResonance& ring : setpoint.rings) {
      truth.heat(ring.channel, kDriven, ring.drive.value_or(0) * 1e-3, std::chrono::microseconds{14});
    }
    for (const RingResonance& ring : setpoint.rings) {
      const Frequency stands = truth.resonance_at(ring.channel, kDriven + std::chrono::seconds{1});
      misses.push_back(static_cast<double>(resonance_distance(rings[ring.channel], stands, ring.resonance).mhz));
    }
  }
  return misses;
}

void warm_chips(World& world, const Fabric& fabric, double kelvin, Duration lasts) {
  for (const Device& device : fabric.devices) {
    if (device.role == DeviceRole::filter) {
      ScenarioFault fault;
      fault.at = world.loop_now().time_since_epoch();
      fault.device = device.id;
      fault.kind = DeviceFaultKind::warm;
      fault.offset = FrequencyOffset{std::llround(-kelvin * kRingMhzPerKelvin)};
      fault.lasts = lasts;
      world.begin_fault(fault);
    }
  }
}

std::vector<double> rings_off_light(World& world, const Fabric& fabric) {
  std::vector<double> off;
  for (const Circuit& circuit : world.controller().confirmed_plan()->plan.circuits) {
    const auto& fibre = fabric.fibre_in[circuit.receiver.value][0];
    const ElementId ring = fabric.fibres[fibre->value].from.element;
    const auto& filter = std::get<RingFilter>(fabric.element(ring).kind);
    const OpticalState light = world.bus().model(*fabric.device_of_element[ring.value]).true_light(world.loop_now());
    const Frequency stands = std::get<RingLight>(light).resonances[fabric.index_in_device[ring.value]];
    off.push_back(static_cast<double>(resonance_distance(filter, stands, centre_of(circuit.slot)).mhz));
  }
  return off;
}

}  // namespace loom
