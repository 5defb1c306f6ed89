// SPDX-License-Identifier: Apache-2.0
// Small rings that tests and benchmarks ask about: the golden demands, and random ones by seed.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "controller/architectures/sip_ring/waves.hpp"

namespace loom::small_rings {

inline std::vector<RingBus> both_ways(std::uint32_t channels) {
  return {{RingDirection::clockwise, channels}, {RingDirection::counter_clockwise, channels}};
}

inline std::vector<RingPair> neighbours(std::uint32_t nodes) {
  std::vector<RingPair> pairs;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    pairs.push_back({i, (i + 1) % nodes, 1});
  }
  return pairs;
}

inline std::vector<RingPair> everybody(std::uint32_t nodes) {
  std::vector<RingPair> pairs;
  for (std::uint32_t i = 0; i < nodes * nodes; ++i) {
    if (i / nodes != i % nodes) {
      pairs.push_back({i / nodes, i % nodes, 1});
    }
  }
  return pairs;
}

struct Drawn {
  std::uint32_t nodes = 0;
  std::uint32_t channels = 0;  ///< of a direction
  std::vector<RingPair> pairs;
};

/// 3 to 8 nodes, 1 to 8 wavelengths a direction, from every pair to every fourth, demands of 1 to 5.
inline Drawn draw(std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  Drawn drawn;
  drawn.nodes = static_cast<std::uint32_t>(3 + engine() % 6);
  drawn.channels = static_cast<std::uint32_t>(1 + engine() % 8);
  const std::uint64_t one_in = 1 + engine() % 4;
  const std::uint64_t most = 1 + engine() % 5;
  for (RingPair pair : everybody(drawn.nodes)) {
    if (engine() % one_in == 0) {
      pair.demand = static_cast<double>(1 + engine() % most);
      drawn.pairs.push_back(pair);
    }
  }
  return drawn;
}

}  // namespace loom::small_rings
