// SPDX-License-Identifier: Apache-2.0
// The order of ranks round a ring.
#include "controller/architectures/sip_ring/fold.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "controller/architectures/sip_ring/shape.hpp"

namespace loom {
namespace {

/// Hops; of a fabric that is no SiP-Ring after all, any number.
std::uint32_t reach_of(const Fabric& fabric) {
  const auto shape = read_sip_ring(fabric);
  return shape ? shape->reach : ~0U;
}
}  // namespace

std::vector<NodeId> there_and_back(const Fabric& fabric, const std::vector<NodeId>& chosen, const std::vector<NodeUse>&) {
  std::vector<NodeId> nodes = chosen;
  std::sort(nodes.begin(), nodes.end());
  const auto all = static_cast<std::uint32_t>(fabric.nodes.size());
  std::size_t first = 0;
  std::uint32_t widest = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::uint32_t gap = (nodes[i].value + all - nodes[i == 0 ? nodes.size() - 1 : i - 1].value) % all;
    if (gap > widest) {
      widest = gap;
      first = i;
    }
  }
  const std::uint32_t back = std::min(widest, all - widest);
  if (back <= 2 || back <= reach_of(fabric)) {
    return chosen;
  }
  std::rotate(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(first), nodes.end());
  std::vector<NodeId> folded;
  for (std::size_t i = 0; i < nodes.size(); i += 2) {
    folded.push_back(nodes[i]);
  }
  for (std::size_t i = nodes.size() / 2 * 2; i > 0; i -= 2) {
    folded.push_back(nodes[i - 1]);
  }
  return folded;
}
}  // namespace loom
