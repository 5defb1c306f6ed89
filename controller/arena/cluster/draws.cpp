// SPDX-License-Identifier: Apache-2.0
// Each of them in a few lines.
#include "controller/arena/cluster/draws.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/result.hpp"

namespace loom {

double unit(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

double exponential(double mean, double unit) { return -mean * std::log1p(-unit); }

std::size_t drawn_by_share(std::span<const double> shares, std::mt19937_64& random) {
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  LOOM_ASSERT(sum > 0);
  double left = unit(random) * sum;
  std::size_t last = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    left -= shares[i];
    last = shares[i] > 0 ? i : last;  // where rounding leaves something, the last one that is ever drawn
    if (left < 0) {
      return i;
    }
  }
  return last;
}

void shuffle(std::vector<std::uint32_t>& values, std::mt19937_64& random) {
  for (std::size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[random() % i]);
  }
}

double percentile(std::vector<double> values, double part) {
  LOOM_ASSERT(!values.empty());
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(values.size())));
  return values[std::clamp<std::size_t>(rank, 1, values.size()) - 1];
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace loom
