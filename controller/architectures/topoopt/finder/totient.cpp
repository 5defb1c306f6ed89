// SPDX-License-Identifier: Apache-2.0
// Candidates by gcd; selection as in choose_n_geo.
#include "controller/architectures/topoopt/finder/totient.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace loom {
namespace {

bool is_prime(std::uint32_t value) {
  for (std::uint32_t factor = 2; std::uint64_t{factor} * factor <= value; ++factor) {
    if (value % factor == 0) {
      return false;
    }
  }
  return value >= 2;
}

/// At most candidates.size() of them, none twice.
std::vector<std::uint32_t> select_once(std::span<const std::uint32_t> candidates, std::uint32_t count,
                                       RingDirections directions) {
  const double span = static_cast<double>(candidates.back()) / candidates.front();
  const std::uint32_t steps = directions == RingDirections::both_ways ? count : std::max(count, 2U) - 1;
  const double ratio = std::pow(span, 1.0 / steps);
  std::vector<bool> is_taken(candidates.size());
  std::vector<std::uint32_t> jumps;
  double least = candidates.front();
  for (std::uint32_t i = 0; i < count; ++i, least *= ratio) {
    std::size_t at = static_cast<std::size_t>(
        std::partition_point(candidates.begin(), candidates.end(), [&](std::uint32_t jump) { return jump < least; }) -
        candidates.begin());
    while (at < candidates.size() && is_taken[at]) {
      ++at;
    }
    if (at == candidates.size()) {
      do {
        --at;
      } while (is_taken[at]);
    }
    is_taken[at] = true;
    jumps.push_back(candidates[at]);
  }
  return jumps;
}

}  // namespace

std::vector<std::uint32_t> ring_candidates(std::uint32_t nodes, std::uint32_t group_size, std::uint32_t primes_beyond) {
  std::vector<std::uint32_t> jumps;
  if (group_size < 2 || nodes % group_size != 0) {
    return jumps;
  }
  for (std::uint32_t k = 1; k <= group_size; ++k) {
    if (std::gcd(group_size, k) == 1 && (nodes <= primes_beyond || k == 1 || is_prime(k))) {
      jumps.push_back(nodes / group_size * k);
    }
  }
  return jumps;
}

std::vector<std::uint32_t> select_geometrically(std::span<const std::uint32_t> candidates, std::uint32_t count,
                                                RingDirections directions) {
  std::vector<std::uint32_t> jumps;
  while (!candidates.empty() && jumps.size() < count) {
    const auto left = static_cast<std::uint32_t>(std::min(candidates.size(), count - jumps.size()));
    const std::vector<std::uint32_t> once = select_once(candidates, left, directions);
    jumps.insert(jumps.end(), once.begin(), once.end());
  }
  return jumps;
}

}  // namespace loom
