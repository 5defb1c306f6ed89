// SPDX-License-Identifier: Apache-2.0
// Weighted interval scheduling on a circle.
#include "controller/architectures/sip_ring/tours.hpp"

#include <algorithm>
#include <cmath>

namespace loom {
namespace {

constexpr double kServedWorth = 0.7;               ///< of one more wavelength for a pair, against the one before
constexpr double kLongWayWorth = 0.3;              ///< of an arc the long way round, against the short way
constexpr std::uint32_t kNodesCutEverywhere = 64;  ///< rings up to this size
constexpr std::uint32_t kCutsMost = 4;             ///< of larger ones

}  // namespace

RingTours::RingTours(LitArcs& light) : light_(light), price_(light.pairs().size()), priced_at_(light.pairs().size(), ~0U) {
  for (const RingDirection direction : {RingDirection::clockwise, RingDirection::counter_clockwise}) {
    arcs_[static_cast<std::size_t>(direction)] = arcs_of(direction);
  }
  reprice();
}

RingTours::Arcs RingTours::arcs_of(RingDirection direction) const {
  const std::uint32_t nodes = light_.nodes();
  Arcs made;
  made.first.assign(nodes + 1, 0);
  const auto count = static_cast<std::uint32_t>(light_.pairs().size());
  for (std::uint32_t pair = 0; pair < count; ++pair) {
    made.first[light_.arc(direction, pair).first + 1] += light_.is_open(direction, pair) ? 1 : 0;
  }
  for (std::uint32_t segment = 0; segment < nodes; ++segment) {
    made.first[segment + 1] += made.first[segment];
  }
  made.arcs.resize(made.first.back());
  std::vector<std::uint32_t> next(made.first.begin(), made.first.end() - 1);
  for (std::uint32_t pair = 0; pair < count; ++pair) {
    if (light_.is_open(direction, pair)) {
      const RingArc way = light_.arc(direction, pair);
      const std::uint32_t shorter = std::min(way.length, nodes - way.length);
      made.arcs[next[way.first]++] = {pair, way.length, shorter * (way.length == shorter ? 1.0 : kLongWayWorth)};
    }
  }
  made.cuts = cuts_of(made);
  return made;
}

/// A tour leaves some segment idle, and can be cut there, or begins an arc that crosses it, and can be cut where that begins:
/// the start of the arcs across the least crossed segment, and the node behind it, are cuts enough. Of a large ring, a few of
/// them, so that a tour may miss the worth of one arc.
std::vector<std::uint32_t> RingTours::cuts_of(const Arcs& arcs) const {
  const std::uint32_t nodes = light_.nodes();
  std::vector<std::uint32_t> cuts;
  if (nodes <= kNodesCutEverywhere) {
    for (std::uint32_t cut = 0; cut < nodes; ++cut) {
      cuts.push_back(cut);
    }
    return cuts;
  }
  std::vector<std::int64_t> crossing(nodes + 1);  // differences, then sums
  for (std::uint32_t segment = 0; segment < nodes; ++segment) {
    for (std::uint32_t i = arcs.first[segment]; i < arcs.first[segment + 1]; ++i) {
      const std::uint32_t end = segment + arcs.arcs[i].length;
      ++crossing[segment];
      --crossing[std::min(end, nodes)];
      crossing[0] += end > nodes ? 1 : 0;
      crossing[end > nodes ? end - nodes : nodes] -= end > nodes ? 1 : 0;
    }
  }
  for (std::uint32_t segment = 1; segment < nodes; ++segment) {
    crossing[segment] += crossing[segment - 1];
  }
  const auto least = static_cast<std::uint32_t>(std::min_element(crossing.begin(), crossing.end() - 1) - crossing.begin());
  cuts.push_back((least + 1) % nodes);
  for (std::uint32_t back = 0; back < nodes && cuts.size() < kCutsMost; ++back) {
    const std::uint32_t segment = (least + nodes - back) % nodes;
    const bool crosses = std::any_of(arcs.arcs.begin() + arcs.first[segment], arcs.arcs.begin() + arcs.first[segment + 1],
                                     [&](const Arc& arc) { return arc.length > back; });
    if (crosses) {
      cuts.push_back(segment);
    }
  }
  return cuts;
}

/// From every segment on, until one that is taken; all of the ring if none is.
void RingTours::measure_room(std::uint32_t row) {
  const std::uint32_t nodes = light_.nodes();
  room_.assign(nodes, nodes);
  std::uint32_t wall = nodes;
  for (std::uint32_t segment = 0; segment < nodes && wall == nodes; ++segment) {
    wall = light_.map().is_taken(row, segment) ? segment : wall;
  }
  for (std::uint32_t back = 0, room = 0; wall < nodes && back < nodes; ++back) {
    const std::uint32_t segment = wall >= back ? wall - back : wall + nodes - back;
    room = light_.map().is_taken(row, segment) ? 0 : room + 1;
    room_[segment] = room;
  }
}

bool RingTours::grant(std::uint32_t row) {
  const std::uint32_t nodes = light_.nodes();
  const Arcs& arcs = arcs_[static_cast<std::size_t>(light_.direction_of(row))];
  measure_room(row);
  const auto wall = static_cast<std::uint32_t>(std::find(room_.begin(), room_.end(), 0U) - room_.begin());
  std::vector<std::uint32_t> behind_wall{(wall + 1) % nodes};  // no tour crosses a segment that is taken: one cut is enough
  std::vector<std::uint32_t> best;
  double best_worth = 0;
  for (const std::uint32_t cut : wall < nodes ? behind_wall : arcs.cuts) {
    const double worth = tour_from(cut, arcs);
    if (worth > best_worth) {
      best_worth = worth;
      best.clear();
      for (std::uint32_t x = nodes; x > 0; x = chosen_[x] == nullptr ? x - 1 : x - chosen_[x]->length) {
        if (chosen_[x] != nullptr) {
          best.push_back(chosen_[x]->pair);
        }
      }
    }
  }
  for (const std::uint32_t pair : best) {
    light_.give(pair, row);
    priced_at_[pair] = light_.served(pair);
    price_[pair] = std::pow(kServedWorth, light_.level(pair));
  }
  return !best.empty();
}

/// On the ring cut open before segment `cut`: the best worth, and in chosen_[x] the arc that ends x segments on in the best
/// choice so far, or null for an idle segment.
double RingTours::tour_from(std::uint32_t cut, const Arcs& arcs) {
  const std::uint32_t nodes = light_.nodes();
  value_.assign(nodes + 1, -1);
  chosen_.assign(nodes + 1, nullptr);
  value_[0] = 0;
  steps_used_ += nodes;
  for (std::uint32_t x = 0; x < nodes; ++x) {
    if (value_[x] > value_[x + 1]) {
      value_[x + 1] = value_[x];
      chosen_[x + 1] = nullptr;
    }
    const std::uint32_t segment = cut + x < nodes ? cut + x : cut + x - nodes;
    const std::uint32_t room = std::min(room_[segment], nodes - x);
    if (room == 0) {
      continue;
    }
    steps_used_ += arcs.first[segment + 1] - arcs.first[segment];
    for (std::uint32_t i = arcs.first[segment]; i < arcs.first[segment + 1]; ++i) {
      const Arc& each = arcs.arcs[i];
      if (each.length <= room) {
        const std::uint32_t end = x + each.length;
        const double value = value_[x] + each.worth * price_[each.pair];
        if (value >= value_[end]) {
          value_[end] = value;
          chosen_[end] = &each;
        }
      }
    }
  }
  return value_[nodes];
}

void RingTours::reprice() {
  for (std::uint32_t pair = 0; pair < price_.size(); ++pair) {
    if (priced_at_[pair] != light_.served(pair)) {
      priced_at_[pair] = light_.served(pair);
      price_[pair] = std::pow(kServedWorth, light_.level(pair));
    }
  }
}

}  // namespace loom
