// SPDX-License-Identifier: Apache-2.0
// Levelling: what amplifiers, attenuators and routes of WSS are set to, so that every receiver gets light that it can read. By
// the fabric's figures; verify judges the result by its own sums.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "controller/plan/light/paths.hpp"
#include "core/circuit.hpp"
#include "core/fabric/fabric.hpp"
#include "core/plan.hpp"

namespace loom {

/// A route's attenuation beside 0.
struct RouteLevel {
  ElementId wss;
  WssRoute route;
};

struct Levels {
  std::vector<Db> gains;           ///< by element: of gain stages
  std::vector<RouteLevel> routes;  ///< in no order that matters
};

/// Gains as the fabric has them and routes that attenuate nothing are right where light arrives within what its receiver reads;
/// only light that does not is levelled, to a decibel within: too strong, as near to its receiver as something can attenuate it
/// and nobody else is attenuated too far; too weak, by whatever before it has gain to give. What light that stays lit passes
/// remains as it is.
class Leveller {
 public:
  Leveller(const Fabric& fabric, const Positions& base);
  /// Has this fabric anything that could be set so?
  static bool can_level(const Fabric& fabric);
  /// Its device follows no order: what it has by the base it keeps. Before any light is added.
  void freeze(ElementId element) { is_frozen_[element.value] = true; }
  /// Somebody set this stage by hand, and it stays so. Before any light is added.
  void hold(ElementId element, Db gain) { by_hand_[element.value] = gain; }
  /// `stays`: it is lit and goes on without a break.
  void add(const Path& path, FrequencySlot slot, Dbm launch, bool stays);
  Levels solve();

 private:
  /// Something that can be set on the way of light.
  struct Point {
    ElementId element;
    std::optional<WssRoute> route;  ///< of a WSS; else a gain stage
    Db gain{0};                     ///< 0 or below of a route
    Db least{0};
    Db most{0};
    bool is_held = false;
    std::vector<std::size_t> beams;
  };
  struct Beam {
    Dbm power;  ///< at its receiver, as the points stand
    Dbm least;  ///< that it is levelled to
    Dbm most;
    const Receiver* receiver = nullptr;
    bool is_weak() const { return power < receiver->sensitivity; }
    bool is_strong() const { return power > receiver->overload; }
    std::vector<std::size_t> points;  ///< in the order of its way
  };

  std::optional<std::size_t> point_at(const Hop& hop, FrequencySlot slot);
  Db held_at(const Hop& hop, FrequencySlot slot) const;
  void turn(Point& point, Db by);
  void weaken(const Beam& beam);
  void strengthen(const Beam& beam);

  const Fabric& fabric_;
  const Positions& base_;
  std::vector<Point> points_;
  std::vector<Beam> beams_;
  std::vector<bool> is_frozen_;                              ///< by element
  std::vector<std::optional<Db>> by_hand_;                   ///< by element
  std::vector<std::optional<std::size_t>> stage_;            ///< by element: its point
  std::unordered_map<std::uint64_t, std::size_t> route_at_;  ///< by WSS, slot and input: its point; looked up only
};

}  // namespace loom
