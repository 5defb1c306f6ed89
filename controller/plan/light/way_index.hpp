// SPDX-License-Identifier: Apache-2.0
// WayIndex: where each receiver's only way in begins, and which elements lead there, however anything is set. It follows from
// the fabric alone, so whoever plans on one again and again keeps it (PlanMemory).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/fabric/fabric.hpp"

namespace loom {

struct Hop {
  ElementId element;
  PortNumber input = 0;
  PortNumber output = 0;
  bool operator==(const Hop&) const = default;
};

/// From the transmitter (its input is 0) to the receiver (its output is 0).
using Path = std::vector<Hop>;

/// Immutable, so threads may share it. Names no fabric: it is only for the one that it was made of, or an equal one.
class WayIndex {
 public:
  explicit WayIndex(const Fabric& fabric);

  /// A receiver's only way in: the hops that light must take once it is at `trunk`. A trunk is where that way begins (ODDL: the
  /// WSS of the destination group), so there are far fewer of them than receivers.
  struct Tail {
    ElementId trunk;
    std::span<const Hop> hops;  ///< from the trunk's exit to the receiver; the trunk's own input is open
  };

  /// Precondition: the element is a receiver.
  Tail tail_of(ElementId receiver) const {
    const Range& range = tails_[receiver.value];
    return {range.trunk, std::span(hops_).subspan(range.begin, range.count)};
  }
  /// Its number. Trunks on one loop lead to each other, so whatever leads to one leads to all: they share a number.
  std::uint32_t trunk_number(ElementId trunk) const { return *trunk_of_[trunk.value]; }
  /// Light at this element can come to that trunk, or is there.
  bool reaches(ElementId element, std::uint32_t trunk) const {
    return ((reach_[element.value * words_ + trunk / 64] >> (trunk % 64)) & 1U) != 0;
  }

 private:
  struct Range {
    ElementId trunk;
    std::uint32_t begin = 0;
    std::uint32_t count = 0;
  };

  void add_tail(const Fabric& fabric, ElementId receiver);
  std::uint32_t number(const Fabric& fabric, const std::vector<ElementId>& trunks);
  void find_reach(const Fabric& fabric);

  std::vector<Hop> hops_;                               ///< of all tails
  std::vector<Range> tails_;                            ///< by element, of receivers
  std::vector<std::optional<std::uint32_t>> trunk_of_;  ///< by element: its number among trunks
  std::size_t words_ = 0;
  std::vector<std::uint64_t> reach_;  ///< [element][word]: trunks that light at it can come to, itself among them
};

}  // namespace loom
