// SPDX-License-Identifier: Apache-2.0
// Light follows settings; a splitter is the only place where it has several ways, and there each is tried.
#include "controller/plan/light/light_path.hpp"

#include <algorithm>

#include "controller/plan/reconcile/reconcile.hpp"
#include "core/limits.hpp"

namespace loom {
namespace {

/// A ring of fibre may pass every filter of every node on its way.
constexpr std::size_t kHopsMost = 16 * limits::kHopsPerPath;

}  // namespace

LightFollower::LightFollower(const Fabric& fabric, const Plan& plan)
    : fabric_(fabric),
      positions_(positions_of(fabric, plan)),
      resonances_(fabric.elements.size()),
      devices_(fabric.devices.size(), nullptr) {
  for (const NodePlan& node : plan.nodes) {
    for (const DevicePlan& planned : node.devices) {
      devices_[planned.device.value] = &planned;
      // Inside a stage nothing but lasers changes, so the first entry says all.
      const auto* heater = std::get_if<FilterSetpoint>(&planned.timeline.front().setpoint);
      for (std::size_t i = 0; heater != nullptr && i < heater->rings.size(); ++i) {
        const ElementId ring = fabric.device(planned.device).elements[heater->rings[i].channel];
        resonances_[ring.value] = heater->rings[i].resonance;
      }
    }
  }
}

LightFollower::Exits LightFollower::exits(const Element& element, PortNumber input) const {
  if (!std::holds_alternative<OpticalCircuitSwitch>(element.kind)) {
    return {0, element.outputs};
  }
  const CrossConnect* connect = connect_of(positions_.connects[element.id.value], input);
  return connect == nullptr ? Exits{} : Exits{connect->output, static_cast<PortNumber>(connect->output + 1)};
}

bool LightFollower::passes(const Element& element, PortNumber input, PortNumber output, FrequencySlot slot) const {
  if (std::holds_alternative<WavelengthSelectiveSwitch>(element.kind)) {
    const auto& routes = positions_.routes[element.id.value];
    return std::any_of(routes.begin(), routes.end(), [&](const WssRoute& route) {
      return route.slot == slot && route.input == input && route.output == output;
    });
  }
  if (std::holds_alternative<OpticalCircuitSwitch>(element.kind)) {
    return connects_to(positions_.connects[element.id.value], input, output);
  }
  if (const auto* grating = std::get_if<ArrayedWaveguideGrating>(&element.kind)) {
    const std::int32_t channel = grating->channels.channel_of(slot);
    return channel >= 0 && (channel + input) % element.outputs == output;
  }
  if (const auto* ring = std::get_if<RingFilter>(&element.kind)) {
    const Frequency resonance = resonances_[element.id.value].value_or(ring->cold_resonance);
    const bool couples = resonance_distance(*ring, resonance, centre_of(slot)).mhz <= ring->fwhm.mhz / 2;
    return couples ? input + output == 1 : input == 0 && output == 0;
  }
  if (const auto* panel = std::get_if<PatchPanel>(&element.kind)) {
    return input < panel->wiring.size() && panel->wiring[input] == output;
  }
  return !std::holds_alternative<PacketSwitch>(element.kind) && (!std::holds_alternative<Tap>(element.kind) || output == 0);
}

/// `at`: an input port that light has come to. Adds the hops from there to the receiver, or leaves the path as it was.
bool LightFollower::descend(PortRef at, const Circuit& circuit, Path& path) const {
  if (at.element == circuit.receiver) {
    path.push_back({at.element, at.port, 0});
    return true;
  }
  const Element& element = fabric_.element(at.element);
  const std::size_t length = path.size();
  const Exits open = exits(element, at.port);
  for (PortNumber output = open.first; output < open.end && length < kHopsMost; ++output) {
    const auto& fibre = fabric_.fibre_out[at.element.value][output];
    if (!fibre || !passes(element, at.port, output, circuit.slot)) {
      continue;
    }
    path.push_back({at.element, at.port, output});
    if (descend(fabric_.fibres[fibre->value].to, circuit, path)) {
      return true;
    }
    path.resize(length);
  }
  return false;
}

std::optional<Path> LightFollower::follow(const Circuit& circuit) const {
  const auto& out = fabric_.fibre_out[circuit.transmitter.value];
  Path path{{circuit.transmitter, 0, 0}};
  if (out.empty() || !out[0] || !descend(fabric_.fibres[out[0]->value].to, circuit, path)) {
    return std::nullopt;
  }
  return path;
}

LightPaths::LightPaths(std::shared_ptr<const Fabric> fabric, std::shared_ptr<const Plan> plan)
    : fabric_(std::move(fabric)), plan_(std::move(plan)), devices_(fabric_->devices.size(), nullptr) {
  const LightFollower follower(*fabric_, *plan_);
  for (const Device& device : fabric_->devices) {
    devices_[device.id.value] = follower.device(device.id);
  }
  begins_.reserve(plan_->circuits.size() + 1);
  SightingFinder finder(*fabric_, follower);
  for (const Circuit& circuit : plan_->circuits) {
    begins_.push_back(static_cast<std::uint32_t>(hops_.size()));
    const std::optional<Path> path = follower.follow(circuit);
    finder.add(circuit, path ? &*path : nullptr);
    for (std::size_t i = 0; path && i < path->size(); ++i) {
      const Hop& hop = (*path)[i];
      if (i + 1 == path->size() || fabric_->device_of_element[hop.element.value].has_value()) {
        hops_.push_back(hop);
      }
    }
  }
  begins_.push_back(static_cast<std::uint32_t>(hops_.size()));
  sightings_ = finder.finish();
}

std::span<const Sighting> LightPaths::sightings(std::size_t index) const { return sightings_.by_circuit[index]; }

std::span<const std::size_t> LightPaths::sighted_at(ElementId receiver) const {
  const auto found = sightings_.circuits_at.find(receiver);
  return found == sightings_.circuits_at.end() ? std::span<const std::size_t>{} : std::span{found->second};
}

std::span<const Hop> LightPaths::hops(std::size_t index) const {
  return std::span(hops_).subspan(begins_[index], begins_[index + 1] - begins_[index]);
}

std::optional<std::size_t> LightPaths::index_of(CircuitId id) const {
  const auto& circuits = plan_->circuits;
  const auto found = std::lower_bound(circuits.begin(), circuits.end(), id,
                                      [](const Circuit& circuit, CircuitId wanted) { return circuit.id < wanted; });
  return found == circuits.end() || found->id != id ? std::nullopt
                                                    : std::optional(static_cast<std::size_t>(found - circuits.begin()));
}

}  // namespace loom
