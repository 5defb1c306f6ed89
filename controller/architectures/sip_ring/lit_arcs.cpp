// SPDX-License-Identifier: Apache-2.0
// Bookkeeping of arcs given and taken.
#include "controller/architectures/sip_ring/lit_arcs.hpp"

#include <algorithm>

namespace loom {

LitArcs::LitArcs(WavelengthUse& map, const std::vector<RingPair>& pairs, const WavelengthLimits& limits)
    : map_(map),
      pairs_(pairs),
      nodes_(map.nodes()),
      channels_max_(limits.channels_max),
      served_(pairs.size()),
      owner_(std::size_t{map.rows()} * map.nodes(), kNobody),
      lit_in_row_(map.rows()),
      rows_lit_(map.buses().size()) {
  double largest = 0;
  for (const RingPair& pair : pairs) {
    largest = std::max(largest, pair.demand);
  }
  std::vector<std::uint32_t> closed(2 * std::size_t{nodes_} + 1);  // how many of the first k segments, twice round
  for (std::size_t k = 0; k < 2 * std::size_t{nodes_}; ++k) {
    closed[k + 1] = closed[k] + (!limits.closed.empty() && limits.closed[k % nodes_] ? 1 : 0);
  }
  for (const RingPair& pair : pairs) {
    per_wavelength_.push_back(largest / pair.demand);
    for (const RingDirection direction : {RingDirection::clockwise, RingDirection::counter_clockwise}) {
      const RingArc way = arc_of(nodes_, direction, pair.source, pair.destination);
      const auto index = static_cast<std::size_t>(direction);
      arcs_[index].push_back(way);
      open_[index].push_back(way.length > 0 && way.length <= limits.reach &&
                             closed[way.first + way.length] == closed[way.first]);
    }
  }
}

void LitArcs::give(std::uint32_t pair, std::uint32_t row) {
  const RingArc way = arc(direction_of(row), pair);
  map_.set(row, way, true);
  std::uint32_t* owner = owner_.data() + std::size_t{row} * nodes_;
  for (std::uint32_t i = 0, segment = way.first; i < way.length; ++i) {
    owner[segment] = pair;
    segment = segment + 1 == nodes_ ? 0 : segment + 1;
  }
  rows_lit_[map_.bus_of(row)] += lit_in_row_[row]++ == 0 ? 1 : 0;
  ++served_[pair];
}

void LitArcs::take(std::uint32_t pair, std::uint32_t row) {
  const RingArc way = arc(direction_of(row), pair);
  map_.set(row, way, false);
  std::uint32_t* owner = owner_.data() + std::size_t{row} * nodes_;
  for (std::uint32_t i = 0, segment = way.first; i < way.length; ++i) {
    owner[segment] = kNobody;
    segment = segment + 1 == nodes_ ? 0 : segment + 1;
  }
  rows_lit_[map_.bus_of(row)] -= --lit_in_row_[row] == 0 ? 1 : 0;
  --served_[pair];
}

std::vector<WavelengthGrant> LitArcs::grants() const {
  std::vector<std::size_t> next{0};  // by pair: where its next grant goes; rows ascend, so do the grants of a pair
  for (const std::uint32_t count : served_) {
    next.push_back(next.back() + count);
  }
  std::vector<WavelengthGrant> found(next.back());
  for (std::uint32_t row = 0; row < rows(); ++row) {
    const RingDirection direction = direction_of(row);
    const std::uint32_t* owner = owner_.data() + std::size_t{row} * nodes_;
    for (std::uint32_t segment = 0; lit_in_row_[row] > 0 && segment < nodes_; ++segment) {
      const std::uint32_t pair = owner[segment];
      if (pair != kNobody && arc(direction, pair).first == segment) {
        found[next[pair]++] = {pair, map_.bus_of(row), map_.channel_of(row)};
      }
    }
  }
  return found;
}

}  // namespace loom
