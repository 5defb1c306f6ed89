// SPDX-License-Identifier: Apache-2.0
// The worst-served next.
#include "controller/architectures/mordia/episodes.hpp"

#include <algorithm>
#include <numeric>
#include <queue>

#include "controller/schedule/queued_pairs.hpp"

namespace loom {

std::optional<std::vector<std::uint32_t>> share_wavelengths(std::uint32_t wavelengths, const std::vector<SwitchPair>& pairs) {
  if (pairs.size() > wavelengths) {
    return std::nullopt;
  }
  std::vector<std::uint32_t> counts(pairs.size(), 1);
  const auto is_better_served = [&](std::size_t a, std::size_t b) {  // counts and demands stay below 2^63 crosswise
    const auto left = static_cast<long double>(counts[a]) * static_cast<long double>(pairs[b].demand);
    const auto right = static_cast<long double>(counts[b]) * static_cast<long double>(pairs[a].demand);
    return left != right ? left > right : a > b;
  };
  std::vector<std::size_t> heap(pairs.size());
  std::iota(heap.begin(), heap.end(), 0U);
  std::make_heap(heap.begin(), heap.end(), is_better_served);
  for (std::size_t given = pairs.size(); given < wavelengths && !heap.empty(); ++given) {
    std::pop_heap(heap.begin(), heap.end(), is_better_served);
    ++counts[heap.back()];
    std::push_heap(heap.begin(), heap.end(), is_better_served);
  }
  return counts;
}

TopologyPolicy mordia_policy(const NetworkTerms& terms, std::uint32_t wavelengths) {
  return [terms, wavelengths, before = std::optional<Network>{}](
             double, std::span<const Transfers::Left> residual) mutable -> Result<Network> {
    if (residual.empty() && before) {
      return *before;
    }
    std::vector<SwitchPair> pairs = whole_bytes(queued(residual));
    std::stable_sort(pairs.begin(), pairs.end(), [](const SwitchPair& a, const SwitchPair& b) { return a.demand > b.demand; });
    pairs.resize(std::min<std::size_t>(pairs.size(), wavelengths));
    const auto counts = share_wavelengths(wavelengths, pairs);
    std::vector<NodePair> circuits;
    for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
      circuits.insert(circuits.end(), (*counts)[pair], NodePair{pairs[pair].source, pairs[pair].destination});
    }
    auto network = make_circuits("mordia episode", terms, std::move(circuits));
    if (network) {
      before = *network;
    }
    return network;
  };
}

}  // namespace loom
