// SPDX-License-Identifier: Apache-2.0
// One column of bits for each trunk, closed over the graph.
#include "controller/plan/light/way_index.hpp"

#include <algorithm>

namespace loom {
namespace {

constexpr std::size_t kTailMax = 64;  ///< a receiver's only way in is shorter, unless it runs in a circle

/// Elements that light from this one can come to; or, backwards, that light can come from.
std::vector<bool> spread(const Fabric& fabric, ElementId from, bool backwards) {
  std::vector<bool> reached(fabric.elements.size());
  std::vector<ElementId> open{from};
  reached[from.value] = true;
  while (!open.empty()) {
    const ElementId at = open.back();
    open.pop_back();
    for (const auto& fibre : backwards ? fabric.fibre_in[at.value] : fabric.fibre_out[at.value]) {
      if (fibre) {
        const Fibre& way = fabric.fibres[fibre->value];
        const ElementId next = backwards ? way.from.element : way.to.element;
        if (!reached[next.value]) {
          reached[next.value] = true;
          open.push_back(next);
        }
      }
    }
  }
  return reached;
}

}  // namespace

WayIndex::WayIndex(const Fabric& fabric) : tails_(fabric.elements.size()), trunk_of_(fabric.elements.size()) {
  std::vector<ElementId> trunks;
  for (const Element& element : fabric.elements) {
    if (std::holds_alternative<Receiver>(element.kind)) {
      add_tail(fabric, element.id);
      trunks.push_back(tails_[element.id.value].trunk);
    }
  }
  const std::uint32_t columns = number(fabric, trunks);
  words_ = (columns + 63) / 64;
  find_reach(fabric);
}

void WayIndex::add_tail(const Fabric& fabric, ElementId receiver) {
  Range& tail = tails_[receiver.value];
  tail = {receiver, static_cast<std::uint32_t>(hops_.size()), 0};
  hops_.push_back({receiver, 0, 0});
  while (hops_.size() - tail.begin < kTailMax) {
    const Hop first = hops_.back();
    if (fabric.element(first.element).inputs != 1 || !fabric.fibre_in[first.element.value][0]) {
      break;
    }
    const PortRef from = fabric.fibres[fabric.fibre_in[first.element.value][0]->value].from;
    hops_.push_back({from.element, 0, from.port});
    tail.trunk = from.element;
  }
  tail.count = static_cast<std::uint32_t>(hops_.size()) - tail.begin;
  std::reverse(hops_.begin() + tail.begin, hops_.end());
}

std::uint32_t WayIndex::number(const Fabric& fabric, const std::vector<ElementId>& trunks) {
  std::uint32_t count = 0;
  for (const ElementId trunk : trunks) {
    if (trunk_of_[trunk.value]) {
      continue;
    }
    trunk_of_[trunk.value] = count;
    if (fabric.element(trunk).inputs > 1 && fabric.element(trunk).outputs > 0) {
      const std::vector<bool> after = spread(fabric, trunk, false);
      const bool leads_on =
          std::any_of(trunks.begin(), trunks.end(), [&](ElementId other) { return other != trunk && after[other.value]; });
      const std::vector<bool> before = leads_on ? spread(fabric, trunk, true) : std::vector<bool>(after.size());
      for (const ElementId other : trunks) {
        if (after[other.value] && before[other.value]) {
          trunk_of_[other.value] = count;
        }
      }
    }
    ++count;
  }
  return count;
}

/// By element, since all fibres into one lead on to the same: a switch of a thousand ports is looked at once.
void WayIndex::find_reach(const Fabric& fabric) {
  reach_.assign(fabric.elements.size() * words_, 0);
  bool changed = true;
  while (changed) {  // loop-free fabrics whose fibres run from low to high elements settle in a few rounds
    changed = false;
    for (std::size_t i = fabric.elements.size(); i-- > 0;) {
      const auto merge = [&](std::size_t word, std::uint64_t bits) {
        std::uint64_t& mine = reach_[i * words_ + word];
        changed = changed || (mine | bits) != mine;
        mine |= bits;
      };
      if (const auto trunk = trunk_of_[i]) {
        merge(*trunk / 64, 1ULL << (*trunk % 64));
      }
      for (const auto& out : fabric.fibre_out[i]) {
        for (std::size_t word = 0; out && word < words_; ++word) {
          merge(word, reach_[fabric.fibres[out->value].to.element.value * words_ + word]);
        }
      }
    }
  }
}

}  // namespace loom
