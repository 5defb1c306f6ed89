// SPDX-License-Identifier: Apache-2.0
// LightObserver: a simulated device that measures light of others, and what it looks through: ground truth, as far as whoever
// answers knows it.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/units.hpp"

namespace loom {

/// Light as it comes to an input.
struct ArrivingLight {
  Frequency frequency;
  Dbm power{kNoLight};
  bool operator==(const ArrivingLight&) const = default;
};

/// What comes to an input port now, strongest first. Ground truth answers; models of devices that measure light ask. Nothing:
/// the light there is not known to whoever answers.
using LightSight = std::function<std::optional<std::vector<ArrivingLight>>(PortRef input)>;

/// A simulated device that measures light of others.
class LightObserver {
 public:
  virtual ~LightObserver() = default;
  /// What it measures from now on.
  virtual void look_through(LightSight sight) = 0;
};

}  // namespace loom
