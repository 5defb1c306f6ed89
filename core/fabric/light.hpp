// SPDX-License-Identifier: Apache-2.0
// Light as ground truth has it: who really reached whom, when, at which rate. Made by sim_backend from device models, read
// by controller/predict/replay. No controller and no agent ever sees it.
#pragma once

#include <vector>

#include "core/ids.hpp"
#include "core/time.hpp"
#include "core/units.hpp"

namespace loom {

/// From `begin` to `end` (kNever: still lit), light of `source` reached the receiver of `destination` usably.
struct LitWindow {
  NodeId source;
  NodeId destination;
  Instant begin{};
  Instant end = kNever;
  BitRate rate;
  ElementId transmitter{};  ///< whose light it was
  ElementId receiver{};     ///< where it arrived
  bool operator==(const LitWindow&) const = default;
};

using LightTimeline = std::vector<LitWindow>;

}  // namespace loom
