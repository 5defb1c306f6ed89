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

}  // namespace

const std::vector<std::int64_t>& Walk::marks(ElementId transmitter, FrequencySlot slot) {
  slot_ = slot;
  follow(transmitter);
  return marks_;
}

bool Walk::meets_any(ElementId transmitter, FrequencySlot slot, const std::vector<bool>& moved, const Settings& before) {
  slot_ = slot;
  ++number_;
  marks_.clear();
  leave(transmitter, 0);
  while (!open_.empty()) {
    const PortRef at = open_.back();
    open_.pop_back();
    const Element& element = fabric_.element(at.element);
    if (moved[at.element.value]) {
      const bool is_same = std::holds_alternative<OpticalCircuitSwitch>(element.kind) &&
                           at.port < settings_.ocs[at.element.value].size() && at.port < before.ocs[at.element.value].size() &&
                           settings_.ocs[at.element.value][at.port] == before.ocs[at.element.value][at.port];
      if (!is_same) {
        open_.clear();
        return true;
      }
    }
    enter(element, at.port);
  }
  return false;
}

const std::vector<ElementId>& Walk::elements(ElementId transmitter, FrequencySlot slot) {
  slot_ = slot;
  follow(transmitter);
  return elements_;
}

void Walk::follow(ElementId transmitter) {
  ++number_;
  marks_.clear();
  elements_.clear();
  leave(transmitter, 0);
  while (!open_.empty()) {
    const PortRef at = open_.back();
    open_.pop_back();
    marks_.push_back(static_cast<std::int64_t>(at.element.value) << 16 | at.port);
    elements_.push_back(at.element);
    enter(fabric_.element(at.element), at.port);
  }
}

void Walk::leave(ElementId element, int output) {
  const auto outputs = fabric_.fibre_out[element.value];
  if (output < 0 || static_cast<std::size_t>(output) >= outputs.size()) {
    return;
  }
  const auto& fibre = outputs[static_cast<std::size_t>(output)];
  if (fibre && seen_[fibre->value] != number_) {
    seen_[fibre->value] = number_;
    open_.push_back(fabric_.fibres[fibre->value].to);
  }
}

void Walk::enter(const Element& element, PortNumber input) {
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
    const std::vector<std::int32_t>& output_of = settings_.ocs[element.id.value];
    leave(element.id, output_of.empty() ? -1 : output_of[input]);
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

void Walk::enter_ring(const Element& element, const RingFilter& ring, PortNumber input) {
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

}  // namespace loom::verifying
