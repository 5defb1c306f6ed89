// SPDX-License-Identifier: Apache-2.0
// Sums and links.
#include "controller/schedule/queued_pairs.hpp"

#include <algorithm>
#include <cmath>

namespace loom {

std::map<NodePair, double> queued(std::span<const Transfers::Left> residual) {
  std::map<NodePair, double> bytes;
  for (const Transfers::Left& each : residual) {
    if (each.source != each.destination) {
      bytes[{each.source, each.destination}] += std::max(each.bytes, 1.0);
    }
  }
  return bytes;
}

std::vector<SwitchPair> whole_bytes(const std::map<NodePair, double>& bytes) {
  std::vector<SwitchPair> pairs;
  for (const auto& [ends, count] : bytes) {
    const auto whole = static_cast<std::int64_t>(std::min(std::ceil(count), std::ldexp(1.0, 49)));
    pairs.push_back({ends.first, ends.second, std::max<std::int64_t>(whole, 1)});
  }
  return pairs;
}

}  // namespace loom
