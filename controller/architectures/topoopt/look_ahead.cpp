// SPDX-License-Identifier: Apache-2.0
// Sides, wires and flips.
#include "controller/architectures/topoopt/look_ahead.hpp"

#include <algorithm>
#include <utility>

namespace loom {

std::vector<SwitchWire> LookAheadWiring::panel_wires(const std::vector<NodeId>& nodes, std::span<const PlacedLink> links,
                                                     std::uint16_t side) const {
  std::vector<SwitchWire> wires;
  for (const PlacedLink& link : links) {
    const Interface& out = cabling_.interfaces[nodes[link.from].value][link.out];
    const Interface& in = cabling_.interfaces[nodes[link.to].value][link.in];
    wires.push_back({out.panels[side], out.input, in.output});
  }
  return wires;
}

void LookAheadWiring::flip(const std::vector<NodeId>& nodes, std::span<const PlacedLink> links, std::uint16_t side) {
  for (const PlacedLink& link : links) {
    const Interface& out = cabling_.interfaces[nodes[link.from].value][link.out];
    const Interface& in = cabling_.interfaces[nodes[link.to].value][link.in];
    claimed_.insert({out.look_ahead->transmit, 0, side});
    claimed_.insert({in.look_ahead->receive, side, 0});
  }
}

/// Where the first link's 1x2 switch stands: all of a job's stand alike.
std::uint16_t LookAheadWiring::active_side(const std::vector<NodeId>& nodes, std::span<const PlacedLink> held) const {
  const Interface& out = cabling_.interfaces[nodes[held.front().from].value][held.front().out];
  return std::binary_search(present_.begin(), present_.end(), SwitchWire{out.look_ahead->transmit, 0, 1}) ? 1 : 0;
}

bool LookAheadWiring::is_present(const std::vector<SwitchWire>& wires) const {
  return std::all_of(wires.begin(), wires.end(),
                     [&](const SwitchWire& wire) { return std::binary_search(present_.begin(), present_.end(), wire); });
}

bool LookAheadWiring::claim(const std::vector<NodeId>& nodes, const std::vector<PlacedLink>& held,
                            const std::vector<PlacedLink>& wanted) {
  if (held.empty()) {  // no light to look ahead from: wired and lit in one
    const std::uint16_t side = !is_present(panel_wires(nodes, wanted, 0)) && is_present(panel_wires(nodes, wanted, 1)) ? 1 : 0;
    const std::vector<SwitchWire> wires = panel_wires(nodes, wanted, side);
    claimed_.insert(wires.begin(), wires.end());
    flip(nodes, wanted, side);
    return true;
  }
  const std::uint16_t active = active_side(nodes, held);
  const std::uint16_t look_ahead = active == 0 ? 1 : 0;
  const std::vector<SwitchWire> needed = panel_wires(nodes, wanted, look_ahead);
  const bool is_settled = held == wanted;
  const bool may_flip = !is_settled && is_present(needed);
  const std::vector<SwitchWire> now = panel_wires(nodes, held, active);
  claimed_.insert(now.begin(), now.end());
  if (!is_settled) {
    claimed_.insert(needed.begin(), needed.end());
  }
  flip(nodes, may_flip ? wanted : held, may_flip ? look_ahead : active);
  return is_settled || may_flip;
}

std::vector<SwitchWire> LookAheadWiring::wires() const {
  std::set<std::pair<DeviceId, std::uint16_t>> inputs;
  std::set<std::pair<DeviceId, std::uint16_t>> outputs;
  for (const SwitchWire& wire : claimed_) {
    inputs.emplace(wire.device, wire.input);
    outputs.emplace(wire.device, wire.output);
  }
  std::set<SwitchWire> wires = claimed_;
  for (const SwitchWire& wire : present_) {
    if (!inputs.contains({wire.device, wire.input}) && !outputs.contains({wire.device, wire.output})) {
      wires.insert(wire);
    }
  }
  return {wires.begin(), wires.end()};
}

}  // namespace loom
