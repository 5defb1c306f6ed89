// SPDX-License-Identifier: Apache-2.0
// What devices may hold, and whose light that may meet.
#include "controller/plan/steering.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <span>

#include "controller/plan/light/light_scope.hpp"
#include "controller/plan/lower/lower.hpp"
#include "core/fabric/gain_stage.hpp"
#include "core/fabric/occupied_ports.hpp"
#include "core/limits.hpp"
#include "core/ring/ring.hpp"

namespace loom {
namespace {

bool is_same_ring(const RingFilter& ring, const FilterSetpoint& a, const FilterSetpoint& b, std::uint16_t channel) {
  const auto stands = [&](const FilterSetpoint& bank) {
    const RingResonance* wanted = wanted_of(bank, channel);
    return wanted == nullptr ? ring.cold_resonance : stand_of(ring, *wanted);
  };
  return resonance_distance(ring, stands(a), stands(b)).mhz <= ring.fwhm.mhz / kRingWidthParts;
}

/// As far as light can tell: a heater's voltage is read in whole millivolts, a gain in steps of its converter.
bool is_same(const Fabric& fabric, DeviceId id, const Setpoint& a, const Setpoint& b) {
  const auto* gain = std::get_if<GainSetpoint>(&a);
  const auto* other_gain = std::get_if<GainSetpoint>(&b);
  if (gain != nullptr && other_gain != nullptr) {
    const Db error = gain->gain - other_gain->gain;
    return error <= kGainTolerance && -error <= kGainTolerance;
  }
  const auto* some = std::get_if<FilterSetpoint>(&a);
  const auto* other = std::get_if<FilterSetpoint>(&b);
  if (some == nullptr || other == nullptr) {
    return a == b;
  }
  const auto& rings = fabric.device(id).elements;
  for (std::size_t channel = 0; channel < rings.size(); ++channel) {
    const auto& ring = std::get<RingFilter>(fabric.element(rings[channel]).kind);
    if (!is_same_ring(ring, *some, *other, static_cast<std::uint16_t>(channel))) {
      return false;
    }
  }
  return true;
}

/// What is known, device by device.
class KnownDevices {
 public:
  KnownDevices(const Fabric& fabric, const KnownState& known) : fabric_(fabric), known_(known), plans_(known.uncertain) {
    if (known.confirmed != nullptr) {
      plans_.push_back(known.confirmed);
    }
  }

  const std::vector<const Plan*>& plans() const { return plans_; }

  std::optional<Setpoint> found(DeviceId id) const {
    const Observation* seen = known_.observations[id.value];
    auto setpoint = seen == nullptr ? std::nullopt : found_setpoint(fabric_, id, seen->reading);
    if (const auto* ocs = seen == nullptr ? nullptr : std::get_if<CircuitSwitchObservation>(&seen->reading); ocs && setpoint) {
      add_ours(id, *ocs, std::get<CircuitSwitchSetpoint>(*setpoint).connects);
    }
    return setpoint;
  }

  bool is_among(DeviceId id, const std::vector<Setpoint>& states, const Setpoint& setpoint) const {
    return std::any_of(states.begin(), states.end(),
                       [&](const Setpoint& other) { return is_same(fabric_, id, setpoint, other); });
  }

  /// What the plans say that a device which moves may hold.
  std::vector<Setpoint> states_of(const DevicePlan& device) const {
    std::vector<Setpoint> states = device.may_hold;
    const auto add = [&](const Setpoint& setpoint) {
      if (!is_among(device.device, states, setpoint)) {
        states.push_back(setpoint);
      }
    };
    for (const Plan* plan : plans_) {
      if (const DevicePlan* there = device_of(fabric_, *plan, device.device)) {
        add(there->timeline.front().setpoint);
      }
    }
    for (const Plan* plan : known_.uncertain) {  // it may not have left where that revision found it
      if (const DevicePlan* there = device_of(fabric_, *plan, device.device)) {
        std::for_each(there->may_hold.begin(), there->may_hold.end(), add);
      }
    }
    return states;
  }

  /// Where a circuit switch may have been left.
  std::span<const CircuitSwitchSetpoint> left_states_of(DeviceId id) const {
    const auto found = std::ranges::lower_bound(known_.left, id, {}, &LeftSwitch::device);
    return found == known_.left.end() || found->device != id ? std::span<const CircuitSwitchSetpoint>{} : found->states;
  }

  /// A device that moves was read to be what no plan says, or a laser that stays was read to emit what none says.
  bool deviates(const DevicePlan& device) const {
    if (fabric_.device(device.device).role == DeviceRole::transmitter) {
      return !device.touched && shines_unplanned(device.device);
    }
    const auto seen = device.touched ? found(device.device) : std::nullopt;
    return seen && !is_among(device.device, states_of(device), *seen);
  }

 private:
  /// An agent that began anew takes connections for somebody else's that plans of ours name.
  void add_ours(DeviceId id, const CircuitSwitchObservation& seen, std::vector<CrossConnect>& connects) const {
    std::vector<CrossConnect> found;
    const auto add_those = [&](const CircuitSwitchSetpoint& known) {
      std::ranges::copy_if(known.connects, std::back_inserter(found),
                           [&](CrossConnect each) { return contains(seen.occupied, each); });
    };
    for (const Plan* plan : seen.occupied.empty() ? std::vector<const Plan*>{} : plans_) {
      const DevicePlan* there = device_of(fabric_, *plan, id);
      if (const auto* known =
              there == nullptr ? nullptr : std::get_if<CircuitSwitchSetpoint>(&there->timeline.front().setpoint)) {
        add_those(*known);
      }
    }
    std::ranges::for_each(left_states_of(id), add_those);
    connects = with_ours(std::move(connects), std::move(found));
  }

  /// Of most lasers the reading alone says that they are dark.
  bool shines_unplanned(DeviceId laser) const {
    const Observation* seen = known_.observations[laser.value];
    const auto* reading = seen == nullptr ? nullptr : std::get_if<TransmitterObservation>(&seen->reading);
    if (reading == nullptr || !reading->emitting) {
      return false;
    }
    const auto light = found_setpoint(fabric_, laser, seen->reading);
    return light && !is_planned(laser, std::get<TransmitterSetpoint>(*light).slot);
  }

  bool is_planned(DeviceId laser, FrequencySlot slot) const {
    return std::any_of(plans_.begin(), plans_.end(), [&](const Plan* plan) {
      const DevicePlan* there = device_of(fabric_, *plan, laser);
      return there != nullptr && std::any_of(there->timeline.begin(), there->timeline.end(), [&](const TimedSetpoint& entry) {
               return emits(entry.setpoint) && std::get<TransmitterSetpoint>(entry.setpoint).slot == slot;
             });
    });
  }

  const Fabric& fabric_;
  const KnownState& known_;
  std::vector<const Plan*> plans_;
};

bool is_moving(const Fabric& fabric, const DevicePlan& device) {
  return device.touched && fabric.device(device.device).role != DeviceRole::transmitter;
}

/// Ascending.
std::vector<DeviceId> moving_of(const Fabric& fabric, const Plan& plan) {
  std::vector<DeviceId> moving;
  for (const NodePlan& node : plan.nodes) {
    for (const DevicePlan& device : node.devices) {
      if (is_moving(fabric, device)) {
        moving.push_back(device.device);
      }
    }
  }
  std::sort(moving.begin(), moving.end());
  return moving;
}

bool any_deviates(const KnownDevices& devices, const Plan& plan) {
  return std::any_of(plan.nodes.begin(), plan.nodes.end(), [&](const NodePlan& node) {
    return std::any_of(node.devices.begin(), node.devices.end(),
                       [&](const DevicePlan& device) { return devices.deviates(device); });
  });
}

class SteeringCompleter {
 public:
  SteeringCompleter(const Fabric& fabric, const KnownState& known, Plan& plan)
      : fabric_(fabric), known_(known), devices_(fabric, known), plan_(plan) {}

  void run() {
    const bool deviates = any_deviates(devices_, plan_);
    for (std::size_t i = 0; i < plan_.nodes.size(); ++i) {
      const auto is_told = [&](const DevicePlan& each) { return is_moving(fabric_, each) || is_left_otherwise(each); };
      if (std::ranges::none_of(plan_.nodes[i].devices, is_told)) {
        continue;
      }
      for (DevicePlan& device : plan_.nodes.edit(i).devices) {
        if (is_moving(fabric_, device)) {
          moving_.push_back(device.device);
          add_states(device);
        } else if (is_left_otherwise(device)) {
          add_left(device);
        }
      }
    }
    std::sort(moving_.begin(), moving_.end());
    if (deviates) {
      take_light_away();
    }
  }

 private:
  void add_states(DevicePlan& device) const {
    device.may_hold = devices_.states_of(device);
    const auto found = devices_.found(device.device);
    if (found && !devices_.is_among(device.device, device.may_hold, *found)) {
      device.may_hold.push_back(*found);
    }
    add_left(device);
  }

  bool is_left_otherwise(const DevicePlan& device) const {
    return device.left_alone && !devices_.left_states_of(device.device).empty();
  }

  void add_left(DevicePlan& device) const {
    for (const CircuitSwitchSetpoint& state : devices_.left_states_of(device.device)) {
      if (device.may_hold.size() < limits::kSetpointsHeld && !devices_.is_among(device.device, device.may_hold, state)) {
        device.may_hold.emplace_back(state);
      }
    }
  }

  void take_light_away() {
    std::set<DeviceId> lasers;
    std::set<JobId> jobs;
    for (const DeviceId id :
         lasers_that_meet({fabric_, plan_, devices_.plans(), known_.observations, known_.lights}, moving_)) {
      lasers.insert(id);
    }
    const auto laser_of = [&](const Circuit& circuit) { return fabric_.device_of_element[circuit.transmitter.value]; };
    for (const Circuit& circuit : plan_.circuits) {
      const auto laser = laser_of(circuit);
      const DevicePlan* device = laser ? device_of(fabric_, plan_, *laser) : nullptr;
      if (device != nullptr && lasers.contains(*laser) && device->timeline.back().hold != kForever) {
        jobs.insert(circuit.job);  // timeslots of a job count from one relight
      }
    }
    for (const Circuit& circuit : plan_.circuits) {
      if (const auto laser = laser_of(circuit); laser && jobs.contains(circuit.job)) {
        lasers.insert(*laser);
      }
    }
    for (const DeviceId laser : lasers) {
      touch(laser);
    }
    for (const Circuit& circuit : plan_.circuits) {
      if (const auto laser = laser_of(circuit); laser && lasers.contains(*laser)) {
        insert(plan_.touched, circuit.id);
      }
    }
  }

  void touch(DeviceId laser) {
    const NodeId node = fabric_.device(laser).agent;
    take_part(node, plan_);
    for (DevicePlan& device : plan_.nodes.edit(node.value).devices) {
      device.touched = device.touched || (device.device == laser && !device.left_alone);
    }
  }

  template <class T>
  static void insert(std::vector<T>& sorted, T value) {
    const auto place = std::lower_bound(sorted.begin(), sorted.end(), value);
    if (place == sorted.end() || *place != value) {
      sorted.insert(place, value);
    }
  }

  const Fabric& fabric_;
  const KnownState& known_;
  KnownDevices devices_;
  Plan& plan_;
  std::vector<DeviceId> moving_;
};

}  // namespace

std::vector<DeviceId> lasers_that_meet(const Fabric& fabric, const KnownState& known, const Plan& plan) {
  return lasers_that_meet({fabric, plan, KnownDevices(fabric, known).plans(), known.observations, known.lights},
                          moving_of(fabric, plan));
}

std::vector<DeviceId> unprovable_lasers(const Fabric& fabric, const KnownState& known, const Plan& plan) {
  const auto is_left_alone = [](const DevicePlan& device) { return device.left_alone; };
  const bool any = std::any_of(plan.nodes.begin(), plan.nodes.end(), [&](const NodePlan& node) {
    return std::any_of(node.devices.begin(), node.devices.end(), is_left_alone);
  });
  std::vector<DeviceId> lasers;
  if (any) {
    lasers = lasers_that_meet(fabric, known, plan);
    std::erase_if(lasers, [&](DeviceId laser) {
      const DevicePlan* device = device_of(fabric, plan, laser);
      return device == nullptr || !device->left_alone;
    });
  }
  return lasers;
}

std::vector<DeviceId> moved_in_light_of(const Fabric& fabric, const KnownState& known, const Plan& plan, DeviceId laser) {
  std::vector<DeviceId> devices = moving_of(fabric, plan);
  const PossibleStates states{fabric, plan, KnownDevices(fabric, known).plans(), known.observations, known.lights};
  std::erase_if(devices, [&](DeviceId device) {
    const std::vector<DeviceId> lasers = lasers_that_meet(states, {device});
    return !std::binary_search(lasers.begin(), lasers.end(), laser);
  });
  return devices;
}

bool is_as_known(const Fabric& fabric, const KnownState& known, const Plan& plan) {
  const auto is_told = [&](const LeftSwitch& left) {
    const DevicePlan* device = device_of(fabric, plan, left.device);
    return device != nullptr && (device->touched || device->left_alone);
  };
  return known.uncertain.empty() && std::ranges::none_of(known.left, is_told) &&
         !any_deviates(KnownDevices(fabric, known), plan);
}

void see_to_steering(const Fabric& fabric, const KnownState& known, Plan& plan) {
  SteeringCompleter(fabric, known, plan).run();
}

}  // namespace loom
