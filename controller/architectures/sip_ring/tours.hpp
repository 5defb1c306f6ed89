// SPDX-License-Identifier: Apache-2.0
// Closed tours (docs/systems/sipml.md#closed-tours): the best set of disjoint arcs for one wavelength, by dynamic programming
// over the ring cut open. Gives light to whoever is on the tour; moves nobody.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/architectures/sip_ring/lit_arcs.hpp"

namespace loom {

class RingTours {
 public:
  explicit RingTours(LitArcs& light);

  /// Gives every pair on the best tour over the free segments of this wavelength one wavelength. False: nothing fits.
  bool grant(std::uint32_t row);
  /// Reads anew how well everybody is served. To be called when others than grant() have given or taken.
  void reprice();
  std::uint64_t steps_used() const { return steps_used_; }

 private:
  struct Arc {
    std::uint32_t pair = 0;
    std::uint32_t length = 0;
    double worth = 0;  ///< before what its pair has already
  };
  struct Arcs {
    std::vector<std::uint32_t> first;  ///< nodes + 1, by first segment
    std::vector<Arc> arcs;
    std::vector<std::uint32_t> cuts;  ///< where a tour over a free ring may be cut open
  };

  Arcs arcs_of(RingDirection direction) const;
  std::vector<std::uint32_t> cuts_of(const Arcs& arcs) const;
  void measure_room(std::uint32_t row);
  double tour_from(std::uint32_t cut, const Arcs& arcs);

  LitArcs& light_;
  Arcs arcs_[2];                          ///< by direction
  std::vector<double> price_;             ///< by pair: of one more wavelength
  std::vector<std::uint32_t> priced_at_;  ///< by pair: wavelengths
  std::vector<std::uint32_t> room_;       ///< by segment: free ones from it on
  std::vector<double> value_;
  std::vector<const Arc*> chosen_;
  std::uint64_t steps_used_ = 0;
};

}  // namespace loom
