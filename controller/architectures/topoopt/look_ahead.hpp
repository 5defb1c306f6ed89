// SPDX-License-Identifier: Apache-2.0
// Look-ahead panels as a state machine (docs/systems/topoopt.md#architecture), one a job. All light of a job passes panels of
// one side, the *active* ones; its interfaces' ports of the other side, the *look-ahead* ones, are dark and may be wired by the
// robot. No state is kept beside the light: where the 1x2 switches stand says which side is active, what the panels hold says
// how far the wiring is.
//
//   settled --other links wanted--> wiring: the look-ahead side is wired for all links, the light stays as it is
//   wiring  --all wires are there--> flip: 1x2 switches to the other side, which is active from now on: settled
//
// Never moves a wire that light passes: claim() asks for the look-ahead side only. Pure.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "controller/architectures/topoopt/interfaces.hpp"
#include "core/schedule.hpp"

namespace loom {

class LookAheadWiring {
 public:
  /// `wired`: what switches hold now, ascending. Precondition of claim(): the cabling has panels.
  LookAheadWiring(const Cabling& cabling, const std::vector<SwitchWire>& wired) : cabling_(cabling), present_(wired) {}

  /// What the job's switches shall hold: `nodes` rank -> node, `held` its light of now, `wanted` what it shall have, both
  /// ascending. True: `wanted` may be lit by this plan (as held, flipped to a side that is wired, or of a job without light).
  /// False: `held` stays, and the look-ahead side is wired for `wanted`.
  bool claim(const std::vector<NodeId>& nodes, const std::vector<PlacedLink>& held, const std::vector<PlacedLink>& wanted);

  /// All claims, and every other wire of now that is in nobody's way: a robot moves no fibre for nothing. Ascending.
  std::vector<SwitchWire> wires() const;

 private:
  std::vector<SwitchWire> panel_wires(const std::vector<NodeId>& nodes, std::span<const PlacedLink> links,
                                      std::uint16_t side) const;
  void flip(const std::vector<NodeId>& nodes, std::span<const PlacedLink> links, std::uint16_t side);
  std::uint16_t active_side(const std::vector<NodeId>& nodes, std::span<const PlacedLink> held) const;
  bool is_present(const std::vector<SwitchWire>& wires) const;

  const Cabling& cabling_;
  const std::vector<SwitchWire>& present_;
  std::set<SwitchWire> claimed_;
};

}  // namespace loom
