// SPDX-License-Identifier: Apache-2.0
// How long some work takes on this machine: the median of several runs.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace loom {

template <class Work>
double milliseconds_of(int rounds, Work work) {
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
  return times[static_cast<std::size_t>(rounds / 2)];
}

}  // namespace loom
