// SPDX-License-Identifier: Apache-2.0
// Tours, repair, and tours over the rest.
#include "controller/architectures/sip_ring/waves.hpp"

#include <algorithm>
#include <cmath>

#include "controller/architectures/sip_ring/lit_arcs.hpp"
#include "controller/architectures/sip_ring/repair.hpp"
#include "controller/architectures/sip_ring/tours.hpp"
#include "core/result.hpp"

namespace loom {
namespace {

constexpr std::uint64_t kWarmRepairShare = 8;  ///< with light from before, repair may take this part of its steps

/// Light of before goes on where it still may. In the order given.
void take_over(LitArcs& light, std::span<const WavelengthGrant> lit) {
  const WavelengthUse& map = light.map();
  for (const WavelengthGrant& grant : lit) {
    if (grant.pair >= light.pairs().size() || grant.bus >= map.buses().size() ||
        grant.channel >= map.buses()[grant.bus].channels) {
      continue;
    }
    const std::uint32_t row = map.row(grant.bus, grant.channel);
    const RingDirection direction = light.direction_of(row);
    if (light.is_open(direction, grant.pair) && light.may_use(row) && light.is_free(row, light.arc(direction, grant.pair))) {
      light.give(grant.pair, row);
    }
  }
}

void grant_tours(LitArcs& light, RingTours& tours, std::uint64_t steps_most) {
  for (std::uint32_t row = 0; row < light.rows() && tours.steps_used() <= steps_most; ++row) {
    if (light.may_use(row)) {
      tours.grant(row);
    }
  }
}

}  // namespace

std::vector<RingBus> spread_wavelengths(std::uint32_t wavelengths, std::uint32_t rings) {
  LOOM_ASSERT(rings > 0 && wavelengths >= 2 * rings);
  std::vector<RingBus> buses;
  for (std::uint32_t ring = 0; ring < rings; ++ring) {
    for (const bool is_clockwise : {true, false}) {
      const std::uint32_t each_way = (wavelengths + (is_clockwise ? 1 : 0)) / 2;
      buses.push_back({is_clockwise ? RingDirection::clockwise : RingDirection::counter_clockwise,
                       each_way / rings + (ring < each_way % rings ? 1 : 0)});
    }
  }
  return buses;
}

RingArc arc_of(std::uint32_t nodes, RingDirection direction, std::uint32_t source, std::uint32_t destination) {
  const bool clockwise = direction == RingDirection::clockwise;
  const std::uint32_t first = clockwise ? source : destination;
  const std::uint32_t last = clockwise ? destination : source;
  return {first, (last + nodes - first) % nodes};
}

WavelengthUse::WavelengthUse(std::uint32_t nodes, std::vector<RingBus> buses)
    : nodes_(nodes), buses_(std::move(buses)), words_per_row_((std::size_t{nodes} + 63) / 64) {
  for (std::uint32_t bus = 0; bus < buses_.size(); ++bus) {
    first_row_.push_back(static_cast<std::uint32_t>(row_bus_.size()));
    row_bus_.insert(row_bus_.end(), buses_[bus].channels, bus);
  }
  words_.resize(row_bus_.size() * words_per_row_);
}

namespace {

/// Calls `each(word, mask)` for the words of a row that segments first .. first + length - 1 (mod nodes) lie in.
template <class Each>
void each_word(std::uint32_t nodes, RingArc arc, const Each& each) {
  const auto stretch = [&](std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t word = begin / 64; begin < end; ++word) {
      const std::uint32_t stop = std::min(end, 64 * (word + 1));
      const std::uint32_t bits = stop - begin;
      each(word, (bits == 64 ? ~0ULL : (1ULL << bits) - 1) << (begin % 64));
      begin = stop;
    }
  };
  const std::uint32_t end = arc.first + arc.length;
  stretch(arc.first, std::min(end, nodes));
  stretch(0, end > nodes ? end - nodes : 0);
}

}  // namespace

bool WavelengthUse::is_free(std::uint32_t row, RingArc arc) const {
  const std::uint64_t* words = words_.data() + row * words_per_row_;
  std::uint64_t taken = 0;
  each_word(nodes_, arc, [&](std::uint32_t word, std::uint64_t mask) { taken |= words[word] & mask; });
  return taken == 0;
}

void WavelengthUse::set(std::uint32_t row, RingArc arc, bool taken) {
  std::uint64_t* words = words_.data() + row * words_per_row_;
  each_word(nodes_, arc,
            [&](std::uint32_t word, std::uint64_t mask) { words[word] = taken ? words[word] | mask : words[word] & ~mask; });
}

WavelengthGrants grant_wavelengths(WavelengthUse& taken, const std::vector<RingPair>& pairs, const WavelengthLimits& limits,
                                   std::span<const WavelengthGrant> lit) {
  LitArcs light(taken, pairs, limits);
  RingTours tours(light);
  take_over(light, lit);
  tours.reprice();
  grant_tours(light, tours, limits.steps);
  WavelengthGrants result;
  result.steps_used = tours.steps_used();
  if (limits.repair && result.steps_used <= limits.steps) {
    const std::uint64_t most = lit.empty() ? limits.repair_steps : limits.repair_steps / kWarmRepairShare;
    RingRepair repair(light, limits.seed, std::min(most, limits.steps - result.steps_used));
    const bool has_moved = repair.run();
    result.steps_used += repair.steps_used();
    if (has_moved && result.steps_used <= limits.steps) {
      tours.reprice();
      grant_tours(light, tours, limits.steps - repair.steps_used());
      result.steps_used = tours.steps_used() + repair.steps_used();
    }
  }
  result.grants = light.grants();
  result.served = light.served();
  return result;
}

double worst_served(const std::vector<RingPair>& pairs, const std::vector<std::uint32_t>& served) {
  double largest = 0;
  double worst = pairs.empty() ? 0 : HUGE_VAL;
  for (const RingPair& pair : pairs) {
    largest = std::max(largest, pair.demand);
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    worst = std::min(worst, served[i] * largest / pairs[i].demand);
  }
  return worst;
}

}  // namespace loom
