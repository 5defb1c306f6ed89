// SPDX-License-Identifier: Apache-2.0
// SiP-Ring's wavelengths on 1024 nodes (5 rings x 2 directions, 80 wavelengths): the time beside a floor of the same run. How
// close to the optimum they come on small rings: bench/objectives. Prints; decides nothing.
#include <algorithm>
#include <cstdio>
#include <random>
#include <set>
#include <vector>

#include "bench/median_time.hpp"
#include "controller/architectures/sip_ring/waves.hpp"

namespace {

using namespace loom;

constexpr std::uint32_t kNodes = 1024;
constexpr std::uint32_t kRings = 5;
constexpr std::uint32_t kChannels = 8;  ///< W / R / 2 with W = 80

std::vector<RingBus> buses_of(std::uint32_t rings, std::uint32_t channels) {
  std::vector<RingBus> buses;
  for (std::uint32_t ring = 0; ring < rings; ++ring) {
    buses.push_back({RingDirection::clockwise, channels});
    buses.push_back({RingDirection::counter_clockwise, channels});
  }
  return buses;
}

/// `peers` random ones within 16 hops of each node (d_max), or everybody's ring neighbour where 0.
std::vector<RingPair> demand_of(std::uint32_t peers, std::uint32_t most, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<RingPair> pairs;
  for (std::uint32_t node = 0; node < kNodes; ++node) {
    std::set<std::uint32_t> to;
    while (to.size() < peers) {
      const auto hops = 1 + static_cast<std::uint32_t>(random() % 16);
      to.insert((node + (random() % 2 == 0 ? hops : kNodes - hops)) % kNodes);
    }
    if (peers == 0) {
      to.insert((node + 1) % kNodes);
    }
    for (const std::uint32_t peer : to) {
      pairs.push_back({node, peer, static_cast<double>(1 + random() % most)});
    }
  }
  return pairs;
}

/// Everything that any schedule must look at: for every wavelength its segments, and whether each pair's arc is free there.
std::uint64_t look_at_all(const WavelengthUse& map, const std::vector<RingPair>& pairs) {
  std::uint64_t sum = 0;
  for (std::uint32_t row = 0; row < map.rows(); ++row) {
    for (std::uint32_t segment = 0; segment < kNodes; ++segment) {
      sum += map.is_taken(row, segment) ? 1 : 0;
    }
    const RingDirection direction = map.buses()[map.bus_of(row)].direction;
    for (const RingPair& pair : pairs) {
      const RingArc way = arc_of(kNodes, direction, pair.source, pair.destination);
      sum += way.length <= 16 && map.is_free(row, way) ? 1 : 0;
    }
  }
  return sum;
}

void large(const char* name, const std::vector<RingPair>& pairs) {
  WavelengthGrants got;
  const double cold = milliseconds_of(15, [&] {
    WavelengthUse map(kNodes, buses_of(kRings, kChannels));
    got = grant_wavelengths(map, pairs, {});
  });
  WavelengthLimits bare;
  bare.repair = false;
  std::vector<std::uint32_t> served;
  const double tours = milliseconds_of(15, [&] {
    WavelengthUse map(kNodes, buses_of(kRings, kChannels));
    served = grant_wavelengths(map, pairs, bare).served;
  });
  std::vector<RingPair> changed = pairs;  // one in a hundred has twice as much to send
  std::mt19937 random(7);
  for (std::size_t i = 0; i < pairs.size() / 100; ++i) {
    changed[random() % changed.size()].demand *= 2;
  }
  WavelengthGrants warm;
  const double again = milliseconds_of(15, [&] {
    WavelengthUse map(kNodes, buses_of(kRings, kChannels));
    warm = grant_wavelengths(map, changed, {}, got.grants);
  });
  volatile std::uint64_t sink = 0;
  const WavelengthUse full(kNodes, buses_of(kRings, kChannels));
  const double floor = milliseconds_of(15, [&] { sink = look_at_all(full, pairs); });
  std::printf(
      "%-34s %5zu pairs  cold %7.2f ms  tours alone %7.2f ms  warm %6.2f ms  floor %5.2f ms  unserved %u -> %u, least %.2f "
      "-> %.2f\n",
      name, pairs.size(), cold, tours, again, floor, static_cast<unsigned>(std::count(served.begin(), served.end(), 0U)),
      static_cast<unsigned>(std::count(got.served.begin(), got.served.end(), 0U)), worst_served(pairs, served),
      worst_served(pairs, got.served));
}

}  // namespace

int main() {
  std::printf("1024 nodes, %u rings x 2 directions x %u wavelengths; medians of 15\n", kRings, kChannels);
  large("ring neighbours", demand_of(0, 1, 1));
  large("2 peers within 16 hops, 1..9", demand_of(2, 9, 1));
  large("4 peers within 16 hops, 1..9", demand_of(4, 9, 1));
  large("6 peers within 16 hops, alike", demand_of(6, 1, 1));
  large("8 peers within 16 hops, alike", demand_of(8, 1, 1));
  return 0;
}
