// What devices may hold, and whose light that may meet.
#include "controller/plan/steering.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "controller/plan/light_scope.hpp"
#include "core/ring.hpp"

namespace loom {
namespace {

const DevicePlan* device_of(const Fabric& fabric, const Plan& plan, DeviceId id) {
  const auto& devices = plan.nodes[fabric.device(id).agent.value].devices;
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const DevicePlan& each) { return each.device == id; });
  return found == devices.end() ? nullptr : &*found;
}

bool is_same_ring(const RingFilter& ring, const HeaterSetpoint& a, const HeaterSetpoint& b, std::uint16_t channel) {
  const auto stands = [&](const HeaterSetpoint& bank) {
    const auto named =
        std::find_if(bank.rings.begin(), bank.rings.end(), [&](const RingResonance& each) { return each.channel == channel; });
    return named == bank.rings.end() ? ring.cold_resonance : named->resonance;
  };
  return resonance_distance(ring, stands(a), stands(b)).mhz <= ring.fwhm.mhz / kRingWidthParts;
}

/// As far as light can tell: a heater's voltage is read in whole millivolts.
bool is_same(const Fabric& fabric, DeviceId id, const Setpoint& a, const Setpoint& b) {
  const auto* some = std::get_if<HeaterSetpoint>(&a);
  const auto* other = std::get_if<HeaterSetpoint>(&b);
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

class SteeringCompleter {
 public:
  SteeringCompleter(const Fabric& fabric, const KnownState& known, Plan& plan) : fabric_(fabric), known_(known), plan_(plan) {
    for (const Plan* each : known.uncertain) {
      plans_.push_back(each);
    }
    if (known.confirmed != nullptr) {
      plans_.push_back(known.confirmed);
    }
  }

  void run() {
    for (NodePlan& node : plan_.nodes) {
      for (DevicePlan& device : node.devices) {
        if (device.touched && fabric_.device(device.device).kind != DeviceKind::itla_laser) {
          moving_.push_back(device.device);
          add_states(device);
        } else if (shines_beside(device)) {
          deviates_ = true;
        }
      }
    }
    std::sort(moving_.begin(), moving_.end());
    if (deviates_) {
      take_light_away();
    }
  }

 private:
  void add_states(DevicePlan& device) {
    std::vector<Setpoint> states = device.may_hold;
    const auto add = [&](const Setpoint& setpoint) {
      const bool is_known = std::any_of(states.begin(), states.end(), [&](const Setpoint& other) {
        return is_same(fabric_, device.device, setpoint, other);
      });
      if (!is_known) {
        states.push_back(setpoint);
      }
      return !is_known;
    };
    for (const Plan* plan : plans_) {
      if (const DevicePlan* there = device_of(fabric_, *plan, device.device)) {
        add(there->timeline.front().setpoint);
      }
    }
    const Observation* seen = known_.observations[device.device.value];
    const auto found = seen == nullptr ? std::nullopt : found_setpoint(fabric_, device.device, seen->reading);
    if (found && add(*found)) {
      deviates_ = true;
    }
    device.may_hold = std::move(states);
  }

  /// A laser that stays as it is was read to emit what none of the plans says.
  bool shines_beside(const DevicePlan& device) const {
    const Observation* seen = known_.observations[device.device.value];
    const auto found = seen == nullptr ? std::nullopt : found_setpoint(fabric_, device.device, seen->reading);
    const auto* laser = found ? std::get_if<LaserSetpoint>(&*found) : nullptr;
    if (device.touched || laser == nullptr || !laser->emit) {
      return false;
    }
    return std::none_of(plans_.begin(), plans_.end(), [&](const Plan* plan) {
      const DevicePlan* there = device_of(fabric_, *plan, device.device);
      return there != nullptr && std::any_of(there->timeline.begin(), there->timeline.end(), [&](const TimedSetpoint& entry) {
               const auto& planned = std::get<LaserSetpoint>(entry.setpoint);
               return planned.emit && planned.slot == laser->slot;
             });
    });
  }

  void take_light_away() {
    std::set<DeviceId> lasers;
    std::set<JobId> jobs;
    for (const DeviceId id : lasers_that_meet({fabric_, plan_, plans_, known_.observations}, moving_)) {
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
    for (DevicePlan& device : plan_.nodes[node.value].devices) {
      device.touched = device.touched || device.device == laser;
    }
    insert(plan_.changed, node);
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
  Plan& plan_;
  std::vector<const Plan*> plans_;
  std::vector<DeviceId> moving_;
  bool deviates_ = false;
};

}  // namespace

void see_to_steering(const Fabric& fabric, const KnownState& known, Plan& plan) {
  SteeringCompleter(fabric, known, plan).run();
}

}  // namespace loom
