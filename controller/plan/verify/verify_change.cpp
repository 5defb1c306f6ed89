// SPDX-License-Identifier: Apache-2.0
// Rules about the way from the base to the plan: who goes dark for it, and that everybody who changes is named.
#include <algorithm>
#include <vector>

#include "controller/plan/verify/verify_parts.hpp"
#include "core/text/format_text.hpp"

namespace loom::verifying {
namespace {

/// Nothing emits, nothing is routed, no ring is held, no light is amplified or let through an attenuator.
bool is_idle(const Setpoint& setpoint) {
  const auto* stage = std::get_if<GainSetpoint>(&setpoint);
  const auto* heater = std::get_if<FilterSetpoint>(&setpoint);
  const auto* wss = std::get_if<WavelengthSwitchSetpoint>(&setpoint);
  const auto* ocs = std::get_if<CircuitSwitchSetpoint>(&setpoint);
  return !emits(setpoint) && (stage == nullptr || stage->gain == kGainOff) && (heater == nullptr || heater->rings.empty()) &&
         (wss == nullptr || wss->routes.empty()) && (ocs == nullptr || ocs->connects.empty());
}

bool is_idle(const DevicePlan& plan) { return plan.timeline.size() == 1 && is_idle(plan.timeline[0].setpoint); }

class ChangeRules {
 public:
  ChangeRules(const Fabric& fabric, const Plan& plan, const Scope& scope, const Settings& settings, const Plan* base,
              std::vector<ElementId>& disturbed, Faults& faults)
      : fabric_(fabric),
        plan_(plan),
        scope_(scope),
        settings_(settings),
        base_(base),
        disturbed_(disturbed),
        faults_(faults),
        moved_(fabric.elements.size()),
        undisturbed_(fabric.elements.size()) {}

  void run(bool moving_ports) {
    if (plan_.base != (base_ == nullptr ? Revision{} : base_->revision)) {
      declare(format_text("the plan is against revision {}, confirmed is {}", plan_.base.value,
                          base_ == nullptr ? 0 : base_->revision.value));
    }
    check_nodes();
    for (const Source& source : settings_.sources) {
      undisturbed_[source.transmitter.value] = base_ != nullptr && is_undisturbed(source);
    }
    if (moving_ports && any_moved_ && base_ != nullptr) {
      check_moving_ports(Settings(fabric_, *base_));
    }
    check_circuits();
  }

 private:
  static bool is_undisturbed(const Source& source) { return !source.device->touched && !source.emissions.empty(); }

  void declare(std::string evidence) {
    faults_.add(rules::kChangeDeclared, [&] { return std::move(evidence); });
  }

  /// What follows no order changes nothing: it may be planned dark, or as it was.
  bool changes(const DevicePlan& plan, const DevicePlan* before) const {
    if (plan.left_alone &&
        std::none_of(plan.timeline.begin(), plan.timeline.end(),
                     [](const TimedSetpoint& entry) { return emits(entry.setpoint); }) &&
        fabric_.device(plan.device).role == DeviceRole::transmitter) {
      return false;
    }
    return before != nullptr ? before->timeline != plan.timeline : !is_idle(plan);
  }

  void check_nodes() {
    for (const NodeId node : scope_.nodes) {
      const NodePlan& slice = plan_.nodes[node.value];
      const NodePlan* base = base_ == nullptr ? nullptr : &base_->nodes[node.value];
      bool takes_part = !is_paced_alike(base, slice);
      for (std::size_t place = 0; place < slice.devices.size(); ++place) {
        const DevicePlan& device = slice.devices[place];
        const DevicePlan* before = base == nullptr ? nullptr : &same_device(*base, place, device.device);
        const bool changed = changes(device, before);
        takes_part = takes_part || changed || device.touched;
        if (changed && fabric_.device(device.device).role != DeviceRole::transmitter) {
          for (const ElementId element : fabric_.device(device.device).elements) {
            moved_[element.value] = any_moved_ = true;
          }
        }
        if (changed && !device.touched) {
          declare(fabric_.device(device.device).name + " changes but is not marked as touched");
        }
        check_steering(device, before, changed);
      }
      if (takes_part && !std::binary_search(plan_.changed.begin(), plan_.changed.end(), slice.node)) {
        declare(fabric_.nodes[slice.node.value].name + " changes but is not among the nodes that take part");
      }
    }
  }

  /// Nobody moves it before everybody is dark, nor from a place that this plan was not judged from.
  void check_steering(const DevicePlan& device, const DevicePlan* before, bool changed) {
    const std::string& name = fabric_.device(device.device).name;
    const bool moved = std::binary_search(plan_.moved_steering.begin(), plan_.moved_steering.end(), device.device);
    const bool steers = fabric_.steers_others[device.device.value];
    if (moved != (changed && steers)) {
      declare(format_text("{}{} the devices that wait for everybody's dark", name,
                          !moved    ? " moves but is not among"
                          : changed ? " steers nobody else's light but is among"
                                    : " does not move but is among"));
    }
    const auto holds_base = [&](const Setpoint& setpoint) {
      return before != nullptr ? before->timeline.front().setpoint == setpoint : is_idle(setpoint);
    };
    const bool is_laser = fabric_.device(device.device).role == DeviceRole::transmitter;
    if (changed && !is_laser && std::none_of(device.may_hold.begin(), device.may_hold.end(), holds_base)) {
      declare(name + " moves from where the base has it, which is not among what it may hold");
    }
  }

  /// Light that stays on must not run through anything that moves: an untouched emitting laser has the same way in both.
  void check_moving_ports(const Settings& settings_before) {
    Walk before(fabric_, settings_before);
    Walk after(fabric_, settings_);
    for (const Source& source : settings_.sources) {
      if (!is_undisturbed(source)) {
        continue;
      }
      FrequencySlot seen{-1'000'000, 0};
      for (const Emission& emission : source.emissions) {
        if (emission.laser.slot == seen) {
          continue;
        }
        seen = emission.laser.slot;
        if (after.meets_any(source.transmitter, seen, moved_, settings_before) &&
            before.marks(source.transmitter, seen) != after.marks(source.transmitter, seen)) {
          undisturbed_[source.transmitter.value] = false;
          if (disturbed_.empty() || disturbed_.back() != source.transmitter) {
            disturbed_.push_back(source.transmitter);
          }
          faults_.add(rules::kMovingPort, [&] {
            return format_text("{} stays lit at {} while a switch or filter on its way moves",
                               fabric_.element(source.transmitter).name, to_string(centre_of(seen)));
          });
        }
      }
    }
  }

  void check_circuits() {
    std::vector<const Circuit*> before;  // ascending id
    for (std::size_t i = 0; base_ != nullptr && i < base_->circuits.size(); ++i) {
      before.push_back(&base_->circuits[i]);
    }
    const auto id_of = [](const Circuit* circuit) { return circuit->id; };
    if (!std::ranges::is_sorted(before, {}, id_of)) {
      std::ranges::stable_sort(before, {}, id_of);
    }
    std::vector<CircuitId> expected;
    auto next = before.begin();
    for (const Circuit& circuit : plan_.circuits) {  // check_structure: ascending id
      for (; next != before.end() && (*next)->id < circuit.id; ++next) {
        expected.push_back((*next)->id);
      }
      if (next == before.end() || (*next)->id != circuit.id) {
        expected.push_back(circuit.id);
        check_new(circuit);
        continue;
      }
      if (**next != circuit || !undisturbed_[circuit.transmitter.value]) {
        faults_.add(rules::kUnchangedUntouched, [&] {
          return format_text(
              "circuit {} keeps its id from revision {}, but its ends, its light or its way are others or are touched",
              circuit.id.value, plan_.base.value);
        });
      }
      ++next;
    }
    for (; next != before.end(); ++next) {
      expected.push_back((*next)->id);
    }
    std::sort(expected.begin(), expected.end());
    if (expected != plan_.touched) {
      declare(format_text("the plan names {} touched circuits, begun or ended are {}", plan_.touched.size(), expected.size()));
    }
  }

  void check_new(const Circuit& circuit) {
    const auto device = fabric_.device_of_element[circuit.transmitter.value];
    if (device && !settings_.devices[device->value]->touched) {
      declare(format_text("circuit {} is new, but {} is not touched", circuit.id.value, fabric_.device(*device).name));
    }
  }

  const Fabric& fabric_;
  const Plan& plan_;
  const Scope& scope_;
  const Settings& settings_;
  const Plan* base_;
  std::vector<ElementId>& disturbed_;
  Faults& faults_;
  std::vector<bool> moved_;  ///< by element: of a device that is set otherwise than before
  bool any_moved_ = false;
  std::vector<bool> undisturbed_;  ///< by transmitter: emits, untouched, same way as before
};

}  // namespace

const DevicePlan& same_device(const NodePlan& before, std::size_t place, DeviceId id) {
  const auto& devices = before.devices;
  return place < devices.size() && devices[place].device == id ? devices[place]
                                                               : *std::ranges::find(devices, id, &DevicePlan::device);
}

void check_change(const Fabric& fabric, const Plan& plan, const Scope& scope, const Settings& settings, const Plan* base,
                  bool moving_ports, std::vector<ElementId>& disturbed, Faults& faults) {
  ChangeRules(fabric, plan, scope, settings, base, disturbed, faults).run(moving_ports);
}

}  // namespace loom::verifying
