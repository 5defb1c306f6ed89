// SPDX-License-Identifier: Apache-2.0
// A walk against the light, one way to its end before the next.
#include "controller/calibrate/ring_ways.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/ring/calibration.hpp"
#include "core/ring/ring.hpp"

namespace loom {
namespace {

/// A grating that the light passes on its way.
struct Grating {
  const ArrayedWaveguideGrating* kind;
  PortNumber outputs;
  PortNumber input;
  PortNumber output;

  bool passes(FrequencySlot slot) const {
    const std::int32_t channel = kind->channels.channel_of(slot);
    return channel >= 0 && (channel + input) % outputs == output;
  }
};

/// An output to which light must come, and what it passes from there on.
struct Place {
  PortRef output;
  std::vector<Grating> gratings;
};

class WayBack {
 public:
  /// Rings that are measured side by side shall find other transmitters: each begins with its own group and its own place in
  /// it.
  WayBack(const Fabric& fabric, ElementId end, NodeId of, const std::set<ElementId>& busy)
      : fabric_(fabric), busy_(busy), visited_(fabric.elements.size()) {
    visited_[end.value] = true;
    group_ = fabric.nodes[of.value].group;
    node_ = of.value;
    for (const Node& node : fabric.nodes) {
      groups_ = std::max<std::size_t>(groups_, node.group + 1);
    }
  }

  /// Lights that come to this input.
  std::vector<Probe> find(PortRef input, ElementId receiver) {
    step_back(input, {});
    std::vector<Probe> lights;
    std::size_t transmitters = 0;
    while (!places_.empty() && transmitters < kWaysToRing) {
      const Place place = std::move(places_.back());
      places_.pop_back();
      const Element& element = fabric_.element(place.output.element);
      if (const auto* transmitter = std::get_if<Transmitter>(&element.kind)) {
        transmitters += add_lights(element.id, *transmitter, place, receiver, lights) ? 1 : 0;
      } else {
        pass(element, place);
      }
    }
    return lights;
  }

 private:
  bool add_lights(ElementId id, const Transmitter& transmitter, const Place& place, ElementId receiver,
                  std::vector<Probe>& lights) const {
    if (!fabric_.device_of_element[id.value] || busy_.contains(id)) {
      return false;
    }
    const std::size_t before = lights.size();
    for (std::int32_t channel = 0; channel < transmitter.channels.count; ++channel) {
      const FrequencySlot slot = transmitter.channels.slot(channel);
      if (std::ranges::all_of(place.gratings, [&](const Grating& grating) { return grating.passes(slot); })) {
        lights.push_back({id, receiver, slot});
      }
    }
    return lights.size() > before;
  }

  void pass(const Element& element, const Place& place) {
    const bool is_choice = element.inputs > 1 && !std::holds_alternative<RingFilter>(element.kind);
    const std::size_t first = !is_choice ? 0 : element.inputs == groups_ ? group_ : node_;
    for (std::size_t i = element.inputs; i-- > 0;) {  // what is pushed last is walked first; of a ring that is what it adds
      const std::size_t nth = std::holds_alternative<RingFilter>(element.kind) ? element.inputs - 1 - i : i;
      const auto input = static_cast<PortNumber>((nth + first) % element.inputs);
      if (!leads(element, input, place.output.port)) {
        continue;
      }
      std::vector<Grating> gratings = place.gratings;
      if (const auto* grating = std::get_if<ArrayedWaveguideGrating>(&element.kind)) {
        gratings.push_back({grating, element.outputs, input, place.output.port});
      }
      step_back({element.id, input}, std::move(gratings));
    }
  }

  static bool leads(const Element& element, PortNumber input, PortNumber output) {
    if (const auto* panel = std::get_if<PatchPanel>(&element.kind)) {
      return input < panel->wiring.size() && panel->wiring[input] == output;
    }
    if (std::holds_alternative<RingFilter>(element.kind)) {
      return output == 0 || input == 0;  // parked it lets the bus through; what it adds goes the same way, and it drops the bus
    }
    return !std::holds_alternative<PacketSwitch>(element.kind);
  }

  void step_back(PortRef input, std::vector<Grating> gratings) {
    const auto fibre = fabric_.fibre_in[input.element.value][input.port];
    if (!fibre) {
      return;
    }
    const PortRef from = fabric_.fibres[fibre->value].from;
    if (!visited_[from.element.value]) {
      visited_[from.element.value] = true;
      places_.push_back({from, std::move(gratings)});
    }
  }

  const Fabric& fabric_;
  const std::set<ElementId>& busy_;
  std::vector<bool> visited_;  ///< by element
  std::vector<Place> places_;  ///< the last one is next
  std::size_t group_ = 0;
  std::size_t groups_ = 0;
  std::size_t node_ = 0;
};

}  // namespace

std::optional<ElementId> receiver_of_module(const Fabric& fabric, const Device& laser) {
  const auto node = laser.role == DeviceRole::transmitter ? fabric.node_of_element[laser.elements.front().value] : std::nullopt;
  const bool is_pair =
      node && fabric.nodes[node->value].receivers.size() == 1 && fabric.nodes[node->value].transmitters.size() == 1;
  return is_pair ? std::optional(fabric.nodes[node->value].receivers.front()) : std::nullopt;
}

RingReport ring_ways(const Fabric& fabric, ElementId ring, const std::set<ElementId>& busy) {
  const Element& element = fabric.element(ring);
  const auto& filter = std::get<RingFilter>(element.kind);
  const DeviceId bank = *fabric.device_of_element[ring.value];
  RingReport row;
  row.ring = ring;
  row.name = element.name;
  row.bank = bank;
  row.channel = fabric.index_in_device[ring.value];
  row.channels = static_cast<std::uint32_t>(fabric.device(bank).elements.size());
  row.fwhm = filter.fwhm;
  row.free_spectral_range = filter.free_spectral_range;
  row.cold_resonance = filter.cold_resonance;
  row.shift = static_cast<std::uint64_t>(nominal_law(filter, row.channel, row.channels).shift[row.channel]);
  row.millivolts_max = static_cast<std::uint32_t>(std::lround(filter.heater_volt_max * 1000));
  row.calibrated = filter.calibrated;
  const auto drop = element.outputs > 1 ? fabric.fibre_out[ring.value][1] : std::nullopt;
  const ElementId receiver = drop ? fabric.fibres[drop->value].to.element : ElementId{};
  if (drop && std::holds_alternative<Receiver>(fabric.element(receiver).kind)) {
    row.receiver = receiver;
    row.monitor = fabric.device_of_element[receiver.value];
    row.lights = WayBack(fabric, ring, fabric.device(bank).agent, busy).find({ring, 0}, receiver);
  }
  return row;
}

WayReport receiver_ways(const Fabric& fabric, ElementId receiver, DeviceId monitor, const std::set<ElementId>& busy) {
  WayReport row{receiver, fabric.element(receiver).name, monitor};
  const NodeId node = fabric.node_of_element[receiver.value].value_or(fabric.device(monitor).agent);
  row.lights = WayBack(fabric, receiver, node, busy).find({receiver, 0}, receiver);
  return row;
}

}  // namespace loom
