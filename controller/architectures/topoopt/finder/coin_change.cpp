// SPDX-License-Identifier: Apache-2.0
// Breadth first from distance 0; ties after all distances are known, so that every shortest last jump has its chance.
#include "controller/architectures/topoopt/finder/coin_change.hpp"

#include <algorithm>
#include <limits>

#include "controller/architectures/topoopt/finder/tie_break.hpp"

namespace loom {

CoinTable::CoinTable(std::uint32_t nodes, std::span<const std::uint32_t> coins, std::uint64_t seed)
    : hops_(nodes, kUnreachable), last_(nodes, 0) {
  if (nodes == 0) {
    return;
  }
  std::vector<std::uint32_t> jumps(coins.begin(), coins.end());
  std::sort(jumps.begin(), jumps.end());
  jumps.erase(std::unique(jumps.begin(), jumps.end()), jumps.end());
  hops_[0] = 0;
  std::vector<std::uint32_t> reached{0};
  for (std::size_t next = 0; next < reached.size(); ++next) {
    const std::uint32_t at = reached[next];
    for (const std::uint32_t jump : jumps) {
      const std::uint32_t to = at + jump < nodes ? at + jump : at + jump - nodes;
      if (hops_[to] == kUnreachable) {
        hops_[to] = hops_[at] + 1;
        reached.push_back(to);
      }
    }
  }
  std::vector<std::uint32_t> shortest;
  for (const std::uint32_t to : reached) {
    shortest.clear();
    for (const std::uint32_t jump : jumps) {
      const std::uint32_t from = to >= jump ? to - jump : to + nodes - jump;
      if (to != 0 && hops_[from] + 1 == hops_[to]) {
        shortest.push_back(jump);
      }
    }
    if (!shortest.empty()) {
      last_[to] = shortest[pick(seed, to, static_cast<std::uint32_t>(shortest.size()))];
    }
  }
}

std::vector<std::uint32_t> CoinTable::jumps_to(std::uint32_t distance) const {
  std::vector<std::uint32_t> jumps;
  if (hops_[distance] == kUnreachable) {
    return jumps;
  }
  for (std::uint32_t left = distance; left != 0;) {
    jumps.push_back(last_[left]);
    left = left >= last_[left] ? left - last_[left] : left + nodes() - last_[left];
  }
  std::reverse(jumps.begin(), jumps.end());
  return jumps;
}

std::vector<std::uint32_t> CoinTable::path(std::uint32_t source, std::uint32_t destination) const {
  const std::uint32_t distance = destination >= source ? destination - source : destination + nodes() - source;
  if (hops_[distance] == kUnreachable) {
    return {};
  }
  std::vector<std::uint32_t> path{source};
  for (const std::uint32_t jump : jumps_to(distance)) {
    path.push_back((path.back() + jump) % nodes());
  }
  return path;
}

std::vector<std::uint32_t> CoinTable::histogram() const {
  std::vector<std::uint32_t> counts;
  for (std::uint32_t distance = 1; distance < nodes(); ++distance) {
    if (hops_[distance] != kUnreachable) {
      counts.resize(std::max<std::size_t>(counts.size(), hops_[distance]));
      ++counts[hops_[distance] - 1];
    }
  }
  return counts;
}

std::uint32_t CoinTable::diameter() const { return hops_.empty() ? 0 : *std::max_element(hops_.begin(), hops_.end()); }

double CoinTable::mean_hops() const {
  double sum = 0;
  for (std::uint32_t distance = 1; distance < nodes(); ++distance) {
    if (hops_[distance] == kUnreachable) {
      return std::numeric_limits<double>::infinity();
    }
    sum += hops_[distance];
  }
  return nodes() < 2 ? 0 : sum / (nodes() - 1);
}

}  // namespace loom
