// SPDX-License-Identifier: Apache-2.0
// The light of one set of emitting transmitters, fibre by fibre. For verify*.cpp only.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/fabric/fabric.hpp"

namespace loom::verifying {

/// A ratio of powers as a factor.
inline double linear(Db gain) { return gain == Db{0} ? 1.0 : std::pow(10.0, gain.centi / 1000.0); }

/// Signals of one frequency slot on one fibre.
struct Cell {
  double mw = 0;
  std::uint32_t source = 0;   ///< transmitter element; of several the one with the lowest id
  std::uint16_t colour = 0;   ///< index into Passages::colours
  std::uint16_t signals = 0;  ///< how many transmitters' signals; 0: stray light
};

/// Cells by fibre.
struct Layer {
  struct Range {
    std::uint32_t begin = 0;
    std::uint32_t count = 0;
  };
  std::vector<Cell> cells;
  std::vector<Range> fibres;

  std::span<const Cell> on(FibreId fibre) const {
    return {cells.data() + fibres[fibre.value].begin, fibres[fibre.value].count};
  }
};

struct Lit {
  ElementId transmitter;
  FrequencySlot slot;
  Dbm power;
};

/// The light of one set of emitting transmitters, on every fibre.
struct Field {
  Layer signals;              ///< came by open ways only; ascending colour on each fibre
  std::vector<double> leaks;  ///< by fibre, mW, of all colours: passed a closed switch, grating or filter at least once

  double power_on(FibreId fibre) const {
    double sum = leaks[fibre.value];
    for (const Cell& cell : signals.on(fibre)) {
      sum += cell.mw;
    }
    return sum;
  }
};

}  // namespace loom::verifying
