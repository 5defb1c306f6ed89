// SPDX-License-Identifier: Apache-2.0
// SiP-OCS on 1024 nodes with 20 switches: one-shot (exact max-min, spread over the switches) and one interval of multi-shot,
// each beside a floor of the same run. Prints; decides nothing.
#include <algorithm>
#include <cstdio>
#include <random>
#include <set>
#include <vector>

#include "bench/median_time.hpp"
#include "controller/schedule/permutations.hpp"

namespace {

using namespace loom;

constexpr std::uint32_t kNodes = 1024;
constexpr std::uint32_t kSwitches = 20;

/// `peers` out and in at every node, 1 .. a million bytes each.
std::vector<SwitchPair> demand_of(std::uint32_t peers) {
  std::mt19937 random(1);
  std::set<std::uint32_t> hops;
  while (hops.size() < peers) {
    hops.insert(1 + static_cast<std::uint32_t>(random() % (kNodes - 1)));
  }
  std::vector<SwitchPair> pairs;
  for (std::uint32_t node = 0; node < kNodes; ++node) {
    for (const std::uint32_t hop : hops) {
      pairs.push_back({node, (node + hop) % kNodes, 1 + static_cast<std::int64_t>(random() % 1'000'000)});
    }
  }
  return pairs;
}

}  // namespace

int main() {
  std::printf("%u nodes, Q = %u switches; medians of 5\n", kNodes, kSwitches);
  for (const std::uint32_t peers : {1U, 4U, 12U, 20U}) {
    const std::vector<SwitchPair> pairs = demand_of(peers);
    std::size_t circuits = 0;
    const double one_shot = milliseconds_of(5, [&] {
      const auto counts = share_ports(kNodes, kSwitches, pairs);
      circuits = counts ? into_permutations(kNodes, kSwitches, pairs, *counts).size() : 0;
    });
    const double shot = milliseconds_of(3, [&] { most_throughput(kNodes, kSwitches, pairs, 0); });
    const double left = milliseconds_of(1, [&] { most_throughput(kNodes, kSwitches, pairs, 50'000); });
    volatile std::int64_t sink = 0;
    const double floor = milliseconds_of(5, [&] {  // every pair once a switch
      std::int64_t sum = 0;
      for (std::uint32_t on = 0; on < kSwitches; ++on) {
        for (const SwitchPair& pair : pairs) {
          sum += (pair.demand * (on + 1)) >> 1 ^ pair.source ^ pair.destination;
        }
      }
      sink = sum;
    });
    std::printf(
        "%2u peers  one-shot %8.2f ms (%zu circuits)  multi-shot as in code %8.2f ms  of what is left %8.2f ms  floor "
        "%6.3f ms\n",
        peers, one_shot, circuits, shot, left, floor);
  }
  return 0;
}
