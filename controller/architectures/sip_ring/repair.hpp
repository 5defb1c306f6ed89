// SPDX-License-Identifier: Apache-2.0
// Repair of a ring's wavelengths: raises whoever is served worst, by ejection chains. The pair that wants one more wavelength
// takes a place, whoever is in its way looks for another, and so on; those who have more than they need leave theirs for
// good. Nobody ever ends worse off than the worst was before.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/architectures/sip_ring/lit_arcs.hpp"

namespace loom {

/// Lifts the least level of all pairs notch by notch, until a notch is out of reach (by load, by a node's wavelengths, or
/// after WavelengthLimits::repair_steps); of the last notch it keeps the moves that leave the fewest pairs below it.
/// Source: ejection pool with counters of failure (Nagata and Braysy 2009), on circular arcs.
class RingRepair {
 public:
  RingRepair(LitArcs& light, std::uint64_t seed, std::uint64_t steps_most);

  /// True: something has moved.
  bool run();
  std::uint64_t steps_used() const { return steps_used_; }

 private:
  struct Move {
    std::uint32_t pair = 0;
    std::uint32_t row = 0;
    bool is_given = false;
  };
  struct Place {
    std::uint32_t row = 0;
    double cost = 0;
    std::uint32_t alike = 0;  ///< of the same cost so far
  };

  void set_needs(double worst);
  bool is_out_of_reach() const;
  bool reach_needs();
  Place place_for(std::uint32_t pair);
  double cost_of(std::uint32_t pair, std::uint32_t row, RingArc way, double most);
  void insert(std::uint32_t pair, std::uint32_t row);
  void give(std::uint32_t pair, std::uint32_t row);
  void take(std::uint32_t pair, std::uint32_t row);
  void shake();
  void undo_to(std::size_t moves);
  std::uint64_t draw();

  LitArcs& light_;
  std::uint64_t state_;
  std::uint64_t steps_most_;
  std::uint64_t steps_used_ = 0;
  std::vector<std::uint32_t> rows_of_[2];  ///< by direction
  std::vector<std::uint32_t> need_;        ///< by pair: wavelengths that lift it above the worst
  std::vector<std::uint32_t> floor_;       ///< by pair: wavelengths that keep it no worse
  std::vector<double> penalty_;            ///< by pair: how hard it has been to place
  std::vector<std::uint32_t> pool_;        ///< pairs to be placed, last first
  std::vector<Move> moves_;
  std::vector<std::uint32_t> in_way_;
  std::uint64_t missing_ = 0;  ///< wavelengths below needs
  std::uint64_t sunk_ = 0;     ///< wavelengths below floors
};

}  // namespace loom
