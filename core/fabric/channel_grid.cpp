// SPDX-License-Identifier: Apache-2.0
// Grids as sets of slots.
#include "core/fabric/channel_grid.hpp"

#include <algorithm>

namespace loom {

std::vector<FrequencySlot> comb_of(const Fabric& fabric) {
  const auto first = std::find_if(fabric.elements.begin(), fabric.elements.end(),
                                  [](const Element& e) { return std::holds_alternative<Transmitter>(e.kind); });
  const ChannelPlan plan = first == fabric.elements.end() ? ChannelPlan{} : std::get<Transmitter>(first->kind).channels;
  std::vector<FrequencySlot> comb;
  for (std::int32_t channel = 0; channel < plan.count && plan.step_n * kGridStep.mhz >= width_of(plan.first).mhz; ++channel) {
    comb.push_back(plan.slot(channel));
  }
  return comb;
}

std::vector<FrequencySlot> channel_grid(std::span<const FrequencySlot> comb, std::span<const WssRoute> routes) {
  std::vector<FrequencySlot> grid;
  for (const WssRoute& route : routes) {
    grid.push_back(route.slot);
  }
  const std::size_t asked = grid.size();
  for (const FrequencySlot slot : comb) {
    if (std::none_of(grid.begin(), grid.begin() + static_cast<std::ptrdiff_t>(asked),
                     [&](FrequencySlot route) { return overlaps(route, slot); })) {
      grid.push_back(slot);
    }
  }
  std::sort(grid.begin(), grid.end(), [](FrequencySlot a, FrequencySlot b) { return lower_edge_of(a) < lower_edge_of(b); });
  grid.erase(std::unique(grid.begin(), grid.end()), grid.end());
  return grid;
}

bool needs_new_grid(std::span<const FrequencySlot> comb, std::span<const WssRoute> before, std::span<const WssRoute> after) {
  return channel_grid(comb, before) != channel_grid(comb, after);
}

}  // namespace loom
