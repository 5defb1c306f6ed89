// SPDX-License-Identifier: Apache-2.0
// A walk along each laser's light through every way that is possible, until it meets what moves.
#include "controller/plan/light/light_scope.hpp"

#include <algorithm>
#include <deque>
#include <set>

#include "core/fabric/gain_stage.hpp"
#include "core/fabric/occupied_ports.hpp"
#include "core/ring/ring.hpp"

namespace loom {
namespace {

FrequencySlot slot_at(const Transmitter& transmitter, Frequency frequency) {
  const auto distance = [&](std::int32_t channel) {
    return magnitude(frequency - centre_of(transmitter.channels.slot(channel))).mhz;
  };
  const std::int64_t step = transmitter.channels.step_n * kGridStep.mhz;
  const std::int64_t below = step == 0 ? 0 : (frequency - centre_of(transmitter.channels.first)).mhz / step;
  auto nearest = static_cast<std::int32_t>(std::clamp<std::int64_t>(below, 0, std::max(transmitter.channels.count - 1, 0)));
  if (nearest + 1 < transmitter.channels.count && distance(nearest + 1) < distance(nearest)) {
    ++nearest;
  }
  if (distance(nearest) <= width_of(transmitter.channels.first).mhz / 2) {
    return transmitter.channels.slot(nearest);
  }
  const std::int64_t offset = (frequency - kGridAnchor).mhz;  // beside its channels, but light all the same
  const std::int64_t half = offset < 0 ? -kGridStep.mhz / 2 : kGridStep.mhz / 2;
  return {static_cast<std::int32_t>((offset + half) / kGridStep.mhz), transmitter.channels.first.m};
}

const std::vector<WssRoute>& rows_of(const WavelengthSwitchSetpoint& setpoint) { return setpoint.routes; }
const std::vector<CrossConnect>& rows_of(const CircuitSwitchSetpoint& setpoint) { return setpoint.connects; }

std::optional<Frequency> resonance_of(const Setpoint& setpoint, std::uint16_t channel) {
  const auto& rings = std::get<FilterSetpoint>(setpoint).rings;
  const auto ring =
      std::find_if(rings.begin(), rings.end(), [&](const RingResonance& each) { return each.channel == channel; });
  return ring == rings.end() ? std::nullopt : std::optional(ring->resonance);
}

class ScopeWalk {
 public:
  ScopeWalk(const PossibleStates& states, const std::vector<DeviceId>& moving)
      : fabric_(states.fabric),
        settings_(states.fabric.devices.size()),
        lights_(states.fabric.devices.size()),
        moves_(states.fabric.devices.size()),
        is_unknown_(states.fabric.devices.size()) {
    add(states.target);
    for (const Plan* plan : states.others) {
      add(*plan);
    }
    for (const Device& device : fabric_.devices) {
      const Observation* seen = states.observations[device.id.value];
      if (seen != nullptr) {
        add_found(device, seen->reading);
      }
    }
    for (const PossibleLight& light : states.lights) {
      add_light(light.laser, {light.slot, {}, true});
    }
    for (const DeviceId id : moving) {
      moves_[id.value] = true;
      const Observation* seen = states.observations[id.value];
      const bool is_read = seen != nullptr && found_setpoint(fabric_, id, seen->reading).has_value();
      is_unknown_[id.value] = states.others.empty() && !is_read;
    }
  }

  std::vector<DeviceId> find() const {
    std::vector<DeviceId> lasers;
    for (const Device& device : fabric_.devices) {
      const auto& slots = lights_[device.id.value];
      if (std::any_of(slots.begin(), slots.end(),
                      [&](FrequencySlot slot) { return meets_what_moves(device.elements.front(), slot); })) {
        lasers.push_back(device.id);
      }
    }
    return lasers;
  }

 private:
  void add(const Plan& plan) {
    for (const NodePlan& node : plan.nodes) {
      for (const DevicePlan& device : node.devices) {
        if (fabric_.device(device.device).role != DeviceRole::transmitter) {
          add_setting(device.device, device.timeline.front().setpoint);
          continue;
        }
        for (const TimedSetpoint& entry : device.timeline) {
          add_light(device.device, std::get<TransmitterSetpoint>(entry.setpoint));
        }
      }
    }
  }

  void add_found(const Device& device, const Reading& reading) {
    auto found = found_setpoint(fabric_, device.id, reading);
    if (const auto* ocs = std::get_if<CircuitSwitchObservation>(&reading); ocs && found) {
      *found = CircuitSwitchSetpoint{connects_between_ours(*ocs)};  // light passes them, whoever made them
    }
    if (!found) {
      return;
    }
    if (const auto* laser = std::get_if<TransmitterSetpoint>(&*found)) {
      return add_light(device.id, *laser);
    }
    const auto& known = settings_[device.id.value];
    if (std::none_of(known.begin(), known.end(), [&](const Setpoint* setpoint) { return *setpoint == *found; })) {
      found_.push_back(*found);
      settings_[device.id.value].push_back(&found_.back());
    }
  }

  void add_setting(DeviceId device, const Setpoint& setpoint) {
    auto& known = settings_[device.value];
    if (std::none_of(known.begin(), known.end(), [&](const Setpoint* other) { return *other == setpoint; })) {
      known.push_back(&setpoint);
    }
  }

  void add_light(DeviceId device, const TransmitterSetpoint& laser) {
    auto& slots = lights_[device.value];
    if (laser.emit && std::find(slots.begin(), slots.end(), laser.slot) == slots.end()) {
      slots.push_back(laser.slot);
    }
  }

  bool meets_what_moves(ElementId transmitter, FrequencySlot slot) const {
    std::set<PortRef> been;
    std::vector<PortRef> ahead;  // outputs that the light leaves by
    const auto leave = [&](ElementId element, PortNumber output) {
      if (output < fabric_.element(element).outputs && been.insert({element, output}).second) {
        ahead.push_back({element, output});
      }
    };
    leave(transmitter, 0);
    while (!ahead.empty()) {
      const PortRef from = ahead.back();
      ahead.pop_back();
      const auto fibre = fabric_.fibre_out[from.element.value][from.port];
      if (!fibre) {
        continue;
      }
      const PortRef to = fabric_.fibres[fibre->value].to;
      const std::vector<PortNumber> outputs = exits(to, slot);
      const auto device = fabric_.device_of_element[to.element.value];
      if (device && moves_[device->value] && concerns(*device, to, slot, outputs)) {
        return true;
      }
      for (const PortNumber output : outputs) {
        leave(to.element, output);
      }
    }
    return false;
  }

  const std::vector<const Setpoint*>& settings_at(ElementId element) const {
    static const std::vector<const Setpoint*> kNone;
    const auto device = fabric_.device_of_element[element.value];
    return device ? settings_[device->value] : kNone;
  }

  /// Every output that light of this slot may leave an element by. Where it cannot be told: all of them.
  std::vector<PortNumber> exits(PortRef at, FrequencySlot slot) const {
    const Element& element = fabric_.element(at.element);
    std::vector<PortNumber> outputs;
    if (std::holds_alternative<WavelengthSelectiveSwitch>(element.kind)) {
      for (const Setpoint* setpoint : settings_at(at.element)) {
        for (const WssRoute& route : std::get<WavelengthSwitchSetpoint>(*setpoint).routes) {
          if (route.input == at.port && overlaps(route.slot, slot)) {
            outputs.push_back(route.output);
          }
        }
      }
      return outputs;
    }
    if (std::holds_alternative<OpticalCircuitSwitch>(element.kind)) {
      for (const Setpoint* setpoint : settings_at(at.element)) {
        for (const CrossConnect& connect : std::get<CircuitSwitchSetpoint>(*setpoint).connects) {
          if (connect.input == at.port) {
            outputs.push_back(connect.output);
          }
        }
      }
      return outputs;
    }
    if (const auto* grating = std::get_if<ArrayedWaveguideGrating>(&element.kind)) {
      const std::int32_t channel = grating->channels.channel_of(slot);
      if (channel >= 0 && element.outputs > 0) {
        outputs.push_back(static_cast<PortNumber>((channel + at.port) % element.outputs));
      }
      return outputs;
    }
    if (const auto* panel = std::get_if<PatchPanel>(&element.kind)) {
      return at.port < panel->wiring.size() ? std::vector{panel->wiring[at.port]} : outputs;
    }
    if (std::holds_alternative<PacketSwitch>(element.kind)) {
      return outputs;
    }
    for (PortNumber output = 0; output < element.outputs; ++output) {
      const auto* ring = std::get_if<RingFilter>(&element.kind);
      if (ring == nullptr || may_leave(*ring, at, output, slot)) {
        outputs.push_back(output);
      }
    }
    return outputs;
  }

  /// On resonance the bus drops and what is added goes through; elsewhere the bus goes through. A ring that moves does both.
  bool may_leave(const RingFilter& ring, PortRef at, PortNumber output, FrequencySlot slot) const {
    const RingStates stands = states_of(ring, at.element);
    const bool may_resonate = stands.differ(ring) || resonates(ring, stands.least, centre_of(slot));
    const bool may_not = stands.differ(ring) || !resonates(ring, stands.least, centre_of(slot));
    return at.port == output ? (at.port == 0 && may_not) : may_resonate;
  }

  /// The resonances of one ring in all states of its bank.
  struct RingStates {
    Frequency least;
    Frequency most;
    bool differ(const RingFilter& ring) const { return (most - least).mhz > ring.fwhm.mhz / kRingWidthParts; }
  };

  RingStates states_of(const RingFilter& ring, ElementId element) const {
    const std::uint16_t channel = fabric_.index_in_device[element.value];
    std::optional<RingStates> states;
    for (const Setpoint* setpoint : settings_at(element)) {
      const Frequency stands = resonance_of(*setpoint, channel).value_or(ring.cold_resonance);
      states =
          states ? RingStates{std::min(states->least, stands), std::max(states->most, stands)} : RingStates{stands, stands};
    }
    return states.value_or(RingStates{ring.cold_resonance, ring.cold_resonance});
  }

  /// Does this light, at this port, meet what is not the same in all states of the device?
  bool concerns(DeviceId device, PortRef at, FrequencySlot slot, const std::vector<PortNumber>& outputs) const {
    if (is_unknown_[device.value]) {
      return true;
    }
    const auto leaves_by = [&](PortNumber output) {
      return std::find(outputs.begin(), outputs.end(), output) != outputs.end();
    };
    switch (fabric_.device(device).role) {
      case DeviceRole::wavelength_switch:
        return any_row_differs<WavelengthSwitchSetpoint>(device, [&](const WssRoute& row) {
          return overlaps(row.slot, slot) && (row.input == at.port || leaves_by(row.output));
        });
      case DeviceRole::circuit_switch:
        return any_row_differs<CircuitSwitchSetpoint>(
            device, [&](const CrossConnect& row) { return row.input == at.port || leaves_by(row.output); });
      case DeviceRole::filter:
        return ring_passes(at.element, slot);
      case DeviceRole::gain_stage: {
        const auto& settings = settings_[device.value];  // all light passes it
        return std::ranges::any_of(settings, [&](const Setpoint* setpoint) { return *setpoint != *settings.front(); });
      }
      case DeviceRole::transmitter:
      case DeviceRole::monitor:
        break;
    }
    return false;
  }

  /// A row that some states of the device have and others have not.
  template <class Kind, class Matters>
  bool any_row_differs(DeviceId device, Matters matters) const {
    const auto& settings = settings_[device.value];
    for (const Setpoint* setpoint : settings) {
      for (const auto& row : rows_of(std::get<Kind>(*setpoint))) {
        const auto lacks = [&](const Setpoint* other) {
          const auto& rows = rows_of(std::get<Kind>(*other));
          return std::find(rows.begin(), rows.end(), row) == rows.end();
        };
        if (matters(row) && std::any_of(settings.begin(), settings.end(), lacks)) {
          return true;
        }
      }
    }
    return false;
  }

  /// Light that the ring drops in some state, or whose frequency its resonance passes on its way.
  bool ring_passes(ElementId element, FrequencySlot slot) const {
    const auto& ring = std::get<RingFilter>(fabric_.element(element).kind);
    const RingStates stands = states_of(ring, element);
    return stands.differ(ring) && (ring.free_spectral_range.mhz > 0 ||
                                   (centre_of(slot) >= stands.least - ring.fwhm && centre_of(slot) <= stands.most + ring.fwhm));
  }

  const Fabric& fabric_;
  std::vector<std::vector<const Setpoint*>> settings_;  ///< by device; lasers have none
  std::vector<std::vector<FrequencySlot>> lights_;      ///< by device; only lasers have any
  std::deque<Setpoint> found_;
  std::vector<bool> moves_;
  std::vector<bool> is_unknown_;
};

}  // namespace

std::vector<DeviceId> lasers_that_meet(const PossibleStates& states, const std::vector<DeviceId>& moving) {
  return moving.empty() ? std::vector<DeviceId>{} : ScopeWalk(states, moving).find();
}

std::optional<Setpoint> found_setpoint(const Fabric& fabric, DeviceId id, const Reading& reading) {
  const Device& device = fabric.device(id);
  if (const auto* laser = std::get_if<TransmitterObservation>(&reading); laser && device.role == DeviceRole::transmitter) {
    const auto& transmitter = std::get<Transmitter>(fabric.element(device.elements.front()).kind);
    return TransmitterSetpoint{slot_at(transmitter, laser->frequency),
                               laser->emitting ? laser->power : transmitter.launch_power, laser->emitting};
  }
  if (const auto* bank = std::get_if<FilterObservation>(&reading); bank && device.role == DeviceRole::filter) {
    if (bank->millivolts.size() < device.elements.size()) {
      return std::nullopt;  // a ring that it does not name may be anywhere, and cold is where light may pass it
    }
    FilterSetpoint heater;
    for (std::size_t channel = 0; channel < device.elements.size(); ++channel) {
      const auto& ring = std::get<RingFilter>(fabric.element(device.elements[channel]).kind);
      if (const std::int32_t set = set_millivolts(ring, *bank, channel); set > kHeaterOffMillivolts) {
        heater.rings.push_back({static_cast<std::uint16_t>(channel), resonance_at(ring, set)});
      }
    }
    return heater;
  }
  if (const auto* wss = std::get_if<WavelengthSwitchObservation>(&reading);
      wss && device.role == DeviceRole::wavelength_switch) {
    return WavelengthSwitchSetpoint{wss->routes};
  }
  if (const auto* ocs = std::get_if<CircuitSwitchObservation>(&reading); ocs && device.role == DeviceRole::circuit_switch) {
    return CircuitSwitchSetpoint{ocs->connects};
  }
  if (const auto* stage = std::get_if<GainObservation>(&reading); stage && device.role == DeviceRole::gain_stage) {
    const Element& element = fabric.element(device.elements.front());
    const Db usual = usual_gain(element.kind);
    return GainSetpoint{is_gain(element, *stage, usual) ? usual : stage->gain};
  }
  return std::nullopt;
}

Plan plan_as_found(const Fabric& fabric, const std::vector<const Observation*>& observations) {
  Plan plan;
  for (const Node& node : fabric.nodes) {
    NodePlan slice;
    slice.node = node.id;
    for (const DeviceId id : fabric.devices_of_agent[node.id.value]) {
      const Observation* seen = observations[id.value];
      const auto found = seen == nullptr ? std::nullopt : found_setpoint(fabric, id, seen->reading);
      slice.devices.push_back(
          {id, false, {{Duration{}, Duration{}, kForever, found.value_or(idle_setpoint(fabric, fabric.device(id)))}}});
    }
    plan.nodes.push_back(std::move(slice));
  }
  return plan;
}

}  // namespace loom
