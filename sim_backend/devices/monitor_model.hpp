// SPDX-License-Identifier: Apache-2.0
// MonitorModel: what simulated monitors share: what comes to their receivers, as ground truth has it, spoilt by their faults.
#pragma once

#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "sim_backend/devices/light_observer.hpp"
#include "sim_backend/devices/simulated_device.hpp"

namespace loom {

/// Faults: `fail` and `dim` are a dead and a dirty detector, `detune` and `drift` a wrong scale of frequency, `false_readback`
/// and `stick` tell for ever what was measured when they began.
class MonitorModel : public SimulatedDevice, public LightObserver {
 public:
  MonitorModel(const Device& device, const SimDeviceOptions& options)
      : SimulatedDevice(device.id, options), receivers_(device.elements) {}
  void look_through(LightSight sight) final { sight_ = std::move(sight); }
  OpticalState light(Instant) const final { return MonitorLight{}; }

 protected:
  /// At the receiver of `channel`, strongest first.
  std::vector<ArrivingLight> arriving(Instant at, std::size_t channel) {
    if (has_fault(DeviceFaultKind::fail, at) || !sight_ || channel >= receivers_.size()) {
      return {};
    }
    if (has_fault(DeviceFaultKind::false_readback, at) || has_fault(DeviceFaultKind::stick, at)) {
      return last_[channel];
    }
    std::vector<ArrivingLight> lights = sight_({receivers_[channel], 0}).value_or(std::vector<ArrivingLight>{});
    for (ArrivingLight& each : lights) {
      each.power = each.power - dimming(at, false);
      each.frequency = each.frequency + detuning(at, 0, false);
    }
    return last_[channel] = std::move(lights);
  }
  double milliwatt_at(Instant at, std::size_t channel) {
    double sum = 0;
    for (const ArrivingLight& each : arriving(at, channel)) {
      sum += to_milliwatt(each.power).value;
    }
    return sum;
  }
  /// Between -1 and 1, three draws summed: noise of a converter's last step.
  double noise() {
    double sum = 0;
    for (int i = 0; i < 3; ++i) {
      sum += static_cast<double>(draw() % 2'001) / 1'000.0 - 1;
    }
    return sum / 3;
  }
  std::size_t channels() const { return receivers_.size(); }
  void power_up(Instant) override {}
  void append_breakpoints(Instant, std::vector<Instant>&) const final {}

 private:
  std::vector<ElementId> receivers_;
  LightSight sight_;
  std::map<std::size_t, std::vector<ArrivingLight>> last_;  ///< by channel
};

}  // namespace loom
