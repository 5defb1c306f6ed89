// SPDX-License-Identifier: Apache-2.0
// One request's light on the rings, while grant_wavelengths works on it: which pair is on which segment of which wavelength,
// and how well each pair is served. It gives and takes what it is told to and decides nothing.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "controller/architectures/sip_ring/waves.hpp"

namespace loom {

class LitArcs {
 public:
  static constexpr std::uint32_t kNobody = 0xffffffff;    ///< free, or somebody else's
  static constexpr std::uint32_t kStranger = 0xfffffffe;  ///< in blockers: light that is not this request's

  /// All three must live as long.
  LitArcs(WavelengthUse& map, const std::vector<RingPair>& pairs, const WavelengthLimits& limits);

  const WavelengthUse& map() const { return map_; }
  const std::vector<RingPair>& pairs() const { return pairs_; }
  std::uint32_t nodes() const { return nodes_; }
  std::uint32_t rows() const { return map_.rows(); }
  RingDirection direction_of(std::uint32_t row) const { return map_.buses()[map_.bus_of(row)].direction; }

  RingArc arc(RingDirection direction, std::uint32_t pair) const { return arcs_[static_cast<std::size_t>(direction)][pair]; }
  /// Within reach and across no closed segment.
  bool is_open(RingDirection direction, std::uint32_t pair) const { return open_[static_cast<std::size_t>(direction)][pair]; }
  /// A wavelength that this request is on, or one more if it may have one more.
  bool may_use(std::uint32_t row) const { return lit_in_row_[row] > 0 || rows_lit_[map_.bus_of(row)] < channels_max_; }
  bool is_free(std::uint32_t row, RingArc arc) const { return map_.is_free(row, arc); }

  void give(std::uint32_t pair, std::uint32_t row);
  void take(std::uint32_t pair, std::uint32_t row);

  std::uint32_t served(std::uint32_t pair) const { return served_[pair]; }
  const std::vector<std::uint32_t>& served() const { return served_; }
  /// Wavelengths over demand relative to the largest, if the pair had `wavelengths`.
  double level(std::uint32_t pair, std::uint32_t wavelengths) const { return wavelengths * per_wavelength_[pair]; }
  double level(std::uint32_t pair) const { return level(pair, served_[pair]); }

  /// Calls `each(pair)` once for everyone on the way of `arc`, kStranger for light of others; each returns false to stop there.
  /// False: stopped.
  template <class Each>
  bool each_blocker(std::uint32_t row, RingArc arc, const Each& each) const {
    const std::uint32_t* owner = owner_.data() + std::size_t{row} * nodes_;
    const RingDirection direction = direction_of(row);
    std::uint32_t front = kNobody;
    for (std::uint32_t offset = 0; offset < arc.length;) {
      std::uint32_t segment = arc.first + offset;
      segment = segment >= nodes_ ? segment - nodes_ : segment;
      if (owner[segment] == kNobody) {
        if (map_.is_taken(row, segment)) {
          return each(kStranger) && false;
        }
        ++offset;
        continue;
      }
      const std::uint32_t pair = owner[segment];
      if (pair == front) {
        return true;  // its light ends where ours begins and begins where ours ends
      }
      front = front == kNobody ? pair : front;
      if (!each(pair)) {
        return false;
      }
      const RingArc other = this->arc(direction, pair);
      const std::uint32_t into = segment >= other.first ? segment - other.first : segment + nodes_ - other.first;
      offset += other.length - into;
    }
    return true;
  }

  /// Ascending.
  std::vector<WavelengthGrant> grants() const;

 private:
  WavelengthUse& map_;
  const std::vector<RingPair>& pairs_;
  std::uint32_t nodes_;
  std::uint32_t channels_max_;
  std::array<std::vector<RingArc>, 2> arcs_;  ///< by direction, by pair
  std::array<std::vector<bool>, 2> open_;
  std::vector<double> per_wavelength_;  ///< by pair: what one wavelength adds to its level
  std::vector<std::uint32_t> served_;
  std::vector<std::uint32_t> owner_;       ///< [row][segment]
  std::vector<std::uint32_t> lit_in_row_;  ///< arcs
  std::vector<std::uint32_t> rows_lit_;    ///< by bus
};

}  // namespace loom
