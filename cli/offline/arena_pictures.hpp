// SPDX-License-Identifier: Apache-2.0
// The arena's rows as pictures: bars, lanes of one node, and the caption that says what they assume. Reads rows and decides
// nothing.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/render/figure.hpp"
#include "controller/arena/arena.hpp"

namespace loom::cli {

/// A fabric's row, or why it has none.
struct PicturedFabric {
  std::string name;
  const ArenaRow* row = nullptr;  ///< null: refused
  std::string refusal{};
};

struct PicturedRound {
  std::string title;
  std::vector<PicturedFabric> fabrics;
  double ideal_ms = 0;                   ///< the ideal switch's iteration; 0: not played
  std::vector<std::string> assumptions;  ///< of the workload
};

/// Every fabric a bar. One that was refused is named in the caption with its reason.
Picture bars_of(const PicturedRound& round);

/// Every fabric the lane of one node over one iteration; one that was refused has a lane with its reason.
Picture lanes_of(const PicturedRound& round);

/// The node of a row's lane in milliseconds, by what it did; null without a lane.
nlohmann::ordered_json lane_json(const NodeLane& lane);

}  // namespace loom::cli
