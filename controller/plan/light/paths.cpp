// SPDX-License-Identifier: Apache-2.0
// Depth-first search, pruned by what the index knows of which element leads to which trunk.
#include "controller/plan/light/paths.hpp"

#include <algorithm>
#include <utility>

#include "core/fabric/gain_stage.hpp"

namespace loom {
namespace {

bool by_slot_and_input(const WssRoute& a, const WssRoute& b) {
  return std::pair{a.slot.n, a.input} < std::pair{b.slot.n, b.input};
}

/// Sends channel c of input i to output (c + i) mod outputs.
bool grating_passes(const Element& element, const ArrayedWaveguideGrating& grating, PortNumber input, PortNumber output,
                    FrequencySlot slot) {
  const std::int32_t channel = grating.channels.channel_of(slot);
  return channel >= 0 && (channel + input) % element.outputs == output;
}

bool wss_admits(const std::vector<WssRoute>& routes, PortNumber input, PortNumber output, FrequencySlot slot) {
  return std::all_of(routes.begin(), routes.end(), [&](const WssRoute& route) {
    if (!overlaps(route.slot, slot)) {
      return true;
    }
    return route.input == input ? (route.output == output && route.slot == slot) : route.output != output;
  });
}

bool ocs_admits(const std::vector<CrossConnect>& connects, PortNumber input, PortNumber output) {
  return std::all_of(connects.begin(), connects.end(),
                     [&](const CrossConnect& connect) { return (connect.input == input) == (connect.output == output); });
}

}  // namespace

const CrossConnect* connect_of(const std::vector<CrossConnect>& connects, PortNumber input) {
  const auto at = std::ranges::lower_bound(connects, input, {}, &CrossConnect::input);
  return at == connects.end() || at->input != input ? nullptr : &*at;
}

bool connects_to(const std::vector<CrossConnect>& connects, PortNumber input, PortNumber output) {
  const CrossConnect* connect = connect_of(connects, input);
  return connect != nullptr && connect->output == output;
}

bool is_set(const Fabric& fabric, const Positions& positions, const std::vector<std::optional<Frequency>>& resonances,
            const Path& path, FrequencySlot slot) {
  return std::ranges::all_of(path, [&](const Hop& hop) {
    const auto& routes = positions.routes[hop.element.value];
    const auto& connects = positions.connects[hop.element.value];
    const Element& element = fabric.element(hop.element);
    if (std::holds_alternative<WavelengthSelectiveSwitch>(element.kind)) {
      return std::ranges::any_of(routes, [&](const WssRoute& route) {
        return route.slot == slot && route.input == hop.input && route.output == hop.output;
      });
    }
    if (std::holds_alternative<OpticalCircuitSwitch>(element.kind)) {
      return connects_to(connects, hop.input, hop.output);
    }
    return !std::holds_alternative<RingFilter>(element.kind) || (hop.input == 0 && hop.output == 0) ||
           resonances[hop.element.value] == centre_of(slot);
  });
}

Positions positions_of(const Fabric& fabric, const Plan& plan) {
  Positions positions(fabric);
  for (const NodePlan& node : plan.nodes) {
    for (const DevicePlan& planned : node.devices) {
      const auto& elements = fabric.device(planned.device).elements;
      const Setpoint& setpoint = planned.timeline.front().setpoint;
      if (const auto* wss = std::get_if<WavelengthSwitchSetpoint>(&setpoint)) {
        positions.routes[elements[0].value] = wss->routes;
      } else if (const auto* ocs = std::get_if<CircuitSwitchSetpoint>(&setpoint)) {
        auto& connects = positions.connects[elements[0].value];
        connects = ocs->connects;
        std::ranges::stable_sort(connects, {}, &CrossConnect::input);  // what was found there may be in any order
      } else if (const auto* stage = std::get_if<GainSetpoint>(&setpoint)) {
        positions.gains[elements[0].value] = stage->gain;
      } else if (const auto* heater = std::get_if<FilterSetpoint>(&setpoint)) {
        for (const RingResonance& ring : heater->rings) {
          const std::int64_t n = (ring.resonance.mhz - kGridAnchor.mhz) / kGridStep.mhz;
          positions.resonances[elements[ring.channel].value] = FrequencySlot{static_cast<std::int32_t>(n), 0};
        }
      }
    }
  }
  return positions;
}

PathFinder::PathFinder(const Fabric& fabric, const Positions& preferred, const std::vector<ElementId>& frozen,
                       std::shared_ptr<const WayIndex> ways)
    : fabric_(fabric),
      preferred_(preferred),
      positions_(fabric),
      others_(fabric.elements.size()),
      frozen_(fabric.elements.size()),
      last_passing_(fabric.elements.size(), kNothing),
      coupling_(fabric.elements.size()),
      lights_(fabric.elements.size()),
      is_taken_(fabric.elements.size()),
      ways_(ways != nullptr ? std::move(ways) : std::make_shared<const WayIndex>(fabric)),
      is_on_way_(fabric.fibres.size()) {
  for (const ElementId element : frozen) {
    frozen_[element.value] = true;
  }
}

void PathFinder::attenuate(ElementId wss, const WssRoute& route) {
  for (WssRoute& each : positions_.routes[wss.value]) {
    if (each.slot == route.slot && each.input == route.input) {
      each.attenuation = route.attenuation;
    }
  }
}

void PathFinder::leave_to_others(const std::vector<OccupiedPorts>& occupied) {
  for (const OccupiedPorts& each : occupied) {
    others_[each.element.value] = each.connects;
  }
}

bool PathFinder::reaches(FibreId fibre, std::uint32_t trunk) const {
  return ways_->reaches(fabric_.fibres[fibre.value].to.element, trunk);
}

/// What a frozen element does with this light: what it was set to.
bool PathFinder::passes_already(const Element& element, PortNumber input, PortNumber output, FrequencySlot slot) const {
  if (std::holds_alternative<WavelengthSelectiveSwitch>(element.kind)) {
    const auto& routes = preferred_.routes[element.id.value];
    return std::any_of(routes.begin(), routes.end(), [&](const WssRoute& route) {
      return route.slot == slot && route.input == input && route.output == output;
    });
  }
  if (std::holds_alternative<OpticalCircuitSwitch>(element.kind)) {
    return connects_to(preferred_.connects[element.id.value], input, output);
  }
  if (is_gain_stage(element)) {
    return preferred_.gains[element.id.value] != kGainOff;
  }
  const auto& resonance = preferred_.resonances[element.id.value];
  const bool couples = resonance && centre_of(*resonance) == centre_of(slot);
  return !std::holds_alternative<RingFilter>(element.kind) || (input == 0 && output == 0 ? !couples : couples);
}

bool PathFinder::may_pass(const Element& element, PortNumber input, PortNumber output, FrequencySlot slot) const {
  if (frozen_[element.id.value] && !passes_already(element, input, output, slot)) {
    return false;
  }
  if (std::holds_alternative<WavelengthSelectiveSwitch>(element.kind)) {
    return wss_admits(positions_.routes[element.id.value], input, output, slot);
  }
  if (const auto* grating = std::get_if<ArrayedWaveguideGrating>(&element.kind)) {
    return grating_passes(element, *grating, input, output, slot);
  }
  if (std::holds_alternative<RingFilter>(element.kind)) {
    const auto& resonance = positions_.resonances[element.id.value];
    if (input == 0 && output == 0) {
      return !resonance || !overlaps(*resonance, slot);
    }
    return input + output == 1 && may_resonate(element, slot);
  }
  if (std::holds_alternative<OpticalCircuitSwitch>(element.kind)) {
    return is_free(element.id, input, output);
  }
  if (const auto* panel = std::get_if<PatchPanel>(&element.kind)) {
    return input < panel->wiring.size() && panel->wiring[input] == output;
  }
  return !std::holds_alternative<PacketSwitch>(element.kind) && (!std::holds_alternative<Tap>(element.kind) || output == 0);
}

/// Dropping and adding: a ring stands on one slot, and not where other light passes.
/// Connected so already, or neither port is connected at all, nor taken by others.
bool PathFinder::is_free(ElementId ocs, PortNumber input, PortNumber output) const {
  const CrossConnect* connect = connect_of(positions_.connects[ocs.value], input);
  const auto& taken = is_taken_[ocs.value];
  return (connect != nullptr ? connect->output == output : output >= taken.size() || !taken[output]) &&
         ocs_admits(others_[ocs.value], input, output);
}

bool PathFinder::may_resonate(const Element& element, FrequencySlot slot) const {
  const auto& resonance = positions_.resonances[element.id.value];
  if (resonance && *resonance != slot) {
    return false;
  }
  for (std::uint32_t i = last_passing_[element.id.value]; i != kNothing; i = passing_[i].before) {
    if (overlaps(passing_[i].slot, slot)) {
      return false;
    }
  }
  return true;
}

/// Outputs one after the other until one does, the base plan's own way first.
template <class Attempt>
bool PathFinder::try_exits(const Element& element, PortNumber input, FrequencySlot slot, Attempt attempt) {
  for (const WssRoute& route : preferred_.routes[element.id.value]) {
    if (route.input == input && route.slot == slot && attempt(route.output)) {
      return true;
    }
  }
  const CrossConnect* connect = connect_of(preferred_.connects[element.id.value], input);
  if (connect != nullptr && attempt(connect->output)) {
    return true;
  }
  for (PortNumber output = 0; output < element.outputs; ++output) {
    if (attempt(output)) {  // a preferred one comes twice and fails twice
      return true;
    }
  }
  return false;
}

bool PathFinder::finish(PortNumber trunk_input, FrequencySlot slot, const WayIndex::Tail& tail, Path& path) const {
  const std::size_t length = path.size();
  for (std::size_t i = 0; i < tail.hops.size(); ++i) {
    Hop hop = tail.hops[i];
    hop.input = i == 0 ? trunk_input : PortNumber{0};
    const Element& element = fabric_.element(hop.element);
    if (element.outputs > 0 && !may_pass(element, hop.input, hop.output, slot)) {
      path.resize(length);
      return false;
    }
    path.push_back(hop);
  }
  return true;
}

/// `at`: an input port that light has come to. Adds the hops from there to the receiver, or leaves the path as it was.
bool PathFinder::descend(PortRef at, FrequencySlot slot, const WayIndex::Tail& tail, std::uint32_t trunk, Path& path) {
  if (at.element == tail.trunk) {
    return finish(at.port, slot, tail, path);
  }
  const Element& element = fabric_.element(at.element);
  const auto& came_by = fabric_.fibre_in[at.element.value][at.port];
  const bool may_circle = element.inputs > 1 && came_by;
  if (may_circle && is_on_way_[came_by->value]) {
    return false;  // round in a circle
  }
  const auto attempt = [&](PortNumber output) {
    const auto& fibre = fabric_.fibre_out[at.element.value][output];
    if (!fibre || !reaches(*fibre, trunk) || !may_pass(element, at.port, output, slot)) {
      return false;
    }
    path.push_back({at.element, at.port, output});
    if (descend(fabric_.fibres[fibre->value].to, slot, tail, trunk, path)) {
      return true;
    }
    path.pop_back();
    return false;
  };
  if (may_circle) {
    is_on_way_[came_by->value] = true;
  }
  const bool arrives = element.outputs == 1 ? attempt(0) : try_exits(element, at.port, slot, attempt);
  if (may_circle) {
    is_on_way_[came_by->value] = false;
  }
  return arrives;
}

std::optional<Path> PathFinder::route_light(const Circuit& circuit) {
  const auto& out = fabric_.fibre_out[circuit.transmitter.value];
  if (out.empty() || !out[0] || !std::holds_alternative<Receiver>(fabric_.element(circuit.receiver).kind)) {
    return std::nullopt;
  }
  const WayIndex::Tail tail = ways_->tail_of(circuit.receiver);
  const std::uint32_t trunk = ways_->trunk_number(tail.trunk);
  Path path{{circuit.transmitter, 0, 0}};
  if (tail.trunk == circuit.transmitter) {  // a private fibre, no element with a choice between
    path.clear();
    if (!finish(0, circuit.slot, tail, path)) {
      return std::nullopt;
    }
  } else if (!reaches(*out[0], trunk) || !descend(fabric_.fibres[out[0]->value].to, circuit.slot, tail, trunk, path)) {
    return std::nullopt;
  }
  claim(path, circuit.slot);
  return path;
}

void PathFinder::add_connect(ElementId element, CrossConnect connect) {
  auto& connects = positions_.connects[element.value];
  const auto place = std::ranges::lower_bound(connects, connect.input, {}, &CrossConnect::input);
  if (place != connects.end() && *place == connect) {
    return;
  }
  connects.insert(place, connect);
  auto& taken = is_taken_[element.value];
  if (taken.size() <= connect.output) {
    taken.resize(std::max<std::size_t>(fabric_.element(element).outputs, connect.output + 1U));
  }
  taken[connect.output] = true;
}

bool PathFinder::wire(ElementId element, CrossConnect connect) {
  const bool admits = is_free(element, connect.input, connect.output);
  if (admits) {
    add_connect(element, connect);
  }
  return admits;
}

std::vector<ElementId> PathFinder::hold(ElementId transmitter, FrequencySlot slot,
                                        const std::vector<std::optional<Frequency>>& resonances) {
  std::vector<ElementId> receivers;
  std::vector<bool> seen(fabric_.fibres.size());
  Path open{{transmitter, 0, 0}};
  while (!open.empty()) {
    const Hop hop = open.back();
    open.pop_back();
    claim({hop}, slot);
    const auto& outputs = fabric_.fibre_out[hop.element.value];
    if (hop.output >= outputs.size() || !outputs[hop.output] || seen[outputs[hop.output]->value]) {
      continue;
    }
    seen[outputs[hop.output]->value] = true;
    const PortRef to = fabric_.fibres[outputs[hop.output]->value].to;
    if (std::holds_alternative<Receiver>(fabric_.element(to.element).kind) &&
        !std::holds_alternative<RingFilter>(fabric_.element(hop.element).kind)) {
      receivers.push_back(to.element);
    }
    for (const Hop& next : held_exits(to, slot, resonances)) {
      open.push_back(next);
    }
  }
  return receivers;
}

std::vector<Hop> PathFinder::held_exits(PortRef at, FrequencySlot slot,
                                        const std::vector<std::optional<Frequency>>& resonances) const {
  const Element& element = fabric_.element(at.element);
  std::vector<Hop> hops;
  if (std::holds_alternative<WavelengthSelectiveSwitch>(element.kind)) {
    for (const WssRoute& route : preferred_.routes[at.element.value]) {
      if (route.input == at.port && overlaps(route.slot, slot)) {
        hops.push_back({at.element, at.port, route.output});
      }
    }
    return hops;
  }
  if (std::holds_alternative<OpticalCircuitSwitch>(element.kind)) {
    if (const CrossConnect* connect = connect_of(preferred_.connects[at.element.value], at.port)) {
      hops.push_back({at.element, at.port, connect->output});
    }
    return hops;
  }
  if (std::holds_alternative<RingFilter>(element.kind)) {
    const bool is_on = resonances[at.element.value] == centre_of(slot);
    if (is_on || at.port == 0) {
      hops.push_back({at.element, at.port, static_cast<PortNumber>(is_on && at.port == 0 ? 1 : 0)});
    }
    return hops;
  }
  for (PortNumber output = 0; output < element.outputs; ++output) {
    if (may_pass(element, at.port, output, slot) || std::holds_alternative<Tap>(element.kind)) {
      hops.push_back({at.element, at.port, output});
    }
  }
  return hops;
}

void PathFinder::claim(const Path& path, FrequencySlot slot) {
  for (const Hop& hop : path) {
    const Element& element = fabric_.element(hop.element);
    if (std::holds_alternative<WavelengthSelectiveSwitch>(element.kind)) {
      auto& routes = positions_.routes[hop.element.value];
      const WssRoute route{slot, hop.input, hop.output, Db{0}};
      const auto place = std::lower_bound(routes.begin(), routes.end(), route, by_slot_and_input);
      if (place == routes.end() || by_slot_and_input(route, *place)) {
        routes.insert(place, route);
      }
    } else if (std::holds_alternative<RingFilter>(element.kind)) {
      if (hop.input == 0 && hop.output == 0) {
        std::uint32_t& last = last_passing_[hop.element.value];
        if (unused_passing_.empty()) {
          unused_passing_.push_back(static_cast<std::uint32_t>(passing_.size()));
          passing_.emplace_back();
        }
        passing_[unused_passing_.back()] = {slot, last};
        last = unused_passing_.back();
        unused_passing_.pop_back();
      } else {
        positions_.resonances[hop.element.value] = slot;
        ++coupling_[hop.element.value];
      }
    } else if (std::holds_alternative<OpticalCircuitSwitch>(element.kind)) {
      add_connect(hop.element, {hop.input, hop.output});
      auto& lights = lights_[hop.element.value];
      lights.resize(std::max<std::size_t>(lights.size(), hop.input + 1U));
      ++lights[hop.input];
    }
  }
}

void PathFinder::release(const Path& path, FrequencySlot slot) {
  for (const Hop& hop : path) {
    const Element& element = fabric_.element(hop.element);
    if (std::holds_alternative<OpticalCircuitSwitch>(element.kind)) {
      release_connect(hop);
    } else if (std::holds_alternative<RingFilter>(element.kind)) {
      if (hop.input == 0 && hop.output == 0) {
        release_passing(hop.element, slot);
      } else if (--coupling_[hop.element.value] == 0) {
        positions_.resonances[hop.element.value].reset();
      }
    }
  }
}

void PathFinder::release_connect(const Hop& hop) {
  if (--lights_[hop.element.value][hop.input] > 0) {
    return;
  }
  auto& connects = positions_.connects[hop.element.value];
  connects.erase(std::ranges::lower_bound(connects, hop.input, {}, &CrossConnect::input));
  is_taken_[hop.element.value][hop.output] = false;
}

void PathFinder::release_passing(ElementId ring, FrequencySlot slot) {
  std::uint32_t* at = &last_passing_[ring.value];
  while (passing_[*at].slot != slot) {
    at = &passing_[*at].before;
  }
  unused_passing_.push_back(*at);
  *at = passing_[*at].before;
}

}  // namespace loom
