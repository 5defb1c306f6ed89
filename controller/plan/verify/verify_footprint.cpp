// SPDX-License-Identifier: Apache-2.0
// The way of one signal as marks that can be compared: before and after a plan.
#include "controller/plan/verify/verify_parts.hpp"

#include "core/fabric/gain_stage.hpp"

namespace loom::verifying {
namespace {

/// Which two resonances of a ring's comb the light lies between; of a single resonance, on which side of it.
std::int64_t side_of(const RingFilter& ring, Frequency resonance, Frequency light) {
  const std::int64_t distance = (light - resonance).mhz;
  const std::int64_t range = ring.free_spectral_range.mhz;
  if (range == 0) {
    return distance < 0 ? -1 : 1;
  }
  return distance < 0 ? (distance + 1) / range - 1 : distance / range;
}

class Walk {
 public:
  Walk(const Fabric& fabric, const Settings& settings, FrequencySlot slot)
      : fabric_(fabric), settings_(settings), slot_(slot), seen_(fabric.fibres.size()) {}

  std::vector<std::int64_t> from(ElementId transmitter) {
    leave(transmitter, 0);
    while (!open_.empty()) {
      const PortRef at = open_.back();
      open_.pop_back();
      marks_.push_back(static_cast<std::int64_t>(at.element.value) << 16 | at.port);
      elements_.push_back(at.element);
      enter(fabric_.element(at.element), at.port);
    }
    return std::move(marks_);
  }

  /// Of the walk that from() took.
  std::vector<ElementId> elements() { return std::move(elements_); }

 private:
  void leave(ElementId element, int output) {
    const auto fibre = output < 0 ? std::nullopt : fabric_.fibre_out[element.value][static_cast<std::size_t>(output)];
    if (fibre && !seen_[fibre->value]) {
      seen_[fibre->value] = true;
      open_.push_back(fabric_.fibres[fibre->value].to);
    }
  }

  void enter(const Element& element, PortNumber input) {
    if (std::holds_alternative<WavelengthSelectiveSwitch>(element.kind)) {
      if (const WavelengthSwitchSetpoint* wss = settings_.wss[element.id.value]) {
        each_overlapping(wss->routes, input, slot_, [&](const WssRoute& route) {
          marks_.push_back(route.attenuation.centi);
          leave(element.id, route.output);
        });
      }
    } else if (const auto* grating = std::get_if<ArrayedWaveguideGrating>(&element.kind)) {
      const std::int32_t channel = grating->channels.channel_of(slot_);
      leave(element.id, channel < 0 ? -1 : (channel + input) % element.outputs);
    } else if (const auto* ring = std::get_if<RingFilter>(&element.kind)) {
      enter_ring(element, *ring, input);
    } else if (std::holds_alternative<OpticalCircuitSwitch>(element.kind)) {
      const CircuitSwitchSetpoint* ocs = settings_.ocs[element.id.value];
      for (std::size_t i = 0; ocs != nullptr && i < ocs->connects.size(); ++i) {
        leave(element.id, ocs->connects[i].input == input ? ocs->connects[i].output : -1);
      }
    } else if (const auto* panel = std::get_if<PatchPanel>(&element.kind)) {
      leave(element.id, input < panel->wiring.size() ? panel->wiring[input] : -1);
    } else if (is_gain_stage(element)) {
      marks_.push_back(settings_.gains[element.id.value].centi);
      leave(element.id, 0);
    } else if (!std::holds_alternative<PacketSwitch>(element.kind)) {
      for (int output = 0; output < element.outputs; ++output) {
        leave(element.id, output);
      }
    }
  }

  void enter_ring(const Element& element, const RingFilter& ring, PortNumber input) {
    const Frequency light = centre_of(slot_);
    const Frequency resonance = settings_.resonances[element.id.value].value_or(ring.cold_resonance);
    if (resonates(ring, resonance, light)) {
      marks_.push_back(resonance.mhz);
      leave(element.id, input == 0 ? 1 : 0);
    } else {
      marks_.push_back(side_of(ring, resonance, light));
      leave(element.id, input == 0 ? 0 : -1);
    }
  }

  const Fabric& fabric_;
  const Settings& settings_;
  FrequencySlot slot_;
  std::vector<bool> seen_;  ///< by fibre: a path that runs in a circle ends where it began
  std::vector<PortRef> open_;
  std::vector<std::int64_t> marks_;
  std::vector<ElementId> elements_;
};

}  // namespace

std::vector<std::int64_t> footprint(const Fabric& fabric, const Settings& settings, ElementId transmitter, FrequencySlot slot) {
  return Walk(fabric, settings, slot).from(transmitter);
}

std::vector<ElementId> elements_on_path(const Fabric& fabric, const Settings& settings, ElementId transmitter,
                                        FrequencySlot slot) {
  Walk walk(fabric, settings, slot);
  walk.from(transmitter);
  return walk.elements();
}

}  // namespace loom::verifying
