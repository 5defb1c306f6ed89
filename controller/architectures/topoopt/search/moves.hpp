// SPDX-License-Identifier: Apache-2.0
// Moves of the strategy search, as FlexFlow makes them (docs/systems/topoopt.md#alternating-optimisation): an operator's
// placement carried on to its neighbours, or one operator placed anew. Chance is a value: the same draws give the same moves.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/workload/strategy.hpp"

namespace loom {

/// Draws of a seed, by number: what a search has to remember to go on as if it had not been stopped.
struct Draws {
  std::uint64_t seed = 1;
  std::uint64_t drawn = 0;
  std::uint32_t below(std::uint32_t count);  ///< count > 0
  double unit();                             ///< 0 <= u < 1
  bool operator==(const Draws&) const = default;
};

struct MoveOptions {
  double propagation = 0.25;  ///< chance that a move carries a placement on; else it places one operator anew
  double goes_on = 0.75;      ///< chance that it is carried on from each operator reached to one more
  double size_weight = 1.0;   ///< how much larger tensors draw it: 0 not at all, 1 in proportion to bytes
};

class Moves {
 public:
  /// `graph` and `times` must live as long, at the same place.
  Moves(const OpGraph& graph, const OpTimes& times, const MoveOptions& options);
  /// May leave the strategy as it is. Placements stay lawful.
  Strategy propose(const Strategy& from, Draws& draws) const;
  /// One of the divisions that were measured, the first node anywhere below the stride.
  OpPlacement place(std::uint32_t op, Draws& draws) const;

 private:
  struct Neighbour {
    std::uint32_t op = 0;
    double bytes = 0;
  };
  bool carry_on(Strategy& strategy, std::uint32_t& at, Draws& draws) const;

  const OpGraph& graph_;
  const OpTimes& times_;
  MoveOptions options_;
  std::vector<std::vector<Neighbour>> neighbours_;
};

}  // namespace loom
