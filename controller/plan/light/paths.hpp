// SPDX-License-Identifier: Apache-2.0
// Paths of light through a fabric's graph, and the switch settings that they claim. Generic over elements: couplers,
// amplifiers, WSS, cyclic AWGs, ring filters, OCS, patch panels, attenuators, taps.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "controller/plan/light/way_index.hpp"
#include "controller/plan/per_element.hpp"
#include "core/circuit.hpp"
#include "core/fabric/fabric.hpp"
#include "core/plan.hpp"

namespace loom {

/// Settings of all switching elements, by element; each kind uses its own table. A position once claimed stays for the stage.
struct Positions {
  explicit Positions(const Fabric& fabric)
      : routes(fabric.elements.size()),
        resonances(fabric.elements.size()),
        connects(fabric.elements.size()),
        gains(fabric.elements.size(), kGainOff) {}
  PerElement<std::vector<WssRoute>> routes;              ///< ascending (slot.n, input)
  std::vector<std::optional<FrequencySlot>> resonances;  ///< of ring filters that drop or add
  PerElement<std::vector<CrossConnect>> connects;        ///< ascending input
  std::vector<Db> gains;                                 ///< of gain stages that are driven; kGainOff until they are told
};

/// Of connections by ascending input, this input's; null: it has none.
const CrossConnect* connect_of(const std::vector<CrossConnect>& connects, PortNumber input);
/// Of the same: the input is connected to this output.
bool connects_to(const std::vector<CrossConnect>& connects, PortNumber input, PortNumber output);

/// What a plan sets. Of a resonance only the centre is known: its slot has no width.
Positions positions_of(const Fabric& fabric, const Plan& plan);

/// The whole path is set. `resonances`: of the rings, by element.
bool is_set(const Fabric& fabric, const Positions& positions, const std::vector<std::optional<Frequency>>& resonances,
            const Path& path, FrequencySlot slot);

/// Connections of somebody else on a circuit switch; either port may be none of the element's.
struct OccupiedPorts {
  ElementId element;
  std::vector<CrossConnect> connects;
};

class PathFinder {
 public:
  /// `preferred`: positions of the base plan; among several ways the one that exists is taken. `frozen`: elements, ascending,
  /// that stay as `preferred` has them: what they do not do already they never do. `ways`: the fabric's; null: made here.
  PathFinder(const Fabric& fabric, const Positions& preferred, const std::vector<ElementId>& frozen = {},
             std::shared_ptr<const WayIndex> ways = nullptr);

  /// No way leads through ports that these hold, unless it is theirs.
  void leave_to_others(const std::vector<OccupiedPorts>& occupied);
  /// The first free way, or nothing. Claims it in positions().
  std::optional<Path> route_light(const Circuit& circuit);
  /// Claims all that light which is there already meets on its way through the preferred positions, wherever that leads.
  /// `resonances`: of the preferred positions, by element. The receivers where it ends and that have no filter of their own.
  std::vector<ElementId> hold(ElementId transmitter, FrequencySlot slot,
                              const std::vector<std::optional<Frequency>>& resonances);
  /// Claims a connection of a circuit switch for whoever comes to its input; false: the input or the output is taken.
  bool wire(ElementId element, CrossConnect connect);
  /// Claims a way that is free, or counts one more light on a way that others have.
  void claim(const Path& path, FrequencySlot slot);
  /// Of light that claimed it: what nobody else has of it is free again.
  void release(const Path& path, FrequencySlot slot);
  /// Of a route that was claimed: by `route.attenuation` from now on.
  void attenuate(ElementId wss, const WssRoute& route);
  const Positions& positions() const { return positions_; }

 private:
  struct Passing {
    FrequencySlot slot;
    std::uint32_t before = kNothing;  ///< the same filter's light before this one
  };
  static constexpr std::uint32_t kNothing = ~std::uint32_t{0};

  bool reaches(FibreId fibre, std::uint32_t trunk) const;
  bool descend(PortRef at, FrequencySlot slot, const WayIndex::Tail& tail, std::uint32_t trunk, Path& path);
  bool finish(PortNumber trunk_input, FrequencySlot slot, const WayIndex::Tail& tail, Path& path) const;
  bool may_pass(const Element& element, PortNumber input, PortNumber output, FrequencySlot slot) const;
  bool passes_already(const Element& element, PortNumber input, PortNumber output, FrequencySlot slot) const;
  template <class Attempt>
  bool try_exits(const Element& element, PortNumber input, FrequencySlot slot, Attempt attempt);
  bool is_free(ElementId ocs, PortNumber input, PortNumber output) const;
  bool may_resonate(const Element& element, FrequencySlot slot) const;
  void release_connect(const Hop& hop);
  void release_passing(ElementId ring, FrequencySlot slot);
  std::vector<Hop> held_exits(PortRef at, FrequencySlot slot, const std::vector<std::optional<Frequency>>& resonances) const;
  void add_connect(ElementId element, CrossConnect connect);

  const Fabric& fabric_;
  const Positions& preferred_;
  Positions positions_;
  PerElement<std::vector<CrossConnect>> others_;   ///< by element: connections that are none of ours
  std::vector<bool> frozen_;                       ///< by element
  std::vector<std::uint32_t> last_passing_;        ///< by ring filter: the last of its light in passing_, or kNothing
  std::vector<Passing> passing_;                   ///< light that goes through a ring filter and must go on to
  std::vector<std::uint32_t> unused_passing_;      ///< places in it
  std::vector<std::uint16_t> coupling_;            ///< by ring filter: lights that it drops or adds
  PerElement<std::vector<std::uint16_t>> lights_;  ///< by circuit switch: [input] that claimed its connection
  PerElement<std::vector<bool>> is_taken_;         ///< by circuit switch: [output] connected in positions_
  std::shared_ptr<const WayIndex> ways_;
  std::vector<bool> is_on_way_;  ///< by fibre: the path under way has come by it, to an element of several inputs
};

}  // namespace loom
